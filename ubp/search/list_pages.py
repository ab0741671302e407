"""Pages as they are read: their text, the links out of them and to them, a list of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ubp.core.model import FilePath, Link, Section
from ubp.markdown.resolve import Bucket
from ubp.search.graph import DocumentRow, Graph

SortKey = Literal["title", "updated_at", "created_at", "filepath"]
Dates = Mapping[FilePath, int | None]

# Links to pages that are or should be there; the others lead to files, routes, places in the page.
TO_PAGES: frozenset[Bucket] = frozenset({"resolved", "ambiguous", "missing"})


class PagePart(NamedTuple):
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
    parts: tuple[PagePart, ...]
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
    parts = tuple(PagePart(one, _text(data, one.byte_start, one.byte_end)) for one in sections)
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


def find_documents(
    graph: Graph, doc_types: Collection[str] = (), tags: Collection[str] = ()
) -> list[DocumentRow]:
    """The pages of one of these types that have all of these tags, in the order of their paths."""
    wanted = _folded(tags)
    return [
        document
        for document in graph.documents()
        if (not doc_types or document.doc_type in doc_types)
        and (not wanted or wanted <= _folded(document.tags))
    ]


class Order(NamedTuple):
    """What pages are sorted by. `dates` are those that the key is about, if it is about dates."""

    key: SortKey
    is_descending: bool
    dates: Dates


class Place(NamedTuple):
    """A place between the pages of a list: behind the page with this value and path."""

    value: str | int | None
    path: FilePath


def sort_documents(documents: Iterable[DocumentRow], order: Order) -> list[DocumentRow]:
    """Put pages in order; equal ones by their paths, those without a date at the end."""
    valued = [(_value(one, order), one) for one in sorted(documents, key=lambda one: one.path)]
    told = [pair for pair in valued if pair[0] is not None]
    ordered = sorted(told, key=lambda pair: pair[0], reverse=order.is_descending)
    return [one for _, one in ordered] + [one for value, one in valued if value is None]


def cut_list(
    ordered: Sequence[DocumentRow], order: Order, limit: int | None, after: Place | None
) -> tuple[Sequence[DocumentRow], Place | None]:
    """At most so many pages behind a place, and the place behind them if there are more.

    The page that stood at the place may be gone or stand elsewhere by now: what belongs behind the
    place is told all the same, nothing twice.
    """
    rest = ordered if after is None else [p for p in ordered if _is_behind(p, after, order)]
    shown = rest if limit is None else rest[:limit]
    if len(shown) == len(rest):
        return shown, None
    return shown, Place(_value(shown[-1], order), shown[-1].path)


def count_links(graph: Graph, documents: Sequence[DocumentRow]) -> tuple[ListedPage, ...]:
    """These pages with the numbers of their links."""
    counts = graph.link_counts([document.path for document in documents])
    return tuple(ListedPage(one, *counts.get(one.path, (0, 0))) for one in documents)


def _value(document: DocumentRow, order: Order) -> Any:
    if order.key == "title":
        return document.title.casefold()
    return document.path if order.key == "filepath" else order.dates.get(document.path)


def _is_behind(document: DocumentRow, place: Place, order: Order) -> bool:
    value = _value(document, order)
    if value == place.value:
        return document.path > place.path
    if value is None or place.value is None:
        return value is None
    return bool(value < place.value if order.is_descending else value > place.value)


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
