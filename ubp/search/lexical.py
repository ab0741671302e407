"""Words in the names of files: a fact of paths, which the full text, keyed by blobs, has not. Pure.

All names stand in one text, so that a term is looked for once, not once a page: 26,000 Japanese
names take 20 ms to lay out and 1 ms a term.

Whether a query is in another language than the pages it is asked of.

What a query's terms are worth, and which of them find chunks: the commonest cost most.

The words leg: the chunks that hold a query's words, the best first.

The words leg: pages whose chunks, or whose files' names, hold a query's words.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from math import log
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.index.fulltext import FullTextSearch, TextHit
from ubp.index.store.fulltext import RowMatch as Asked
from ubp.index.store.fulltext import Table
from ubp.search.fusion import RankedChunk, Ranking, make_ranking
from ubp.search.match import find_term, normalize_text
from ubp.search.query import Cut, Node, Or, Query, any_of, terms_in, write_match
from ubp.search.terms import Term

# What such a file is about, the folder's name tells.
FOLDER_PAGES = frozenset({"readme", "index"})

# A word in more names than that share of them tells nothing, and takes long.
COMMON, MIN_COMMON = 0.05, 50


class FileNames:
    """The names of pages, to be asked for terms."""

    def __init__(self, paths: Iterable[FilePath]) -> None:
        self.paths = list(paths)
        text = "\n".join(_LINE_ENDS.sub(" ", name_of(path)) for path in self.paths)
        self._text = normalize_text(text)
        lines = self._text.split("\n")
        self._lengths = [max(1, len(line)) for line in lines]
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def score(self, terms: Sequence[Term]) -> dict[FilePath, float]:
        """For each page with a term in its name, how telling that is.

        As in BM25 a rare term tells more: log(1 + (N - n + ½) / (n + ½)), for n of N names that
        have it. It counts by the share of the name that it makes up.
        """
        scores: dict[FilePath, float] = {}
        most = max(MIN_COMMON, int(len(self.paths) * COMMON))
        for term in terms:
            found = self._lines(term, most)
            weight = log(1 + (len(self.paths) - len(found) + 0.5) / (len(found) + 0.5))
            for line, length in found.items():
                path = self.paths[line]
                share = min(1.0, length / self._lengths[line])
                scores[path] = scores.get(path, 0.0) + weight * share
        return scores

    def holding(self, terms: Iterable[Term]) -> set[FilePath]:
        """The pages with one of these terms in their names."""
        lines = (line for term in terms for line in self._lines(term, len(self.paths)))
        return {self.paths[line] for line in lines}

    def _lines(self, term: Term, most: int) -> dict[int, int]:
        """The lines that hold a term, and how long it is there; none if more than `most` do."""
        found: dict[int, int] = {}
        for start, end in find_term(self._text, term):
            line = bisect_right(self._starts, start) - 1
            if end <= self._starts[line] + self._lengths[line]:
                found.setdefault(line, end - start)
            if len(found) > most:
                return {}
        return found


def name_of(path: FilePath) -> str:
    """What the name of a page's file says it is about."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder.rpartition("/")[2] or stem if stem.lower() in FOLDER_PAGES else stem


_LINE_ENDS = re.compile(r"[\r\n]")


# The commonest word of Japanese: of its sections nearly all have it, of others none.
OF_JAPANESE, MOST_SECTIONS = Term("の"), 1 / 2


def is_foreign(full_text: FullTextSearch, query: Query) -> bool:
    """Whether it is English, two plain words at least, and most sections are Japanese.

    Names from code (`std::vector`, useState, JSON) are at home in any language. What is Japanese
    finds next to no words of English pages, and needs no care.
    """
    if not _ENGLISH.fullmatch(query.wording):
        return False
    return full_text.frequency(OF_JAPANESE.expression) > full_text.size() * MOST_SECTIONS


_PLAIN = r"[A-Z]?[a-z]+(?:[-'][A-Za-z][a-z]*)*"
_ENGLISH = re.compile(f"{_PLAIN}(?: {_PLAIN})+")


