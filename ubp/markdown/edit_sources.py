"""Add and rename sources in a page's front matter in place, without changing anything else.

Added sources become items of the list under a key, whatever its style; front matter is created if
there is none. Characters are only inserted, except that a `null` or `""` becomes a list. Renaming
changes only the bytes of the paths. The result is parsed again, and returned only if it says what
the page said, with these sources.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ubp.core.errors import PageError
from ubp.core.languages import without_language
from ubp.core.model import FilePath, SourceReference
from ubp.core.paths import normalize_path, without_page_suffix
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.front_matter import NO_FRONT_MATTER, FrontMatter
from ubp.markdown.references import PATH_NAMES, ParsedReference, find_references, split_tail
from ubp.markdown.sites.site import Site
from ubp.markdown.source_text import BOM
from ubp.markdown.text_edits import Edit, EditableText, EditError
from ubp.markdown.yaml_nodes import Node, write_flow_scalar

_INDENT = "  "
_LINE_END = re.compile(rb"\r\n|\r|\n")
_UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")
# Hugo also has JSON between braces: YAML would be a second front matter.
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\{[ \t]*[\r\n]")
_CLOSING = re.compile(
    r"(?:\r\n|\r|\n)(?:---|\.\.\.|\+\+\+|[ \t]*-->|[ \t]*\*/\})[ \t]*"
    r"(?:\r\n|\r|\n)?\Z"
)
_TOML_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)

Form = Literal["front matter", "comment", "mdx comment"]
"""How sources are written into a page that has no front matter."""
_FENCES: dict[Form, tuple[bytes, bytes]] = {
    "front matter": (b"---", b"---"),
    "comment": (b"<!-- ubp", b"-->"),
    "mdx comment": (b"{/* ubp", b"*/}"),
}


def add_sources(
    data: bytes, keys: Sequence[str], sources: Sequence[str], form: Form = "front matter"
) -> bytes:
    """Return the page with these sources after its own; none is added twice.

    They are added to the page's front matter, or its comment, whatever its syntax; if it has none,
    one is created in this `form`. They are added under the first of `keys` that the page has, else
    under the first of all. A source is a path from the root; that of a directory may end in "/".

    Raises:
        PageError: the page cannot be edited in place.
    """
    head = read_head(data, keys)
    existing = {parsed.reference.literal for parsed in find_references(head, keys)[0]}
    added = [path for path in dict.fromkeys(sources) if normalize_path(path) not in existing]
    if not added:
        return data
    key = next((key for key in keys if _has_key(head.root, key)), keys[0])
    try:
        result = _add(data, head, key, added, form)
    except EditError as error:
        raise _error(key, added, str(error)) from error
    if not _is_added(data, result, keys, added):
        why = "The edit would change other parts of the page, or not add the sources."
        raise _error(key, added, why)
    return result


def choose_form(path: FilePath, site: Site | None) -> Form:
    """Return how to write sources into a page without front matter: as readers do not see them."""
    name = without_page_suffix(without_language(path.rpartition("/")[2]))
    if not (site.style.shows_front_matter if site else name.lower() == "readme"):
        return "front matter"
    return "mdx comment" if path.endswith(".mdx") else "comment"


def rename_sources(data: bytes, keys: Sequence[str], renames: Mapping[FilePath, str]) -> bytes:
    """Return the page with new references for these `literal` paths (see SourceReference).

    A new reference contains its tail, such as `#symbol`; quotes are kept.

    Raises:
        PageError: the page has no such source, or cannot be edited in place.
    """
    head = read_head(data, keys)
    by_literal = {parsed.reference.literal: parsed for parsed in find_references(head, keys)[0]}
    if missing := sorted(renames.keys() - by_literal.keys()):
        raise PageError(f"The page does not list these sources: {', '.join(missing)}.")
    text = EditableText(head.text)
    try:
        edits = [_rename(text, by_literal[old], new) for old, new in renames.items()]
    except EditError as error:
        raise PageError("Cannot rename the sources in place.", cause=str(error)) from error
    result = text.apply(edits).encode("utf-8", "surrogateescape") + data[head.body :]
    if not _is_renamed(data, result, keys, renames):
        raise PageError(
            "Cannot rename the sources in place.",
            cause="The edit would change other parts of the page.",
        )
    return result


def _rename(text: EditableText, parsed: ParsedReference, written: str) -> Edit:
    source = parsed.location.source
    if source.is_shared:
        raise EditError("It is in a YAML anchor (&) or alias (*), so it is shared.")
    if source.style in {"|", ">"} or source.tag:
        raise EditError("Its path is a block scalar, or has a YAML tag.")
    return Edit(source.start, text.end(source), write_flow_scalar(written, source.style))


def _is_renamed(
    data: bytes, result: bytes, keys: Sequence[str], renames: Mapping[FilePath, str]
) -> bool:
    before, after = parse_page(data, keys), parse_page(result, keys)
    expected = [(*_split(renames, old), old.line, old.pin, old.reason) for old in before.references]
    actual = [
        (new.source_path, new.fragment, new.line, new.pin, new.reason) for new in after.references
    ]
    return (
        actual == expected
        and after._replace(references=()) == before._replace(references=())
        and data[read_head(data, keys).body :] == result[read_head(result, keys).body :]
    )


def _split(renames: Mapping[FilePath, str], reference: SourceReference) -> tuple[str, str | None]:
    """Return the path and the tail that a reference has after the renames."""
    if reference.literal in renames:
        return split_tail(renames[reference.literal])
    return reference.source_path, reference.fragment


def _has_key(root: Node | None, key: str) -> bool:
    first = re.split(r"\[\]|\.", key)[0]
    return root is not None and (root.get(key) or root.get(first)) is not None


def _error(key: str, sources: Sequence[str], why: str) -> PageError:
    name = re.split(r"\[\]|\.", key)[0]
    return PageError(
        f"Cannot add {', '.join(sources)} to the page in place.",
        cause=why,
        hint=f"Add it by hand, as a list item under {name} in YAML front matter.",
    )


def _add(data: bytes, head: FrontMatter, key: str, sources: Sequence[str], form: Form) -> bytes:
    if head.problems:
        problem = head.problems[0]
        raise EditError(f"Line {problem.line}: {problem.message}")
    if data.startswith(_UTF_16_BOMS) or b"\0" in data:
        raise EditError("It is not UTF-8 text.")
    if head == NO_FRONT_MATTER:
        if _JSON.match(data):
            raise EditError("Its front matter is JSON; UBP reads only YAML and TOML.")
        list_location = _parse_key(key)
        items = map(list_location.item, sources)
        return _with_front_matter(data, _new_block(list_location, items), form)
    if head.syntax == "toml":
        return _add_to_toml(head, key, sources) + data[head.body :]
    text, closing = EditableText(head.text), _CLOSING.search(head.text)
    end = closing.start() if closing else len(head.text)
    root = head.root or Node("mapping", end, end)
    list_location = _ListLocation((key,)) if root.get(key) else _parse_key(key)
    _check_mapping(root, None)
    edits = list(_edit_list(text, root, list_location, sources, end))
    return text.apply(edits).encode("utf-8", "surrogateescape") + data[head.body :]


def _add_to_toml(head: FrontMatter, key: str, sources: Sequence[str]) -> bytes:
    """Return the front matter with sources in the array under a key at the top level."""
    if not re.fullmatch(r"[\w-]+", key):
        raise EditError(f"The key {key} is nested, which TOML front matter is not edited for.")
    text = EditableText(head.text)
    items = ", ".join(write_flow_scalar(source, '"') for source in sources)
    pair = head.root.get(key) if head.root else None
    if pair is None:
        closing, table = _CLOSING.search(head.text), _TOML_TABLE.search(head.text)
        end = closing.start() if closing else len(head.text)
        newline = text.newline(text.line_end(0))
        if table and table.start() < end:
            edit = Edit(table.start(), table.start(), f"{key} = [{items}]{newline}")
        else:
            edit = Edit(end, end, f"{newline}{key} = [{items}]")
    elif pair[1].is_shared:
        raise EditError(f"The value of {key} is a table, or written in an unusual way.")
    elif pair[1].kind == "sequence":
        value = pair[1]
        position = value.items[-1].end if value.items else value.start + 1
        edit = Edit(position, position, f", {items}" if value.items else items)
    else:
        value = pair[1]
        edit = Edit(value.start, value.end, f"[{text.written(value)}, {items}]")
    return text.apply([edit]).encode("utf-8", "surrogateescape")


def _with_front_matter(data: bytes, lines: Sequence[str], form: Form) -> bytes:
    """Return a page with new front matter or a comment, and an empty line after it."""
    bom = BOM if data.startswith(BOM) else b""
    body = data[len(bom) :]
    line_end = _LINE_END.search(body)
    newline = line_end[0] if line_end else b"\n"
    opening, closing = _FENCES[form]
    head = newline.join([opening, *(line.encode() for line in lines), closing, b""])
    gap = b"" if not body or body.startswith((b"\r", b"\n")) else newline
    return bom + head + gap + body


def _is_added(data: bytes, result: bytes, keys: Sequence[str], sources: Sequence[str]) -> bool:
    old, new = read_head(data, keys), read_head(result, keys)
    if old == NO_FRONT_MATTER:  # the BOM is now before the front matter, not before the body
        data = data.removeprefix(BOM)
    before, after = parse_page(data, keys), parse_page(result, keys)
    added = {normalize_path(source) for source in sources}
    kept = [reference for reference in after.references if reference.literal not in added]
    old_messages = {problem.message for problem in before.problems}
    body = data[old.body :]
    return (
        {reference._replace(line=0) for reference in before.references}
        == {reference._replace(line=0) for reference in kept}
        and len(after.references) == len(before.references) + len(sources)
        and added <= {reference.literal for reference in after.references}
        and after._replace(references=(), problems=())
        == before._replace(references=(), problems=())
        and {problem.message for problem in after.problems} <= old_messages
        and (old.root is None or _keeps_values(old, new, keys))
        and result.endswith(body)
        and result[new.body :].lstrip(b"\r\n") == body.lstrip(b"\r\n")
    )


def _keeps_values(old: FrontMatter, new: FrontMatter, keys: Sequence[str]) -> bool:
    if old.root is None or new.root is None or old.syntax != "toml":
        return old.root is None or _is_extended(old.root, new.root)
    before, after = (
        {key.value: _contents(value) for key, value in root.pairs if key.value not in keys}
        for root in (old.root, new.root)
    )
    return before == after


def _contents(node: Node) -> object:
    """Return a node's value without its position in the text."""
    pairs = [(key.value, _contents(value)) for key, value in node.pairs]
    return node.kind, node.value, list(map(_contents, node.items)), pairs


