"""Pages as they are read: their text, the links out of them and to them, a list of them."""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from ubp.graph.view import DocumentRow, Graph
from ubp.links import Bucket
from ubp.model import FilePath, Link, Section

SortKey = Literal["title", "updated_at", "filepath"]

# Links to pages that are or should be there; the others lead to files, routes, places in the page.
TO_PAGES: frozenset[Bucket] = frozenset({"resolved", "ambiguous", "missing"})


class Part(NamedTuple):
    """A section of a page and its text."""

    section: Section
    content: str


class PageLink(NamedTuple):
    """A link of a page and the page at its other end; None: there is none."""

    link: Link
    bucket: Bucket
    other: DocumentRow | None


class OpenPage(NamedTuple):
    """A page. `content` is its text without the front matter."""

    document: DocumentRow
    content: str
    parts: tuple[Part, ...]
    outlinks: tuple[PageLink, ...]
    backlinks: tuple[PageLink, ...]


class ListedPage(NamedTuple):
    """A page in a list; how many links lead from it to other pages, and from others to it."""

    document: DocumentRow
    outgoing: int
    incoming: int


def read_page(graph: Graph, path: FilePath) -> OpenPage:
    """Read a page; the text of one that cannot be had is empty.

    Raises:
        KeyError: the path is no page.
    """
    document = graph.document(path)
    if document is None:
        raise KeyError(path)
    sections = graph.sections(path)
    data = graph.text(path) or b""
    parts = tuple(Part(one, _text(data, one.byte_start, one.byte_end)) for one in sections)
    content = _text(data, sections[0].byte_start, sections[-1].byte_end) if sections else ""
    documents = {path: document}
    outlinks = (
        PageLink(e.link, e.resolution.bucket, _other(graph, e.resolution.target, documents))
        for e in graph.outlinks(path)
        if e.resolution.bucket in TO_PAGES
    )
    backlinks = (
        PageLink(e.link, e.resolution.bucket, _other(graph, e.source, documents))
        for e in graph.backlinks(path)
    )
    return OpenPage(document, content, parts, tuple(outlinks), tuple(backlinks))


def list_pages(
    graph: Graph, doc_types: Collection[str] = (), tags: Collection[str] = ()
) -> list[ListedPage]:
    """The pages of one of these types that have all of these tags, in the order of their paths."""
    counts = graph.link_counts()
    return [
        ListedPage(document, *counts.get(document.path, (0, 0)))
        for document in graph.documents()
        if (not doc_types or document.doc_type in doc_types)
        and _folded(tags) <= _folded(document.tags)
    ]


def sort_pages(
    pages: Iterable[ListedPage],
    key: SortKey,
    updated_at: Mapping[FilePath, int | None],
    *,
    is_descending: bool = False,
) -> list[ListedPage]:
    """Put pages in order; equal ones by their paths, those without a date at the end."""

    def value(page: ListedPage) -> tuple[str | int, ...]:
        document = page.document
        if key == "title":
            return (document.title.casefold(),)
        return (updated_at.get(document.path) or 0,) if key == "updated_at" else (document.path,)

    by_path = sorted(pages, key=lambda page: page.document.path)
    ordered = sorted(by_path, key=value, reverse=is_descending)
    if key != "updated_at":
        return ordered
    return sorted(ordered, key=lambda page: updated_at.get(page.document.path) is None)


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def _other(
    graph: Graph, path: FilePath | None, documents: dict[FilePath, DocumentRow]
) -> DocumentRow | None:
    if path is not None and path not in documents:
        document = graph.document(path)
        if document is None:
            return None
        documents[path] = document
    return None if path is None else documents[path]


def _folded(tags: Iterable[str]) -> set[str]:
    return {tag.casefold().removeprefix("#") for tag in tags}