# A match costs 0.7 to 1.2 µs to rank and 0.03 to count. A term in more than an eighth of the chunks
# says little (BM25 weighs it less than half of one in a thousandth), and is half of the matches of
# a natural question: it finds nothing, but ranks what the others find. Of the best 100 chunks for
# questions over 90,000 that were looked at, none was missed so, in a third of the time.
# Of fewer chunks than 2,400 the least number counts: beside 1,000 it takes a tenth of the time away
# (5,000 chunks), and over seven sets of headings and links changes Recall@5 by -0.0005 and MRR@10
# by +0.0004.
COMMON_SHARE, MIN_COMMON_ROWS = 1 / 8, 300
# FTS5's BM25 gives nothing for a term in more than half of the chunks.
WORTHLESS = 1 / 2
# Beside a rare term one that is worth less than that share of it is not worth showing: "is", "how".
MIN_SHOWN = 1 / 3
# What FTS5's BM25 gives at most for a term of weight 1 (k1 + 1), and instead of no weight at all.
SATURATED, LEAST_WEIGHT = 2.2, 1e-6
# However many terms are left: 64 bigrams of a pasted sentence find half of 90,000 chunks.
MAX_MATCHES = 30_000


class TermPartition(NamedTuple):
    """The terms that find chunks, those that rank what is found, and (rarest first) tell why.

    `most` is the BM25 that a chunk comes near to that is full of all terms.
    """

    finding: tuple[Term, ...]
    ranking: tuple[Term, ...]
    telling: tuple[Term, ...]
    most: float


def partition_by_idf(
    full_text: FullTextSearch, terms: Sequence[Term], table: Table = "words"
) -> TermPartition:
    """Share a query's terms, any of which will do, out; a term alone does everything."""
    size = full_text.size()
    frequencies = {term: full_text.frequency(term.expression, table) for term in terms}
    most = SATURATED * sum(_weight(frequency, size) for frequency in frequencies.values())
    if len(terms) == 1:
        return TermPartition(tuple(terms), tuple(terms), tuple(terms), most)
    finding: list[Term] = []
    matches = 0
    held = [term for term in terms if frequencies[term]]
    for term in sorted(held or terms, key=lambda one: (frequencies[one], terms.index(one))):
        matches += frequencies[term]
        is_rare = frequencies[term] <= max(MIN_COMMON_ROWS, size * COMMON_SHARE)
        if finding and not (is_rare and matches <= MAX_MATCHES):
            break
        finding.append(term)
    ranking = [term for term in held if term in finding or frequencies[term] <= size * WORTHLESS]
    return TermPartition(
        tuple(term for term in terms if term in finding),
        tuple(ranking),
        _telling(held, [_worth(frequencies[term], size) for term in held]),
        most,
    )


def _weight(frequency: int, size: int) -> float:
    """A term's weight in FTS5's BM25."""
    return max(LEAST_WEIGHT, log(_odds(frequency, size)))


def _worth(frequency: int, size: int) -> float:
    """The same, above zero for every term."""
    return log(1 + _odds(frequency, size))


def _odds(frequency: int, size: int) -> float:
    return (max(size, frequency) - frequency + 0.5) / (frequency + 0.5)


def _telling(terms: Sequence[Term], worth: Sequence[float]) -> tuple[Term, ...]:
    least = max(worth, default=0.0) * MIN_SHOWN
    ordered = sorted(zip(worth, terms, strict=True), key=lambda one: -one[0])
    return tuple(term for value, term in ordered if value >= least)


class Weights(NamedTuple):
    """How much a word counts in title, headings, body and aliases; what one in a name adds."""

    columns: tuple[float, float, float, float]
    file_name: float


# benchmarks/search_weights.py: mean reciprocal rank of the page that is meant, for 300 titles, 147
# headings and 300 labels of links in obsidian-hub, and 300 titles and 170 headings in
# external_brain_in_markdown (Japanese). Names help whoever looks for a page, and hurt whoever
# looks for a place in one. Questions of XQuAD and JSQuAD are answered alike by all of them.
#   1, 1, 1, 1 and 0     0.953 0.598 0.892   0.868 0.802
#   4, 2, 1, 4 and 0     0.962 0.592 0.910   0.963 0.806
#   4, 8, 1, 4 and 0     0.962 0.705 0.906   0.959 0.850
#   4, 8, 1, 4 and 0.25  0.968 0.620 0.967
#   4, 4, 1, 4 and 0.25  0.970 0.597 0.968   0.986 0.810
#   4, 4, 1, 4 and 1     0.969 0.578 0.971   0.995 0.801
WEIGHTS = Weights((4.0, 8.0, 1.0, 4.0), 0.25)

# Among so many best ones by their words, names of files may change the order. Each costs 20 µs.
FETCHED = 30


class Ranked(NamedTuple):
    """A place that answers; `chunk` is None where only the file's name does."""

    path: FilePath
    rank: float
    chunk: TextHit | None