def _is_extended(old: Node, new: Node | None) -> bool:
    """Return whether a tree contains all of another one in the same order, with longer lists."""
    if old.kind == "scalar":
        if old.type == "null" or not old.value:
            return True
        if new is not None and new.kind == "sequence":
            return bool(new.items) and _is_extended(old, new.items[0])
        return new is not None and _scalar_facts(old) == _scalar_facts(new)
    if new is None or new.kind != old.kind or (new.is_flow, new.tag) != (old.is_flow, old.tag):
        return False
    items = zip(old.items, new.items, strict=False)
    pairs = zip(old.pairs, new.pairs, strict=False)
    return (
        len(old.items) <= len(new.items)
        and len(old.pairs) <= len(new.pairs)
        and all(_is_extended(old_item, new_item) for old_item, new_item in items)
        and all(
            _scalar_facts(old_key) == _scalar_facts(new_key) and _is_extended(old_value, new_value)
            for (old_key, old_value), (new_key, new_value) in pairs
        )
    )


def _scalar_facts(node: Node) -> tuple[str, str, str | None, str]:
    # the last line end of a block scalar may be that of the front matter
    value = node.value.rstrip("\n") if node.style in {"|", ">"} else node.value
    return node.kind, value, node.tag, node.style


class _ListLocation(NamedTuple):
    """The keys that lead to a list, and the key of the source in an item ("": the item itself)."""

    names: tuple[str, ...]
    leaf: str = ""

    def item(self, source: str) -> str:
        scalar = write_flow_scalar(source)
        return f"{self.leaf}: {scalar}" if self.leaf else scalar


