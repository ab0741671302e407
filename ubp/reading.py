"""The workspace's questions about pages: to read and list them, and their graph.

What answers them is imported when they are asked: `ubp stale` needs none of it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ubp.index import View
from ubp.model import Assessment, FilePath, LastChange, ObjectId
from ubp.rooms import Question, Rooms
from ubp.staleness.assess import assess, hide
from ubp.staleness.court import Court, Rules

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.graph.pages import ListedPage, OpenPage, Place, SortKey

# What became of the sources of such a page does not depend on the time of day.
AGELESS = frozenset({"fresh", "untracked"})

AskHistory = Callable[[ObjectId, Collection[FilePath]], Mapping[FilePath, LastChange]]


class ReadPage(NamedTuple):
    """A page, what became of its sources, and when it was created and changed last.

    Dates are committer dates in seconds: None where it was never committed, where a shallow clone
    ends too early to tell, and `created_at` where nobody asked. `is_uncommitted`: it differs from
    what was committed.
    """

    page: "OpenPage"
    assessment: Assessment
    updated_at: int | None
    created_at: int | None = None
    is_uncommitted: bool = False


class PageList(NamedTuple):
    """Pages in order, with dates as in `ReadPage`.

    `matching` is how many pages are of the types and tags, `total` how many the snapshot has, and
    `next` the place where the list goes on.
    """

    pages: "tuple[ListedPage, ...]"
    assessments: Mapping[FilePath, Assessment]
    updated_at: Mapping[FilePath, int | None]
    created_at: Mapping[FilePath, int | None]
    uncommitted: Collection[FilePath]
    matching: int
    total: int
    next: "Place | None" = None


class Reading(Rooms):
    """The part of a workspace that answers about pages and the links between them."""

    def page(
        self,
        path: str | None = None,
        *,
        title: str | None = None,
        ref: str | None = None,
        has_created: bool = False,
    ) -> ReadPage:
        """A page with its links, by its path, the unique end of it, or its `doc_id`; or its title.

        A part of the title will do, if no other page has it. With `has_created` history is walked
        to where the page was created, once for each page.

        Raises:
            PageNotFoundError: there is no such page, or more than one.
        """
        from ubp.graph.pages import read_page
        from ubp.graph.view import open_graph

        view = self.view(Question(ref))
        name = self._titled(view, title) if title is not None else self._one(view, path or "")
        page = read_page(open_graph(view), name)
        return ReadPage(
            page,
            self._assessments(view, [name])[name],
            self._updated_at(view, [name])[name],
            self._created_at(view, [name])[name] if has_created else None,
            view.is_changed(name),
        )

    def pages(  # noqa: PLR0913  # the API's options, all of them named
        self,
        *,
        doc_types: Collection[str] = (),
        tags: Collection[str] = (),
        sort: "SortKey" = "title",
        is_descending: bool = False,
        is_dated: bool = True,
        limit: int | None = None,
        after: "Place | None" = None,
        ref: str | None = None,
    ) -> PageList:
        """The pages of one of these types that have all of these tags, so many behind a place.

        Without `is_dated` no history is walked to tell when they were changed last.
        """
        from ubp.graph.pages import Order, count_links, cut_list, find_documents, sort_documents
        from ubp.graph.view import open_graph

        view = self.view(Question(ref))
        graph = open_graph(view)
        found = find_documents(graph, doc_types, tags)
        tell = {"updated_at": self._updated_at, "created_at": self._created_at}.get(sort)
        dates = tell(view, [document.path for document in found]) if tell else {}
        order = Order(sort, is_descending, dates)
        shown, place = cut_list(sort_documents(found, order), order, limit, after)
        paths = [document.path for document in shown]
        return PageList(
            count_links(graph, shown),
            self._assessments(view, paths),
            self._updated_at(view, paths) if is_dated else dict.fromkeys(paths),
            dates if sort == "created_at" else dict.fromkeys(paths),
            frozenset(path for path in paths if view.is_changed(path)),
            matching=len(found),
            total=view.count_documents(),
            next=place,
        )

    def learn_dates(self) -> None:
        """Walk history for the dates of all pages: that takes as long as for the oldest of them."""
        view = self.view()
        paths = view.document_paths()
        self._updated_at(view, paths)
        self._created_at(view, paths)

    def _one(self, view: View, argument: str) -> FilePath:
        from ubp.selection import select_page

        return select_page(argument, view, self.repository)

    def _titled(self, view: View, title: str) -> FilePath:
        from ubp.selection import select_title

        return select_title(title, view)

    def _assessments(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, Assessment]:
        """What became of these pages' sources; a drift has an age, the others are remembered."""
        known: dict[FilePath, Assessment] = view.derived("assessments", dict)
        new = [path for path in paths if path not in known]
        found = self._assess(view, new) if new else {}
        known |= {path: one for path, one in found.items() if one.level in AGELESS}
        return {path: one for path in paths if (one := known.get(path) or found.get(path))}

    def _assess(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, Assessment]:
        pages = list(view.pages_at(paths).values())
        assessed = hide(assess(pages, self._court_over(view)), self.is_hidden)
        return {one.page.filepath: one for one in assessed}

    def _court_over(self, view: View) -> Court:
        rules = Rules(self.clock(), self.config.threshold_days, self.is_hidden)
        return Court(view, self.repository, self.history, rules)

    def _updated_at(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, int | None]:
        """When these pages were committed last."""
        return self._dates(view, paths, "updated_at", self.history.last_changes)

    def _created_at(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, int | None]:
        """When these pages were committed first."""
        return self._dates(view, paths, "created_at", self.history.first_changes)

    def _dates(
        self, view: View, paths: Sequence[FilePath], name: str, ask: AskHistory
    ) -> dict[FilePath, int | None]:
        """The dates of commits; None: never committed, or a shallow clone ends too early."""
        known: dict[FilePath, int | None] = view.derived(name, dict)
        new = [path for path in paths if path not in known]
        if new:
            known |= self._ask_dates(view, new, ask)
        return {path: known[path] for path in paths}

    def _ask_dates(
        self, view: View, paths: Sequence[FilePath], ask: AskHistory
    ) -> dict[FilePath, int | None]:
        dates: dict[FilePath, int | None] = dict.fromkeys(paths)
        head = view.snapshot.commit
        if head is None:
            return dates
        there = view.base_entries(paths)
        committed = [path for path in paths if there[path] is not None]
        changes = ask(head, committed) if committed else {}
        known = {
            path: changes[path].commit
            for path in committed
            if path in changes and not changes[path].is_boundary
        }
        commits = self.history.commits(set(known.values()))
        return dates | {path: commits[one].date for path, one in known.items() if one in commits}
