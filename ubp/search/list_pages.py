"""Documents with their text and links, and lists of documents."""

import base64
import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ubp.core.errors import BadArgumentError, PartNotFoundError
from ubp.core.interruption import checkpoint, with_checkpoints
from ubp.core.model import Assessment, FilePath, Link, Section
from ubp.core.policy import excerpt
from ubp.index.session import AssessPaths, Session
from ubp.index.view import View
from ubp.markdown.resolve import Bucket
from ubp.markdown.source_text import SourceText
from ubp.search.dates import Dates, created_at, updated_at
from ubp.search.folders import is_below
from ubp.search.graph import DocumentRow, Graph, open_graph

if TYPE_CHECKING:  # it loads markdown-it, which only a part of a page needs
    from ubp.markdown.outline import OutlineSection

SortKey = Literal["title", "updated_at", "created_at", "filepath"]
DATE_KEYS: frozenset[SortKey] = frozenset({"updated_at", "created_at"})

# Links to existing or missing documents; other links lead to files, routes, or the same document.
TO_DOCUMENTS: frozenset[Bucket] = frozenset({"resolved", "ambiguous", "missing"})


class PagePart(NamedTuple):
    """A section of a document and its text."""

    section: Section
    content: str


class PageLink(NamedTuple):
    """A link of a document and the document at its other end, if that exists."""

    link: Link
    bucket: Bucket
    other: DocumentRow | None


class OpenPage(NamedTuple):
    """A document. `content` is its text without the front matter."""

    document: DocumentRow
    content: str
    parts: tuple[PagePart, ...]
    outlinks: tuple[PageLink, ...]
    backlinks: tuple[PageLink, ...]


class ListedPage(NamedTuple):
    """A document in a list, with the number of its links to other documents and of theirs to it."""

    document: DocumentRow
    outgoing: int
    incoming: int


class Order(NamedTuple):
    """The sort order of a list. `dates` are those of the key; unused if the key is not a date."""

    key: SortKey
    is_descending: bool
    dates: Dates


class Place(NamedTuple):
    """The place in a list after the document with this value and path."""

    value: str | int | None
    path: FilePath


class ReadPage(NamedTuple):
    """A document, its assessment, and when it was committed first and last.

    Dates are committer dates in seconds. None: it was never committed, a shallow clone ends too
    early to know, or (`created_at`) the date was not requested. `is_uncommitted`: it differs from
    what was committed.
    """

    page: OpenPage
    assessment: Assessment
    updated_at: int | None
    created_at: int | None = None
    is_uncommitted: bool = False


class PageList(NamedTuple):
    """Documents in order, with dates as in `ReadPage`.

    `matching` are the paths of the documents that match the filters, `total` is the number of all
    in the snapshot, `next` the place where the list continues, and `next_cursor` the same place as
    a text.
    """

    pages: tuple[ListedPage, ...]
    assessments: Mapping[FilePath, Assessment]
    updated_at: Dates
    created_at: Dates
    uncommitted: Collection[FilePath]
    matching: Sequence[FilePath]
    total: int
    next: Place | None = None
    next_cursor: str | None = None


class ListRequest(NamedTuple):
    """The documents to list: of one of `doc_types`, with all `tags`, up to `limit` after a place.

    With a `folder` only those in it and below it are listed.
    The place may be given as a cursor. Without `is_dated` the history is not walked for the dates
    of their last changes; `ref` None: those of the work tree.
    """

    doc_types: Collection[str] = ()
    tags: Collection[str] = ()
    sort: SortKey = "title"
    is_descending: bool = False
    is_dated: bool = True
    limit: int | None = None
    after: Place | str | None = None
    ref: str | None = None
    folder: str = ""


def read_page(graph: Graph, path: FilePath) -> OpenPage:
    """Read a document; the text of an unreadable one is empty.

    Raises:
        KeyError: there is no document at the path.
    """
    document = graph.document(path)
    if document is None:
        raise KeyError(path)
    sections = graph.sections(path)
    data = graph.text(path) or b""
    parts = tuple(
        PagePart(section, _text(data, section.byte_start, section.byte_end)) for section in sections
    )
    content = _text(data, sections[0].byte_start, sections[-1].byte_end) if sections else ""
    links = [edge for edge in graph.outlinks(path) if edge.resolution.bucket in TO_DOCUMENTS]
    links_to_it = graph.backlinks(path)
    targets = {edge.resolution.target for edge in links if edge.resolution.target is not None}
    documents = graph.documents_at(targets | {edge.source for edge in links_to_it})
    outlinks = tuple(
        PageLink(
            edge.link,
            edge.bucket,
            None if edge.resolution.target is None else documents.get(edge.resolution.target),
        )
        for edge in links
    )
    backlinks = tuple(
        PageLink(edge.link, edge.bucket, documents.get(edge.source)) for edge in links_to_it
    )
    return OpenPage(document, content, parts, outlinks, backlinks)


