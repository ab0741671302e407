"""Completions: pages, anchors, link types, sources, symbols, and keys of front matter.

What is being typed is not a link yet, so the text before the cursor is matched by patterns; what it
may become is looked up on the screen. Clients filter what they get; of more than they show, the
list is marked as incomplete, and they ask again.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from lsprotocol import types

from ubp.checks.rewrite import percent_encode
from ubp.code.limited import find_spans
from ubp.code.symbols import find_language, parser_version
from ubp.core.model import LINK_TYPES, FilePath, Link, LinkKind
from ubp.core.paths import PAGE_SUFFIXES, normalize_path
from ubp.core.text import fold
from ubp.lsp.context import EditorContext, place, position
from ubp.lsp.missing import missing_pages
from ubp.lsp.navigation import outline_of
from ubp.lsp.pages import name_forms
from ubp.markdown.resolve import Targets, requested_names, resolve, without_suffix
from ubp.markdown.sites.site import absolute_links

TRIGGERS = ("[", "(", "#", "|", "/", ":", " ")
# Each costs the client a line, and 20 µs to encode; nobody scrolls further.
MAX_ITEMS = 100
# Pages whose addresses are compared with what is typed: 5 µs each.
MAX_ADDRESSES = 5_000

MISSING = "does not exist yet"

FIELDS = ("title", "doc_type", "tags", "aliases")

# Of a wikilink.
_END_OF_NAME, _END_OF_HEADING = frozenset("[]|#"), frozenset("[]|")
_FENCES = frozenset({"---", "...", "+++", "-->"})
_OPENINGS = frozenset({"---", "<!-- ubp"})
_KEY = re.compile(r"([A-Za-z_][\w-]*)?$")
_FIELD = re.compile(r"(?P<key>[A-Za-z_][\w-]*):[ \t]*(?P<value>.*)$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?:path:[ \t]*)?[\"']?(?P<value>[^\"']*)$")
_PATH = re.compile(r"[ \t]+path:[ \t]*[\"']?(?P<value>[^\"']*)$")
_LAST_NAME = re.compile(r"[^\[,]*$")


class Candidate(NamedTuple):
    """What is inserted, what is shown, a detail, and the kind."""

    inserted: str
    label: str
    detail: str
    kind: types.CompletionItemKind


class CompletionRequest(NamedTuple):
    """A position in a document where something is typed; `after` is the rest of its line."""

    context: EditorContext
    path: FilePath
    position: types.Position
    after: str


def complete(
    context: EditorContext, path: FilePath, params: types.CompletionParams
) -> types.CompletionList | None:
    """Return what may follow the text before the cursor; None: nothing is known of it."""
    if context.page(path) is None:
        return None
    text = context.text(path)
    number = params.position.line
    line = text.line(number)
    column = text.column(place(params.position))
    before = line[:column]
    request = CompletionRequest(context, path, params.position, line[column:])
    if _is_in_head(context, path, number):
        return _complete_head(request, before, number)
    for pattern, finish in _PATTERNS:
        if match := pattern.search(before):
            return finish(request, match)
    return None


def _listed(
    request: CompletionRequest, typed: str, candidates: Iterable[Candidate], end: str = ""
) -> types.CompletionList:
    """Return the candidates that contain what is typed, those that begin with it first.

    A page may be offered by its file name and by its title, where they differ.
    What is typed may also be a part of a path that is shown as a detail. `end` is added to each,
    unless it follows already.
    """
    wanted = fold(typed)
    first: list[Candidate] = []
    others: list[Candidate] = []
    for candidate in {(each.inserted, each.label): each for each in candidates}.values():
        inserted, label = fold(candidate.inserted), fold(candidate.label)
        if inserted.startswith(wanted) or label.startswith(wanted):
            first.append(candidate)
        elif wanted in inserted or wanted in label or wanted in fold(candidate.detail):
            others.append(candidate)
    found = [*first, *others]
    text = request.context.text(request.path)
    line = text.line(request.position.line)
    column = len(line) - len(request.after)
    span = types.Range(
        position(text.place_at(request.position.line, column - len(typed))), request.position
    )
    tail = "" if request.after.startswith(end) else end
    items = [
        types.CompletionItem(
            label=label,
            detail=detail or None,
            kind=kind,
            sort_text=f"{number:03}",
            filter_text=next(
                (text for text in (inserted, label, detail) if wanted in fold(text)), label
            ),
            text_edit=types.TextEdit(span, inserted + tail),
        )
        for number, (inserted, label, detail, kind) in enumerate(found[:MAX_ITEMS])
    ]
    return types.CompletionList(is_incomplete=len(found) > MAX_ITEMS, items=items)


# Links


def _complete_wikilink(request: CompletionRequest, match: re.Match[str]) -> types.CompletionList:
    names = _wikilink_names(request.context, match["name"])
    whole = (name for name in names if _END_OF_NAME.isdisjoint(name.inserted))
    return _listed(request, match["name"], whole, "]]")


def _wikilink_names(context: EditorContext, typed: str) -> Iterator[Candidate]:
    """Yield the shortest unique names of the pages that may be meant, and their aliases."""
    pages = context.pages
    for page in pages.containing(typed, MAX_ITEMS + 1):
        path = page.filepath
        full = without_suffix(path)
        inserted = full.rpartition("/")[2] if pages.count_stem(path) == 1 else full
        yield Candidate(inserted, page.facts.title or inserted, path, types.CompletionItemKind.File)
        for alias in page.facts.aliases:
            yield Candidate(alias, alias, path, types.CompletionItemKind.Reference)
    for name in missing_pages(context).names:
        yield Candidate(name, name, MISSING, types.CompletionItemKind.Reference)


def _complete_wikilink_heading(
    request: CompletionRequest, match: re.Match[str]
) -> types.CompletionList:
    target = _target(request, "wikilink", match["name"].strip())
    headings = (
        Candidate(
            section.heading, section.heading, "#" * section.level, types.CompletionItemKind.Text
        )
        for section in (outline_of(request.context, target) if target else ())
        if section.heading and _END_OF_HEADING.isdisjoint(section.heading)
    )
    return _listed(request, match["anchor"], headings, "]]")


def _complete_link_type(request: CompletionRequest, match: re.Match[str]) -> types.CompletionList:
    kind = types.CompletionItemKind.EnumMember
    candidates = (Candidate(name, name, "link type", kind) for name in LINK_TYPES)
    return _listed(request, match["type"], candidates, "]]")


def _complete_target(request: CompletionRequest, match: re.Match[str]) -> types.CompletionList:
    typed = match["target"]
    return _listed(request, typed, _link_targets(request, typed))


def _link_targets(request: CompletionRequest, typed: str) -> Iterator[Candidate]:
    """Yield what is in the folder that is typed, then pages by their relative paths."""
    context, source = request.context, request.path
    written = unquote(typed.rpartition("/")[0])
    base = "" if typed.startswith("/") else source.rpartition("/")[0]
    folder = normalize_path(f"{base}/{written}".lstrip("/"))
    if folder is not None:
        prefix = typed[: len(typed) - len(typed.rpartition("/")[2])]
        for child in _children(context, folder):
            inserted = prefix + percent_encode(child.inserted)
            yield child._replace(inserted=inserted, label=prefix + child.label)
    if typed.startswith("/"):
        yield from _site_addresses(context, source, typed)
    if typed.startswith(("/", ".")):
        return
    own_folder = source.rpartition("/")[0]
    for page in context.pages.containing(unquote(typed), MAX_ITEMS + 1):
        path = page.filepath
        target = percent_encode(posixpath.relpath(path, own_folder or "."))
        name = page.facts.title or path.rpartition("/")[2]
        yield Candidate(target, name, path, types.CompletionItemKind.File)
    for path in missing_pages(context).paths:
        target = percent_encode(posixpath.relpath(path, own_folder or "."))
        yield Candidate(target, target, MISSING, types.CompletionItemKind.Reference)


def _site_addresses(context: EditorContext, source: FilePath, typed: str) -> Iterator[Candidate]:
    """Yield the addresses at which a page's site publishes the pages that may be meant."""
    sites = context.view.sites()
    site = sites.of(source)
    if site is None:
        return
    for page in context.pages.containing(typed.rpartition("/")[2], MAX_ADDRESSES):
        path = page.filepath
        for target in absolute_links(site, path) if sites.of(path) == site else ():
            name = page.facts.title or path.rpartition("/")[2]
            kind = types.CompletionItemKind.File
            yield Candidate(percent_encode(target), name, path, kind)


