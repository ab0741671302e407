"""Rankings by words, meaning and links, and their fusion into one score per document. Pure.

Words and meaning count with their absolute scores, not relative to the best document: the share of
the BM25 that was possible, and a cosine. So a ranking without good results has little influence,
as when the query is in another language than the documents. The score is a plain weighted sum; of
its weights only the equal shares of words and meaning were fitted.
"""

from collections.abc import Collection, Iterable, Mapping
from math import exp
from operator import mul
from typing import NamedTuple

from ubp.core.model import FilePath

# Recall@5 and mean reciprocal rank (at 10), means of 51 sets: texts of links, headings, headings of
# translations, questions, English and Japanese (benchmarks/search/retrieval.py). In how many of the
# 102 cases hybrid is clearly better and clearly worse than the better of its rankings:
#   words 0.675 0.547, meaning 0.651 0.513
#   by the best page's (words) and from the hundredth's (cosine), half each   0.727 0.588   19  12
#   as they are, half each                                                    0.741 0.603   35   3
# With vectors of cleaner text and page-wide words, words 0.7 of the first 0.736 0.596, 0.59 of the
# second 0.749 0.607, half 0.750 0.608, 0.45 0.747 0.607: shares beside a half change little.
# Squares, roots and products of the two change the third digit only.
WORDS_SHARE = 0.5
# The words of a query in another language than the documents are found rarely and mislead. Mean
# reciprocal rank of 600 English headings over their Japanese translations: half 0.725, 0.3 0.761,
# 0.25 0.768, 0.2 0.771, none 0.768; of the other sets with English queries over Japanese pages
# 0.579 0.578 0.578 0.578 0.576. Then hybrid is clearly worse than a single ranking in one of 102
# cases, with half in 4.
FOREIGN_SHARE = 0.25
# The share of the gap between a score and 1 that links fill (benchmarks/search/graph_leg.py). Of
# 1,151 questions in ten sets of natural pages, with none, 0.05, 0.1, 0.2, 0.4: Recall@10 0.831
# 0.835 0.841 0.843 0.844, MRR@10 0.626 0.627 0.627 0.625 0.621; of their 102 answers of which words
# and meaning tell little, Recall@10 0.088 0.127 0.167 0.206 0.216. A page that links alone have
# found stands before one of the first three 0, 0, 2, 28 times. Of pages that the section with the
# heading asked for leads to (482, five repositories), Recall@10 0.47 0.49 0.51 0.55 0.61, for no
# more than 0, 1, 19, 56 such pushes. To cap what links lift at the third direct hit gained nothing
# over 0.1.
LINKS_SHARE = 0.1
# A page with a lower score that contains none of the words is not an answer.
WEAK_SCORE = 0.3
# A logistic regression of whether a document answers, by `Signs`: the constant, then each one's
# weight. Of 194 questions that seventeen repositories answer and 370 about others, both languages,
# what is below WEAK are 2 and 78 %, below DOUBTFUL 9 and 90 %; each repository by the constants of
# the sixteen others, 3 and 77 % (AUC 0.958; the score and COVERAGE 0.937, 3 and 67 %). The
# coverage of five documents, the lead of the first, all cosines' mean or deviation, the number of
# chunks, words that no document has, and the best three lines add nothing.
SIGNS = (-10.7, 10.4, 1.9, 8.4)
WEAK, DOUBTFUL = 0.2, 0.5
# What the overlap of these questions is in the mean, by the cosine. With it instead of the overlap,
# 6 and 73 % are below WEAK.
MEAN_OVERLAP = (0.1, 1.14)


class RankedChunk(NamedTuple):
    """A chunk of a document, or (`number` None) a document as a whole; larger scores are better."""

    path: FilePath
    number: int | None
    score: float


class Signs(NamedTuple):
    """What says that a document answers: each is between 0 and 1.

    The best cosine of any chunk, how much of the terms' weights the best section contains, and how
    much of the query's tokens, or ones close in meaning, one of the first documents' sections has
    (None: the model has no vectors of tokens).
    """

    cosine: float
    coverage: float
    overlap: float | None


