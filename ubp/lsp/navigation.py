"""Where things are: definitions, references, highlights, links, symbols, folds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from lsprotocol import types

from ubp.core.model import FilePath, SourceReference
from ubp.core.paths import normalize_path
from ubp.core.source import GlobSource, PartSource
from ubp.core.text import fold
from ubp.index.link_graph import GraphEdge
from ubp.index.parts import find_parts
from ubp.lsp.context import EditorContext, LocatedLink, contains
from ubp.lsp.diagnostics import pages_about
from ubp.markdown.document import read_head
from ubp.markdown.outline import (
    OutlineSection,
    find_anchor_line,
    find_label_line,
    read_outline,
)
from ubp.markdown.resolve import is_label, label_name
from ubp.markdown.source_text import SourceText
from ubp.staleness.references import locate

# What a client lists of them all; a longer query finds the others.
MAX_SYMBOLS = 200
# A glob may match thousands.
MAX_SOURCE_FILES = 50
# Texts of pages whose outlines, and anchors whose lines, are remembered.
MAX_REMEMBERED = 100


# The same at each letter that is typed.
_read_outline = lru_cache(maxsize=MAX_REMEMBERED)(read_outline)
_find_anchor_line = lru_cache(maxsize=MAX_REMEMBERED)(find_anchor_line)


def find_definition(
    context: EditorContext, path: FilePath, params: types.DefinitionParams
) -> list[types.Location]:
    """Return where a link or a source reference leads."""
    if link := link_at(context, path, params.position):
        target = link_target(context, link.edge)
        return [context.location(*target)] if target else []
    if reference := reference_at(context, path, params.position):
        return [context.location(*source) for source in source_places(context, reference)]
    return []


class Meant(NamedTuple):
    """What a position is about: a file; `line` (from 1) is that of a heading, 0: all of it."""

    path: FilePath
    line: int


def meant_at(context: EditorContext, path: FilePath, position: types.Position) -> Meant | None:
    """Return what a position is about: a link's target, a heading, else the file itself.

    The first heading of a page names the page. None: a link leads to no file.
    """
    if link := link_at(context, path, position):
        found = link_target(context, link.edge)
        return Meant(found[0], found[1] if link.link.anchor else 0) if found else None
    section = heading_at(context, path, position.line + 1)
    is_first = section is not None and section == first_heading(context, path)
    line = section.line_start if section and not is_first else 0
    return Meant(path, line)


def find_references(
    context: EditorContext, path: FilePath, params: types.ReferenceParams
) -> list[types.Location]:
    """Return the links to what a position is about: see `meant_at`.

    Of a page also the source references that name it, and of another file only those.
    """
    meant = meant_at(context, path, params.position)
    if meant is None:
        return []
    links = [
        types.Location(context.addresses.uri(link.edge.source), link.range)
        for link in links_to(context, meant.path, meant.line)
    ]
    references = [
        types.Location(
            context.addresses.uri(page),
            context.line_range(page, verdict.reference.line, verdict.reference.written),
        )
        for page, verdict in ([] if meant.line else pages_about(context, meant.path))
    ]
    return [*links, *references]


def find_highlights(
    context: EditorContext, path: FilePath, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """Return the places of a page that are about the same: its links there, and the heading."""
    if context.page(path) is None:
        return []
    is_text = not link_at(context, path, params.position) and not heading_at(
        context, path, params.position.line + 1
    )
    meant = None if is_text else meant_at(context, path, params.position)
    if meant is None:
        return []
    found = [
        types.DocumentHighlight(link.range, types.DocumentHighlightKind.Read)
        for link in context.links(path)
        if _leads_to(context, link, meant)
    ]
    if meant.path == path:
        first = first_heading(context, path)
        line = meant.line or (first.line_start if first else 0)
        if line:
            heading = context.line_range(path, line)
            found.insert(0, types.DocumentHighlight(heading, types.DocumentHighlightKind.Write))
    return found


def _leads_to(context: EditorContext, link: LocatedLink, meant: Meant) -> bool:
    target = link_target(context, link.edge)
    if target is None or target[0] != meant.path:
        return False
    return target[1] == meant.line if meant.line else not link.link.anchor


def count_links(context: EditorContext, path: FilePath) -> Mapping[int, int]:
    """Return how many links lead to each heading of a page, by line (from 1).

    The first heading counts all links to the page.
    """
    first = first_heading(context, path)
    counts: Counter[int] = Counter()
    for edge in context.view.link_graph().into([path])[path]:
        if first is not None:
            counts[first.line_start] += 1
        line = anchor_line(context, path, edge.link.anchor) if edge.link.anchor else None
        if line and (first is None or line != first.line_start):
            counts[line] += 1
    headings = {section.line_start for section in outline_of(context, path) if section.level}
    return {line: counts[line] for line in sorted(headings & counts.keys())}


def find_document_links(
    context: EditorContext, path: FilePath, _: types.DocumentLinkParams
) -> list[types.DocumentLink]:
    """Return the links of a page to files, and its source references; anchors are found later."""
    found = []
    for link in context.links(path):
        if link.link.anchor:
            data = [context.addresses.uri(path), link.link.byte_start]
            found.append(types.DocumentLink(link.target_range, data=data))
        elif target := link_target(context, link.edge):
            found.append(types.DocumentLink(link.target_range, context.addresses.uri(target[0])))
    page = context.page(path)
    for reference in page.facts.references if page else ():
        for file, line in source_places(context, reference)[:1]:
            span = context.line_range(path, reference.line, reference.written)
            found.append(types.DocumentLink(span, _uri_of_line(context, file, line)))
    return found


def resolve_document_link(
    context: EditorContext, path: FilePath, link: types.DocumentLink
) -> types.DocumentLink:
    """Return a link with its target: the line of its anchor."""
    start = link.data[1] if link.data else -1
    for located in context.links(path):
        if located.link.byte_start == start:
            target = link_target(context, located.edge)
            if target:
                link.target = _uri_of_line(context, *target)
    return link


def find_symbols(
    context: EditorContext, path: FilePath, _: types.DocumentSymbolParams
) -> list[types.DocumentSymbol]:
    """Return the headings of a document, each with those below it."""
    roots: list[types.DocumentSymbol] = []
    above: list[tuple[int, types.DocumentSymbol]] = []
    for section in outline_of(context, path):
        if not section.level:
            continue
        heading = context.line_range(path, section.line_start)
        last = context.line_range(path, section.line_end)
        symbol = types.DocumentSymbol(
            name=section.heading or "#" * section.level,
            kind=types.SymbolKind.String,
            range=types.Range(types.Position(heading.start.line, 0), max(last.end, heading.end)),
            selection_range=heading,
            children=[],
        )
        above = [(level, outer) for level, outer in above if level < section.level]
        siblings = above[-1][1].children if above else roots
        if isinstance(siblings, list):
            siblings.append(symbol)
        above.append((section.level, symbol))
    return roots


def find_workspace_symbols(context: EditorContext, query: str) -> list[types.WorkspaceSymbol]:
    """Return the pages and headings that contain a text, pages first."""
    wanted = fold(query)
    found = []
    pages = context.pages.all
    for path, page in pages.items():
        names = (page.facts.title or "", *page.facts.aliases, path)
        if any(wanted in fold(name) for name in names):
            name = page.facts.title or path.rpartition("/")[2]
            kind = types.SymbolKind.File
            found.append(
                types.WorkspaceSymbol(context.location(path), name, kind, container_name=path)
            )
        if len(found) >= MAX_SYMBOLS:
            return found
    for path, sections in context.graph.sections_of(pages).items() if wanted else ():
        for section in sections:
            if section.heading and wanted in fold(section.heading):
                place = context.location(path, section.line_start)
                kind = types.SymbolKind.String
                found.append(
                    types.WorkspaceSymbol(place, section.heading, kind, container_name=path)
                )
        if len(found) >= MAX_SYMBOLS:
            break
    return found


def find_folds(
    context: EditorContext, path: FilePath, _: types.FoldingRangeParams
) -> list[types.FoldingRange]:
    """Return the front matter of a document, and its sections with those below them."""
    if context.page(path) is None:
        return []
    last = head_lines(context, path) - 1
    folds = [types.FoldingRange(0, last, kind=types.FoldingRangeKind.Region)] if last > 0 else []
    folds += [
        types.FoldingRange(section.line_start - 1, section.line_end - 1)
        for section in outline_of(context, path)
        if section.level and section.line_end > section.line_start
    ]
    return folds


def head_lines(context: EditorContext, path: FilePath) -> int:
    """Return the number of lines of a document's front matter."""
    data = context.data(path)
    head = read_head(data, context.session.config.keys)
    return SourceText(data).line_of_byte(head.body) if head.text else 0