def _children(context: EditorContext, folder: FilePath, prefix: str = "") -> Iterator[Candidate]:
    for path, is_folder in context.view.children(folder).items():
        if context.session.is_hidden(path):
            continue
        name = prefix + path.rpartition("/")[2]
        if is_folder:
            yield Candidate(f"{name}/", f"{name}/", "", types.CompletionItemKind.Folder)
        else:
            yield Candidate(name, name, "", types.CompletionItemKind.File)


def _complete_anchor(request: CompletionRequest, match: re.Match[str]) -> types.CompletionList:
    context = request.context
    target = _target(request, "markdown", match["target"])
    return _listed(request, match["anchor"], _anchors(context, target) if target else ())


def _anchors(context: EditorContext, path: FilePath) -> Iterator[Candidate]:
    """Yield the anchors of a page's headings as its site makes them, then all others."""
    remaining = set(context.graph.anchors(path))
    for section in outline_of(context, path):
        for name in section.names:
            if name in remaining:
                remaining.discard(name)
                yield Candidate(name, section.heading, name, types.CompletionItemKind.Text)
                break
    for name in sorted(remaining):
        yield Candidate(name, name, "", types.CompletionItemKind.Text)


def _target(request: CompletionRequest, kind: LinkKind, name: str) -> FilePath | None:
    """Return the page that a link would lead to."""
    if not name:
        return request.path
    context, link = request.context, _link(kind, name)
    targets = Targets(sites=context.view.sites())
    for page in context.pages.named(requested_names(link)):
        targets.add_page(name_forms(page))
    return resolve(request.path, link, targets).target


