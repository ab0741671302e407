"""The tips that a reader may see, searched as the documents of one repository (`Searched`).

Each statement names the readable repositories, which are the first column of each large table's
key, and nothing else is counted: no rank depends on what the reader may not see.
"""

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ubp.core.model import (
    Chunk,
    FilePath,
    ObjectId,
    Page,
    PageFields,
    Section,
    in_repository,
    plain_path,
    repository_of,
)
from ubp.hub.bm25 import Candidate, Occurrences, rank_candidates
from ubp.hub.database import Connection
from ubp.hub.frequencies import Counted, Frequencies, Versions
from ubp.hub.mirror import MirroredPage, MirroredTip
from ubp.hub.tokens import MAX_LEXEME, write_tsquery
from ubp.hub.vectors import PageKey, VectorMirror
from ubp.hub.word_counts import select_counts
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.fulltext import TextHit
from ubp.index.match import AllOf, AnyOf, Column, Match, Phrase
from ubp.index.store.codec import unpack_chunks, unpack_facts, unpack_fields, unpack_sections
from ubp.index.store.fulltext import Extent, RowMatch
from ubp.index.store.links import Neighbor, Neighborhood
from ubp.index.store.tokenizer import Table, tokenizer
from ubp.index.vectors import overlaps, similarity
from ubp.search.searched import Scope
from ubp.search.together import DerivedValues, NearChunk

# Of the chunks that contain a term of the query PostgreSQL ranks at most so many, by the rarest
# terms first, and returns this many times the limit, at least CANDIDATES.
MAX_RANKED = 10_000
CANDIDATES, CANDIDATES_PER_HIT = 500, 5
# By what PostgreSQL ranks: BM25 of the number of occurrences that ts_rank implies, which adds the
# weight of the n-th occurrence divided by n², so that of words of the body 1 / (π²/6 - sum) - 0.55
# is their number. Weights are those of `ubp.search.lexical.WEIGHTS`, aliases first.
RANK_WEIGHTS = "{0.5,0.125,1,0.5}"
WORD_SCALE, PHRASE_SCALE = 13.1595, 8.0  # a body's word weighs 1/8, and ts_rank divides by π²/6
_NUMBER = "(case when {0} < 2 then 1 / greatest(1.645 - {0}, 0.03) - 0.55 else 1.15 * {0} end)"
ESTIMATE = f"(case when {{0}} > 0 then {_NUMBER} / ({_NUMBER} + estimated.long) else 0 end)"
# Testing one chunk takes as long as listing this many from an index.
TESTED_PER_LISTED = 15
# Vectors of pages that are not at a path (their push is newer than the search) are skipped.
LIMIT_GROWTH = 4

# Pages are looked for in this many chunks for each one that is wanted.
CHUNKS_OF_PAGE = 64
# The columns that the indexes of names and of headings have (migration 12).
NAMES: frozenset[Column | None] = frozenset({"title", "aliases"})
HEADINGS = NAMES | {"headings"}

Asked = tuple[Match, Table, int | None]


class TextRow(NamedTuple):
    """A page as it is stored."""

    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    body: bytes


