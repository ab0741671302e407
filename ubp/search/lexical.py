"""The lexical ranking of a search: chunks, and names of files, that contain a query's words.

The common terms of a query cost the most time and say the least: rare terms find the chunks, all
of them rank what was found. The names of files are facts of paths, so the full text, which is keyed
by blobs, does not contain them; words in them are added to the rank.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate
from math import log
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.core.text import is_cjk
from ubp.index.fulltext import TextHit
from ubp.index.match import AnyOf, Column, Match, Phrase, any_of
from ubp.index.store.fulltext import MIN_WEIGHT, SATURATED, RowMatch, odds
from ubp.index.store.tokenizer import Table
from ubp.search.fusion import RankedChunk, Ranking, make_ranking
from ubp.search.match import find_stems, find_term, normalize_text, stem, stemmed_word
from ubp.search.query import Cut, Or, Query, UnknownWord, Wanted, make_match, terms_in
from ubp.search.searched import Names, Scope, Words
from ubp.search.terms import Term

# These files are about what their folder is named after.
FOLDER_PAGES = frozenset({"readme", "index", "_index"})

# A word in a larger share of the names says nothing, and takes long.
COMMON, MIN_COMMON = 0.05, 50

# The commonest characters of Japanese: nearly all Japanese sections contain one of them, and no
# others do.
JAPANESE, MIN_JAPANESE_SHARE = (Term("の"), Term("す"), Term("る")), 1 / 2

# A match costs 0.7 to 1.2 µs to rank and 0.03 to count. A term in more than an eighth of the chunks
# says little (BM25 weighs it less than half of one in a thousandth), and is half of the matches of
# a natural question: it finds no chunks, but ranks all that the other terms find. In 90,000
# chunks none of the best 100 was missed for the questions tried, in a third of the time.
# Up to 2,400 chunks the minimum applies: compared with 1,000 it saves a tenth of the time
# (5,000 chunks), and over seven sets of headings and links changes Recall@5 by -0.0005 and MRR@10
# by +0.0004.
COMMON_SHARE, MIN_COMMON_ROWS = 1 / 8, 300
# BM25 gives nothing for a term in more than half of the chunks.
WORTHLESS_SHARE = 1 / 2
# A term worth less than this share of the rarest one is not worth showing: "is", "how".
MIN_SHOWN = 1 / 3
# Words that say nothing about a page however rare they are: in code documentation "I" is.
_STOP_WORD_LIST = """
a about an and any are as at be been but by can could did do does for from had has have he
her his how i if in into is it its me my no not of on or our she should so some than that
the their them then there these they this those to was we were what when where which who
whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())
# However many terms are left: 64 bigrams of a pasted sentence find half of 90,000 chunks. Of a
# single term that more contain, the chunks with it in a title, heading or alias are ranked, if they
# are enough: those weigh as much as several in the text.
MAX_MATCHES = 30_000
NAMING: tuple[Column, ...] = ("title", "headings", "aliases")

# A part of at most so many words is searched for as these: `okenizes` as `tokenizes`.
MAX_UNKNOWN = 3  # words that are compared with all others
MAX_LONGER_WORDS = 4

# The number of best chunks whose order the names of files may change. Each costs 20 µs.
FETCHED = 30


class Weights(NamedTuple):
    """The weights of words in title, headings, body, aliases, and in the name of a file."""

    columns: tuple[int, int, int, int]
    file_name: float


# benchmarks/search/search_weights.py: mean reciprocal rank of the page that is meant, for 300
# titles, 147 headings and 300 labels of links in obsidian-hub, and 300 titles and 170 headings in
# external_brain_in_markdown (Japanese). Names help to find a page, and hurt in finding a place in
# one. For questions of XQuAD and JSQuAD all weights give the same results.
#   1, 1, 1, 1 and 0     0.953 0.598 0.892   0.868 0.802
#   4, 2, 1, 4 and 0     0.962 0.592 0.910   0.963 0.806
#   4, 8, 1, 4 and 0     0.962 0.705 0.906   0.959 0.850
#   4, 8, 1, 4 and 0.25  0.968 0.620 0.967
#   4, 4, 1, 4 and 0.25  0.970 0.597 0.968   0.986 0.810
#   4, 4, 1, 4 and 1     0.969 0.578 0.971   0.995 0.801
WEIGHTS = Weights((4, 8, 1, 4), 0.25)