def _parse_key(key: str) -> _ListLocation:
    *names, last = key.removesuffix("[]").split(".")
    if names and names[-1].endswith("[]"):
        names[-1] = names[-1].removesuffix("[]")
        location = _ListLocation(tuple(names), last)
    else:
        location = _ListLocation((*names, last))
    if any("[]" in name for name in (*location.names, location.leaf)):
        raise EditError(f"The key {key} refers to nested lists.")
    return location


def _new_block(location: _ListLocation, items: Iterable[str]) -> list[str]:
    """Return the lines of a list of items with the keys that lead to it."""
    names = location.names
    keys = [f"{_INDENT * level}{write_flow_scalar(name)}:" for level, name in enumerate(names)]
    return [*keys, *(f"{_INDENT * len(names)}- {item}" for item in items)]


def _edit_list(
    text: EditableText, mapping: Node, location: _ListLocation, sources: Sequence[str], end: int
) -> Iterator[Edit]:
    """Yield the edits that add sources to the list in a mapping; a new key is inserted at `end`."""
    name, *deeper = location.names
    pair = mapping.get(name)
    if pair is None:
        indent = text.indent(mapping.pairs[0][0].start) if mapping.pairs else ""
        line_start = text.newline(end) + indent
        lines = _new_block(location, map(location.item, sources))
        yield Edit(end, end, "".join(f"{line_start}{line}" for line in lines))
    elif deeper:
        key, value = pair
        _check_mapping(value, key)
        value_end = text.line_end(_end(text, value))
        deeper_location = location._replace(names=tuple(deeper))
        yield from _edit_list(text, value, deeper_location, sources, value_end)
    else:
        yield from _extend_value(text, pair, location, sources)