def narrow_page(page: OpenPage, data: bytes, name: str) -> OpenPage:
    """Return the part of a document (with these bytes) that is the section of this name.

    Raises:
        PartNotFoundError: it has no such section.
    """
    from ubp.markdown.outline import closest_section, find_section, list_sections, read_outline

    outline = read_outline(data)
    found = find_section(outline, name)
    if found is None:
        closest = closest_section(outline, name)
        near = (f"{page.document.path}#{closest}",) if closest else ()
        raise PartNotFoundError(
            f"{page.document.path} has no section {name}.",
            near=near,
            cause=f"No heading has this id or text.{'' if near else f' {list_sections(outline)}'}",
            hint=f"Did you mean {near[0]}?" if near else "",
        )

    return _narrowed(page, data, found)


def narrow_lines(page: OpenPage, data: bytes, first: int, last: int) -> OpenPage:
    """Return these lines (from 1, inclusive) of a document with these bytes.

    Raises:
        PartNotFoundError: it has fewer lines.
    """
    texts = SourceText(data).lines
    number = len(texts) if texts[-1] else len(texts) - 1  # none follows the last newline
    if first > number:
        raise PartNotFoundError(
            f"{page.document.path} has no line {first}.", cause=f"It has {number} lines."
        )
    from ubp.markdown.outline import OutlineSection

    lines = OutlineSection("", (), 0, "", (), first, min(last, number), (), ())
    narrowed = _narrowed(page._replace(parts=()), data, lines)
    return narrowed._replace(content=narrowed.content.rstrip("\n"))


def _narrowed(page: OpenPage, data: bytes, found: "OutlineSection") -> OpenPage:
    def contains(line: int) -> bool:
        return found.line_start <= line <= found.line_end

    source = SourceText(data)
    first, last = found.line_start - 1, found.line_end - 1
    start, end = source.byte_at(first, 0), source.byte_at(last, len(source.lines[last]))
    parts = [part for part in page.parts if contains(part.section.line_start)]
    if not parts or parts[0].section.line_start > found.line_start:
        # Deeper headings, and a title, begin no part of their own.
        line_end = parts[0].section.line_start - 1 if parts else found.line_end
        own_end = source.byte_at(line_end - 1, len(source.lines[line_end - 1]))
        section = Section(
            *(found.heading or None, found.level, found.path, found.id or None),
            *(found.line_start, line_end, start, own_end),
        )
        parts.insert(0, PagePart(section, _text(data, start, own_end)))
    return page._replace(
        content=_text(data, start, end),
        parts=tuple(parts),
        outlinks=tuple(link for link in page.outlinks if contains(link.link.line)),
    )


def cut_page(page: OpenPage, policy: str) -> OpenPage:
    """Return a document with as much of its text as the policy of its collection allows."""
    content = excerpt(page.content, policy)
    return page if content == page.content else page._replace(content=content, parts=())


def list_pages(session: Session, view: View, request: ListRequest, assess: AssessPaths) -> PageList:
    """Return the documents that match a request, with their link counts and dates.

    Raises:
        BadArgumentError: the cursor is none, or belongs to another request.
    """
    after = (
        _read_cursor(request, request.after) if isinstance(request.after, str) else request.after
    )
    graph = open_graph(view)
    matching = [
        document
        for document in find_documents(graph, request.doc_types, request.tags)
        if is_below(document.path, request.folder)
    ]
    dates: Dates = {}
    if request.sort in DATE_KEYS:
        find_dates = updated_at if request.sort == "updated_at" else created_at
        dates = find_dates(session, view, [document.path for document in matching])
    order = Order(request.sort, request.is_descending, dates)
    ordered = sort_documents(matching, order)
    is_dated = request.is_dated or request.sort == "updated_at"
    shown, place = cut_list(ordered, order, request.limit, after)
    paths = [document.path for document in shown]
    undated: Dates = dict.fromkeys(paths)
    return PageList(
        count_links(graph, shown),
        assess(view, paths),
        updated_at(session, view, paths) if is_dated else undated,
        dates if request.sort == "created_at" else undated,
        frozenset(path for path in paths if view.is_changed(path)),
        matching=[document.path for document in matching],
        total=view.count_documents(),
        next=place,
        next_cursor=_write_cursor(request, place) if place else None,
    )


