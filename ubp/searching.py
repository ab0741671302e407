"""The workspace's questions that search the pages.

What answers them is imported when they are asked: `ubp stale` needs none of it.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ubp.errors import UbpError
from ubp.index import View
from ubp.model import Assessment, FilePath, LinkType
from ubp.reading import Reading
from ubp.rooms import Question

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.search.answers import SectionAnswer
    from ubp.search.file_names import FileNames
    from ubp.search.filters import Filters
    from ubp.search.linked import LinkedPage
    from ubp.search.meaning import Meaning
    from ubp.search.pages import Mode, PageAnswer, SearchType


class Fallback(NamedTuple):
    """Why no meaning was looked for, and what helps."""

    reason: str
    hint: str


class FoundPages(NamedTuple):
    """What a search found, and what is known of those pages.

    `assessments` tell what became of their sources, and of those of the pages in `linked`, which
    are the pages that they are linked with; `updated_at` when they were committed last (seconds).
    `search_type` is the mode, or that words and links alone answered, because of `fallback`.
    `milliseconds` is what each step took.
    """

    answer: "PageAnswer"
    search_type: "SearchType"
    fallback: Fallback | None
    assessments: Mapping[FilePath, Assessment]
    updated_at: Mapping[FilePath, int | None]
    linked: "Mapping[FilePath, tuple[LinkedPage, ...]]"
    milliseconds: Mapping[str, float]


class Searching(Reading):
    """The part of a workspace that finds pages."""

    _names: "FileNames | None" = None

    def search(  # noqa: PLR0913  # the API's options, all of them named
        self,
        query: str,
        *,
        mode: "Mode" = "hybrid",
        limit: int = 10,
        doc_types: Collection[str] = (),
        tags: Collection[str] = (),
        link_types: Collection[LinkType] = (),
        depth: int = 2,
        include_linked: bool = False,
        is_dated: bool = True,
        ref: str | None = None,
    ) -> FoundPages:
        """The pages that answer a query best, with their best sections.

        `hybrid` asks words, meaning and links, and without a model the rest; the other modes ask
        words alone, or meaning alone. Only pages of one of `doc_types` that have all `tags` count;
        links are followed up to `depth`, those of `link_types` only if any are named.
        `include_linked` tells what the found pages are linked with. Without `is_dated` no history
        is walked to tell when pages were changed last.

        Raises:
            UsageError: `semantic`, and there is no model.
            ModelError: `semantic`, and the configured model cannot be used.
        """
        from ubp.search.linked import find_linked
        from ubp.search.pages import Means, Wish, find_pages
        from ubp.search.stopwatch import Stopwatch

        watch = Stopwatch(self.clock)
        with watch.step("snapshot"):
            view = self.view(Question(ref))
            view.full_text()
        with watch.step("vectors"):
            meaning, fallback = self._meaning(view, mode)
        means = Means(self._file_names(view), meaning, watch)
        filters = _filters(doc_types, tags)
        wish = Wish(query, mode, limit, filters, tuple(link_types), depth)
        answer = find_pages(view, wish, means)
        paths = [hit.page.filepath for hit in answer.pages]
        with watch.step("linked"):
            linked = find_linked(view, paths, link_types) if include_linked else {}
        others = [one.page.filepath for ends in linked.values() for one in ends]
        with watch.step("staleness"):
            assessments = self._assessments(view, [*paths, *others])
        with watch.step("dates"):
            dates = self._updated_at(view, paths) if is_dated else dict.fromkeys(paths)
        kind: SearchType = "fulltext_fallback" if fallback else mode
        return FoundPages(answer, kind, fallback, assessments, dates, linked, watch.milliseconds)

    def search_sections(
        self,
        query: str,
        *,
        limit: int = 10,
        doc_types: Collection[str] = (),
        tags: Collection[str] = (),
        ref: str | None = None,
    ) -> "SectionAnswer":
        """The sections that hold a query's words best; pages count as in `search`."""
        from ubp.search.answers import find_sections

        view = self.view(Question(ref))
        return find_sections(view, query, limit, self._file_names(view), _filters(doc_types, tags))

    def _meaning(self, view: View, mode: "Mode") -> "tuple[Meaning | None, Fallback | None]":
        if mode == "fulltext":
            return None, None
        try:
            return view.meaning(self.required_model()), None
        except UbpError as error:
            if mode == "semantic":
                raise
            return None, Fallback(error.cause or error.message, error.hint)

    def _file_names(self, view: View) -> "FileNames":
        """The names of the pages' files, laid out anew only where there are others."""
        from ubp.search.file_names import FileNames

        documents = view.document_paths()
        if self._names is None or self._names.paths != documents:
            self._names = FileNames(documents)
        return self._names


def _filters(doc_types: Collection[str], tags: Collection[str]) -> "Filters":
    from ubp.search.filters import Filters

    return Filters(tuple((tag,) for tag in tags), tuple(doc_types))