class Ranked(NamedTuple):
    """A place that matches; `chunk` is None if only the name of the file does."""

    path: FilePath
    rank: float
    chunk: TextHit | None


class LexicalRanking(NamedTuple):
    """The places that match, best first; `is_cut`: there may be more.

    `match` is what was looked for, `terms` what places may contain of it,
    `informative` the terms that distinguish them, `cuts` what was searched for in pieces,
    `unknown` the words that no section contains;
    `max_score` is the highest possible BM25, 0 if unknown; `is_foreign`: the query is in English,
    most sections are Japanese; `lacks_language`: so, or the other way round; `weights` are what the
    terms tell, those that no section contains too, stop words apart.
    """

    places: tuple[Ranked, ...] = ()
    is_cut: bool = False
    match: Match | None = None
    terms: tuple[Term, ...] = ()
    informative: tuple[Term, ...] = ()
    cuts: tuple[Cut, ...] = ()
    max_score: float = 0.0
    is_foreign: bool = False
    lacks_language: bool = False
    weights: Mapping[Term, float] = {}
    unknown: tuple[UnknownWord, ...] = ()


class TermPartition(NamedTuple):
    """The terms that find chunks, those that rank them, and (rarest first) those worth showing.

    `max_score` is the BM25 that a chunk full of all terms approaches; `weights` are those of all
    terms except stop words: unlike BM25's, they are above zero for every term.
    """

    finding: tuple[Term, ...]
    ranking: tuple[Term, ...]
    informative: tuple[Term, ...]
    max_score: float
    weights: Mapping[Term, float]


class FileNames:
    """The names of documents' files, searchable for terms.

    All names are in one text, so that a term is searched for once, not once per document: 26,000
    Japanese names take 20 ms to build and 1 ms per term.
    """

    def __init__(self, paths: Iterable[FilePath], *, is_indexed: bool = False) -> None:
        """Search the names of these files; `is_indexed`: with an index, for many searches."""
        self.paths = list(paths)
        self._is_indexed = is_indexed
        text = "\n".join(_LINE_ENDS.sub(" ", name_of(path)) for path in self.paths)
        self._text = normalize_text(text)
        lines = self._text.split("\n")
        self._lengths = [max(1, len(line)) for line in lines]
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def score(self, terms: Sequence[Term]) -> dict[FilePath, float]:
        """Return the score of each document with a term in its name; see `score_names`."""
        return score_names([self], terms)

    def shares(self, term: Term, max_names: int) -> dict[int, float] | None:
        """Return which share of its name a term makes up, by the number of the document.

        None: more than `max_names` have it.
        """
        lines = self._lines(term, max_names)
        return (
            None
            if lines is None
            else {line: min(1.0, length / self._lengths[line]) for line, length in lines.items()}
        )

    def matching(self, terms: Iterable[Term]) -> set[FilePath]:
        """Return the documents with one of these terms in their names."""
        lines = (line for term in terms for line in self._lines(term, len(self.paths)) or ())
        return {self.paths[line] for line in lines}

    def equal(
        self, key: tuple[str, ...], key_of: Callable[[str], tuple[str, ...]]
    ) -> set[FilePath]:
        """Return the documents whose names have a key.

        Only names that begin as the key's first word does, or with no letter, are compared.
        """
        beginning = key[0][: max(1, len(key[0]) - 1)]
        lines = *self._beginning(beginning), *self._unlettered
        return {self.paths[line] for line in lines if key_of(self._line(line)) == key}

    @cached_property
    def _unlettered(self) -> tuple[int, ...]:
        """The lines that begin with neither a letter nor a digit: `_config`, `.well-known`."""
        starts = (match.start() for match in _UNLETTERED.finditer(self._text))
        return tuple(bisect_right(self._starts, start) - 1 for start in starts)

    def _beginning(self, beginning: str) -> Iterator[int]:
        """Yield the lines that begin so."""
        if self._text.startswith(beginning):
            yield 0
        start = self._text.find("\n" + beginning)
        while start >= 0:
            yield bisect_right(self._starts, start + 1) - 1
            start = self._text.find("\n" + beginning, start + 1)

    def _line(self, line: int) -> str:
        return self._text[self._starts[line] : self._starts[line + 1] - 1]

    def _lines(self, term: Term, max_names: int) -> dict[int, int] | None:
        """Return the lines with a term and its length there; None if there are too many."""
        if self._is_indexed and (word := stemmed_word(term)):
            found = self._forms.get(stem(word), {})
            return None if len(found) > max_names else found
        lengths: dict[int, int] = {}
        for start, end in find_term(self._text, term):
            line = bisect_right(self._starts, start) - 1
            if end <= self._starts[line] + self._lengths[line]:
                lengths.setdefault(line, end - start)
            if len(lengths) > max_names:
                return None
        return lengths

    @cached_property
    def _forms(self) -> dict[str, dict[int, int]]:
        """The lines with a form of each word, and the length of the first one there, by stem."""
        forms: dict[str, dict[int, int]] = {}
        for start, end, word_stem in find_stems(self._text):
            line = bisect_right(self._starts, start) - 1
            forms.setdefault(word_stem, {}).setdefault(line, end - start)
        return forms


