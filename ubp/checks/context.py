"""What the rules look at: a state, or the state that a change leaves; each part when asked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ubp.checks.debt import Debts, read_debts
from ubp.checks.finding import Finding
from ubp.checks.fix import WIKILINKS
from ubp.checks.renames import Renames
from ubp.checks.suppress import Comments
from ubp.core.model import (
    DEBT_FILE,
    MODE_SUBMODULE,
    MODE_SYMLINK,
    Assessment,
    Entry,
    FilePath,
    Page,
    ReferenceVerdict,
)
from ubp.core.paths import normalize_path
from ubp.git.snapshot import read_document
from ubp.index.link_graph import GraphEdge
from ubp.index.view import View
from ubp.markdown.resolve import stem
from ubp.search.graph import Graph, open_graph

if TYPE_CHECKING:
    from ubp.bindings.review import ReviewedBinding

UNVERIFIABLE = frozenset({"missing", "ambiguous"})
Assess = Callable[[], tuple[Assessment, ...]]
Review = Callable[[Sequence[Assessment]], "tuple[ReviewedBinding, ...]"]


class AssessedPage(NamedTuple):
    """A reference of a page and what became of it."""

    page: Page
    answer: ReferenceVerdict


class RuleContext:
    """What is known of a snapshot; rules ask, and what none asks for costs nothing.

    `wanted` are the pages to find things in, None: all. `judge` tells what became of their sources,
    `review` what history says of naming them.
    `rules` are the names of those that are run, and `standing` all that the others find in the
    state, which the rule on the debt file compares it with.
    """

    rules: tuple[str, ...] = ()
    standing: Callable[[], Sequence[Finding]] = tuple

    def __init__(  # noqa: PLR0913  # a part from each room
        self,
        view: View,
        renames: Renames,
        judge: Assess,
        review: Review,
        wanted: frozenset[FilePath] | None = None,
        *,
        is_change: bool = False,
    ) -> None:
        self.view = view
        self.wanted = wanted
        self.is_change = is_change
        self.renames = renames
        self._judge = judge
        self._review = review
        self._roads: dict[FilePath, bool] = {}

    def is_wanted(self, path: FilePath) -> bool:
        """Whether findings in this page are asked for."""
        return self.wanted is None or path in self.wanted

    @cached_property
    def debts(self) -> Debts:
        """What the snapshot's debt file accepts."""
        return accepted_debts(self.view)

    @cached_property
    def judged(self) -> tuple[AssessedPage, ...]:
        """The references of the wanted pages that are not fresh; of a change those it took away."""
        return tuple(
            AssessedPage(one.page, answer)
            for one in self._assessed
            for answer in one.references
            if answer.verdict != "fresh" and not (self.is_change and answer.is_debt)
        )

    @cached_property
    def reviewed(self) -> "tuple[ReviewedBinding, ...]":
        """The sources that the wanted pages name, held against history; of a change its pages'."""
        return self._review(self._assessed)

    @cached_property
    def bound_pages(self) -> tuple[Page, ...]:
        """The wanted pages with references, or with problems in their front matter."""
        return tuple(page for page in self.view.bound_pages() if self.is_wanted(page.filepath))

    @cached_property
    def graph(self) -> Graph:
        """The links of the snapshot."""
        return open_graph(self.view)

    @cached_property
    def suspects(self) -> tuple[GraphEdge, ...]:
        """The links of the wanted pages of which a rule may say something."""
        suspects = [
            edge
            for edge in self._edges()
            if edge.resolution.bucket in UNVERIFIABLE
            or edge.resolution.has_anchor is False
            or edge.link.meant_type
        ]
        near_comments = {edge.source for edge in suspects if "%%" in edge.link.context}
        pages = self.view.read(near_comments) if near_comments else {}
        comments = {path: Comments(data) for path, data in pages.items() if data}
        return tuple(
            edge
            for edge in suspects
            if edge.source not in comments or not comments[edge.source].cover(edge.link.byte_start)
        )

    def is_beyond(self, edge: GraphEdge) -> bool:
        """Whether a link's path goes through a submodule or symlink, where Git shows no files."""
        path = _path_of(edge, edge.source)
        if edge.link.kind in WIKILINKS or path is None:
            return False
        parts = path.split("/")[:-1]
        return any(self._is_road(FilePath("/".join(parts[: n + 1]))) for n in range(len(parts)))

    def renamed(self, edge: GraphEdge) -> FilePath | None:
        """The page that a link led to before the change renamed it, or the link's own page."""
        target = edge.link.target
        if edge.link.kind in WIKILINKS:
            return self.renames.of_path(target) or self.renames.of_name(target)
        old_source = self.renames.origin(edge.source)
        if old_source and (old := _path_of(edge, old_source)) and self.view.page(old):
            return old  # the page moved, and its links still start where it was
        path = _path_of(edge, old_source or edge.source)
        return self.renames.of_path(path) if path else None

    def from_root(self, edge: GraphEdge) -> tuple[FilePath, ...]:
        """The file that a relative link names if its path is read from the repository's root."""
        path = normalize_path(edge.link.target.lstrip("/"))
        entry = self.view.entry(path) if path else None
        return (path,) if path and entry and not entry.is_directory else ()

    def pages_of_stem(self, name: str) -> tuple[FilePath, ...]:
        """The pages of this file name, which is folded and without suffix."""
        return self._stems.get(name, ())

    @cached_property
    def _assessed(self) -> tuple[Assessment, ...]:
        return self._judge()

    def _edges(self) -> Iterator[GraphEdge]:
        if self.wanted is None:
            yield from self.graph.all_edges()
            return
        for edges in self.graph.edges_of(sorted(self.wanted)).values():
            yield from edges

    def _is_road(self, folder: FilePath) -> bool:
        if folder not in self._roads:
            entry = self.view.entry(folder)
            self._roads[folder] = _is_closed(entry)
        return self._roads[folder]

    @cached_property
    def _stems(self) -> Mapping[str, tuple[FilePath, ...]]:
        stems: dict[str, tuple[FilePath, ...]] = {}
        for path in self.view.document_paths():
            stems[stem(path)] = (*stems.get(stem(path), ()), path)
        return stems


def accepted_debts(view: View) -> Debts:
    """What the debt file of a snapshot accepts; nothing where there is none."""
    entry = view.entry(DEBT_FILE)
    if entry is None or not entry.is_file:
        return Debts()
    ground = view.context
    data = read_document(ground.repository, ground.snapshot, DEBT_FILE, entry)
    return read_debts(data) if data else Debts()


def _is_closed(entry: Entry | None) -> bool:
    return entry is not None and entry.mode in {MODE_SUBMODULE, MODE_SYMLINK}


def _path_of(edge: GraphEdge, source: FilePath) -> FilePath | None:
    """The path that a link in the page `source` names, a leading "/" meaning the root."""
    target = edge.link.target
    folder = "" if target.startswith("/") else source.rpartition("/")[0]
    return normalize_path(f"{folder}/{target}".lstrip("/"))
