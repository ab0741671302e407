"""The documents of a snapshot and the links between them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from ubp.core.model import FilePath, ObjectId, Page, Section
from ubp.core.paths import doc_id
from ubp.index.link_graph import GraphEdge, LinkGraph
from ubp.index.view import View
from ubp.markdown.resolve import Bucket, PageNameForms, Targets, resolve, stem

T = TypeVar("T")


class DocumentRow(NamedTuple):
    """A document in a list; `title` falls back on the file's name without its suffix."""

    path: FilePath
    title: str
    doc_type: str
    tags: tuple[str, ...]
    blob: ObjectId

    @property
    def doc_id(self) -> str:
        """Its id; computed only where somebody is told."""
        return doc_id(self.path)


def open_graph(view: View) -> "Graph":
    """Make sure that a snapshot's links are known and resolved, and answer about them."""
    return view.derived("graph", lambda: Graph(view, view.link_graph()))


class Graph:
    """Answers about the links of one snapshot. `open_graph` makes it; the store must stay open."""

    def __init__(self, view: View, linked: LinkGraph) -> None:
        self._view = view
        self._linked = linked
        self._counts: dict[FilePath, tuple[int, int]] = {}

    def documents(self) -> list[DocumentRow]:
        """All documents, in the order of their paths."""
        return list(self._documents.values())

    def document(self, path: FilePath) -> DocumentRow | None:
        """A document; None: the path is none."""
        page = self._view.page(path)
        return _row(page) if page else None

    def documents_at(self, paths: Collection[FilePath]) -> dict[FilePath, DocumentRow]:
        """Those of these paths that are documents."""
        known: Mapping[FilePath, DocumentRow] | None = vars(self).get("_documents")
        if known is not None:
            return {path: known[path] for path in paths if path in known}
        return {path: _row(page) for path, page in self._view.pages_at(paths).items()}

    def outlinks(self, path: FilePath) -> tuple[GraphEdge, ...]:
        """The links of a page, in order."""
        return self._linked.out([path]).get(path, ())

    def backlinks(self, path: FilePath) -> tuple[GraphEdge, ...]:
        """The links of other pages that lead to a page, in the order of path and place."""
        return tuple(edge for edge in self._linked.into([path])[path] if edge.source != path)

    def all_edges(self) -> Iterator[GraphEdge]:
        """Every link, page after page in the order of their paths."""
        return self._linked.edges()

    def edges_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """The links of these pages."""
        return self._linked.out(paths)

    def backlinks_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """The links of other pages that lead to these."""
        found = self._linked.into(paths)
        return {
            path: tuple(edge for edge in edges if edge.source != path)
            for path, edges in found.items()
        }

    def asking_for(self, path: FilePath, roots: Sequence[FilePath] = ()) -> tuple[GraphEdge, ...]:
        """The links that lead to no page and would lead to this path, if one stood there.

        `roots` are folders where links with a leading "/" may start.
        """
        there = Targets(lambda _: ())
        there.add_page(PageNameForms(path, None, ()))
        return tuple(
            edge
            for edge in self._linked.links_to_names({stem(path)})
            if edge.resolution.target is None
            and resolve(edge.source, edge.link, there, roots).target == path
        )

    def buckets(self) -> Counter[Bucket]:
        """How many links are in each bucket; they add up to all links."""
        return self._linked.buckets()

    def link_counts(
        self, paths: Collection[FilePath] | None = None
    ) -> dict[FilePath, tuple[int, int]]:
        """How many links lead from each page (None: all) to another one, and from others to it."""
        pages = self._linked.pages() if paths is None else self._linked.blobs(paths)
        missing = pages.keys() - self._counts.keys()
        if missing:
            self._counts |= self._count_links(None if paths is None else missing)
        return {path: self._counts[path] for path in pages}

    def pairs_at(self, paths: Collection[FilePath]) -> Iterator[tuple[FilePath, FilePath]]:
        """The source and the target of each link from or to one of these pages."""
        return self._linked.pairs_at(paths)

    def sections(self, path: FilePath) -> tuple[Section, ...]:
        """The sections of a page."""
        return self._linked.sections(path)

    def sections_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Section, ...]]:
        """The sections of these pages."""
        return self._linked.sections_of(paths)

    def anchors(self, path: FilePath) -> frozenset[str]:
        """All that a link may name behind a page's path, folded."""
        return self._linked.anchors(path)

    def text(self, path: FilePath) -> bytes | None:
        """A page's bytes as Git stores them; None: no page, or not to be had."""
        return self.texts([path]).get(path)

    def texts(self, paths: Collection[FilePath]) -> dict[FilePath, bytes | None]:
        """The same of several pages."""
        return self._view.read(paths)

    def is_changed(self, path: FilePath) -> bool:
        """Whether the snapshot differs from its commit there."""
        return self._view.is_changed(path)

    def remembered(self, name: str, make: Callable[[], T]) -> T:
        """What `make` has made of blobs, which are the same in every snapshot."""
        return self._view.context.cache.derived(name, make)

    @cached_property
    def _documents(self) -> dict[FilePath, DocumentRow]:
        return {page.filepath: _row(page) for page in self._view.pages()}

    def _count_links(self, paths: Collection[FilePath] | None) -> dict[FilePath, tuple[int, int]]:
        outgoing: Counter[FilePath] = Counter()
        incoming: Counter[FilePath] = Counter()
        for source, target in self._linked.pairs() if paths is None else self.pairs_at(paths):
            if source != target:
                outgoing[source] += 1
                incoming[target] += 1
        wanted = self._linked.pages() if paths is None else paths
        return {path: (outgoing[path], incoming[path]) for path in wanted}


def _row(page: Page) -> DocumentRow:
    path = page.filepath
    stem = path.rpartition("/")[2].rpartition(".")[0]
    facts = page.facts
    return DocumentRow(path, facts.title or stem, facts.doc_type, facts.tags, page.blob)