def score_names(names: Sequence[FileNames], terms: Sequence[Term]) -> dict[FilePath, float]:
    """Return the score of each document with a term in its name, counted over all of these names.

    A rare term counts more, as in BM25: log(1 + (N - n + ½) / (n + ½)) for n of N names. It is
    multiplied by the share of the name that the term makes up.
    """
    scores: list[dict[int, float]] = [{} for _ in names]
    total = sum(len(part.paths) for part in names)
    max_names = max(MIN_COMMON, int(total * COMMON))
    for term in terms:
        shares: list[dict[int, float]] = []
        left = max_names
        for part in names:
            found = part.shares(term, left)
            if found is None:
                shares = []
                break
            shares.append(found)
            left -= len(found)
        count = sum(map(len, shares))
        weight = log(1 + (total - count + 0.5) / (count + 0.5))
        for of_part, found in zip(scores, shares, strict=False):
            for line, share in found.items():
                of_part[line] = of_part.get(line, 0.0) + weight * share
    return {
        part.paths[line]: score
        for part, of_part in zip(names, scores, strict=True)
        for line, score in of_part.items()
    }


class JoinedNames:
    """The names of several repositories' documents, as if they were one list."""

    def __init__(self, parts: Sequence[FileNames]) -> None:
        self._parts = parts

    @property
    def paths(self) -> list[FilePath]:
        """The paths of all documents."""
        return [path for part in self._parts for path in part.paths]

    def score(self, terms: Sequence[Term]) -> dict[FilePath, float]:
        """Return the score of each document with a term in its name."""
        return score_names(self._parts, terms)

    def matching(self, terms: Iterable[Term]) -> set[FilePath]:
        """Return the documents with one of these terms in their names."""
        listed = list(terms)
        return {path for part in self._parts for path in part.matching(listed)}

    def equal(
        self, key: tuple[str, ...], key_of: Callable[[str], tuple[str, ...]]
    ) -> set[FilePath]:
        """Return the documents whose names have a key."""
        return {path for part in self._parts for path in part.equal(key, key_of)}


class Corpus(NamedTuple):
    """The texts of documents and the names of their files; only those `within` count, None: all."""

    full_text: Words
    names: Names
    within: Scope = None


def find_words(corpus: Corpus, query: Query, limit: int) -> tuple[Ranking, LexicalRanking]:
    """Rank chunks, at least the best `limit`, by any word of a query.

    AND and exclusions apply to whole documents and are already in `corpus.within` (see `scope`).
    """
    tree = query.included
    if tree is not None and not isinstance(tree, Or):
        tree = Or(tuple(dict.fromkeys(terms_in(tree))))
    lexical = rank(corpus, query._replace(tree=tree), limit)
    chunks = [
        RankedChunk(place.path, place.chunk.number if place.chunk else None, -place.rank)
        for place in lexical.places
    ]
    return make_ranking(chunks, is_cut=lexical.is_cut), lexical