def link_at(context: EditorContext, path: FilePath, position: types.Position) -> LocatedLink | None:
    """Return the link at a position of a document."""
    if context.page(path) is None:
        return None
    return next((link for link in context.links(path) if contains(link.range, position)), None)


def reference_at(
    context: EditorContext, path: FilePath, position: types.Position
) -> SourceReference | None:
    """Return the source reference in the line of a position."""
    page = context.page(path)
    references = page.facts.references if page else ()
    return next((ref for ref in references if ref.line == position.line + 1), None)


def heading_at(context: EditorContext, path: FilePath, line: int) -> OutlineSection | None:
    """Return the section whose heading is in a line (from 1) of a document."""
    if context.page(path) is None:
        return None
    sections = outline_of(context, path)
    return next((s for s in sections if s.level and s.line_start == line), None)


def first_heading(context: EditorContext, path: FilePath) -> OutlineSection | None:
    """Return the section of a document's first heading, which names the document."""
    return next((section for section in outline_of(context, path) if section.level), None)


def outline_of(context: EditorContext, path: FilePath) -> tuple[OutlineSection, ...]:
    """Return the sections of a document."""
    if context.page(path) is None:
        return ()
    return _read_outline(context.data(path))


def link_target(context: EditorContext, edge: GraphEdge) -> tuple[FilePath, int] | None:
    """Return the file and the line (from 1) that a link leads to."""
    target = edge.resolution.target or _linked_file(context, edge)
    if target is None:
        return None
    return target, link_line(context, edge, target) or 1


