"""Renames of files and headings, with every link and source reference that they break.

What a rename breaks is not guessed: the links are resolved in a snapshot in which the files have
their new names, and compared. New targets are written in the style of the old ones, and resolved
once more, in a snapshot with the edited pages.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lsprotocol import types

from ubp.checks.finding import WIKILINKS
from ubp.checks.rewrite import percent_encode, rewrite_link, rewrite_ref, wikilink_heading
from ubp.core.errors import PageError, UsageError
from ubp.core.model import MODE_FILE, Entry, FilePath, Link
from ubp.core.paths import normalize_path, parent_folders
from ubp.core.text import fold
from ubp.git.output import blob_id
from ubp.index.link_graph import GraphEdge
from ubp.index.view import View
from ubp.lsp.context import EditorContext, LocatedLink, contains
from ubp.lsp.navigation import (
    heading_at,
    link_at,
    link_target,
    links_to,
    outline_of,
)
from ubp.markdown.document import read_head
from ubp.markdown.edit_sources import rename_sources
from ubp.markdown.link_parts import part_bounds
from ubp.markdown.outline import anchors_of_line, find_anchor_line
from ubp.markdown.parse import parse_markdown
from ubp.markdown.resolve import is_label, is_ref, stem, without_suffix
from ubp.markdown.sites.site import absolute_links, locate
from ubp.markdown.source_text import SourceText

_HEADING = re.compile(
    r" {0,3}(?:#{1,6}[ \t]+)?(?P<text>.*?)[ \t]*(?:\{[#:.][^{}]*\})?[ \t]*(?:[ \t]#+)?[ \t]*$"
)


class ByteEdit(NamedTuple):
    """New bytes for those from `start` to `end` of a document."""

    start: int
    end: int
    text: str


Edits = dict[FilePath, list[ByteEdit]]


class Rename(NamedTuple):
    """What a rename writes, by document; `sources` are new bytes of whole documents.

    `broken` are the links that cannot be written so that they lead to the renamed file.
    """

    edits: Edits
    sources: dict[FilePath, bytes]
    broken: tuple[GraphEdge, ...] = ()


# Files


def rename_files(context: EditorContext, moves: Mapping[FilePath, FilePath]) -> Rename:
    """Return the edits for moved files; of a folder, all files below it move.

    The edits are of the documents under their old paths: they precede the rename.
    """
    files = _moved_files(context, moves)
    before = context.view.link_graph()
    after = _view_with(context, files, {})
    sources = _edit_sources(context, files)
    suspects = {edge.source for edges in before.into(list(files)).values() for edge in edges}
    folders = {above for path in files for above in parent_folders(path)}
    suspects |= {edge.source for edge in before.links_to_names({*map(stem, folders)})}
    new_paths = {new: old for old, new in files.items()}
    suspects |= {new_paths.get(path, path) for path in after.link_graph().relinked}
    suspects |= files.keys()
    documents = [path for path in sorted(suspects) if context.page(path)]
    edges = before.out(documents)
    broken = _differing(edges, after, moves)
    choices = {
        (edge.source, edge.link): _new_targets(edge, after, moves)
        for page_edges in edges.values()
        for edge in page_edges
        if (edge.source, edge.link) in broken
        and not _leaves_its_site(context, edge, after, moves)
        and not _names_label(context, edge)
    }
    images = _image_edits(context, [path for path in documents if path in files], files)
    chosen = dict.fromkeys(choices, 0)
    edits: Edits = {}
    wrong: set[tuple[FilePath, Link]] = set(choices)
    while wrong:
        edits = {path: list(page_edits) for path, page_edits in images.items()}
        for (path, link), texts in choices.items():
            if chosen[path, link] < len(texts):
                text = texts[chosen[path, link]]
                edits.setdefault(path, []).append(ByteEdit(link.byte_start, link.byte_end, text))
        edited = {files.get(path, path): apply(context.data(path), edits[path]) for path in edits}
        wrong = _differing(edges, _view_with(context, files, edited), moves)
        wrong = {key for key in wrong if key in choices and chosen[key] < len(choices[key])}
        for key in wrong:
            chosen[key] += 1
    if not choices:
        edits = dict(images)
    unwritten = tuple(
        edge
        for page_edges in edges.values()
        for edge in page_edges
        if (key := (edge.source, edge.link)) in choices and chosen[key] >= len(choices[key])
    )
    return Rename(edits, sources, unwritten)


def _moved_files(
    context: EditorContext, moves: Mapping[FilePath, FilePath]
) -> dict[FilePath, FilePath]:
    files: dict[FilePath, FilePath] = {}
    for old, new in moves.items():
        entry = context.view.entry(old)
        if entry is not None and entry.is_directory:
            for path, _ in context.view.files(old):
                files[path] = FilePath(new + path[len(old) :])
        elif entry is not None:
            files[old] = new
    return files


def _view_with(
    context: EditorContext,
    files: Mapping[FilePath, FilePath],
    edited: Mapping[FilePath, bytes],
) -> View:
    """Return the view after a rename, in which documents have other bytes."""
    snapshot, session = context.view.snapshot, context.session
    changes, buffers = dict(snapshot.changes), dict(snapshot.buffers)
    for old, new in files.items():
        entry = context.view.entry(old)
        changes[old] = None
        buffers.pop(old, None)
        if entry is not None:
            changes[new] = entry
            if context.page(old):  # its bytes are at the old path
                buffers[new] = context.data(old)
    for path, data in edited.items():
        changes[path] = Entry(MODE_FILE, blob_id(data))
        buffers[path] = data
    return session.try_view(snapshot._replace(changes=changes, buffers=buffers))


def _moved(path: FilePath, moves: Mapping[FilePath, FilePath]) -> FilePath:
    """Return the new path of a file or folder, which is `path` where it stays."""
    moving = _moved_with(path, moves)
    return FilePath(moves[moving] + path[len(moving) :]) if moving else path


def _moved_with(path: FilePath, moves: Mapping[FilePath, FilePath]) -> FilePath | None:
    """Return what is moved itself, `path` or a folder above it; None: it stays."""
    while path not in moves:
        path = FilePath(path.rpartition("/")[0])
        if not path:
            return None
    return path


def _leaves_its_site(
    context: EditorContext, edge: GraphEdge, after: View, moves: Mapping[FilePath, FilePath]
) -> bool:
    """Return whether a link is relative in a site whose folder is renamed with both of its ends.

    It leads there once the configuration names the new folder. No address is right before.
    """
    source, target = edge.source, edge.resolution.target
    if edge.link.kind in WIKILINKS or edge.link.target.startswith("/") or target is None:
        return False
    site, moving = context.view.sites().of(source), _moved_with(source, moves)
    place = locate(site, source) if site else None
    if place is None or moving is None or moving != _moved_with(target, moves):
        return False
    root = source.removesuffix(place.path).rstrip("/")
    is_whole = f"{root}/".startswith(f"{moving}/")
    return is_whole and after.sites().of(_moved(source, moves)) is None


def _names_label(context: EditorContext, edge: GraphEdge) -> bool:
    """Return whether a link names a label, not a path: `[text](label)` works from any page."""
    site, link = context.view.sites().of(edge.source), edge.link
    if site is None or site.style.name != "sphinx" or link.kind in WIKILINKS or is_ref(link):
        return False
    path = _path_of(edge)
    is_file = path is not None and context.view.entry(path) is not None
    is_bare = without_suffix(link.target) == link.target
    return edge.resolution.target is None and is_bare and not is_file


def _differing(
    edges: Mapping[FilePath, Sequence[GraphEdge]],
    after: View,
    moves: Mapping[FilePath, FilePath],
) -> set[tuple[FilePath, Link]]:
    """Return the links that lead elsewhere in the view after a rename."""
    graph = after.link_graph()
    now = graph.out([_moved(path, moves) for path in edges])
    differing = set()
    for path, page_edges in edges.items():
        new_edges = now.get(_moved(path, moves), ())
        for old, new in zip(_links(page_edges), _links(new_edges), strict=True):
            if _reach(old, moves) != _reach(new, {}):
                differing.add((path, old.link))
    return differing


def _links(edges: Iterable[GraphEdge]) -> list[GraphEdge]:
    """Return the links of a page without images, which are links only where they are broken."""
    return [
        edge for edge in edges if edge.link.kind not in {"image", "include"} or is_ref(edge.link)
    ]


def _reach(edge: GraphEdge, moves: Mapping[FilePath, FilePath]) -> tuple[object, ...]:
    """Return where a link leads, under the new names of files and folders."""
    resolution = edge.resolution
    target = resolution.target
    if target is None and resolution.bucket == "not_a_page":
        target = _path_of(edge)
    return (
        _moved(target, moves) if target else None,
        resolution.bucket,
        resolution.has_anchor,
    )


def _path_of(edge: GraphEdge) -> FilePath | None:
    """Return the path that a link to a file writes."""
    if edge.link.kind in WIKILINKS or is_ref(edge.link):
        return None
    return _join(edge.source, edge.link.target)


def _join(source: FilePath, target: str) -> FilePath | None:
    folder = "" if target.startswith("/") else source.rpartition("/")[0]
    return normalize_path(f"{folder}/{target.lstrip('/')}".lstrip("/"))


def _new_targets(
    edge: GraphEdge, after: View, moves: Mapping[FilePath, FilePath]
) -> tuple[str, ...]:
    """Return how a link may be written after the rename, the most like the old one first."""
    link = edge.link
    old_target = edge.resolution.target or _path_of(edge)
    if old_target is None:
        return ()
    source, target = _moved(edge.source, moves), _moved(old_target, moves)
    if is_ref(link):
        site = after.sites().of(source)
        text = rewrite_ref(link, site, source, target) if site and not is_label(link) else None
        return (text,) if text else ()
    namesakes = [path for path in after.document_paths() if stem(path) == stem(target)]
    written = [rewrite_link(link, source, target, namesakes)]
    if link.kind in WIKILINKS:
        full = FilePath(target)
        written.append(rewrite_link(link, source, full, [*namesakes, full, full]))
    elif link.target.startswith("/"):
        root = old_target and link.target.lstrip("/")
        if root and old_target.endswith(root):  # below a folder of the site
            prefix = old_target[: len(old_target) - len(root)]
            if target.startswith(prefix):
                written.insert(0, percent_encode("/" + target[len(prefix) :]))
        site = after.sites().of(target)
        for published in absolute_links(site, target) if site else ():
            end = "/" if link.target.endswith("/") else ""
            written.insert(0, percent_encode(published.rstrip("/") + end))
    bare = [
        without_suffix(text)
        for text in written
        if text and link.kind not in WIKILINKS and without_suffix(link.target) == link.target
    ]
    ended = [f"{text.rstrip('/')}/" for text in bare if link.target.endswith("/")]
    return tuple(dict.fromkeys(text for text in [*ended, *bare, *written] if text))


def _image_edits(
    context: EditorContext, documents: Sequence[FilePath], files: Mapping[FilePath, FilePath]
) -> Edits:
    """Return the edits for the images of moved documents whose relative paths change."""
    edits: Edits = {}
    for path in documents:
        new = files[path]
        data = context.data(path)
        embedded = parse_markdown(data, read_head(data, context.session.config.keys).body).embedded
        for link in embedded:
            file = None if link.target.startswith(("/", "~")) else _join(path, link.target)
            if link.kind != "image" or file is None or context.view.entry(file) is None:
                continue
            moved = files.get(file, file)
            if _join(new, link.target) != moved:
                text = rewrite_link(link, new, moved, ())
                if text:
                    edit = ByteEdit(link.byte_start, link.byte_end, text)
                    edits.setdefault(path, []).append(edit)
    return edits


def _edit_sources(
    context: EditorContext, files: Mapping[FilePath, FilePath]
) -> dict[FilePath, bytes]:
    """Return the documents whose source references name moved files, with the new names."""
    edited: dict[FilePath, bytes] = {}
    keys = context.session.config.keys
    for path, page in context.pages.all.items():
        renames = {
            reference.literal: files[reference.source_path] + (reference.fragment or "")
            for reference in page.facts.references
            if reference.source_path in files
        }
        if renames:
            try:
                edited[path] = rename_sources(context.data(path), keys, renames)
            except PageError:
                continue  # `ubp check` reports what is missing then
    return edited


def warnings_of(context: EditorContext, renamed: Rename) -> list[str]:
    """Return what the user should know: broken links, stale pages that will look reviewed."""
    warnings = [
        f"{edge.source}:{edge.link.line}: the link {edge.link.target} cannot be renamed."
        for edge in renamed.broken
    ]
    edited = sorted({*renamed.edits, *renamed.sources})
    drifted = [
        path
        for path, assessment in context.assess(edited).items()
        if any(
            verdict.baseline != "pin" and verdict.verdict in {"modified", "deleted", "created"}
            for verdict in assessment.references
        )
    ]
    if drifted:
        warnings.append(
            f"{', '.join(drifted)}: stale before the rename. The edit makes the page look reviewed;"
            " undo it and run `ubp ack --history` first to keep what is stale."
        )
    return warnings


# Headings


class HeadingRange(NamedTuple):
    """The text of a heading: its document, its line (from 1), and its range."""

    path: FilePath
    line: int
    range: types.Range
    text: str


def find_heading(
    context: EditorContext, path: FilePath, found: types.Position
) -> HeadingRange | None:
    """Return the heading at a position, or that to which the link there leads."""
    line = found.line + 1
    link = link_at(context, path, found)
    if link and link.link.anchor:
        target = link_target(context, link.edge)
        if target is None:
            return None
        path, line = target
    if heading_at(context, path, line) is None:
        return None
    match = _HEADING.match(context.text(path).line(line - 1))
    if match is None or not match["text"]:
        return None
    return HeadingRange(path, line, context.line_range(path, line, match["text"]), match["text"])


def prepare_rename(
    context: EditorContext, path: FilePath, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    """Return what is renamed at a position: a heading, or the page to which a link leads."""
    link = link_at(context, path, params.position)
    if link and _is_about_page(link, params.position):
        target = link.edge.resolution.target
        if target is None or target == path:
            return None
        name = without_suffix(target).rpartition("/")[2]
        return types.PrepareRenamePlaceholder(link.target_range, name)
    heading = find_heading(context, path, params.position)
    if heading is None:
        return None
    span = link.range if link else heading.range
    return types.PrepareRenamePlaceholder(span, heading.text)


def rename(
    context: EditorContext, path: FilePath, params: types.RenameParams
) -> types.WorkspaceEdit | None:
    """Return the edits that rename what is at a position.

    Raises:
        UsageError: the new name cannot be a heading, or a file.
    """
    name = params.new_name.strip()
    if not name or "\n" in name:
        raise UsageError("The new name is empty or has several lines.")
    link = link_at(context, path, params.position)
    if link and _is_about_page(link, params.position):
        return _rename_page(context, link, name)
    heading = find_heading(context, path, params.position)
    if heading is None:
        return None
    edits = rename_heading(context, heading, name)
    return workspace_edit(context, Rename(edits, {}))


def _is_about_page(link: LocatedLink, position: types.Position) -> bool:
    """Return whether a position in a link means its page, not the heading that it names."""
    has_path = link.target_range.start != link.target_range.end
    return not link.link.anchor or (has_path and contains(link.target_range, position))


def _rename_page(
    context: EditorContext, link: LocatedLink, name: str
) -> types.WorkspaceEdit | None:
    old = link.edge.resolution.target
    if old is None:
        return None
    suffix = old[len(without_suffix(old)) :]
    new = normalize_path(
        f"{old.rpartition('/')[0]}/{name.removesuffix(suffix)}{suffix}".lstrip("/")
    )
    if new is None or context.view.entry(new):
        raise UsageError(f"There is a file named {name} already.")
    edit = workspace_edit(context, rename_files(context, {old: new}))
    changes: list[
        types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile
    ] = [
        types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri), list(edits))
        for uri, edits in (edit.changes or {}).items()
    ]
    changes.append(types.RenameFile(context.addresses.uri(old), context.addresses.uri(new)))
    return types.WorkspaceEdit(document_changes=changes)


def rename_heading(context: EditorContext, heading: HeadingRange, name: str) -> Edits:
    """Return the edits for a heading and for every link to it."""
    path, line = heading.path, heading.line
    data = context.data(path)
    start = _byte_of(data, line, context.text(path).line(line - 1).index(heading.text))
    own = ByteEdit(start, start + len(heading.text.encode()), name)
    new_data = apply(data, [own])
    site = context.graph.sites.of(path)
    old_names, new_names = (anchors_of_line(d, line, site) for d in (data, new_data))
    edits: Edits = {path: [own]}
    shown = next(s.heading for s in outline_of(context, path) if s.line_start == line)
    for link in links_to(context, path, line):
        source = link.edge.source
        bounds = part_bounds(context.data(source), link.link, "anchor")
        if bounds is None:
            continue
        if find_anchor_line(new_data, link.link.anchor or "", site) == line:
            continue  # an id of its own, which stays
        text = _new_anchor(link.link, shown, name, old_names, new_names)
        if text is not None and find_anchor_line(new_data, text, site) == line:
            written = text if link.link.kind in WIKILINKS else percent_encode(text)
            edits.setdefault(source, []).append(ByteEdit(*bounds, written))
    return edits


def _new_anchor(
    link: Link, heading: str, name: str, old: Sequence[str], new: Sequence[str]
) -> str | None:
    """Return the new anchor of a link, in the form of the old one."""
    anchor = link.anchor or ""
    above, mark, last = anchor.rpartition("#")
    if link.kind in WIKILINKS and fold(last.strip()) == fold(heading):
        return above + mark + wikilink_heading(name)
    for number, names in enumerate(old):
        if anchor == names or fold(anchor) == fold(names):
            return new[min(number, len(new) - 1)] if new else None
    return new[0] if new else None


def _byte_of(data: bytes, line: int, column: int) -> int:
    return SourceText(data).byte_at(line - 1, column)


# Edits


def apply(data: bytes, edits: Sequence[ByteEdit]) -> bytes:
    """Return a document's bytes after edits, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = edit.text.encode("utf-8", "surrogateescape")
        data = data[: edit.start] + text + data[edit.end :]
    return data


def byte_edits(
    context: EditorContext, path: FilePath, edits: Iterable[tuple[int, int, str]]
) -> types.WorkspaceEdit:
    """Return edits of a document's bytes as the protocol has them."""
    return types.WorkspaceEdit(
        {
            context.addresses.uri(path): [
                types.TextEdit(context.byte_range(path, start, end), text)
                for start, end, text in edits
            ]
        }
    )


def workspace_edit(context: EditorContext, renamed: Rename) -> types.WorkspaceEdit:
    """Return the edits of a rename as the protocol has them."""
    changes: dict[str, Sequence[types.TextEdit]] = {}
    for path, edits in renamed.edits.items():
        changes |= byte_edits(context, path, sorted(edits)).changes or {}
    for path, data in renamed.sources.items():
        # Source references are in front matter, before all links.
        uri = context.addresses.uri(path)
        changes[uri] = [*changes.get(uri, ()), *context.edits(path, data)]
    return types.WorkspaceEdit(changes=dict(changes))
