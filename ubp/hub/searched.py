"""The tips that a reader may see, searched as the documents of one repository (`Searched`).

Each statement names the readable repositories, which are the first column of each large table's
key, and nothing else is counted: no rank depends on what the reader may not see.
"""

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from itertools import islice, repeat
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
from ubp.hub.bm25 import (
    Floats,
    Found,
    Positions,
    add_scores,
    best_rows,
    count_occurrences,
    occurrences_in,
    sum_scores,
    term_scores,
)
from ubp.hub.chunk_rows import Integers, PageKey
from ubp.hub.database import Connection
from ubp.hub.frequencies import Counted, Frequencies, Versions
from ubp.hub.occurrences import (
    MAX_COUNTED,
    MAX_ESTIMATED,
    OccurrenceQuery,
    read_listed,
    read_positions,
    select_positions,
)
from ubp.hub.postings import count_chunks, select_counts, select_postings, select_presence
from ubp.hub.tips import MirroredPage, ReadableTips
from ubp.hub.tokens import MAX_LEXEME, lexemes_of, write_tsquery
from ubp.hub.vectors import NearHit, nearest
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.fulltext import TextHit
from ubp.index.match import AllOf, AnyOf, Column, Match, Phrase
from ubp.index.store.codec import unpack_chunks, unpack_facts, unpack_fields, unpack_sections
from ubp.index.store.fulltext import Extent, RowMatch
from ubp.index.store.links import Neighbor, Neighborhood
from ubp.index.store.tokenizer import Table
from ubp.index.vectors import overlaps, similarity
from ubp.search.lexical import WORTHLESS_SHARE
from ubp.search.searched import Scope
from ubp.search.together import DerivedValues, NearChunk

