"""The workspace's questions that search the pages.

What answers them is imported when they are asked: `ubp stale` needs none of it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ubp.model import Assessment, FilePath
from ubp.reading import Reading
from ubp.rooms import Question

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.search.answers import PageAnswer, SectionAnswer


class FoundPages(NamedTuple):
    """What a search found, and what became of the sources of those pages."""

    answer: "PageAnswer"
    assessments: Mapping[FilePath, Assessment]


class Searching(Reading):
    """The part of a workspace that finds pages."""

    def search(self, query: str, *, limit: int = 10, ref: str | None = None) -> FoundPages:
        """The pages that answer a query best, with their best sections."""
        from ubp.search.answers import find_pages

        view = self.view(Question(ref))
        answer = find_pages(view, query, limit)
        paths = [hit.page.filepath for hit in answer.pages]
        return FoundPages(answer, self._assessments(view, paths))

    def search_sections(
        self, query: str, *, limit: int = 10, ref: str | None = None
    ) -> "SectionAnswer":
        """The sections that hold a query's words, the best first."""
        from ubp.search.answers import find_sections

        return find_sections(self.view(Question(ref)), query, limit)
