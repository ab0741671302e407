"""Fuse again what a search has found, with other weights: a search a question, not one a weight."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from benchmarks.search.retrieval import DEPTH
from ubp.search import fusion, pages
from ubp.search.fusion import Fused, FusionInput, RankingScores
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages
from ubp.workspace import Workspace


class Found(NamedTuple):
    """What the legs of a hybrid search said, and what was known about the query."""

    legs: RankingScores
    asked: FusionInput

    def fuse(self, *, words: float | None = None, links: float | None = None) -> list[Fused]:
        """The pages that a search with these shares finds, the best first.

        The pages that links are followed from stay those of the shares in use.
        """
        with _shares(words, links):
            return fusion.fuse(self.legs, self.asked)


def find(workspace: Workspace, query: str) -> Found:
    """Search, and keep what is fused."""
    found = []

    def keep(legs: RankingScores, asked: FusionInput) -> list[Fused]:
        found.append(Found(legs, asked))
        return fusion.fuse(legs, asked)

    pages.fuse = keep  # type: ignore[attr-defined]  # the search fuses through this name
    try:
        search_pages(workspace.session, PageQuery(query, limit=DEPTH))
    finally:
        pages.fuse = fusion.fuse  # type: ignore[attr-defined]
    return found[-1] if found else Found(RankingScores(), FusionInput())


@contextmanager
def _shares(words: float | None, links: float | None) -> Iterator[None]:
    usual = fusion.WORDS_SHARE, fusion.LINKS_SHARE
    fusion.WORDS_SHARE = usual[0] if words is None else words
    fusion.LINKS_SHARE = usual[1] if links is None else links
    try:
        yield
    finally:
        fusion.WORDS_SHARE, fusion.LINKS_SHARE = usual
