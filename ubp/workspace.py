"""The workspace's questions about pages: to read and list them, and their graph.

What answers them is imported when they are asked: `ubp stale` needs none of it.

The workspace's questions that search the pages.

What answers them is imported when they are asked: `ubp stale` needs none of it.

The workspace's questions about what stands around a page, and what depends on it.

What answers them is imported when they are asked: `ubp stale` needs none of it.

The workspace's questions about bindings: which there could be, which are worth having.

What answers them is imported when they are asked: `ubp stale` needs none of it.

The workspace's care for its index: built anew, pruned, embedded; and for the model in use.

The one place that builds the rooms and joins them; it delegates and never decides.

This is the Python API: open a workspace, ask, close it.
"""

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from ubp.core.config import is_document, scope
from ubp.core.errors import ModelError, PageNotFoundError, UbpError, UsageError
from ubp.core.model import (
    DEBT_FILE,
    QUIET_LEVELS,
    Assessment,
    FilePath,
    LastChange,
    LinkType,
    ObjectId,
    Page,
    Progress,
    ReferenceVerdict,
    Snapshot,
    Warn,
    ignore_progress,
)
from ubp.core.running import find_running
from ubp.core.shell import path_argument, quote
from ubp.git.repository import Repository
from ubp.git.snapshot import read_commit, read_document
from ubp.git.trees import diff_trees
from ubp.index.session import Session, Target
from ubp.index.tree import SessionCache
from ubp.index.view import View
from ubp.staleness.assess import assess, hide
from ubp.staleness.first_reference import FirstReference
from ubp.staleness.model import (
    Acknowledgement,
    Affected,
    Change,
    SourceDiff,
    StalenessContext,
    StalenessRules,
    StaleReport,
    summarise,
    worst_first,
)
from ubp.staleness.ranking import rank_pages
from ubp.staleness.status import IndexRun, LinkCounts, ModelStatus, Status, build_status

if TYPE_CHECKING:
    from ubp.bindings.coverage import Coverage
    from ubp.bindings.features import BindingSuggestions
    from ubp.bindings.review import BindingReview
    from ubp.bindings.write import WriteResult
    from ubp.checks.accept import AcceptedFindings
    from ubp.checks.finding import CheckReport, FixReport
    from ubp.checks.run import CheckOptions
    from ubp.report.compare import Comparison
    from ubp.report.values import Report, Span
    from ubp.search.context import Context
    from ubp.search.filters import Filters
    from ubp.search.graph import DocumentRow, Graph
    from ubp.search.impact import Impact, ImpactStep, ImpactTarget
    from ubp.search.lexical import FileNames
    from ubp.search.list_pages import ListedPage, OpenPage, Place, SortKey
    from ubp.search.pages import Mode, PageAnswer, SearchType
    from ubp.search.results import LinkedPage
    from ubp.search.sections import SectionAnswer
    from ubp.search.semantic import SemanticRanking
    from ubp.search.suggest_links import Suggestions
    from ubp.search.traverse import Neighborhood
    from ubp.staleness.pins import Pins
    from ubp.staleness.references import SourceIndex, SourceUse

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


