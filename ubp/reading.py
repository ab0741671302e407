"""The workspace's questions about pages: to read and list them, and their graph.

What answers them is imported when they are asked: `ubp stale` needs none of it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ubp.index import View
from ubp.model import Assessment, FilePath, LinkType
from ubp.rooms import Question, Rooms
from ubp.staleness.assess import assess, hide
from ubp.staleness.court import Court, Rules

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.graph.neighbours import Neighbourhood
    from ubp.graph.pages import ListedPage, OpenPage, SortKey


class ReadPage(NamedTuple):
    """A page, what became of its sources, and when it was changed last (seconds, or None)."""

    page: "OpenPage"
    assessment: Assessment
    updated_at: int | None


class PageList(NamedTuple):
    """Pages in order; `total` is how many the snapshot has."""

    pages: "tuple[ListedPage, ...]"
    assessments: Mapping[FilePath, Assessment]
    updated_at: Mapping[FilePath, int | None]
    total: int


class Reading(Rooms):
    """The part of a workspace that answers about pages and the links between them."""

    def page(self, path: str, *, ref: str | None = None) -> ReadPage:
        """A page with its links, by its path, the unique end of it, or its `doc_id`.

        Raises:
            UsageError: there is no such page, or more than one.
        """
        from ubp.graph.pages import read_page
        from ubp.graph.view import open_graph

        view = self.view(Question(ref))
        name = self._one(view, path)
        page = read_page(open_graph(view), name)
        dates = self._updated_at(view, [name])
        return ReadPage(page, self._assessments(view, [name])[name], dates[name])

    def pages(  # noqa: PLR0913  # the API's options, all of them named
        self,
        *,
        doc_types: Collection[str] = (),
        tags: Collection[str] = (),
        sort: "SortKey" = "title",
        is_descending: bool = False,
        is_dated: bool = True,
        ref: str | None = None,
    ) -> PageList:
        """The pages of one of these types that have all of these tags.

        Without `is_dated` no history is walked to tell when they were changed last.
        """
        from ubp.graph.pages import list_pages, sort_pages
        from ubp.graph.view import open_graph

        view = self.view(Question(ref))
        pages = list_pages(open_graph(view), doc_types, tags)
        paths = [page.document.path for page in pages]
        dates = self._updated_at(view, paths) if is_dated else dict.fromkeys(paths)
        ordered = sort_pages(pages, sort, dates, is_descending=is_descending)
        assessments = self._assessments(view, paths)
        return PageList(tuple(ordered), assessments, dates, view.count_documents())

    def graph(
        self,
        *,
        center: str | None = None,
        depth: int = 2,
        link_types: Collection[LinkType] = (),
        ref: str | None = None,
    ) -> "Neighbourhood":
        """The pages around a page (given as in `page`), or all pages; and the links between them.

        Raises:
            UsageError: there is no such page, or more than one.
        """
        from ubp.graph.neighbours import neighbourhood
        from ubp.graph.view import open_graph

        view = self.view(Question(ref))
        name = None if center is None else self._one(view, center)
        return neighbourhood(open_graph(view), name, depth, link_types)

    def _one(self, view: View, argument: str) -> FilePath:
        from ubp.selection import select_page

        return select_page(argument, view, self.repository)

    def _assessments(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, Assessment]:
        rules = Rules(self.clock(), self.config.threshold_days, self.is_hidden)
        court = Court(view, self.repository, self.history, rules)
        pages = [page for path in paths if (page := view.page(path))]
        assessed = hide(assess(pages, court), self.is_hidden)
        return {one.page.filepath: one for one in assessed}

    def _updated_at(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, int | None]:
        """When these pages were committed last.

        None where they differ from that or never were, and where a shallow clone ends too early.
        """
        head = view.snapshot.commit
        committed = [path for path in paths if head and not view.is_changed(path)]
        if head is None or not committed:
            return dict.fromkeys(paths)
        changes = self.history.last_changes(head, committed)
        last = {
            p: changes[p].commit for p in committed if p in changes and not changes[p].is_boundary
        }
        commits = self.history.commits(set(last.values()))
        dates: dict[FilePath, int | None] = dict.fromkeys(paths)
        dates |= {path: commits[one].date for path, one in last.items() if one in commits}
        return dates