class Ranking(NamedTuple):
    """What one ranker has found, best first; a document's score is that of its best place.

    `is_cut`: there may be more results. Documents below `min_score` need another reason to be
    shown.
    """

    places: tuple[RankedChunk, ...] = ()
    scores: Mapping[FilePath, float] = {}
    is_cut: bool = False
    min_score: float = 0.0

    def within(self, paths: Collection[FilePath] | None) -> "Ranking":
        """Return the part of the ranking in these documents; None: all of it."""
        if paths is None:
            return self
        places = (place for place in self.places if place.path in paths)
        return make_ranking(places, is_cut=self.is_cut, min_score=self.min_score)


class RankingScores(NamedTuple):
    """The scores of documents in each ranking; a ranking need not contain every document.

    `words` are positive (BM25), `meaning` cosines, `links` proximities to the best hits (0..1). The
    larger the better.
    """

    words: Mapping[FilePath, float] = {}
    meaning: Mapping[FilePath, float] = {}
    links: Mapping[FilePath, float] = {}


class FusionInput(NamedTuple):
    """What the fusion must know about a query.

    `max_words_score` is the BM25 that no document can exceed, 0 if unknown; `is_foreign`: the query
    is in another language than the documents; `is_absolute`: words alone count with their absolute
    scores, too, so that those of other queries compare.
    """

    max_words_score: float = 0.0
    is_foreign: bool = False
    is_absolute: bool = False


class Fused(NamedTuple):
    """A document's score, 0 to 1, and its normalized score in each ranking (None: not in it)."""

    path: FilePath
    score: float
    words: float | None
    meaning: float | None
    links: float | None


def make_ranking(
    places: Iterable[RankedChunk], *, is_cut: bool = False, min_score: float = 0.0
) -> Ranking:
    """Return the ranking of these places, which are sorted, best first."""
    ranked = tuple(places)
    scores: dict[FilePath, float] = {}
    for place in ranked:
        scores.setdefault(place.path, place.score)
    return Ranking(ranked, scores, is_cut, min_score)


def confidence(signs: Signs) -> float:
    """Return how probable it is that a document answers a query, from 0 to 1."""
    start, *weights = SIGNS
    overlap = signs.overlap
    if overlap is None:
        overlap = MEAN_OVERLAP[0] + MEAN_OVERLAP[1] * signs.cosine
    return 1 / (1 + exp(-start - sum(map(mul, weights, (*signs[:2], overlap)))))


def words_share(scores: RankingScores, query: FusionInput) -> float:
    """Return the share of words in a document's direct score; the rest is meaning."""
    if not (scores.words and scores.meaning):
        return float(bool(scores.words))
    return FOREIGN_SHARE if query.is_foreign else WORDS_SHARE


def fuse(scores: RankingScores, query: FusionInput) -> list[Fused]:
    """Return the documents by score, best first; equal ones by their words, then by path."""
    # Words on their own need no scale comparable with cosines: the best document's score will do.
    max_words = query.max_words_score if scores.meaning or query.is_absolute else 0.0
    max_words = max_words or max(scores.words.values(), default=1.0)
    # Words in a file's name are added to BM25, which may exceed the highest possible BM25.
    words = {path: min(1.0, score / max_words) for path, score in scores.words.items()}
    meaning = {path: min(1.0, max(0.0, cosine)) for path, cosine in scores.meaning.items()}
    # A document that is not in the semantic ranking is no nearer than the last one in it.
    min_meaning = min(meaning.values(), default=0.0)
    share = words_share(scores, query)
    fused = []
    for path in {*words, *meaning, *scores.links}:
        own_words, own_meaning = words.get(path), meaning.get(path)
        links = scores.links.get(path)
        direct = share * (own_words or 0.0) + (1 - share) * (
            min_meaning if own_meaning is None else own_meaning
        )
        score = direct + (1 - direct) * LINKS_SHARE * (links or 0.0)
        rank = -score, -scores.words.get(path, 0.0), path
        fused.append((rank, Fused(path, score, own_words, own_meaning, links)))
    return [document for _, document in sorted(fused)]