def link_line(context: EditorContext, edge: GraphEdge, target: FilePath) -> int | None:
    """Return the line (from 1) of the anchor or label that a link to a document names."""
    if is_label(edge.link) and context.page(target):
        return find_label_line(context.data(target), label_name(edge.link))
    return anchor_line(context, target, edge.link.anchor) if edge.link.anchor else None


def anchor_line(context: EditorContext, path: FilePath, anchor: str) -> int | None:
    """Return the line (from 1) of an anchor of a document."""
    if context.page(path) is None:
        return None
    return _find_anchor_line(context.data(path), anchor, context.graph.sites.of(path))


def links_to(context: EditorContext, path: FilePath, line: int = 0) -> Iterator[LocatedLink]:
    """Yield the links to a document; with a line (from 1) those to its heading in that line."""
    edges = context.view.link_graph().into([path])[path]
    for source in dict.fromkeys(edge.source for edge in edges):
        for link in context.links(source):
            if link.edge.resolution.target != path:
                continue
            anchor = link.link.anchor
            if not line or (anchor and anchor_line(context, path, anchor) == line):
                yield link


def source_places(context: EditorContext, reference: SourceReference) -> list[tuple[FilePath, int]]:
    """Return the files that a reference names, and the line (from 1) of the part that it names."""
    source = locate(context.view, [reference])[reference].source
    if context.session.is_hidden(source.path):
        return []
    if isinstance(source, GlobSource):
        matching = (path for path, _ in context.view.files(source.path) if source.matches(path))
        return [(path, 1) for path, _ in zip(matching, range(MAX_SOURCE_FILES), strict=False)]
    entry = context.view.entry(source.path)
    if entry is None or not entry.is_file:
        return []
    line = 1
    if isinstance(source, PartSource):
        if source.kind == "lines":
            line = source.lines[0]
        else:
            parts = find_parts(source, context.data(source.path))
            line = parts[0].line_start if parts else 1
    return [(source.path, line)]


def _linked_file(context: EditorContext, edge: GraphEdge) -> FilePath | None:
    """Return the file, no page, that a link leads to."""
    if edge.resolution.bucket not in {"not_a_page", "out_of_scope"}:
        return None
    target = edge.link.target
    folder = "" if target.startswith("/") else edge.source.rpartition("/")[0]
    path = normalize_path(f"{folder}/{target.lstrip('/')}".lstrip("/"))
    entry = context.view.entry(path) if path else None
    return path if entry and entry.is_file else None


def _uri_of_line(context: EditorContext, path: FilePath, line: int) -> str:
    uri = context.addresses.uri(path)
    return uri if line == 1 else f"{uri}#L{line}"