class Organisation:
    """The documents at the tips of repositories; see `Searched`. It is for one search."""

    def __init__(
        self,
        connection: Connection,
        tips: Sequence[MirroredTip],
        frequencies: Frequencies,
        chunks: int,
    ) -> None:
        """Search tips; `chunks`: how many these and all others have."""
        self.connection = connection
        self.frequencies = frequencies
        self.tips = {mirrored.tip.name: mirrored for mirrored in tips}
        self.by_id = {mirrored.tip.id: mirrored for mirrored in tips}
        self.cache = DerivedValues()
        self.statements = 0
        self.versions = Versions.of((mirrored.tip.id, mirrored.tip.version) for mirrored in tips)
        self.counted = np.array([m.tip.id for m in tips if m.tip.is_counted], dtype=np.int64)
        self._readable = _array(self.by_id)
        self._chunks, self._own_chunks = chunks, sum(mirrored.tip.chunks for mirrored in tips)
        self.reads_most = 2 * self._own_chunks >= chunks
        self._words = HubWords(self)
        self._texts: dict[PageKey, TextRow] = {}

    @property
    def context(self) -> "Organisation":
        """What outlives these answers: they themselves."""
        return self

    def rows(self, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement about the readable `repositories`."""
        self.statements += 1
        return self.connection.execute(
            sql, {**values, "repositories": self._readable}, prepare=False
        ).fetchall()

    def readable(self, matches: int) -> str:
        """Return the condition that a chunk is readable; `matches`: how many chunks match.

        Each match is tested, without an index, if the reader may read most chunks or few match: an
        index would list all readable chunks.
        """
        condition = "repository = any(%(repositories)s)"
        is_few = matches * self._chunks * TESTED_PER_LISTED < self._own_chunks**2
        return f"({condition}) is true" if self.reads_most or is_few else condition

    def full_text(self) -> "HubWords":
        """Return the search for the documents' words."""
        return self._words

    def link_graph(self) -> "Organisation":
        """Return the documents' sections."""
        return self

    def adjacency(self) -> "Organisation":
        """Return the links from and to single documents."""
        return self

    def mirrored(self, path: FilePath) -> MirroredPage | None:
        """Return a page by its path."""
        tip = self.tips.get(repository_of(path))
        return tip.pages.get(path) if tip else None

    def paths_of(self, repository: int, blob: ObjectId) -> Sequence[FilePath]:
        """Return the paths of a page; () if it is at none, or not readable."""
        tip = self.by_id.get(repository)
        return tip.paths.get(blob, ()) if tip else ()

    def keys_of(self, paths: Iterable[FilePath]) -> dict[FilePath, PageKey]:
        """Return the repositories' numbers and the blobs of those of these that are documents."""
        return {
            path: (self.tips[repository_of(path)].tip.id, page.blob)
            for path in paths
            if (page := self.mirrored(path))
        }

    def pages_at(self, paths: Collection[FilePath]) -> dict[FilePath, Page]:
        """Return those of these paths that are documents."""
        found = {path: page for path in paths if (page := self.mirrored(path))}
        facts = unpack_facts([page.facts for page in found.values()])
        return {
            path: Page(path, page.blob, fact)
            for (path, page), fact in zip(found.items(), facts, strict=True)
        }

    def fields(self, paths: Collection[FilePath]) -> dict[FilePath, PageFields]:
        """Return the fields of these documents' front matter."""
        return {path: unpack_fields(page.fields) for path in paths if (page := self.mirrored(path))}

    def field_names(self) -> frozenset[str]:
        """Return the names of the fields of front matter that any document has."""
        return frozenset[str]().union(*(tip.field_names for tip in self.tips.values()))

    def sections_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Section, ...]]:
        """Return the sections of each of these documents."""
        keys = self.keys_of(paths)
        texts = self.texts(keys.values())
        return {path: texts[key].sections for path, key in keys.items() if key in texts}

    def read(self, paths: Collection[FilePath]) -> dict[FilePath, bytes | None]:
        """Return the bytes of these documents; None: not available."""
        keys = self.keys_of(paths)
        texts = self.texts(keys.values())
        return {path: texts[key].body if key in texts else None for path, key in keys.items()}

    def is_changed(self, path: FilePath) -> bool:
        """Return whether a document may differ from its blob: at a tip none does."""
        del path
        return False

    def texts(self, keys: Collection[PageKey]) -> dict[PageKey, TextRow]:
        """Return the texts of these pages, each read once."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._texts]
        if missing:
            rows = self.rows(
                "select t.repository, t.blob, t.sections, t.chunks, t.body"
                " from unnest(%(of)s::int[], %(blobs)s::bytea[]) as given (repository, blob)"
                " join text t on t.repository = given.repository and t.blob = given.blob"
                " where t.repository = any(%(repositories)s)",
                {
                    "of": [repository for repository, _ in missing],
                    "blobs": [bytes.fromhex(blob) for _, blob in missing],
                },
            )
            for repository, blob, sections, chunks, body in rows:
                self._texts[repository, ObjectId(bytes(blob).hex())] = TextRow(
                    unpack_sections(sections), _unpack_places(chunks), zlib.decompress(body)
                )
        return {key: self._texts[key] for key in keys if key in self._texts}

    def chunks_of(self, blob: ObjectId) -> Sequence[Chunk]:
        """Return the chunks of a page that was read."""
        found = (row.chunks for (_, known), row in self._texts.items() if known == blob)
        return next(found, ())

    def neighbors(self, paths: Collection[FilePath], limit: int) -> dict[FilePath, Neighborhood]:
        """Return the first links from and to each of these documents, as often as each is written.

        They may lead to files that are not documents.
        """
        found = {path: Neighborhood([], []) for path in paths}
        known = [path for path in paths if repository_of(path) in self.tips]
        if not known:
            return found
        rows = self.rows(
            _NEIGHBORS,
            {
                "refs": [self.tips[repository_of(path)].tip.ref for path in known],
                "paths": [plain_path(path) for path in known],
                "limit": limit,
            },
        )
        names = {mirrored.tip.ref: name for name, mirrored in self.tips.items()}
        for is_out, ref, source, target, link_type, number in rows:
            link = Neighbor(
                in_repository(names[ref], source),
                in_repository(names[ref], target),
                link_type,
                "",
                0,
            )
            links = found[link.source].out if is_out else found[link.target].into
            links.extend(repeat(link, min(number, limit - len(links))))
        return found


_NEIGHBORS = """
select true, given.ref, given.path, e.target, e.type, e.links
from unnest(%(refs)s::int[], %(paths)s::text[]) as given (ref, path)
cross join lateral (
    select x.target, x.type, x.links from edge x where x.ref = given.ref and x.page = given.path
    order by x.target, x.type limit %(limit)s) e
