"""One score a page, of what its words, its meaning and its links say. Pure.

Words and meaning are taken for what they are, not for what they are beside the best page's: how
much a page holds of what BM25 could find in it, and a cosine. So a leg that has found nothing good
says little: where a query's words are hardly anywhere (it is in another language, say), they fall.
The sum is the plainest there is, and nothing in it was fitted but that neither counts more.

What a leg of a search finds: places in pages, and a score for each page.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ubp.core.model import FilePath

# Recall@5 and mean reciprocal rank (at 10), means of 51 sets: texts of links, headings, headings of
# translations, questions, English and Japanese (benchmarks/retrieval.py). In how many of the 102
# cases hybrid is clearly better and clearly worse than the better of its legs:
#   words 0.675 0.547, meaning 0.651 0.513
#   by the best page's (words) and from the hundredth's (cosine), half each   0.727 0.588   19  12
#   as they are, half each                                                    0.741 0.603   35   3
# With vectors of cleaner text and page-wide words, words 0.7 of the first 0.736 0.596, 0.59 of the
# second 0.749 0.607, half 0.750 0.608, 0.45 0.747 0.607: shares beside a half change little.
# Squares, roots and products of the two change the third digit only.
WORDS_SHARE = 0.5
# Where a query's words are foreign to the pages, what few of them are found there mislead. Mean
# reciprocal rank of 600 English headings over their Japanese translations: half 0.725, 0.3 0.761,
# 0.25 0.768, 0.2 0.771, none 0.768; of the other sets with English queries over Japanese pages
# 0.579 0.578 0.578 0.578 0.576. Hybrid is clearly worse than a leg in one of 102 cases then, in 4
# with half.
FOREIGN_SHARE = 0.25
# What links can fill of the gap between a page's score and 1 (benchmarks/graph_leg.py). Of 1,151
# questions in ten sets of natural pages, with none, 0.05, 0.1, 0.2, 0.4: Recall@10 0.831 0.835
# 0.841 0.843 0.844, MRR@10 0.626 0.627 0.627 0.625 0.621; of their 102 answers of which words and
# meaning tell little, Recall@10 0.088 0.127 0.167 0.206 0.216. A page that links alone have found
# stands before one of the first three 0, 0, 2, 28 times. Of pages that the section with the heading
# asked for leads to (482, five repositories), Recall@10 0.47 0.49 0.51 0.55 0.61, for no more than
# 0, 1, 19, 56 such pushes. To cap what links lift at the third direct hit gained nothing over 0.1.
LINKS_SHARE = 0.1


class RankingScores(NamedTuple):
    """What each leg says about pages; it may leave out those of which it says nothing.

    `words` are positive (BM25), `meaning` cosines, `links` proximities to the best hits (0..1). The
    larger the better.
    """

    words: Mapping[FilePath, float] = {}
    meaning: Mapping[FilePath, float] = {}
    links: Mapping[FilePath, float] = {}


class FusionInput(NamedTuple):
    """What is known about a query.

    `most_words` is the BM25 that no page could exceed, 0 where it is not known; `is_foreign`: the
    query's language is not the pages'.
    """

    most_words: float = 0.0
    is_foreign: bool = False


class Fused(NamedTuple):
    """A page's score, 0 to 1, and what of it each leg gave; None: the leg did not find it."""

    path: FilePath
    score: float
    words: float | None
    meaning: float | None
    links: float | None


def words_share(legs: RankingScores, asked: FusionInput) -> float:
    """How much of a page's direct score its words are; the rest is its meaning."""
    if not (legs.words and legs.meaning):
        return float(bool(legs.words))
    return FOREIGN_SHARE if asked.is_foreign else WORDS_SHARE


def fuse(legs: RankingScores, asked: FusionInput) -> list[Fused]:
    """Pages by score, the best first; equal ones by their words, then by path."""
    # Words alone need no measure that others understand: the best page's will do.
    most = asked.most_words if legs.meaning else 0.0
    most = most or max(legs.words.values(), default=1.0)
    # What words in a file's name add may lead beyond what BM25 could find.
    words = {path: min(1.0, score / most) for path, score in legs.words.items()}
    meaning = {path: min(1.0, max(0.0, cosine)) for path, cosine in legs.meaning.items()}
    # A page that meaning has not named is no nearer than the last one that it has.
    least = min(meaning.values(), default=0.0)
    share = words_share(legs, asked)
    found = []
    for path in {*words, *meaning, *legs.links}:
        direct = share * words.get(path, 0.0) + (1 - share) * meaning.get(path, least)
        links = legs.links.get(path)
        score = direct + (1 - direct) * LINKS_SHARE * (links or 0.0)
        found.append(Fused(path, score, words.get(path), meaning.get(path), links))
    return sorted(found, key=lambda one: (-one.score, -legs.words.get(one.path, 0.0), one.path))


class RankedChunk(NamedTuple):
    """A chunk of a page, or (`number` None) a page as a whole; larger scores are better."""

    path: FilePath
    number: int | None
    score: float


class Ranking(NamedTuple):
    """What a leg finds, the best places first; a page's score is its best place's.

    `is_cut`: it would find more if it were asked for more.
    """

    places: tuple[RankedChunk, ...] = ()
    scores: Mapping[FilePath, float] = {}
    is_cut: bool = False

    def within(self, paths: Collection[FilePath] | None) -> "Ranking":
        """What of it lies in these pages; None: all of it."""
        if paths is None:
            return self
        return make_ranking((one for one in self.places if one.path in paths), is_cut=self.is_cut)


def make_ranking(places: Iterable[RankedChunk], *, is_cut: bool = False) -> Ranking:
    """The leg with these places, the best first."""
    found = tuple(places)
    scores: dict[FilePath, float] = {}
    for place in found:
        scores.setdefault(place.path, place.score)
    return Ranking(found, scores, is_cut)