def _link(kind: LinkKind, target: str) -> Link:
    return Link(kind, target, None, "references", None, 1, 1, 0, 0, "", 0, None)


_PATTERNS: tuple[
    tuple[re.Pattern[str], Callable[[CompletionRequest, re.Match[str]], types.CompletionList]], ...
] = (
    (re.compile(r"\[\[(?P<name>[^\[\]|#]*)$"), _complete_wikilink),
    (re.compile(r"\[\[(?P<name>[^\[\]|#]*)#(?P<anchor>[^\[\]|]*)$"), _complete_wikilink_heading),
    (re.compile(r"\[\[[^\[\]|]+\|(?P<type>\w*)$"), _complete_link_type),
    (re.compile(r"\]\(<?(?P<target>[^()\s<>#]*)$"), _complete_target),
    (re.compile(r"\]\(<?(?P<target>[^()\s<>#]*)#(?P<anchor>[^()\s<>]*)$"), _complete_anchor),
    (re.compile(r"^ {0,3}\[[^\]]+\]:[ \t]*<?(?P<target>[^\s<>#]*)$"), _complete_target),
    (
        re.compile(r"^ {0,3}\[[^\]]+\]:[ \t]*<?(?P<target>[^\s<>#]*)#(?P<anchor>[^\s<>]*)$"),
        _complete_anchor,
    ),
)


# Front matter


def _is_in_head(context: EditorContext, path: FilePath, line: int) -> bool:
    """Return whether a line is in the front matter, which may not be closed yet."""
    text = context.text(path)
    if not line or text.line(0).rstrip() not in _OPENINGS:
        return False
    return all(text.line(number).rstrip() not in _FENCES for number in range(1, line + 1))


def _complete_head(
    request: CompletionRequest, before: str, line: int
) -> types.CompletionList | None:
    context = request.context
    keys = [re.split(r"[.\[]", key)[0] for key in context.session.config.keys]
    if _KEY.fullmatch(before):
        present = {match["key"] for match in _fields_above(request, line)}
        names = [name for name in (*FIELDS, *keys) if name not in present]
        kind = types.CompletionItemKind.Property
        return _listed(request, before, (Candidate(name, name, "", kind) for name in names), ": ")
    field = _FIELD.match(before)
    if field:
        return _complete_field(request, field["key"], field["value"])
    item = _ITEM.match(before) or _PATH.match(before)
    above = next(_fields_above(request, line), None)
    if item is None or above is None:
        return None
    if above["key"] in keys:
        return _complete_source(request, item["value"])
    return _complete_field(request, above["key"], item["value"])


def _fields_above(request: CompletionRequest, line: int) -> Iterator[re.Match[str]]:
    """Yield the keys of the lines above a line, the nearest first."""
    text = request.context.text(request.path)
    for number in range(line - 1, 0, -1):
        if match := _FIELD.match(text.line(number)):
            yield match


def _complete_field(
    request: CompletionRequest, key: str, value: str
) -> types.CompletionList | None:
    """Return the values that other pages have under a key, the most frequent first."""
    pages = request.context.pages.all.values()
    if key == "doc_type":
        counts = Counter(page.facts.doc_type for page in pages)
    elif key == "tags":
        counts = Counter(tag for page in pages for tag in page.facts.tags)
        value = _typed_name(value)
    else:
        return None
    kind = types.CompletionItemKind.Value
    names = [name for name, _ in counts.most_common()]
    return _listed(request, value, (Candidate(name, name, "", kind) for name in names))


def _typed_name(value: str) -> str:
    match = _LAST_NAME.search(value)
    return match[0].lstrip() if match else ""


def _complete_source(request: CompletionRequest, typed: str) -> types.CompletionList:
    context = request.context
    file, mark, part = typed.partition("#")
    if mark:
        kind = types.CompletionItemKind.Function
        names = (Candidate(name, name, "", kind) for name in _part_names(context, FilePath(file)))
        return _listed(request, part, names)
    folder = normalize_path(typed.rpartition("/")[0]) or FilePath("")
    prefix = f"{folder}/" if folder else ""
    return _listed(request, typed, _children(context, folder, prefix))


def _part_names(context: EditorContext, path: FilePath) -> Sequence[str]:
    """Return the symbols of a source file, or the sections of a document."""
    if path.lower().endswith(PAGE_SUFFIXES):
        return [section.id for section in outline_of(context, path) if section.id]
    language = find_language(path)
    if language is None or parser_version() is None:
        return []
    spans = find_spans(context.data(path), language)
    return list(dict.fromkeys(name for name, _, _ in spans))