union all
select false, given.ref, e.page, given.path, e.type, e.links
from unnest(%(refs)s::int[], %(paths)s::text[]) as given (ref, path)
cross join lateral (
    select x.page, x.type, x.links from edge x where x.ref = given.ref and x.target = given.path
    order by x.page, x.type limit %(limit)s) e
"""


def _pairs(phrases: Mapping[Table, Collection[Phrase]]) -> list[Counted]:
    return [(phrase, table) for table, listed in phrases.items() for phrase in listed]


def _array(numbers: Iterable[int]) -> str:
    """Return numbers as PostgreSQL reads an array: psycopg takes 1 µs for each."""
    return "{" + ",".join(map(str, numbers)) + "}"


def _unpack_places(text: str) -> tuple[Chunk, ...]:
    return unpack_chunks(json.loads(text))


class HubWords:
    """The words of the documents at the tips; see `Words`."""

    def __init__(self, organisation: Organisation) -> None:
        self._organisation = organisation
        self._frequencies: dict[tuple[Phrase, Table], int] = {}
        self._holding: dict[Asked, set[PageKey]] = {}
        self._expected: dict[Asked, None] = {}

    def expect(self, matches: Iterable[Match]) -> None:
        """Find the pages of these matches at once, when those of any of them are asked for."""
        self._expected.update(dict.fromkeys((match, "words", None) for match in matches))

    def prepare(self, phrases: Mapping[Table, Collection[Phrase]], asked: Sequence[Asked]) -> None:
        """Count phrases, and find the pages that match, in one statement for all of them."""
        values: dict[str, Any] = {}
        columns: list[str] = []
        frequencies = self._organisation.frequencies
        counting: list[tuple[Counted, Versions]] = []
        for what in _pairs(phrases):
            if what in self._frequencies:
                continue
            known, others = frequencies.known(what, self._organisation.versions)
            self._frequencies[what] = known
            for part, word in self._parts_to_count(what, others):
                number = len(columns)
                counting.append((what, part))
                values[f"r{number}"] = _array(part.repositories.tolist())
                readable = f"repository = any(%(r{number})s)"
                if self._organisation.reads_most and 2 * len(part) > len(self._organisation.by_id):
                    readable = f"({readable}) is true"
                columns.append(_count_column(what, word, number, readable, values))
        for number, (match, table, limit) in enumerate(asked):
            most = self.size() if limit is None else limit * CHUNKS_OF_PAGE
            values |= {f"m{number}": write_tsquery(match, table), f"l{number}": limit}
            columns.append(
                f"(select array_agg(found.repository || ' ' || encode(found.blob, 'hex'))"  # noqa: S608  # the same
                f" from (select distinct repository, blob from"
                f" (select repository, blob from chunk where {self._organisation.readable(most)}"
                f" and {_where(match, table, is_of_pages=True)} @@ %(m{number})s::tsquery"
                f" limit %(l{number})s * {CHUNKS_OF_PAGE}) few"
                f" limit %(l{number})s) found)"
            )
        if not columns:
            return
        (row,) = self._organisation.rows(f"select {', '.join(columns)}", values)
        for (what, others), found in zip(counting, row, strict=False):
            chunks = {int(repository): n for repository, n in (found or {}).items()}
            self._frequencies[what] += sum(chunks.values())
            frequencies.keep(what, others, chunks)
        for question, texts in zip(asked, row[len(counting) :], strict=True):
            keys = (text.split(" ") for text in texts or ())
            self._holding[question] = {(int(r), ObjectId(blob)) for r, blob in keys}

    def _parts_to_count(
        self, what: Counted, others: Versions
    ) -> Iterator[tuple[Versions, str | None]]:
        """Yield repositories whose words were counted, with the word, and those to look into."""
        word = _word_of(*what)
        is_counted = np.isin(others.repositories, self._organisation.counted)
        if word is None:
            is_counted[:] = False
        if is_counted.any():
            yield others.only(is_counted), word
        if not is_counted.all():
            yield others.only(~is_counted), None

    def extent(self, table: Table) -> Extent:
        """Return how many chunks there are, and how many words they have in a table."""
        tips = [mirrored.tip for mirrored in self._organisation.by_id.values()]
        words = (tip.words if table == "words" else tip.stems for tip in tips)
        return Extent(sum(tip.chunks for tip in tips), sum(words))

    def size(self) -> int:
        """Return the number of chunks."""
        return self.extent("words").chunks

    def frequency(self, phrase: Phrase, table: Table = "words") -> int:
        """Return the number of chunks that contain a phrase."""
        self.prepare({table: [phrase]}, ())
        return self._frequencies[phrase, table]

    def has(self, phrase: Phrase) -> bool:
        """Return whether any chunk contains a phrase."""
        return self.frequency(phrase) > 0

    def words_with(self, part: str, limit: int) -> list[str] | None:
        """Return no words: the hub has no list of them."""
        del part, limit
        return []

    def count(self, match: Match, limit: int) -> int:
        """Return how many of the first `limit` matching chunks are in these documents."""
        ((found,),) = self._organisation.rows(
            f"select count(*) from (select 1 from chunk where {self._organisation.readable(limit)}"  # noqa: S608  # numbers
            " and words @@ %(query)s::tsquery limit %(limit)s) found",
            {"query": write_tsquery(match, "words"), "limit": limit},
        )
        return int(found)

    def holding(self, match: Match, within: Scope = None) -> set[FilePath]:
        """Return the documents with a matching chunk."""
        return self._paths(self._find_holding(match, "words", None), within)

    def some_holding(
        self, match: Match, limit: int, table: Table, within: Scope = None
    ) -> set[FilePath]:
        """Return documents with a matching chunk; of at most `limit` blobs."""
        return self._paths(self._find_holding(match, table, limit), within)

    def _find_holding(self, match: Match, table: Table, limit: int | None) -> set[PageKey]:
        asked = match, table, limit
        if asked not in self._holding:
            together = self._expected if asked in self._expected else (asked,)
            self.prepare({}, [each for each in together if each not in self._holding])
        return self._holding[asked]

    def _paths(self, keys: Iterable[PageKey], within: Scope) -> set[FilePath]:
        paths = {path for key in keys for path in self._organisation.paths_of(*key)}
        return paths if within is None else paths.intersection(within)

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, Sequence[Chunk]]:
        """Return the chunks of these pages, which have been read."""
        return {blob: self._organisation.chunks_of(blob) for blob in blobs}

    def search(self, match: RowMatch, limit: int, within: Scope = None) -> list[TextHit]:
        """Return the best chunks, equal ones by blob, chunk and path.

        BM25 is UBP's own, over what PostgreSQL found; only where the terms are in very many chunks
        are some of these not looked at.
        """
        terms = [*match.terms, *match.adding]
        self.prepare({match.table: terms}, ())
        weights = {
            term: self.extent(match.table).weight(self.frequency(term, match.table))
            for term in terms
        }
        candidates = self._candidates(
            match, weights, max(CANDIDATES, CANDIDATES_PER_HIT * limit), within
        )
        places = {repository: place for place, repository in enumerate(self._organisation.by_id)}
        candidates.sort(key=lambda candidate: places[candidate.repository])
        ranked = rank_candidates(candidates, match, weights, self.extent(match.table))
        hits = [
            TextHit(path, candidate.blob, candidate.number, rank)
            for rank, candidate in ranked[:limit]
            for path in self._organisation.paths_of(candidate.repository, candidate.blob)
            if within is None or path in within
        ]
        return hits[:limit]

    def _candidates(
        self, match: RowMatch, weights: Mapping[Phrase, float], limit: int, within: Scope
    ) -> list[Candidate]:
        table = match.table
        values: dict[str, Any] = {"limit": limit}
        finding = list(self._rarest(match.terms, table))
        query = " | ".join(write_tsquery(term, table) for term in finding)
        matches = min(MAX_RANKED, sum(self.frequency(term, table) for term in finding))
        conditions = [self._organisation.readable(matches)]
        if within is not None:
            keys = set(self._organisation.keys_of(within).values())
            values |= {
                "of": [repository for repository, _ in keys],
                "blobs": [bytes.fromhex(blob) for _, blob in keys],
            }
            conditions.append(
                "(repository, blob) in (select * from unnest(%(of)s::int[], %(blobs)s::bytea[]))"
            )
        if match.condition is not None:
            values["condition"] = write_tsquery(match.condition, table)
            where = _where(match.condition, table, is_of_pages=False)
            conditions.append(f"{where} @@ %(condition)s::tsquery")
        found = f"{table} @@ %(query)s::tsquery"
        choices = [[*conditions, found]]
        if match.condition is not None and _is_part(match.condition, finding):
            choices = [conditions]
        elif match.condition is None and matches == MAX_RANKED:
            # Not all are looked at: those first whose names and headings match, which weigh more.
            named = f"ts_filter({table}, '{{a,b,d}}') @@ %(query)s::tsquery"
            choices = [[*conditions, named], [*conditions, found, f"not {named}"]]
        matching = " union all ".join(
            f"select * from chunk where {' and '.join(choice)}"  # noqa: S608  # ours
            for choice in choices
        )
        ranks, scores = [], []
        for number, term in enumerate([*match.terms, *match.adding]):
            values |= {f"q{number}": write_tsquery(term, table), f"w{number}": weights[term]}
            scale = WORD_SCALE if len(tokenizer(table).words(term.words)) == 1 else PHRASE_SCALE
            rank = f"ts_rank('{RANK_WEIGHTS}', c.{table}, %(q{number})s::tsquery)"
            ranks.append(f"{scale} * {rank} as e{number}")
            scores.append(f"%(w{number})s::float8 * {ESTIMATE.format(f'estimated.e{number}')}")
        length = "length" if table == "words" else "stem_length"
        average = self.extent(table).words / max(1, self.extent(table).chunks)
        plain, prefixes = _lexemes([*match.terms, *match.adding, *finding], table)
        values |= {"query": query, "plain": plain, "average": average or 1.0}
        starts = []
        for number, prefix in enumerate(prefixes):
            values[f"p{number}"] = prefix
            starts.append(f" or starts_with(u.lexeme, %(p{number})s)")
        rows = self._organisation.rows(
            f"""
            select found.repository, found.blob, found.number, found.length,
                (select json_object_agg(u.lexeme, json_build_array(u.positions, u.weights))
                 from unnest(found.vector) u
                 where u.lexeme = any(%(plain)s){"".join(starts)})
            from (
                select c.repository, c.blob, c.number, c.{length} as length, c.{table} as vector
                from ({matching} limit {MAX_RANKED}) c
                cross join lateral (select {", ".join(ranks)},
                    0.3 + 0.9 * c.{length} / %(average)s::float8 as long offset 0) estimated
                order by {" + ".join(scores)} desc
                limit %(limit)s
            ) found
            """,  # noqa: S608  # names of tables and columns, and numbers
            values,
        )
        return [
            Candidate(
                repository,
                ObjectId(bytes(blob).hex()),
                number,
                words,
                {word: Occurrences(*places) for word, places in (found or {}).items()},
            )
            for repository, blob, number, words, found in rows
        ]

    def _rarest(self, terms: Sequence[Phrase], table: Table) -> Iterator[Phrase]:
        """Yield the rarest terms, at least one, that are in at most MAX_RANKED chunks in all."""
        total = 0
        for term in sorted(terms, key=lambda term: self.frequency(term, table)):
            total += self.frequency(term, table)
            if total > MAX_RANKED and total > self.frequency(term, table):
                return
            yield term


def _word_of(phrase: Phrase, table: Table) -> str | None:
    """Return the word that a phrase is; None: it is more."""
    words = tokenizer(table).words(phrase.words)
    is_more = phrase.is_prefix or phrase.is_first or phrase.column or len(words) != 1
    return None if is_more or len(words[0].encode()) > MAX_LEXEME else words[0]


def _count_column(
    what: Counted, word: str | None, number: int, readable: str, values: dict[str, Any]
) -> str:
    """Return the expression that counts the readable chunks with a phrase, by repository.

    `word`: what pushes have counted is asked for; None: the chunks are looked at.
    """
    phrase, table = what
    if word is None:
        values[f"q{number}"] = write_tsquery(phrase, table)
        counts = (
            f"select repository, count(*) as chunks from chunk"  # noqa: S608  # one of two tables, numbers
            f" where {readable} and {table} @@ %(q{number})s::tsquery group by repository"
        )
    else:
        counts, added = select_counts(word, readable, is_stem=table == "stems", number=number)
        values |= added
    return f"(select json_object_agg(n.repository, n.chunks) from ({counts}) n)"  # noqa: S608  # the same


def _where(match: Match, table: Table, *, is_of_pages: bool) -> str:
    """Return the expression that a query is compared with, of the smallest index that has it.

    `is_of_pages`: it is asked for pages, each of whose chunks has the words of the page's names.
    """
    columns = _columns(match)
    if is_of_pages and columns <= NAMES:
        return f"number = 0 and ts_filter({table}, '{{a,d}}')"
    return f"ts_filter({table}, '{{a,b,d}}')" if columns <= HEADINGS else table


def _is_part(match: Match, finding: Collection[Phrase]) -> bool:
    """Return whether all that is matched has one of these phrases in some columns."""
    return isinstance(match, AnyOf) and all(
        isinstance(part, Phrase) and part._replace(column=None) in finding for part in match.parts
    )


def _columns(match: Match) -> frozenset[Column | None]:
    """Return the columns of the phrases of a match; None: any."""
    if isinstance(match, Phrase):
        return frozenset({match.column})
    if isinstance(match, AllOf | AnyOf):
        return frozenset[Column | None]().union(*map(_columns, match.parts))
    return _columns(match.included) | _columns(match.excluded)


def _lexemes(terms: Iterable[Phrase], table: Table) -> tuple[list[str], list[str]]:
    """Return the words of phrases, and the beginnings of words."""
    plain: dict[str, None] = {}
    prefixes: dict[str, None] = {}
    for term in terms:
        words = tokenizer(table).words(term.words)
        plain.update(dict.fromkeys(words[:-1] if term.is_prefix else words))
        prefixes.update(dict.fromkeys(words[-1:] if term.is_prefix else ()))
    return list(plain), list(prefixes)


class HubMeaning:
    """The vectors of the documents at the tips; see `SemanticRanking`."""

    def __init__(
        self, organisation: Organisation, vectors: VectorMirror, model: EmbeddingModel
    ) -> None:
        self._organisation = organisation
        self._vectors = vectors
        self._model = model

    def nearest(self, text: str, limit: int, within: Scope = None) -> list[NearChunk]:
        """Return the chunks nearest to a text, best first, in the documents `within` if given."""
        query = self._model.encode_query(text)
        if limit <= 0 or not query.rows.any():
            return []
        organisation = self._organisation
        keys = None if within is None else set(organisation.keys_of(within).values())
        most = limit
        while True:
            hits = self._vectors.nearest(query, most, organisation.by_id.keys(), keys)
            chunks = [
                NearChunk(path, hit.number, self._model.scale.read(hit.score))
                for hit in hits
                for path in organisation.paths_of(hit.repository, hit.blob)
                if within is None or path in within
            ]
            if len(chunks) >= limit or len(hits) < most:
                return chunks[:limit]
            most *= LIMIT_GROWTH

    def similarity(self, text: str, names: Sequence[str]) -> Sequence[float]:
        """Return the cosine of each of these names with a text."""
        return similarity(self._model, text, names)

    def overlaps(self, text: str, passages: Sequence[str]) -> Sequence[float]:
        """Return how much of a text each passage has, in its words or near ones; []: unknown."""
        return overlaps(self._model, text, passages)