def rank(corpus: Corpus, query: Query, limit: int, weights: Weights = WEIGHTS) -> LexicalRanking:
    """Return at least the `limit` best places."""
    if query.tree is None or limit < 1:
        return LexicalRanking()
    full_text, names, within = corpus
    wanted = make_match(
        query.tree, lambda term: full_text.has(term.phrase), has_pieces=query.has_pieces
    )
    is_plain = isinstance(query.tree, Or)
    table: Table = "stems" if query.is_stemmed else "words"
    if is_plain and query.has_pieces and not query.is_literal:
        wanted = with_longer_words(full_text, wanted, table)
    partition = partition_by_idf(full_text, wanted.terms, table) if is_plain else None
    fetched = max(limit, FETCHED)
    phrases = _phrases(wanted.terms)
    row_match = RowMatch(
        phrases,
        weights.columns,
        None if wanted.match == any_of(phrases) else wanted.match,
        table=table,
    )
    chunks = _find_chunks(corpus, row_match, fetched, partition)
    bonus = {
        path: weights.file_name * score
        for path, score in (names.score(wanted.terms) if weights.file_name else {}).items()
        if within is None or path in within
    }
    places = [
        Ranked(chunk.path, chunk.rank - bonus.get(chunk.path, 0.0), chunk) for chunk in chunks
    ]
    if is_plain:  # a document that the query excludes must not come back because of its name
        in_text = {chunk.path for chunk in chunks}
        by_name = [Ranked(path, -score, None) for path, score in bonus.items()]
        places += _first([place for place in by_name if place.path not in in_text], FETCHED)
    foreign = is_foreign(full_text, query)
    return LexicalRanking(
        places=tuple(sorted(places, key=_rank_and_path)),
        is_cut=len(chunks) >= fetched,
        match=wanted.match,
        terms=wanted.terms,
        informative=partition.informative if partition else wanted.terms,
        cuts=wanted.cuts,
        max_score=partition.max_score if partition else 0.0,
        is_foreign=foreign,
        lacks_language=foreign or lacks_japanese(full_text, wanted.terms, table),
        weights=partition.weights if partition else {},
        unknown=wanted.unknown,
    )


def with_longer_words(full_text: Words, wanted: Wanted, table: Table) -> Wanted:
    """Return a query in which words that no section contains are those that contain them.

    Those that are like no such word are `unknown`, if another word is like them.
    """
    terms: list[Term] = []
    cuts = list(wanted.cuts)
    unknown: list[UnknownWord] = []
    existing = {term for term in wanted.terms if full_text.frequency(term.phrase, table)}
    found = {term.written for term in existing}  # an identifier's parts, too
    for term in wanted.terms:
        is_part = _PART.fullmatch(term.written) and not (term.is_prefix or term.words)
        words: list[str] = []
        if is_part and term.written not in found:
            longer = full_text.words_with(term.written.lower(), MAX_LONGER_WORDS)
            words = longer or []
            is_unknown = longer == [] and len(unknown) < MAX_UNKNOWN
            if is_unknown and (closest := full_text.similar_word(term.written.lower())):
                unknown.append(UnknownWord(term.written, closest))
        if words:
            cuts.append(Cut(term.written, tuple(words)))
        terms += [term._replace(written=word) for word in words] or [term]
    if len(cuts) == len(wanted.cuts):
        return wanted._replace(unknown=tuple(unknown))
    match = any_of(term.phrase for term in terms)
    return Wanted(match, tuple(dict.fromkeys(terms)), tuple(cuts), tuple(unknown))