def _check_mapping(mapping: Node, key: Node | None) -> None:
    what = f"The value of {key.value}" if key else "The front matter"
    if mapping.kind != "mapping":
        raise EditError(f"{what} is not a mapping.")
    if mapping.is_shared or mapping.tag:
        raise EditError(f"{what} has an anchor or a tag, or is an alias.")
    if mapping.is_flow:
        raise EditError(f"{what} is written in braces, as a flow mapping.")


def _extend_value(
    text: EditableText, pair: tuple[Node, Node], location: _ListLocation, sources: Sequence[str]
) -> Iterator[Edit]:
    name, value = pair
    if value.is_shared or value.tag:
        raise EditError(f"The value of {name.value} has an anchor or a tag, or is an alias.")
    if value.kind == "mapping":
        raise EditError(f"The value of {name.value} is a mapping, not a list.")
    if value.kind == "sequence":
        leaf = location.leaf or _path_name(value)
        items = list(map(location._replace(leaf=leaf).item, sources))
        if value.is_flow:
            flow_items = [f"{{{item}}}" if leaf else item for item in items]
            yield from _extend_flow(text, value, flow_items)
        else:
            lines = [f"- {item}" for item in items]
            yield text.insert_below(_end(text, value), text.indent(value.start), lines)
    elif value.type == "null" or not value.value:
        yield from _replace_empty(text, pair, list(map(location.item, sources)))
    elif location.leaf:
        raise EditError(f"The value of {name.value} is a string, not a list.")
    else:
        yield from _extend_scalar(text, pair, list(map(location.item, sources)))


def _path_name(sequence: Node) -> str:
    """Return the key under which the last item names its source, "" if the item is a scalar."""
    last = sequence.items[-1] if sequence.items else None
    if last is None or last.kind != "mapping":
        return ""
    return next((name for name in PATH_NAMES if last.get(name)), PATH_NAMES[0])


def _replace_empty(
    text: EditableText, pair: tuple[Node, Node], items: Sequence[str]
) -> Iterator[Edit]:
    name, value = pair
    end = text.end(value)
    if value.start < end:  # `null`, `~` or `""`
        yield Edit(len(text.text[: value.start].rstrip()), end, "")
    indent = text.indent(name.start) + _INDENT
    yield text.insert_below(max(name.end, end), indent, [f"- {item}" for item in items])


def _extend_scalar(
    text: EditableText, pair: tuple[Node, Node], items: Sequence[str]
) -> Iterator[Edit]:
    """Turn a scalar, with its quotes and its comment, into the first item of a list."""
    name, value = pair
    if value.style in {"|", ">"}:
        raise EditError("Its source is a block scalar.")
    if text.before(value.start).strip():
        colon = text.text.index(":", name.end)
        indent = text.indent(name.start) + _INDENT
        yield Edit(colon + 1, colon + 1, f"{text.newline(text.line_end(colon))}{indent}-")
    else:
        indent = text.indent(value.start)
        yield Edit(value.start, value.start, "- ")
    yield text.insert_below(text.end(value), indent, [f"- {item}" for item in items])


def _extend_flow(text: EditableText, sequence: Node, items: Sequence[str]) -> Iterator[Edit]:
    if not sequence.items:
        yield Edit(sequence.start + 1, sequence.start + 1, ", ".join(items))
        return
    last = sequence.items[-1]
    end = text.end(last)
    rest = text.text[end : text.line_end(end)].lstrip(" \t")
    has_comma = rest.startswith(",")
    after_comma = rest.removeprefix(",").lstrip(" \t")
    is_last_on_line = not after_comma or after_comma[0] == "#"
    if text.before(last.start).strip() or not is_last_on_line:
        yield Edit(end, end, "".join(f", {item}" for item in items))
        return
    if not has_comma:
        yield Edit(end, end, ",")
    line_end = text.line_end(end)
    line_start = text.newline(line_end) + text.indent(last.start)
    lines = f",{line_start}".join(items) + ("," if has_comma else "")
    yield Edit(line_end, line_end, f"{line_start}{lines}")


def _end(text: EditableText, node: Node) -> int:
    """Return the end of a node's last character; YAML's parser counts comments after blocks."""
    if not node.is_flow and node.items:
        return max(_end(text, node.items[-1]), node.start + 1)
    if not node.is_flow and node.pairs:
        key, value = node.pairs[-1]
        return max(key.end, _end(text, value))
    return text.end(node)