# Of the chunks that are the best by an estimate of how often they have a phrase, this many times
# the limit, at least CANDIDATES, are looked at.
CANDIDATES, CANDIDATES_PER_HIT = 300, 3
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
        self, connection: Connection, tips: ReadableTips, frequencies: Frequencies, chunks: int
    ) -> None:
        """Search tips; `chunks`: how many these and all others have."""
        self.connection = connection
        self.tips = tips
        self.frequencies = frequencies
        self.cache = DerivedValues()
        self.statements = 0
        self._chunks, self._own_chunks = chunks, tips.extents["words"].chunks
        self.reads_most = 2 * self._own_chunks >= chunks
        self._words = HubWords(self)
        self._texts: dict[PageKey, TextRow] = {}

    @property
    def context(self) -> "Organisation":
        """What outlives these answers: they themselves."""
        return self

    def rows(
        self, sql: str, values: Mapping[str, Any], *, is_binary: bool = False
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a statement about the readable `repositories`.

        Of these, the words of those in `listed` are listed, and of those in `unlisted` not.
        """
        self.statements += 1
        with self.connection.cursor(binary=is_binary) as cursor:
            values = {**values, **self.tips.parameters}
            return cursor.execute(sql, values, prepare=False).fetchall()

    def readable(self, matches: int) -> str:
        """Return the condition that a chunk is readable; `matches`: how many chunks match.

        Each match is tested, without an index, if the reader may read most chunks or few match: an
        index would list all readable chunks.
        """
        is_few = matches * self._chunks * TESTED_PER_LISTED < self._own_chunks**2
        if self.reads_most or is_few:
            return _tested("repository", "repositories")
        return "repository = any(%(repositories)s)"

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
        tip = self.tips.by_name.get(repository_of(path))
        return tip.pages.get(path) if tip else None

    def paths_of(self, repository: int, blob: ObjectId) -> Sequence[FilePath]:
        """Return the paths of a page; () if it is at none, or not readable."""
        tip = self.tips.by_id.get(repository)
        return tip.paths.get(blob, ()) if tip else ()

    def keys_of(self, paths: Iterable[FilePath]) -> dict[FilePath, PageKey]:
        """Return the repositories' numbers and the blobs of those of these that are documents."""
        return {
            path: (self.tips.by_name[repository_of(path)].tip.id, page.blob)
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
        return self.tips.field_names

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
                "select t.repository, t.blob, t.sections, t.chunks, t.body"  # noqa: S608  # ours
                " from unnest(%(of)s::int[], %(blobs)s::bytea[]) as given (repository, blob)"
                " join text t on t.repository = given.repository and t.blob = given.blob"
                f" where {_tested('t.repository', 'repositories')}",
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
        known = [path for path in paths if repository_of(path) in self.tips.by_name]
        if not known:
            return found
        rows = self.rows(
            _NEIGHBORS,
            {
                "refs": [self.tips.by_name[repository_of(path)].tip.ref for path in known],
                "paths": [plain_path(path) for path in known],
                "limit": limit,
            },
        )
        names = {mirrored.tip.ref: name for name, mirrored in self.tips.by_name.items()}
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


class _Column(NamedTuple):
    """A column of a statement, and what takes its value."""

    sql: str
    take: Callable[[Any], None]


class HubWords:
    """The words of the documents at the tips; see `Words`."""

    def __init__(self, organisation: Organisation) -> None:
        self._organisation = organisation
        self._frequencies: dict[Counted, int] = {}
        self._found: dict[Counted, Found] = {}
        self._estimated: dict[Counted, Found] = {}
        self._present: dict[Phrase, bool] = {}
        self._holding: dict[Asked, set[PageKey]] = {}
        self._expected: dict[Asked, None] = {}

    def expect(self, matches: Iterable[Match]) -> None:
        """Find the pages of these matches at once, when those of any of them are asked for."""
        self._expected.update(dict.fromkeys((match, "words", None) for match in matches))

    def unknown_phrases(self, terms: Iterable[Phrase], table: Table) -> set[Phrase]:
        """Return those of these terms that are not single words, and were not counted."""
        known, versions = self._organisation.frequencies.known, self._organisation.tips.versions
        return {
            term
            for term in terms
            if _word_of(term, table) is None and len(known((term, table), versions)[1])
        }

    def find_phrases(self, phrases: Collection[Phrase], table: Table) -> None:
        """Find phrases, and so count those that are not very common."""
        if not phrases:
            return
        query = OccurrenceQuery(table)
        readable = self._organisation.readable(MAX_ESTIMATED)
        for number, phrase in enumerate(phrases):
            query.add_phrase(number, phrase, readable, is_common=False)
        rows = self._organisation.rows(query.sql, query.values, is_binary=True)
        found = query.read(rows, len(phrases), self._organisation.tips.chunks)
        for number, (phrase, each) in enumerate(zip(phrases, found, strict=True)):
            if query.returned[number] < MAX_ESTIMATED:
                self._frequencies[phrase, table] = len(each.rows)
                self._estimated[phrase, table] = each
                if number in query.written:
                    self._present[phrase] = query.written[number]

    def prepare(
        self,
        phrases: Mapping[Table, Collection[Phrase]],
        asked: Sequence[Asked],
        terms: Collection[Phrase] = (),
        ranked: Table | None = None,
    ) -> None:
        """Count phrases, and find the pages that match, all in one statement.

        Of `terms` it looks for any chunk, and in the table that ranks them, if it is given, finds
        all chunks with those that are words.
        """
        values: dict[str, Any] = {}
        columns: list[_Column] = []
        finding = self._worth_finding(terms, ranked) if ranked else {}
        for what, others in finding.items():
            columns.append(self._listing(what, others, len(columns), values))
        for what in _pairs(phrases):
            if what not in self._frequencies and what not in finding:
                columns += self._counting(what, len(columns), values)
        for question in asked:
            columns.append(self._finding(question, len(columns), values))
        for phrase in terms:
            if phrase not in self._present:
                columns.append(self._presence(phrase, len(columns), values))
        if not columns:
            return
        sql = f"select {', '.join(column.sql for column in columns)}"
        (row,) = self._organisation.rows(sql, values, is_binary=True)
        for column, value in zip(columns, row, strict=True):
            column.take(value)

    def _listing(
        self, what: Counted, others: Versions, number: int, values: dict[str, Any]
    ) -> _Column:
        """Find the chunks with a word."""
        phrase, table = what
        word = _word_of(phrase, table) or ""
        query, added = select_postings(
            word, self._listed_condition(), is_stem=table == "stems", number=number
        )
        values |= added

        def take(value: Sequence[bytes | None]) -> None:
            heads, lists = value
            chunks = count_chunks(heads)
            self._found[what] = read_listed(heads, lists, self._organisation.tips.chunks)
            self._frequencies[what] = sum(chunks.values())
            self._organisation.frequencies.keep(what, others, chunks)

        return _Column(f"(select array[heads, chunks] from ({query}) l (heads, chunks))", take)  # noqa: S608  # ours

    def _counting(self, what: Counted, number: int, values: dict[str, Any]) -> Iterator[_Column]:
        """Count the chunks with a phrase where that is not known."""
        frequencies, tips = self._organisation.frequencies, self._organisation.tips
        self._frequencies[what], others = frequencies.known(what, tips.versions)
        for place, (part, word) in enumerate(self._parts_to_count(what, others), number):
            values[f"r{place}"] = _array(part.repositories.tolist())
            readable = f"repository = any(%(r{place})s)"
            if self._organisation.reads_most and 2 * len(part) > len(tips.by_id):
                readable = _tested("repository", f"r{place}")

            def take(value: Mapping[str, int] | None, part: Versions = part) -> None:
                chunks = {int(repository): n for repository, n in (value or {}).items()}
                self._frequencies[what] += sum(chunks.values())
                frequencies.keep(what, part, chunks)

            yield _Column(_count_column(what, word, place, readable, values), take)

    def _finding(self, question: Asked, number: int, values: dict[str, Any]) -> _Column:
        """Find the pages that match."""
        match, table, limit = question
        most = self.size() if limit is None else limit * CHUNKS_OF_PAGE
        values |= {f"m{number}": write_tsquery(match, table), f"l{number}": limit}

        def take(value: Sequence[str] | None) -> None:
            keys = (text.split(" ") for text in value or ())
            self._holding[question] = {(int(r), ObjectId(blob)) for r, blob in keys}

        return _Column(
            f"(select array_agg(found.repository || ' ' || encode(found.blob, 'hex'))"  # noqa: S608  # ours
            f" from (select distinct repository, blob from"
            f" (select repository, blob from chunk where {self._organisation.readable(most)}"
            f" and {_where(match, table, is_of_pages=True)} @@ %(m{number})s::tsquery"
            f" limit %(l{number})s * {CHUNKS_OF_PAGE}) few"
            f" limit %(l{number})s) found)",
            take,
        )

    def _presence(self, phrase: Phrase, number: int, values: dict[str, Any]) -> _Column:
        """Find out whether a readable chunk has a phrase."""
        tips, word = self._organisation.tips, _word_of(phrase, "words")
        parts = []
        if word is not None and tips.listed:
            query, added = select_presence(
                word, "repository = any(%(listed)s)", is_stem=False, number=number
            )
            values |= added
            parts.append(f"exists ({query})")
        if word is None or tips.unlisted:
            values[f"q{number}"] = write_tsquery(phrase, "words")
            readable = self._organisation.readable(1)
            readable = readable if word is None else "repository = any(%(unlisted)s)"
            matching = f"{readable} and words @@ %(q{number})s::tsquery"
            parts.append(f"exists (select from chunk where {matching})")

        def take(value: bool) -> None:  # noqa: FBT001  # a row of the database has it
            self._present[phrase] = value

        return _Column(f"({' or '.join(parts) or 'false'})", take)

    def _worth_finding(self, terms: Iterable[Phrase], table: Table) -> dict[Counted, Versions]:
        """Return the words of which all chunks will be asked for, and where they are to be counted.

        Words in more than WORTHLESS_SHARE of all are left out.
        """
        frequencies, tips = self._organisation.frequencies, self._organisation.tips
        worth: dict[Counted, Versions] = {}
        for term in terms if not tips.unlisted else ():
            known, others = frequencies.known((term, table), tips.versions)
            is_worthless = not len(others) and known > self.size() * WORTHLESS_SHARE
            if _word_of(term, table) is not None and not is_worthless:
                worth[term, table] = others
        return worth

    def _listed_condition(self) -> str:
        """Return the condition that a repository's words are listed."""
        tips = self._organisation.tips
        is_most = self._organisation.reads_most and len(tips.listed) > len(tips.unlisted)
        return _tested("repository", "listed") if is_most else "repository = any(%(listed)s)"

    def _parts_to_count(
        self, what: Counted, others: Versions
    ) -> Iterator[tuple[Versions, str | None]]:
        """Yield repositories whose words are listed, with the word, and those to look into."""
        word = _word_of(*what)
        is_listed = np.isin(others.repositories, [*self._organisation.tips.listed])
        if word is None:
            is_listed[:] = False
        if is_listed.any():
            yield others.only(is_listed), word
        if not is_listed.all():
            yield others.only(~is_listed), None

    def extent(self, table: Table) -> Extent:
        """Return how many chunks there are, and how many words they have in a table."""
        return self._organisation.tips.extents[table]

    def size(self) -> int:
        """Return the number of chunks."""
        return self.extent("words").chunks

    def frequency(self, phrase: Phrase, table: Table = "words") -> int:
        """Return the number of chunks that contain a phrase."""
        if (phrase, table) not in self._frequencies:
            self.prepare({table: [phrase]}, ())
        return self._frequencies[phrase, table]

    def has(self, phrase: Phrase) -> bool:
        """Return whether any chunk contains a phrase."""
        if phrase in self._present:
            return self._present[phrase]
        return self.frequency(phrase) > 0

    def words_with(self, part: str, limit: int) -> list[str] | None:
        """Return no words: the hub has no list of them."""
        del part, limit
        return []

    def similar_word(self, word: str) -> str | None:
        """Return no word: the hub has no list of them."""
        del word
        return None

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

        All chunks with a word count. Where very many have a phrase, meet a condition or are in
        repositories whose words are not listed, some are not looked at. Weights are those of
        `ubp.search.lexical.WEIGHTS`.
        """
        table, terms = match.table, [*match.terms, *match.adding]
        self.prepare({table: terms}, ())
        extent, lengths = self.extent(table), self._organisation.tips.chunks.lengths[table]
        average = max(extent.words, 1) / max(extent.chunks, 1)
        weights = [extent.weight(self.frequency(term, table)) for term in terms]
        keys = None if within is None else set(self._organisation.keys_of(within).values())
        found = self._find(match, terms, keys)
        finding = len(match.terms)
        pairs = [*zip(weights, found, strict=False)]
        scores = sum_scores(pairs[:finding], lengths, average)
        if match.condition is not None:
            matching = np.zeros(len(scores), dtype=bool)
            matching[found[-1].rows] = True
            scores[~matching] = 0
        if keys is not None:
            scores[~self._organisation.tips.chunks.mask(keys)] = 0
        if match.adding:
            add_scores(scores, pairs[finding:], lengths, average)
        if all(each.is_exact for _, each in pairs):
            most = limit
            while True:  # not every chunk is of a page at a path
                best = best_rows(scores, most)
                hits = self._hits(best, scores[best], limit, within)
                if len(hits) >= limit or len(best) < most:
                    return hits
                most *= LIMIT_GROWTH
        best = best_rows(scores, max(CANDIDATES, CANDIDATES_PER_HIT * limit))
        exact = self._count(table, terms, found, best)
        parts = [
            term_scores(weight, occurrences, lengths[best], average)
            for weight, occurrences in zip(weights, exact, strict=True)
        ]
        none = np.zeros(len(best))
        return self._hits(
            best, sum(parts[:finding], none) + sum(parts[finding:], none), limit, within
        )

    def _find(
        self, match: RowMatch, terms: Sequence[Phrase], keys: Collection[PageKey] | None
    ) -> list[Found]:
        """Return the chunks that have each of the terms, and last those that meet the condition.

        Those of other pages than `keys` may be among them.
        """
        organisation, table = self._organisation, match.table
        query = OccurrenceQuery(table)
        tips = organisation.tips
        scope = ""
        if keys is not None:
            query.values["of"] = [repository for repository, _ in keys]
            query.values["blobs"] = [bytes.fromhex(blob) for _, blob in keys]
            scope = (
                " and (repository, blob) in"
                " (select * from unnest(%(of)s::int[], %(blobs)s::bytea[]))"
            )
        ready = self._found if keys is not None else {**self._estimated, **self._found}
        for number, term in enumerate(terms):
            if (term, table) in ready:
                continue
            word, chunks = _word_of(term, table), self._frequencies.get((term, table), 0)
            is_adding = number >= len(match.terms) and chunks > MAX_COUNTED
            if is_adding and (word is None or tips.unlisted):
                continue  # it is counted in the best chunks
            if word is not None and tips.listed:
                query.add_word(number, word, self._listed_condition())
            if word is None or tips.unlisted:
                readable = organisation.readable(min(chunks, MAX_ESTIMATED))
                readable = readable if word is None else "repository = any(%(unlisted)s)"
                query.add_phrase(number, term, readable + scope, is_common=chunks > MAX_ESTIMATED)
        if match.condition is not None:
            compared = _where(match.condition, table, is_of_pages=False)
            readable = organisation.readable(MAX_ESTIMATED)
            query.add_condition(len(terms), match.condition, compared, readable + scope)
        rows = organisation.rows(query.sql, query.values, is_binary=True) if query.sql else []
        *found, matching = query.read(rows, len(terms) + 1, organisation.tips.chunks)
        known = [ready.get((term, table), new) for term, new in zip(terms, found, strict=True)]
        if keys is None:
            answered = {(term, table): each for term, each in zip(terms, known, strict=True)}
            self._found |= {what: each for what, each in answered.items() if each.is_exact}
        return [*known, matching]

    def _count(
        self, table: Table, terms: Sequence[Phrase], found: Sequence[Found], rows: Integers
    ) -> list[Floats]:
        """Return how often these chunks have each of the terms, counted where it was estimated."""
        chunks = self._organisation.tips.chunks
        numbers = [occurrences_in(each, rows, len(chunks)) for each in found[: len(terms)]]
        estimated = [place for place in range(len(terms)) if not found[place].is_exact]
        looked_for = [terms[place] for place in estimated]
        for place in estimated:
            numbers[place][:] = 0
        for row, words in self._words_of(table, looked_for, rows):
            for place in estimated:
                numbers[place][row] = count_occurrences(words, terms[place], table)
        return numbers

    def _words_of(
        self, table: Table, terms: Sequence[Phrase], rows: Integers
    ) -> Iterator[tuple[int, dict[str, Positions]]]:
        """Yield the numbers of rows, from 0, and where the words of terms are in their chunks."""
        chunks = self._organisation.tips.chunks.chunks_at(rows)
        positions, values = select_positions(terms, table, 0)
        found = self._organisation.rows(
            f"""
            select given.row, {positions}
            from unnest(%(rows)s::int[], %(of)s::int[], %(blobs)s::bytea[], %(numbers)s::int[])
                as given (row, repository, blob, number)
            join chunk c on c.repository = given.repository and c.blob = given.blob
                and c.number = given.number
            where {_tested("c.repository", "repositories")}
            """,  # noqa: S608  # ours
            {
                **values,
                "rows": [*range(len(rows))],
                "of": [chunk.repository for chunk in chunks],
                "blobs": [bytes.fromhex(chunk.blob) for chunk in chunks],
                "numbers": [chunk.number for chunk in chunks],
            },
        )
        for row, stored in found:
            yield row, read_positions(stored)

    def _hits(self, rows: Integers, scores: Floats, limit: int, within: Scope) -> list[TextHit]:
        """Return the best of these rows, equal ones by blob, chunk and repository."""
        chunks = self._organisation.tips.chunks.chunks_at(rows)
        ranked = sorted(
            (-score, chunk.blob, chunk.number, chunk.order, chunk.repository)
            for score, chunk in zip(scores.tolist(), chunks, strict=True)
            if score > 0
        )
        hits = (
            TextHit(path, blob, number, rank)
            for rank, blob, number, _, repository in ranked
            for path in self._organisation.paths_of(repository, blob)
            if within is None or path in within
        )
        return list(islice(hits, limit))


def _tested(column: str, parameter: str) -> str:
    """Return the condition that a repository is one of a parameter's, for which no index is used.

    The planner would look at each number of a constant list: 1 ms for 2,000, wherever it is named.
    """
    return f"({column} in (select unnest(%({parameter})s::int[]))) is true"


def _word_of(phrase: Phrase, table: Table) -> str | None:
    """Return the lexeme that a phrase is; None: it is more."""
    words = [*lexemes_of(phrase, table).values()]
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


def _columns(match: Match) -> frozenset[Column | None]:
    """Return the columns of the phrases of a match; None: any."""
    if isinstance(match, Phrase):
        return frozenset({match.column})
    if isinstance(match, AllOf | AnyOf):
        return frozenset[Column | None]().union(*map(_columns, match.parts))
    return _columns(match.included) | _columns(match.excluded)


class HubMeaning:
    """The vectors of the documents at the tips; see `SemanticRanking`."""

    def __init__(self, organisation: Organisation, model: EmbeddingModel) -> None:
        self._organisation = organisation
        self._model = model
        self._expected: dict[tuple[str, int], Future[list[NearHit]]] = {}

    def expect(self, text: str, limit: int, pool: Executor) -> None:
        """Look for the chunks nearest to a text while the database works."""
        if text:
            self._expected[text, limit] = pool.submit(self._nearest, text, limit)

    def nearest(self, text: str, limit: int, within: Scope = None) -> list[NearChunk]:
        """Return the chunks nearest to a text, best first, in the documents `within` if given."""
        organisation = self._organisation
        keys = None if within is None else set(organisation.keys_of(within).values())
        most = limit
        while True:
            expected = self._expected.get((text, most)) if keys is None else None
            hits = expected.result() if expected else self._nearest(text, most, keys)
            chunks = [
                NearChunk(path, hit.number, self._model.scale.read(hit.score))
                for hit in hits
                for path in organisation.paths_of(hit.repository, hit.blob)
                if within is None or path in within
            ]
            if len(chunks) >= limit or len(hits) < most:
                return chunks[:limit]
            most *= LIMIT_GROWTH

    def _nearest(
        self, text: str, limit: int, keys: Collection[PageKey] | None = None
    ) -> list[NearHit]:
        query = self._model.encode_query(text)
        if limit <= 0 or not query.rows.any():
            return []
        return nearest(self._organisation.tips.chunks, query, limit, keys)

    def similarity(self, text: str, names: Sequence[str]) -> Sequence[float]:
        """Return the cosine of each of these names with a text."""
        return similarity(self._model, text, names)

    def overlaps(self, text: str, passages: Sequence[str]) -> Sequence[float]:
        """Return how much of a text each passage has, in its words or near ones; []: unknown."""
        return overlaps(self._model, text, passages)
