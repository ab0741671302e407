"""The meaning leg: chunks close in meaning to what a query says.

It knows vectors by what they answer only: without the extra that computes them there is no numpy.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from ubp.core.model import FilePath
from ubp.search.fusion import RankedChunk, Ranking, make_ranking
from ubp.search.lexical import name_of
from ubp.search.query import Query

# Cosines in the bundled model. Of the paragraphs that answer a question of XQuAD a twentieth are
# below 0.21 and a tenth below 0.26, of JSQuAD 0.32 and 0.37. Of questions about anything else half
# find nothing above 0.22, and a tenth nothing above 0.15. What is farther than that is not told
# unless it holds the words; what is not CLOSE may be chance, and says so.
FAR, CLOSE = 0.15, 0.25

# A page's title is part of what each of its chunks means. Where there is none, its file's name is
# its title, but no part of chunks, for vectors know no paths: so much of its cosine is added. Mean
# reciprocal rank of 33 sets of links, places and translations without their titles: 0.648 without,
# 0.658 with 0.1, 0.664 with 0.2 and 0.3, 0.663 with 0.5 (translations lose 0.036 then). nDCG@5 of
# 171 help pages with graded answers: 0.679, then 0.705 0.719 0.726 0.749.
NAME_SHARE = 0.3


class SimilarPage(Protocol):
    """A chunk of a page, and its cosine."""

    @property
    def path(self) -> FilePath:
        """The page."""

    @property
    def number(self) -> int:
        """The chunk's number in its page."""

    @property
    def score(self) -> float:
        """From -1 to 1."""


class SemanticRanking(Protocol):
    """The vectors of a snapshot's chunks (`View.semantic_index`)."""

    def nearest(
        self, text: str, limit: int, within: Collection[FilePath] | None = None
    ) -> Sequence[SimilarPage]:
        """The chunks nearest to a text, best first, in the pages `within` if these are given."""

    def similarity(self, text: str, names: Sequence[str]) -> Sequence[float]:
        """The cosine of each of these names with a text."""


def find_meaning(
    meaning: SemanticRanking, query: Query, limit: int, within: Collection[FilePath] | None
) -> Ranking:
    """The best `limit` chunks, in the pages `within` if these are given."""
    if not query.wording:
        return Ranking()
    near = meaning.nearest(query.wording, limit, within)
    places = [RankedChunk(one.path, one.number, one.score) for one in near]
    return make_ranking(places, is_cut=len(near) == limit and near[-1].score >= FAR)


def add_names(
    meaning: SemanticRanking, query: Query, leg: Ranking, untitled: Sequence[FilePath]
) -> Ranking:
    """The same leg with what the names of pages without a title mean."""
    if not untitled:
        return leg
    cosines = meaning.similarity(query.wording, list(map(name_of, untitled)))
    added = {
        path: NAME_SHARE * max(0.0, cosine) for path, cosine in zip(untitled, cosines, strict=True)
    }
    places = (
        one._replace(score=min(1.0, one.score + added.get(one.path, 0.0))) for one in leg.places
    )
    return make_ranking(sorted(places, key=lambda one: -one.score), is_cut=leg.is_cut)