class Reading:
    """The part of a workspace that answers about pages and the links between them."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @classmethod
    def open(  # noqa: PLR0913  # the API's options, all of them named
        cls,
        directory: str = ".",
        *,
        environment: Mapping[str, str] | None = None,
        keys: Sequence[str] = (),
        days: float | None = None,
        model: str | None = None,
        warn: Warn = ignore_progress,
        progress: Progress = ignore_progress,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open the repository around a directory.

        `keys`, `days` and `model` replace the configuration's `staleness.keys`,
        `staleness.threshold_days` and `search.model`. `warn` receives what the user should know,
        `progress` the steps of long work.

        Raises:
            RepositoryError: no repository that can be read.
            ConfigError: `.ubp/config.json` cannot be used.
        """
        return cls(
            Session.open(
                directory,
                environment=environment,
                keys=keys,
                days=days,
                model=model,
                warn=warn,
                progress=progress,
                clock=clock,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and the repository."""
        self.session.close()

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
        from ubp.search.graph import open_graph
        from ubp.search.list_pages import read_page

        view = self.session.view(Target(ref))
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
        from ubp.search.graph import open_graph
        from ubp.search.list_pages import (
            Order,
            count_links,
            cut_list,
            find_documents,
            sort_documents,
        )

        view = self.session.view(Target(ref))
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
        view = self.session.view()
        paths = view.document_paths()
        self._updated_at(view, paths)
        self._created_at(view, paths)

    def _one(self, view: View, argument: str) -> FilePath:
        from ubp.index.select import select_page

        return select_page(argument, view, self.session.repository)

    def _titled(self, view: View, title: str) -> FilePath:
        from ubp.index.select import select_title

        return select_title(title, view)

    def _assessments(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, Assessment]:
        """What became of these pages' sources; a drift has an age, the others are remembered."""
        known: dict[FilePath, Assessment] = view.derived("assessments", dict)
        new = [path for path in paths if path not in known]
        found = self._assess(view, new) if new else {}
        # The levels of drifted pages depend on the time of day.
        known |= {path: one for path, one in found.items() if one.level in QUIET_LEVELS}
        return {path: one for path in paths if (one := known.get(path) or found.get(path))}

    def _assess(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, Assessment]:
        pages = list(view.pages_at(paths).values())
        assessed = hide(assess(pages, self._court_over(view)), self.session.is_hidden)
        return {one.page.filepath: one for one in assessed}

    def _court_over(self, view: View) -> StalenessContext:
        rules = StalenessRules(
            self.session.clock(), self.session.config.threshold_days, self.session.is_hidden
        )
        return StalenessContext(view, self.session.repository, self.session.history, rules)

    def _updated_at(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, int | None]:
        """When these pages were committed last."""
        return self._dates(view, paths, "updated_at", self.session.history.last_changes)

    def _created_at(self, view: View, paths: Sequence[FilePath]) -> dict[FilePath, int | None]:
        """When these pages were committed first."""
        return self._dates(view, paths, "created_at", self.session.history.first_changes)

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
        commits = self.session.history.commits(set(known.values()))
        return dates | {path: commits[one].date for path, one in known.items() if one in commits}


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
        from ubp.search.pages import SearchContext, SearchRequest, Stopwatch, find_pages
        from ubp.search.results import find_linked

        watch = Stopwatch(self.session.clock)
        with watch.step("snapshot"):
            view = self.session.view(Target(ref))
            view.full_text()
        with watch.step("vectors"):
            meaning, fallback = self._meaning(view, mode)
        means = SearchContext(self._file_names(view), meaning, watch)
        filters = _filters(doc_types, tags)
        wish = SearchRequest(query, mode, limit, filters, tuple(link_types), depth)
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
        from ubp.search.sections import find_sections

        view = self.session.view(Target(ref))
        return find_sections(view, query, limit, self._file_names(view), _filters(doc_types, tags))

    def _meaning(
        self, view: View, mode: "Mode"
    ) -> "tuple[SemanticRanking | None, Fallback | None]":
        if mode == "fulltext":
            return None, None
        try:
            return view.semantic_index(self.session.required_model()), None
        except UbpError as error:
            if mode == "semantic":
                raise
            return None, Fallback(error.cause or error.message, error.hint)

    def _file_names(self, view: View) -> "FileNames":
        """The names of the pages' files, laid out anew only where there are others."""
        from ubp.search.lexical import FileNames

        documents = view.document_paths()
        if self._names is None or self._names.paths != documents:
            self._names = FileNames(documents)
        return self._names


def _filters(doc_types: Collection[str], tags: Collection[str]) -> "Filters":
    from ubp.search.filters import Filters

    return Filters(tuple((tag,) for tag in tags), tuple(doc_types))


MAX_SIZE = 50_000
MAX_IMPACTED = 100
MIN_SCORE = 0.8
MAX_SUGGESTED = 10
MAX_SIMILAR_PAGES = 3  # names that an error offers


class PageContext(NamedTuple):
    """A page with what stands around it, and what became of the sources of all of them."""

    context: "Context"
    assessments: Mapping[FilePath, Assessment]


class PageGraph(NamedTuple):
    """Pages, the links between them, and what became of their sources."""

    near: "Neighborhood"
    assessments: Mapping[FilePath, Assessment]


class PageImpact(NamedTuple):
    """The pages that depend on something, and what became of their sources."""

    impact: "Impact"
    assessments: Mapping[FilePath, Assessment]


class LinkSuggestions(NamedTuple):
    """Pairs of pages that may want a link, the documents, and what became of their sources."""

    suggestions: "Suggestions"
    documents: "Mapping[FilePath, DocumentRow]"
    assessments: Mapping[FilePath, Assessment]


class Relating(Searching):
    """The part of a workspace that tells how pages hang together."""

    def context(  # noqa: PLR0913  # the API's options, all of them named
        self,
        page: str,
        *,
        depth: int = 2,
        link_types: Collection[LinkType] = (),
        max_size: int | None = MAX_SIZE,
        max_tokens: int | None = None,
        ref: str | None = None,
    ) -> PageContext:
        """A page (given as in `page`) and those within `depth` links of it, in short.

        Where `max_size` characters or `max_tokens` estimated tokens do not suffice for their
        texts, what matters least is left out. `link_types` are the links that are followed, none
        named: all are.

        Raises:
            PageNotFoundError: there is no such page, or more than one.
        """
        from ubp.core.text import Budget
        from ubp.search.context import read_context
        from ubp.search.graph import open_graph

        view = self.session.view(Target(ref))
        budget = Budget(max_size, max_tokens)
        name = self._one(view, page)
        found = read_context(open_graph(view), name, depth, budget, link_types)
        paths = [name, *(one.document.path for one in found.related)]
        return PageContext(found, self._assessments(view, paths))

    def graph(
        self,
        *,
        center: str | None = None,
        depth: int = 2,
        link_types: Collection[LinkType] = (),
        limit: int | None = None,
        ref: str | None = None,
    ) -> PageGraph:
        """The pages around a page (given as in `page`), or all pages; and the links between them.

        Of more than `limit` pages the nearest are told, and of these those with the most links.

        Raises:
            PageNotFoundError: there is no such page, or more than one.
        """
        from ubp.search.graph import open_graph
        from ubp.search.traverse import neighborhood

        view = self.session.view(Target(ref))
        name = None if center is None else self._one(view, center)
        near = neighborhood(open_graph(view), name, depth, link_types, limit)
        paths = [document.path for document in near.documents]
        return PageGraph(near, self._assessments(view, paths))

    def impact(
        self,
        path: str,
        *,
        depth: int = 3,
        limit: int = MAX_IMPACTED,
        ref: str | None = None,
    ) -> PageImpact:
        """The pages that depend on a page or a source, at most `depth` steps away.

        The path is that of a file or folder, which need not exist any more, or the unique end of
        one, or a page's `doc_id`; a hidden one is as if it were not there.

        Raises:
            PageNotFoundError: several files are meant.
        """
        from ubp.search.graph import open_graph
        from ubp.search.impact import find_impact
        from ubp.staleness.references import build_source_index

        view = self.session.view(Target(ref))
        graph = open_graph(view)
        judge = partial(self._assessments, view)
        namings = view.derived(
            "namings", lambda: build_source_index(view, self.session.is_hidden, judge)
        )
        subject = self._subject(path, view, graph, namings)
        found = find_impact(graph, subject, partial(_covering, namings), depth, limit)
        paths = [one.document.path for one in found.impacted]
        return PageImpact(found, self._assessments(view, paths))

    def suggest_links(
        self,
        page: str | None = None,
        *,
        min_score: float = MIN_SCORE,
        limit: int = MAX_SUGGESTED,
        ref: str | None = None,
    ) -> LinkSuggestions:
        """Pairs of pages close in meaning without a link, of all or with one page (as in `page`).

        Of the pairs with a score of 0.8 and more four in five are worth a link, at 0.5 three.

        Raises:
            PageNotFoundError: there is no such page, or more than one.
            ModelNeededError: there is no embedding model.
            ModelError: the configured model is not there, or cannot be used.
        """
        from ubp.search.graph import open_graph
        from ubp.search.suggest_links import suggest_links

        model = self.session.required_model()
        view = self.session.view(Target(ref))
        name = None if page is None else self._one(view, page)
        found = suggest_links(view, view.semantic_index(model), name, min_score, limit)
        told = (*found.links, *found.duplicates)
        paths = sorted({hit.path for one in told for hit in (one.first, one.second)})
        documents = open_graph(view).documents_at(paths)
        return LinkSuggestions(found, documents, self._assessments(view, paths))

    def _subject(
        self, argument: str, view: View, graph: "Graph", namings: "SourceIndex"
    ) -> "ImpactTarget":
        """What a PATH means: what stands there, or was named there, else what ends so."""
        from ubp.index.select import path_from_root

        path = path_from_root(argument, self.session.repository)
        found = self._at(path, view, graph, namings)
        if found.exists or found.first or self.session.is_hidden(path):
            return found
        meant = self._meant(argument, view)
        return self._at(meant, view, graph, namings) if meant else found

    def _at(
        self, path: FilePath, view: View, graph: "Graph", namings: "SourceIndex"
    ) -> "ImpactTarget":
        from ubp.search.impact import ImpactTarget, link_step

        if self.session.is_hidden(path):
            return ImpactTarget(path, "source", exists=False)
        path = view.true_path(path) or path
        entry = view.entry(path)
        if entry and entry.is_directory:
            inside = f"{path}/" if path else ""
            pages = tuple(one for one in view.document_paths() if one.startswith(inside))
        else:
            pages = (path,) if view.page(path) else ()
        is_page = is_document(self.session.config, path) and not (entry and not pages)
        links = (
            link_step(edge, path)
            for edge in graph.links_to_missing(path, self.session.config.link_roots)
        )
        first = (*(_step(one, path) for one in namings.meeting(path)), *links)
        return ImpactTarget(path, "page" if is_page else "source", entry is not None, pages, first)

    def _meant(self, argument: str, view: View) -> FilePath | None:
        """The only file whose path ends so, or the page of this `doc_id`."""
        from ubp.index.select import is_doc_id

        if is_doc_id(argument):
            return self._one(view, argument)
        ending = "/" + argument.strip("/")
        files = [path for path, _ in view.files() if path.endswith(ending)]
        found = [path for path in files if not self.session.is_hidden(path)]
        if len(found) > 1:
            raise PageNotFoundError(
                f"{argument} names {len(found)} files.",
                near=tuple(found[:MAX_SIMILAR_PAGES]),
                cause="This command is about one page or source.",
                hint=f"Name one of them, as in {quote(path_argument(found[0]))}.",
            )
        return found[0] if found else None


def _covering(namings: "SourceIndex", path: FilePath) -> Iterator["ImpactStep"]:
    return (_step(one, path) for one in namings.covering(path))


def _step(one: "SourceUse", target: FilePath) -> "ImpactStep":
    from ubp.search.impact import ImpactStep

    line = one.reference.line
    return ImpactStep(one.page, target, "source_reference", line, one.source.name, one.moved_to)


MAX_PROPOSED = 10


class Proposing(Relating):
    """The part of a workspace that proposes what pages describe."""

    def suggest_bindings(
        self,
        pages: Sequence[str] = (),
        *,
        limit: int = MAX_PROPOSED,
        all_pages: bool = False,
    ) -> "BindingSuggestions":
        """The sources that pages seem to describe, with a confidence and the evidence.

        Of pages without references; `pages` (PATHs) narrows to those, bound or not, and
        `all_pages` asks about every page. What a page names already is never proposed, nor what
        `bind.refused` has.

        Raises:
            UsageError: a PATH names no page.
        """
        from ubp.bindings.features import BindingSuggestions
        from ubp.bindings.suggest import SuggestRequest, suggest_sources
        from ubp.index.select import select_pages

        view = self.session.view(Target())
        documents = view.document_paths()
        bound = {page.filepath for page in view.bound_pages() if page.facts.references}
        if pages:
            asked = sorted(select_pages(pages, view, self.session.repository))
        else:
            asked = [path for path in documents if all_pages or path not in bound]
        limits = f"{scope(self.session.config)}\n{self.session.config.keys}"
        request = SuggestRequest(
            asked, limit, self.session.is_hidden, self.session.config.refused, limits
        )
        found = suggest_sources(view, self.session.history, request)
        return BindingSuggestions(tuple(found), len(documents), len(bound))

    def bind(
        self,
        wanted: Mapping[FilePath, Sequence[str]],
        *,
        pin: bool = False,
        from_history: bool = False,
        is_dry: bool = False,
    ) -> "tuple[WriteResult, ...]":
        """Write sources (from the root; a folder may end in "/") into pages' front matter.

        `pin` says that the pages were read and are true; `from_history` pins the sources as they
        were when each page last changed, so that drift since then shows. Dry, nothing is written.

        Raises:
            UsageError: the repository is bare.
        """
        from ubp.bindings.write import write_bindings

        if self.session.repository.root is None:
            raise UsageError(
                "A bare repository has no pages to write into.",
                cause="It has no work tree.",
                hint="Run `ubp bind` in a clone.",
            )
        pins = self._pins(wanted, from_history=from_history) if pin or from_history else {}
        return write_bindings(
            wanted, pins, self.session.repository, self.session.config.keys, is_dry=is_dry
        )

    def review_bindings(
        self, pages: Sequence[str] = (), *, commits: int | None = None
    ) -> "BindingReview":
        """What history says of the sources that pages name, of all pages or of these (PATHs).

        At how many of the last `commits` (500) each would have fired, and what came of it. Of
        hidden sources nothing is told.

        Raises:
            UsageError: a PATH names no page.
            RepositoryError: history cannot be read.
        """
        from ubp.bindings.review import review
        from ubp.index.select import select_pages

        view = self.session.view(Target())
        wanted = select_pages(pages, view, self.session.repository) if pages else None
        bound = [p for p in view.bound_pages() if wanted is None or p.filepath in wanted]
        court = self._court_over(view)
        return review(assess(bound, court), court, commits)

    def coverage(
        self, paths: Sequence[str] = (), *, days: float | None = None, ref: str | None = None
    ) -> "Coverage":
        """Which sources no page describes, weighed by how much they changed in the last `days`.

        `paths` (files, folders, globs) narrow it; without `days` it is a year.

        Raises:
            UsageError: a PATH names no source.
        """
        from ubp.bindings.coverage import DEFAULT_DAYS, measure_coverage
        from ubp.staleness.references import build_source_index

        view = self.session.view(Target(ref))
        namings = build_source_index(view, self.session.is_hidden, partial(self._assessments, view))
        length = DEFAULT_DAYS if days is None else days
        return measure_coverage(self.session, view, namings.is_described, paths, length)

    def _pins(self, wanted: Mapping[FilePath, Sequence[str]], *, from_history: bool) -> "Pins":
        from ubp.core.paths import normalize_path
        from ubp.staleness.pins import find_pins

        paths = {
            page: [path for source in sources if (path := normalize_path(source))]
            for page, sources in wanted.items()
        }
        court = self._court_over(self.session.view(Target()))
        return find_pins(paths, court, from_history=from_history)


# What earlier versions kept in the work tree. It is not read.
OLD_NAMES = ("knowledge.db", "knowledge.db-wal", "knowledge.db-shm", "serve.log", "serve.log.1")
OLD_FILES = frozenset(f".ubp/{name}" for name in OLD_NAMES)


class Upkeep(Proposing):
    """The part of a workspace that looks after what is derived."""

    def reindex(
        self, *, file: str | None = None, prune: bool = False, embed: bool = True
    ) -> IndexRun:
        """Read every page anew, or one `file`; with `prune` forget only what is no longer needed.

        `prune` also removes an index that an earlier version left in `.ubp/`, unless Git tracks it.
        `embed` has the sections embedded, too, where there is a model.

        Raises:
            UsageError: `file` names no page.
            ModelError: the configured model is not there, or cannot be used.
        """
        from ubp.index.select import select_pages

        if file is not None:
            view = self.session.view()
            paths = select_pages([file], view, self.session.repository)
            self.session.store.forget_pages(
                {page.blob for path in paths if (page := view.page(path))}
            )
        elif not prune:
            self.session.store.clear()
        # The last view and what it read would answer instead of the files.
        self.session.latest, self.session.kept = None, SessionCache()
        view = self.session.view()
        view.link_graph()
        if prune:
            self.session.history.forget_unreachable()
        pruned = self.session.store.prune(self._fingerprint()) if prune else None
        if pruned is not None:
            freed = pruned.freed_bytes + _remove_old_files(self.session.repository)
            pruned = pruned._replace(freed_bytes=freed)
        embedded = self.embed(view) if embed and not prune else None
        return IndexRun(
            view.count_documents(), view.parsed, pruned, embedded, self.session.store.statistics()
        )

    def embed(self, view: View) -> int | None:
        """Embed what has no vector yet; tell how many sections. None: there is no model.

        Raises:
            ModelError: the configured model is not there, or cannot be used.
        """
        model = self.session.model()
        return None if model is None else view.semantic_index(model).embedded

    def model_status(self, view: View) -> ModelStatus:
        """The model in use, and how much is embedded; nothing is loaded for it."""
        from ubp.index.embed.locate import INSTALL, has_extra
        from ubp.index.embed.model_files import dimensions
        from ubp.index.embedded import fingerprint_of

        try:
            place = self.session.model_place()
            if place is not None:
                size, digest = dimensions(place), fingerprint_of(self.session.store.database, place)
                counts = view.count_embedded(digest, size)
                return ModelStatus(place.name, place.directory, size, digest.hex(), *counts)
        except ModelError as error:
            why = error.message
        else:
            why = 'search.model is "none"' if has_extra() else f"not installed ({INSTALL})"
        sections, _ = view.count_embedded(b"", 0)
        return ModelStatus(None, None, None, None, sections, None, why)

    def _fingerprint(self) -> bytes | None:
        from ubp.index.embedded import fingerprint_of

        place = self.session.model_place()
        return place and fingerprint_of(self.session.store.database, place)


def _remove_old_files(repository: Repository) -> int:
    """Remove OLD_FILES that Git ignores and does not track; return their bytes.

    Git lists nothing below a submodule or a symbolic link, and knows whether case matters.
    """
    if repository.root is None:
        return 0
    question = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ".ubp")
    ignored = os.fsdecode(repository.run(*question)).split("\0")
    freed = 0
    for name in OLD_FILES & set(ignored):
        path = os.path.join(repository.root, name)
        with suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                os.unlink(path)
                freed += status.st_size
    return freed


class Workspace(Upkeep):
    """A repository with its index. Not safe for use by several threads at once."""

    def stale(
        self,
        paths: Sequence[str] = (),
        *,
        ref: str | None = None,
        staged: bool = False,
        base: str | None = None,
        every: bool = False,
    ) -> StaleReport:
        """Which pages no longer describe their sources; `Target` tells what the arguments ask.

        `paths` (relative to the directory that was opened) narrow the answer; `every` tells pages
        without sources too, and of a change the old debts. `ubp.staleness.ranking` tells the order.
        """
        question = Target(ref, staged, base)
        if not (staged or base is not None):
            court = self._court(self.session.snapshot(question))
            pages = self._pages(court.view, paths, every=every)
            report = self._report(court, pages, assess(pages, court), paths)
            return self._settle(report, court, is_whole=not paths)
        from ubp.staleness.change import assess_change, touched_pages

        change = self._change(question)
        pages = concerned = self._pages(change.after.view, paths, every=every)
        if not every:
            touched = {page.filepath for page in touched_pages(change)}
            concerned = [page for page in pages if page.filepath in touched]
        report = self._report(change.after, pages, assess_change(concerned, change), paths)
        report = report._replace(is_change=True)
        return self._settle(report, change.after, is_whole=False)

    def compare(
        self, since: str, paths: Sequence[str] = (), *, ref: str | None = None
    ) -> "Comparison":
        """What became of pages from a revision to now, or to `ref`: how their levels changed."""
        from ubp.report.compare import compare_levels

        then, now = (self._court(self.session.snapshot(Target(one))) for one in (since, ref))
        return compare_levels(then, now, paths, self._selected)

    def affected(self, paths: Sequence[str], *, ref: str | None = None) -> tuple[Affected, ...]:
        """Which pages describe these files, folders or globs."""
        from ubp.index.select import path_from_root
        from ubp.staleness.references import find_affected

        view = self.session.view(Target(ref))
        return find_affected(
            view, [path_from_root(path, self.session.repository) for path in paths]
        )

    def acknowledge(
        self,
        paths: Sequence[str] = (),
        *,
        every: bool = False,
        staged: bool = False,
        from_history: bool = False,
        reason: str | None = None,
    ) -> tuple[Acknowledgement, ...]:
        """Pin the references of these pages (or of `every` page) that are not at their baseline.

        `staged` pins what the index holds, in the index and in the work tree; `from_history` pins
        the baselines that history gives to unpinned references.

        Raises:
            UsageError: neither pages nor `every` are given, or a path names no page.
        """
        from ubp.staleness.change import assess_change, touched_pages
        from ubp.staleness.pins import AckOptions, acknowledge

        if not paths and not every:
            raise UsageError(
                "Which pages did you review?",
                cause="`ubp ack` vouches for pages, so it wants their names.",
                hint="Name them: ubp ack docs/page.md; or all of them: ubp ack --all",
            )
        question = Target(staged=staged)
        change = self._change(question) if staged else None
        court = change.after if change else self._court(self.session.snapshot(question))
        pages = self._pages(court.view, paths)
        if change:
            touched = {page.filepath for page in touched_pages(change)}
            pages = [page for page in pages if paths or page.filepath in touched]
        assessed = assess_change(pages, change) if change else assess(pages, court)
        terms = AckOptions(
            self.session.config.keys, staged, from_history, reason, self.session.is_hidden
        )
        return acknowledge(assessed, court, terms)

    def diffs(
        self, report: StaleReport
    ) -> Iterator[tuple[Assessment, ReferenceVerdict, SourceDiff]]:
        """For each reference that drifted, what changed since the page described its source."""
        from ubp.staleness.diff import diff_pages

        view = self.session.view_of(report.snapshot)
        return diff_pages(report.pages, view, self.session.repository, self.session.is_hidden)

    def report(self, *, ref: str | None = None, span: "Span | None" = None) -> "Report":
        """How fresh the documentation is: levels, ages, a trend over `span`, what matters most."""
        from ubp.report.build import build_report

        court = self._court(self.session.snapshot(Target(ref)))
        pages = court.view.pages()
        stale = self._report(court, pages, assess(pages, court), ())
        return build_report(self.session, court, stale, self._terms(court.view, (), ()), span)

    def example(self, report: StaleReport, paths: Sequence[str] = ()) -> FirstReference | None:
        """Where no page of a report names a source: a page, and a source to begin with."""
        from ubp.staleness.first_reference import find_first_reference

        view = self.session.view_of(report.snapshot)
        read = partial(read_document, self.session.repository, report.snapshot)
        return find_first_reference(view, read, self.session.is_hidden, self._selected(view, paths))

    def check(
        self,
        paths: Sequence[str] = (),
        *,
        ref: str | None = None,
        staged: bool = False,
        base: str | None = None,
        rules: Sequence[str] = (),
    ) -> "CheckReport":
        """What is wrong in the pages; `Target` tells what the arguments ask.

        Of a change it is what the change brings. `rules` are names of rules, none: those that the
        configuration has not switched off.

        Raises:
            UsageError: there is no such rule, or a path names no page.
        """
        from ubp.checks.run import check_change, check_state

        question = Target(ref, staged, base)
        if staged or base is not None:
            change = self._change(question)
            return check_change(change, self._terms(change.after.view, paths, rules))
        court = self._court(self.session.snapshot(question))
        return check_state(court, self._terms(court.view, paths, rules))

    def place(self, report: "CheckReport") -> "CheckReport":
        """The report with the places of its findings, to the character, and of their sources."""
        from ubp.checks.locations import locate_findings

        return locate_findings(
            report,
            self.session.view_of(report.snapshot),
            self.session.repository,
            self.session.is_hidden,
        )

    def fix(
        self, paths: Sequence[str] = (), *, rules: Sequence[str] = (), is_dry: bool = False
    ) -> "FixReport":
        """Put right in the work tree what has a single possible remedy; `is_dry` only shows it.

        Raises:
            UsageError: there is no such rule, or a path names no page.
        """
        from ubp.checks.fix import fix_findings
        from ubp.checks.run import check_state

        court = self._court(self.session.snapshot(Target()))
        terms = self._terms(court.view, paths, rules)
        fixed = fix_findings(check_state(court, terms), court, self.session.config, is_dry=is_dry)
        if is_dry or not fixed.fixed:
            return fixed
        return fixed._replace(check=self.check(paths, rules=rules))

    def accept(self, *, is_pruning: bool = False) -> "AcceptedFindings":
        """Compare what is found with the debt file, and tell what it should say."""
        from ubp.checks.accept import accept_findings

        court = self._court(self.session.snapshot(Target()))
        terms = self._terms(court.view, (), ())
        return accept_findings(court, terms, is_pruning=is_pruning)

    def status(self, *, finds_broken: bool = False) -> Status:
        """How much there is, how much of it is verified, where the index lies.

        `finds_broken` has the links that lead nowhere counted as `check` counts them.
        """
        court = self._court(self.session.snapshot(Target()))
        pages = court.view.bound_pages()
        report = self._report(court, pages, assess(pages, court), ())
        buckets = {str(name): n for name, n in court.view.link_graph().buckets().items()}
        return build_status(
            report,
            pages,
            statistics=self.session.store.statistics(),
            root=self.session.repository.root,
            keys=self.session.config.keys,
            links=LinkCounts(buckets, self._count_broken(court) if finds_broken else None),
            servers=find_running(self.session.repository.data_dir),
            model=self.model_status(court.view),
        )

    def _court(self, snapshot: Snapshot) -> StalenessContext:
        return self._court_over(self.session.view_of(snapshot))

    def _settle(
        self, report: StaleReport, court: StalenessContext, *, is_whole: bool
    ) -> StaleReport:
        """The report less the debts that are accepted, the most telling pages first."""
        if court.view.entry(DEBT_FILE) is not None:
            from ubp.checks.debt import accepted_debts
            from ubp.checks.from_staleness import accept_debts

            report = accept_debts(report, accepted_debts(court.view), is_whole=is_whole)
        return rank_pages(report, court)

    def _pages(self, view: View, paths: Sequence[str], *, every: bool = False) -> list[Page]:
        if every:
            named = self._selected(view, paths) if paths else view.document_paths()
            return [page for path in sorted(named) if (page := view.page(path))]
        selected = self._selected(view, paths) if paths else None
        pages = view.bound_pages()
        return [page for page in pages if selected is None or page.filepath in selected]

    def _selected(self, view: View, paths: Sequence[str]) -> frozenset[FilePath]:
        from ubp.index.select import select_pages

        return select_pages(paths, view, self.session.repository)

    def _count_broken(self, court: StalenessContext) -> int:
        from ubp.checks.run import check_state

        terms = self._terms(court.view, (), ("broken-link",))
        return check_state(court, terms).count("error")

    def _terms(self, view: View, paths: Sequence[str], rules: Sequence[str]) -> "CheckOptions":
        from ubp.checks.run import CheckOptions

        wanted = self._selected(view, paths) if paths else None
        return CheckOptions(self.session.config, tuple(rules), wanted, self.session.is_hidden)

    def _change(self, question: Target) -> Change:
        after = self._court(self.session.snapshot(question))
        head = after.view.snapshot.commit
        if question.base is None:
            parents = [head, *self.session.repository.merge_heads()] if head else []
            changes = after.view.snapshot.changes
        else:
            found = self.session.repository.resolve(question.base)
            start = self.session.repository.merge_base(found, head) if head else found
            parents = [start]
            changes = diff_trees(self.session.repository, start, head) if head else {}
        before = tuple(
            self._court(read_commit(self.session.repository, parent)) for parent in parents
        )
        return Change(before, after, changes)

    def _report(
        self,
        court: StalenessContext,
        pages: Sequence[Page],
        assessed: Sequence[Assessment],
        paths: Sequence[str],
    ) -> StaleReport:
        view = court.view
        documents = len(self._selected(view, paths)) if paths else view.count_documents()
        answers = worst_first(hide(assessed, self.session.is_hidden))
        bound = sum(1 for page in pages if page.facts.references)
        return StaleReport(
            snapshot=view.snapshot,
            pages=answers,
            summary=summarise(answers, documents, bound),
            threshold_days=court.rules.threshold_days,
            is_shallow=self.session.repository.is_shallow,
        )
