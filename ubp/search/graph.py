"""The documents of a snapshot and the links between them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from ubp.core.interruption import with_checkpoints
from ubp.core.model import FilePath, ObjectId, Page, Section
from ubp.core.paths import doc_id
from ubp.index.link_graph import GraphEdge, LinkGraph
from ubp.index.view import View
from ubp.markdown.resolve import Bucket, PageNameForms, Targets, resolve, stem
from ubp.markdown.sites.anchors import HeadingName
from ubp.markdown.sites.site import Sites

T = TypeVar("T")


class DocumentRow(NamedTuple):
    """A document in a list; `title` defaults to the file's name without its suffix."""

    path: FilePath
    title: str
    doc_type: str
    tags: tuple[str, ...]
    blob: ObjectId
    collection: str = ""

    @property
    def doc_id(self) -> str:
        """Return the document's id; few callers need it."""
        return doc_id(self.path, self.collection)


def open_graph(view: View) -> "Graph":
    """Return a snapshot's graph, after reading and resolving the links that are not stored yet."""
    return view.derived("graph", lambda: Graph(view, view.link_graph()))


class Graph:
    """The link graph of one snapshot, opened by `open_graph`; the store must stay open."""

    def __init__(self, view: View, link_graph: LinkGraph) -> None:
        self._view = view
        self._link_graph = link_graph
        self._counts: dict[FilePath, tuple[int, int]] = {}

    def documents(self) -> list[DocumentRow]:
        """Return all documents, sorted by path."""
        return [self._row(page) for page in with_checkpoints(self._view.pages())]

    def document(self, path: FilePath) -> DocumentRow | None:
        """Return a document, or None if there is none at the path."""
        page = self._view.page(path)
        return self._row(page) if page else None

    def documents_at(self, paths: Collection[FilePath]) -> dict[FilePath, DocumentRow]:
        """Return the documents among these paths."""
        return {path: self._row(page) for path, page in self._view.pages_at(paths).items()}

    def outlinks(self, path: FilePath) -> tuple[GraphEdge, ...]:
        """Return the links of a document, in order."""
        return self._link_graph.out([path]).get(path, ())

    def backlinks(self, path: FilePath) -> tuple[GraphEdge, ...]:
        """Return the links from other documents to a document, by path and position."""
        return self.backlinks_of([path])[path]

    def all_edges(self) -> Iterator[GraphEdge]:
        """Yield every link, sorted by document."""
        return self._link_graph.edges()

    def edges_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """Return the links of each of these documents."""
        return self._link_graph.out(paths)

    def backlinks_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """Return the links from other documents to each of these."""
        return {
            path: tuple(edge for edge in edges if edge.source != path)
            for path, edges in self._link_graph.into(paths).items()
        }

    @property
    def sites(self) -> Sites:
        """The sites that publish the documents."""
        return self._link_graph.sites

    def links_to_missing(self, path: FilePath) -> tuple[GraphEdge, ...]:
        """Return the broken links that would lead to this path if it were a document."""
        targets = Targets(sites=self.sites)
        targets.add_page(PageNameForms(path, None, ()))
        return tuple(
            edge
            for edge in self._link_graph.links_to_names({stem(path)})
            if edge.resolution.target is None
            and resolve(edge.source, edge.link, targets).target == path
        )

    def leads_to(self, edge: GraphEdge, text: str, path: FilePath) -> bool:
        """Return whether a link would lead to a file if `text` were written as its target."""
        targets = Targets(sites=self.sites)
        if is_page := self._view.page(path) is not None:
            targets.add_page(PageNameForms(path, None, ()))
        else:
            targets.add_file(path)
        link = edge.link._replace(target=unquote(text), anchor=None)
        resolution = resolve(edge.source, link, targets)
        return resolution.target == path if is_page else resolution.bucket != "missing"

    def buckets(self) -> Counter[Bucket]:
        """Return the number of links in each bucket; each link is in one."""
        return self._link_graph.buckets()

    def link_counts(
        self, paths: Collection[FilePath] | None = None
    ) -> dict[FilePath, tuple[int, int]]:
        """Return the number of links from each document (None: all) to others, and from others."""
        graph = self._link_graph
        documents = graph.pages() if paths is None else graph.blobs(paths)
        missing = documents.keys() - self._counts.keys()
        if missing:
            pairs = graph.pairs() if paths is None else graph.pairs_at(missing)
            outgoing: Counter[FilePath] = Counter()
            incoming: Counter[FilePath] = Counter()
            for source, target in with_checkpoints(pairs):
                if source != target:
                    outgoing[source] += 1
                    incoming[target] += 1
            counted = documents if paths is None else missing
            self._counts |= {
                path: (outgoing[path], incoming[path]) for path in with_checkpoints(counted)
            }
        return {path: self._counts[path] for path in with_checkpoints(documents)}

    def pairs_at(self, paths: Collection[FilePath]) -> Iterator[tuple[FilePath, FilePath]]:
        """Yield the source and the target of each link from or to one of these documents."""
        return self._link_graph.pairs_at(paths)

    def sections(self, path: FilePath) -> tuple[Section, ...]:
        """Return the sections of a document."""
        return self._link_graph.sections(path)

    def sections_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Section, ...]]:
        """Return the sections of each of these documents."""
        return self._link_graph.sections_of(paths)

    def headings(self, path: FilePath) -> tuple[HeadingName, ...]:
        """Return the headings of all levels of a page, and the terms of its definitions."""
        return self._link_graph.headings(path)

    def anchors(self, path: FilePath) -> frozenset[str]:
        """Return the anchors that a link to a document may have."""
        return self._link_graph.anchors(path)

    def text(self, path: FilePath) -> bytes | None:
        """Return a document's bytes as Git stores them; None: no document, or unreadable."""
        return self.texts([path]).get(path)

    def texts(self, paths: Collection[FilePath]) -> dict[FilePath, bytes | None]:
        """Return the bytes of several documents, as `text` does."""
        return self._view.read(paths)

    def is_changed(self, path: FilePath) -> bool:
        """Return whether the snapshot differs from its commit at this path."""
        return self._view.is_changed(path)

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """Return the session's cache of this name for facts of blobs, made by `make` if new."""
        return self._view.context.cache.derived(name, make)

    def _row(self, page: Page) -> DocumentRow:
        path, facts = page.filepath, page.facts
        title = facts.title or path.rpartition("/")[2].rpartition(".")[0]
        collection = self._view.context.collection
        return DocumentRow(path, title, facts.doc_type, facts.tags, page.blob, collection)
