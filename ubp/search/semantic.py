"""The semantic ranking of a search: chunks close in meaning to a query.

Vectors are known by Protocols only: without the extra that computes them there is no numpy.
"""

from collections.abc import Sequence
from typing import Protocol

from ubp.core.model import FilePath
from ubp.search.fusion import RankedChunk, Ranking, make_ranking
from ubp.search.lexical import name_of
from ubp.search.query import Query
from ubp.search.searched import Scope

# Cosines in the bundled model. Of the paragraphs that answer a question of XQuAD a twentieth are
# below 0.24 and a tenth below 0.30. For questions about something else half of the best cosines of
# 20 paragraphs are below 0.24 and a tenth below 0.17. Documents below MIN_COSINE are listed only if
# they contain the words; a cosine below CLOSE_COSINE may be chance, and the output says so.
MIN_COSINE, CLOSE_COSINE = 0.17, 0.3

# A document's title is part of the vector of each of its chunks. Without a title the name of its
# file stands in, but is not in the vectors, as they are independent of paths: this share of the
# name's cosine is added. Mean reciprocal rank of 33 sets of links, places and translations without
# their titles: 0.648 without, 0.658 with 0.1, 0.664 with 0.2 and 0.3, 0.663 with 0.5 (translations
# lose 0.036 then). nDCG@5 of 171 help pages with graded answers: 0.679, then 0.705 0.719 0.726
# 0.749.
NAME_SHARE = 0.3


class SimilarPage(Protocol):
    """A chunk of a document, and its cosine."""

    @property
    def path(self) -> FilePath:
        """The document."""

    @property
    def number(self) -> int:
        """The chunk's number in its document."""

    @property
    def score(self) -> float:
        """From -1 to 1."""


class SemanticRanking(Protocol):
    """The vectors of a snapshot's chunks (`View.semantic_index`)."""

    def nearest(self, text: str, limit: int, within: Scope = None) -> Sequence[SimilarPage]:
        """Return the chunks nearest to a text, best first, in the documents `within` if given."""

    def similarity(self, text: str, names: Sequence[str]) -> Sequence[float]:
        """Return the cosine of each of these names with a text."""

    def overlaps(self, text: str, passages: Sequence[str]) -> Sequence[float]:
        """Return how much of a text each passage has, in its words or near ones; []: unknown."""


def find_meaning(meaning: SemanticRanking, query: Query, limit: int, within: Scope) -> Ranking:
    """Return the best `limit` chunks, in the documents `within` if given."""
    if not query.wording:
        return Ranking()
    nearest = meaning.nearest(query.wording, limit, within)
    chunks = [RankedChunk(chunk.path, chunk.number, chunk.score) for chunk in nearest]
    is_cut = len(nearest) == limit and nearest[-1].score >= MIN_COSINE
    return make_ranking(chunks, is_cut=is_cut, min_score=MIN_COSINE)


def add_names(
    meaning: SemanticRanking, query: Query, ranking: Ranking, untitled: Sequence[FilePath]
) -> Ranking:
    """Return the ranking with a share of the cosines of untitled documents' names added."""
    if not untitled:
        return ranking
    cosines = meaning.similarity(query.wording, list(map(name_of, untitled)))
    added = {
        path: NAME_SHARE * max(0.0, cosine) for path, cosine in zip(untitled, cosines, strict=True)
    }
    chunks = [
        chunk._replace(score=min(1.0, chunk.score + added.get(chunk.path, 0.0)))
        for chunk in ranking.places
    ]
    chunks.sort(key=lambda chunk: -chunk.score)
    return make_ranking(chunks, is_cut=ranking.is_cut, min_score=ranking.min_score)