def partition_by_idf(
    full_text: Words, terms: Sequence[Term], table: Table = "words"
) -> TermPartition:
    """Partition the terms of a query that are joined by OR; a single term is in every part."""
    frequencies = {term: full_text.frequency(term.phrase, table) for term in terms}
    size = full_text.size()
    weights = (max(MIN_WEIGHT, log(odds(count, size))) for count in frequencies.values())
    max_score = SATURATED * sum(weights)
    worth = {term: log(1 + odds(count, size)) for term, count in frequencies.items()}
    telling = {
        term: weight for term, weight in worth.items() if term.written.lower() not in STOP_WORDS
    }
    if len(terms) == 1:
        return TermPartition(tuple(terms), tuple(terms), tuple(terms), max_score, telling)
    finding: list[Term] = []
    matches = 0
    existing = [term for term in terms if frequencies[term]]
    by_frequency = sorted(
        existing or terms, key=lambda term: (frequencies[term], terms.index(term))
    )
    for term in by_frequency:
        matches += frequencies[term]
        is_rare = frequencies[term] <= max(MIN_COMMON_ROWS, size * COMMON_SHARE)
        if finding and not (is_rare and matches <= MAX_MATCHES):
            break
        finding.append(term)
    shown = [term for term in existing if term in telling] or existing
    min_worth = max((worth[term] for term in shown), default=0.0) * MIN_SHOWN
    return TermPartition(
        tuple(term for term in terms if term in finding),
        tuple(
            term
            for term in existing
            if term in finding or frequencies[term] <= size * WORTHLESS_SHARE
        ),
        tuple(
            term
            for term in sorted(shown, key=lambda term: -worth[term])
            if worth[term] >= min_worth
        ),
        max_score,
        telling,
    )


def is_foreign(full_text: Words, query: Query) -> bool:
    """Return whether a query is English, two plain words at least, and most sections Japanese.

    Names from code (`std::vector`, useState, JSON) occur in any language. The words of a Japanese
    query that English documents contain are such names, and need no care: of 200 headings of
    FastAPI's Japanese documentation hybrid finds 0.915 of the English pages among the first five if
    words count half, 0.905 with FOREIGN_SHARE (`benchmarks/search/retrieval.py`).
    """
    if not _ENGLISH.fullmatch(query.wording):
        return False
    japanese = max(full_text.frequency(term.phrase) for term in JAPANESE)
    return japanese > full_text.size() * MIN_JAPANESE_SHARE


def lacks_japanese(full_text: Words, terms: Sequence[Term], table: Table) -> bool:
    """Return whether a query has Japanese words, and no section contains any of them.

    What is left are names: all pages about FastAPI contain "FastAPI".
    """
    japanese = [term for term in terms if any(map(is_cjk, term.written))]
    return bool(japanese) and not any(full_text.frequency(term.phrase, table) for term in japanese)


def name_of(path: FilePath) -> str:
    """Return the name of a file without its suffix, or its folder's for a README or index."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder.rpartition("/")[2] or stem if stem.lower() in FOLDER_PAGES else stem


def _find_chunks(
    corpus: Corpus, match: RowMatch, limit: int, partition: TermPartition | None
) -> list[TextHit]:
    full_text, _, within = corpus
    rare = match
    if partition and (finding := _phrases(partition.finding)) != match.terms:
        adding = [term for term in _phrases(partition.ranking) if term not in finding]
        rare = match._replace(terms=finding, condition=None, adding=adding)
    if rare.condition is None and len(rare.terms) == 1:
        (term,) = rare.terms
        if full_text.frequency(term, match.table) > MAX_MATCHES:
            named = AnyOf(tuple(term._replace(column=column) for column in NAMING))
            chunks = full_text.search(rare._replace(condition=named), limit, within)
            if len(chunks) >= limit:
                return chunks
    if rare is not match:
        chunks = full_text.search(rare, limit, within)
        if len(chunks) >= min(limit, FETCHED):
            return chunks
    return full_text.search(match, limit, within)


def _phrases(terms: Iterable[Term]) -> list[Phrase]:
    return list(dict.fromkeys(term.phrase for term in terms))


def _first(places: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Return the first places, sorted; comparing thousands of paths would take long."""
    last = max(nsmallest(limit, (place.rank for place in places)), default=0.0)
    return sorted((place for place in places if place.rank <= last), key=_rank_and_path)[:limit]


def _rank_and_path(place: Ranked) -> tuple[float, FilePath]:
    return place.rank, place.path


_PART = re.compile(r"[A-Za-z_]{3,}")
_LINE_ENDS = re.compile(r"[\r\n]")
_UNLETTERED = re.compile(r"^(?:[^\w\n]|_)", re.MULTILINE)
_PLAIN_WORD = r"[A-Z]?[a-z]+(?:[-'][A-Za-z][a-z]*)*"
_ENGLISH = re.compile(f"{_PLAIN_WORD}(?: {_PLAIN_WORD})+")