class LexicalRanking(NamedTuple):
    """Places, the best first; `is_cut`: there may be more.

    `expression` is what was looked for in FTS5's language, `terms` what places may hold of it,
    `telling` what of that tells them apart, `cuts` what was looked for in pieces; `most` is the
    BM25 that the best place could have, 0 where that is not known; `is_foreign`: the words are of
    another language than the pages.
    """

    places: tuple[Ranked, ...] = ()
    is_cut: bool = False
    expression: str = ""
    terms: tuple[Term, ...] = ()
    telling: tuple[Term, ...] = ()
    cuts: tuple[Cut, ...] = ()
    most: float = 0.0
    is_foreign: bool = False


class Corpus(NamedTuple):
    """What is asked: the words of pages, the names of their files; of those `within`, None: all."""

    full_text: FullTextSearch
    names: FileNames
    within: Collection[FilePath] | None = None


def rank(corpus: Corpus, query: Query, limit: int, weights: Weights = WEIGHTS) -> LexicalRanking:
    """Find at least the `limit` best places."""
    if query.tree is None or limit < 1:
        return LexicalRanking()
    match = write_match(
        query.tree,
        lambda term: corpus.full_text.has(term.expression),
        has_pieces=query.has_pieces,
    )
    is_plain = isinstance(query.tree, Or)
    table: Table = "stems" if query.is_stemmed else "words"
    shares = partition_by_idf(corpus.full_text, match.terms, table) if is_plain else None
    fetched = max(limit, FETCHED)
    asked = Asked(match.expression, weights.columns, table=table)
    chunks = _find_chunks(corpus, asked, fetched, shares)
    bonus = _bonus(corpus, match.terms, weights.file_name)
    found = [Ranked(c.path, c.rank - bonus.get(c.path, 0.0), c) for c in chunks]
    # A page that the query excludes must not come back because of its name.
    unseen = _by_name_alone(bonus, found) if is_plain else []
    places = tuple(sorted([*found, *unseen], key=lambda one: (one.rank, one.path)))
    is_cut = len(chunks) >= fetched
    telling, most = (shares.telling, shares.most) if shares else (match.terms, 0.0)
    found_by = LexicalRanking(
        places, is_cut, match.expression, match.terms, telling, match.cuts, most
    )
    return found_by._replace(is_foreign=is_foreign(corpus.full_text, query))


def _find_chunks(
    corpus: Corpus, asked: Asked, limit: int, shares: TermPartition | None
) -> list[TextHit]:
    full_text, _, within = corpus
    if shares:
        finding = any_of(shares.finding)
        if finding != asked.expression:
            known = {term.expression for term in shares.finding}
            more = dict.fromkeys(term.expression for term in shares.ranking)
            adding = [expression for expression in more if expression not in known]
            some = asked._replace(expression=finding, adding=adding)
            found = full_text.search(some, limit, within)
            if len(found) >= min(limit, FETCHED):
                return found
    return full_text.search(asked, limit, within)


def _bonus(corpus: Corpus, terms: Sequence[Term], weight: float) -> dict[FilePath, float]:
    """What words in its file's name add to a page."""
    scores = corpus.names.score(terms) if weight else {}
    within = corpus.within
    return {
        path: weight * score for path, score in scores.items() if within is None or path in within
    }


def _by_name_alone(bonus: Mapping[FilePath, float], places: Sequence[Ranked]) -> list[Ranked]:
    seen = {place.path for place in places}
    unseen = [Ranked(path, -score, None) for path, score in bonus.items() if path not in seen]
    return sorted(unseen, key=lambda one: (one.rank, one.path))[:FETCHED]


def find_words(corpus: Corpus, query: Query, limit: int) -> tuple[Ranking, LexicalRanking]:
    """The best `limit` chunks and more; `corpus.within` has seen to what the query demands.

    So any of its words will do: what a query excludes, or joins by AND, is a matter of whole pages
    here (`scope`).
    """
    tree = _any_of(query.wanted) if query.wanted is not None else None
    ranking = rank(corpus, query._replace(tree=tree), limit)
    places = [
        RankedChunk(one.path, one.chunk.number if one.chunk else None, -one.rank)
        for one in ranking.places
    ]
    return make_ranking(places, is_cut=ranking.is_cut), ranking


def _any_of(node: Node) -> Node:
    return node if isinstance(node, Or) else Or(tuple(dict.fromkeys(terms_in(node))))
