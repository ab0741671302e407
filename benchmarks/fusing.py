"""Fuse again what a search has found, with other weights: a search a question, not one a weight."""

from collections.abc import Sequence

from ubp.search import fusion
from ubp.search.fusion import Asked, Fused, LegScores


def fuse_again(
    found: Sequence[Fused], *, words: float | None = None, links: float | None = None
) -> list[Fused]:
    """What a hybrid search would have found with these weights, the best first.

    The pages that links are followed from stay those of the search.
    """
    usual = fusion.WORDS_SHARE, fusion.LINKS_SHARE
    scores = LegScores(
        words={one.path: one.words for one in found if one.words is not None},
        meaning={one.path: one.meaning for one in found if one.meaning is not None},
        links={one.path: one.links for one in found if one.links is not None},
    )
    fusion.WORDS_SHARE = usual[0] if words is None else words
    fusion.LINKS_SHARE = usual[1] if links is None else links
    try:
        # What a page holds of the words is told as a share of all that it could hold.
        return fusion.fuse(scores, Asked(1.0))
    finally:
        fusion.WORDS_SHARE, fusion.LINKS_SHARE = usual