def find_documents(
    graph: Graph, doc_types: Collection[str] = (), tags: Collection[str] = ()
) -> list[DocumentRow]:
    """Return the documents of one of these types that have all of these tags, sorted by path."""
    required = _normalize_tags(tags)
    return [
        document
        for document in with_checkpoints(graph.documents())
        if (not doc_types or document.doc_type in doc_types)
        and (not required or required <= _normalize_tags(document.tags))
    ]


def sort_documents(documents: Iterable[DocumentRow], order: Order) -> list[DocumentRow]:
    """Sort documents; equal ones by path, those without a date last."""
    by_path = sorted(documents, key=lambda document: document.path)
    checkpoint()
    values = [(_value(document, order), document) for document in with_checkpoints(by_path)]
    dated = [pair for pair in values if pair[0] is not None]
    checkpoint()
    dated.sort(key=lambda pair: pair[0], reverse=order.is_descending)
    undated = [document for value, document in values if value is None]
    return [document for _, document in dated] + undated


def cut_list(
    documents: Sequence[DocumentRow], order: Order, limit: int | None, after: Place | None
) -> tuple[Sequence[DocumentRow], Place | None]:
    """Return at most `limit` sorted documents after a place, and the next place if there are more.

    The document at the place may have moved or vanished meanwhile: the rest of the list is returned
    all the same, without duplicates.
    """
    rest = documents
    if after is not None:
        rest = [d for d in with_checkpoints(documents) if _is_after(d, after, order)]
    shown = rest if limit is None else rest[:limit]
    if len(shown) == len(rest):
        return shown, None
    return shown, Place(_value(shown[-1], order), shown[-1].path)


def count_links(graph: Graph, documents: Sequence[DocumentRow]) -> tuple[ListedPage, ...]:
    """Return these documents with the numbers of their links."""
    counts = graph.link_counts([document.path for document in documents])
    return tuple(ListedPage(document, *counts.get(document.path, (0, 0))) for document in documents)


def _value(document: DocumentRow, order: Order) -> Any:
    if order.key == "title":
        return document.title.casefold()
    return document.path if order.key == "filepath" else order.dates.get(document.path)


def _is_after(document: DocumentRow, place: Place, order: Order) -> bool:
    value = _value(document, order)
    if value == place.value:
        return document.path > place.path
    if value is None or place.value is None:
        return value is None
    return bool(value < place.value if order.is_descending else value > place.value)


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def _normalize_tags(tags: Iterable[str]) -> set[str]:
    return {tag.casefold().removeprefix("#") for tag in tags}


def _write_cursor(request: ListRequest, place: Place) -> str:
    encoded = json.dumps([_checksum(request), place.value, place.path])
    return base64.urlsafe_b64encode(encoded.encode("ascii")).decode("ascii").rstrip("=")


def _read_cursor(request: ListRequest, cursor: str) -> Place:
    try:
        decoded = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        checksum, value, path = json.loads(decoded)
    except (ValueError, TypeError) as error:
        raise _bad_cursor("It was not returned with a list of pages, or was altered.") from error
    kind = int if request.sort in DATE_KEYS else str
    is_value = value is None or type(value) is kind
    if checksum != _checksum(request) or not is_value or not isinstance(path, str):
        raise _bad_cursor("It belongs to a list with different filters, sort order or revision.")
    return Place(value, FilePath(path))


def _checksum(request: ListRequest) -> int:
    filters = [*map(sorted, (request.doc_types, request.tags)), request.folder]
    query = [*filters, request.sort, request.is_descending, request.ref]
    return zlib.crc32(json.dumps(query).encode("ascii"))


def _bad_cursor(cause: str) -> BadArgumentError:
    return BadArgumentError(
        "cursor",
        "Invalid `cursor`.",
        cause=cause,
        hint="Repeat the arguments of the call that returned it, or omit `cursor` to start again.",
    )
