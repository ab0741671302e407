"""Write pins into a page's front matter in place, without changing any other byte.

A pin gets lines of its own, so that re-pins of neighboring references merge without a conflict: a
plain source becomes a mapping, and a flow collection (`[a, b]`) a block, where lines are possible.
The result is parsed again, and returned only if it says what the page said, with these pins.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ubp.core.errors import PageError
from ubp.core.model import FilePath, SourceReference
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.front_matter import LINE_END, FrontMatter
from ubp.markdown.references import (
    PIN,
    KeyStep,
    ParsedReference,
    ReferenceLocation,
    find_references,
    find_value,
    one_line,
)
from ubp.markdown.source_text import BOM
from ubp.markdown.text_edits import Edit, EditableText, EditError
from ubp.markdown.yaml_nodes import Node, write_flow_scalar, write_scalar

_HINT = "Write the reference as a list item with `path:` on its own line, then try again."
_NEXT_LINE = re.compile(r"(?:\r\n|\r|\n) *(?=[^\s#])")


class Pin(NamedTuple):
    """A reference's baseline: 7 to 40 digits of an object id, and a reason on a single line."""

    blob: str
    reason: str | None = None


def write_pins(data: bytes, keys: Sequence[str], pins: Mapping[SourceReference, Pin]) -> bytes:
    """Return the page with these pins; the reason of a reference is replaced, or removed if None.

    A reason of several lines, which only a person writes, is not removed.

    References are identified by their `literal` path, which is unique in a page; their lines may be
    those of another version of the page. Writing the same pins again returns the same bytes.

    Raises:
        PageError: the page has no such reference, or YAML that cannot be edited in place.
        ValueError: a pin is not an object id.
    """
    head = read_head(data, keys)
    by_literal = {parsed.reference.literal: parsed for parsed in find_references(head, keys)[0]}
    changes: list[tuple[ParsedReference, Pin]] = []
    for reference, pin in pins.items():
        if reference.literal not in by_literal:
            raise PageError(f"The page does not list {reference.literal} as a source.")
        parsed, new_pin = by_literal[reference.literal], _normalize(pin)
        if new_pin.reason is None and _has_long_reason(head, parsed):
            new_pin = new_pin._replace(reason=parsed.reference.reason)
        if new_pin != (parsed.reference.pin, parsed.reference.reason):
            changes.append((parsed, new_pin))
    if not changes:
        return data
    text = EditableText(head.text)
    find_edits = _find_toml_edits if head.syntax == "toml" else _find_edits
    new_head = text.apply(find_edits(text, changes)).encode("utf-8", "surrogateescape")
    result = new_head + data[head.body :]
    expected = {parsed.reference.literal: pin for parsed, pin in changes}
    if not _is_as_expected(data, result, keys, expected):
        references = [parsed.reference for parsed, _ in changes]
        raise _error(references, "The edit would change other parts of the page.")
    return result


def _has_long_reason(head: FrontMatter, parsed: ParsedReference) -> bool:
    mapping = parsed.location.mapping
    pair = mapping.get("reason") if mapping else None
    return pair is not None and head.line(pair[1].start) < head.line(pair[1].end)


def write_key_pin(data: bytes, key: str, pin: str, names: Sequence[str]) -> bytes:
    """Return the page with this pin as the value of a front matter key, which may be dotted.

    A new key becomes the last one of its mapping; a page without front matter gets it. `names` are
    other keys by which front matter is recognized.

    Raises:
        PageError: the front matter cannot be edited in place.
        ValueError: the pin is not an object id.
    """
    if not PIN.fullmatch(pin):
        raise ValueError(f"{pin!r} is not an object id")
    head = read_head(data, (*names, key))
    if head.problems:
        raise PageError("Cannot write a pin into this page.", cause=head.problems[0].message)
    old = find_value(head.root, key) if head.root else None
    if old is not None and old.text == pin:
        return data
    if head.text:
        text = EditableText(head.text)
        try:
            edit = _edit_key(text, head, key, pin)
        except EditError as error:
            raise PageError(f"Cannot write {key} in place.", cause=str(error)) from error
        result = text.apply([edit]).encode("utf-8", "surrogateescape") + data[head.body :]
    else:
        body = data.removeprefix(BOM)
        newline = b"\r\n" if b"\r\n" in body else b"\n"
        lines = [b"---", *(line.encode() for line in _nested(key.split("."), pin)), b"---", b""]
        result = data[: len(data) - len(body)] + newline.join(lines) + body
    new = read_head(result, (*names, key))
    written = find_value(new.root, key) if new.root else None
    if written is None or written.text != pin or data[head.body :] != result[new.body :]:
        raise PageError(f"Cannot write {key} in place.", cause="It would change other parts.")
    return result


def _edit_key(text: EditableText, head: FrontMatter, key: str, pin: str) -> Edit:
    """Return the edit that replaces the value of a key, or adds the key."""
    root = head.root or Node("mapping", 0, 0)
    if (old := find_value(root, key)) is not None:
        is_quoted = text.text[old.start : old.start + 1] in {'"', "'"}
        return _replace_value(text, old, pin if is_quoted else _pin_scalar_text(pin))
    if head.syntax == "toml":  # above the first table
        return text.insert_below(0, "", [f'{key} = "{pin}"'])
    node, names = root, key.split(".")
    while len(names) > 1 and (pair := node.get(names[0])) and pair[1].pairs:
        node, names = pair[1], names[1:]
    if node.get(names[0]):
        raise EditError(f"{names[0]} is not a mapping.")
    if node.is_flow:
        raise EditError("It is in a flow mapping: {a: b}.")
    lines = _nested(names, pin)
    if not node.pairs:
        opening = text.text.find("ubp") if head.syntax == "comment" else 0
        return text.insert_below(opening, "", lines)
    first, last = node.pairs[0][0], max(text.end(value) for _, value in node.pairs)
    last = max(last, *(name.end for name, _ in node.pairs))
    return text.insert_below(last, text.indent(first.start), lines)


def _nested(names: Sequence[str], pin: str) -> list[str]:
    """Return the lines of nested mappings down to a pin."""
    ends = [*("" for _ in names[1:]), f" {_pin_scalar_text(pin)}"]
    return [
        f"{'  ' * depth}{name}:{end}"
        for depth, (name, end) in enumerate(zip(names, ends, strict=True))
    ]


def _pin_scalar_text(pin: str) -> str:
    """Return a pin as a string in YAML: digits alone, or with an `e`, would be a number."""
    return f'"{pin}"' if re.fullmatch(r"\d+(?:e\d+)?", pin) else pin


def _normalize(pin: Pin) -> Pin:
    if not PIN.fullmatch(pin.blob):
        raise ValueError(f"{pin.blob!r} is not an object id")
    reason = one_line(pin.reason or "").encode("utf-8", "replace").decode()
    return Pin(pin.blob.lower(), reason or None)


def _find_toml_edits(
    text: EditableText, changes: Sequence[tuple[ParsedReference, Pin]]
) -> Iterator[Edit]:
    """Yield edits that turn a source into an inline table; TOML allows none over several lines."""
    for parsed, pin in changes:
        with _naming_reference(parsed):
            source, mapping = parsed.location.source, parsed.location.mapping
            if source.is_shared:
                raise EditError("Its path is written in an unusual way.")
            blob, reason = (write_flow_scalar(value, '"') for value in (pin.blob, pin.reason or ""))
            fields = f"blob = {blob}" + (f", reason = {reason}" if pin.reason else "")
            start, end = source.start, source.end
            if mapping is not None:
                start, end = _inline_table(text, mapping)
            yield Edit(start, end, f"{{ path = {text.written(source)}, {fields} }}")


def _inline_table(text: EditableText, mapping: Node) -> tuple[int, int]:
    """Return where a table of a source stands, with its braces."""
    first, last = mapping.pairs[0][0].start, max(value.end for _, value in mapping.pairs)
    start, end = text.text.rfind("{", 0, first), text.text.find("}", last) + 1
    names = {key.value for key, _ in mapping.pairs}
    if text.text[start + 1 : first].strip() or not end or not names <= {"path", "blob", "reason"}:
        raise EditError("It is a table with other keys, or not written in braces.")
    return start, end


def _find_edits(
    text: EditableText, changes: Sequence[tuple[ParsedReference, Pin]]
) -> Iterator[Edit]:
    flows: dict[int, tuple[ParsedReference, KeyStep, dict[int, _PinLines]]] = {}
    for parsed, pin in changes:
        location = parsed.location
        with _naming_reference(parsed):
            flow = _outermost_flow(location)
            if flow is not None:
                *_, pins = flows.setdefault(flow.node.start, (parsed, flow, {}))
                pins[location.source.start] = _PinLines(location.mapping, _pin_lines(pin))
            elif location.mapping is not None:
                yield from _pin_mapping(text, parsed, pin)
            else:
                yield from _pin_scalar(text, location.trail[-1], _pin_lines(pin))
    for parsed, flow, pins in flows.values():
        with _naming_reference(parsed):
            yield from _FlowConverter(text, pins).convert(flow)


def _outermost_flow(location: ReferenceLocation) -> KeyStep | None:
    nodes = [node for step in location.trail for node in step if node is not None]
    if any(node.is_shared for node in nodes):
        raise EditError("It is in a YAML anchor (&) or alias (*), so it is shared.")
    if location.source.style in {"|", ">"}:
        raise EditError("Its path is a block scalar.")
    if location.trail[0].node.is_flow:
        raise EditError("The front matter is written in braces, as a flow mapping.")
    return next((step for step in location.trail if step.node.is_flow), None)


@contextmanager
def _naming_reference(parsed: ParsedReference) -> Iterator[None]:
    """Turn an EditError into a PageError that names the reference."""
    try:
        yield
    except EditError as error:
        raise _error([parsed.reference], str(error)) from error


def _error(references: Sequence[SourceReference], why: str) -> PageError:
    written = ", ".join(f"{reference.written} (line {reference.line})" for reference in references)
    return PageError(f"Cannot write a pin in place for {written}.", cause=why, hint=_HINT)


def _is_as_expected(
    data: bytes, result: bytes, keys: Sequence[str], expected_pins: Mapping[FilePath, Pin]
) -> bool:
    before, after = parse_page(data, keys), parse_page(result, keys)
    expected = [
        reference._replace(line=0, pin=pin.blob, reason=pin.reason)
        if (pin := expected_pins.get(reference.literal))
        else reference._replace(line=0)
        for reference in before.references
    ]
    old_messages = {problem.message for problem in before.problems}
    old, new = read_head(data, keys), read_head(result, keys)
    return (
        [reference._replace(line=0) for reference in after.references] == expected
        and before._replace(references=(), problems=())
        == after._replace(references=(), problems=())
        and {problem.message for problem in after.problems} <= old_messages
        and _top_level_keys(new) == _top_level_keys(old)
        and data[old.body :] == result[new.body :]
    )


def _top_level_keys(head: FrontMatter) -> list[str]:
    return [key.value for key, _ in head.root.pairs] if head.root else []


def _pin_lines(pin: Pin) -> tuple[str, ...]:
    """Return the lines of a pin; id and reason are on lines of their own, for merges."""
    return f"blob: {pin.blob}", *([f"reason: {write_scalar(pin.reason)}"] if pin.reason else [])


def _pin_scalar(text: EditableText, step: KeyStep, lines: Sequence[str]) -> Iterator[Edit]:
    """Turn a source that is a plain scalar, in a list or as the value of a key, into a mapping."""
    source, key = step
    if key is None:
        yield Edit(source.start, source.start, "path: ")
        yield text.insert_below(text.end(source), text.indent(source.start), lines)
    elif not text.before(source.start).strip():
        yield Edit(source.start, source.start, "- path: ")
        yield text.insert_below(text.end(source), text.indent(source.start) + "  ", lines)
    else:  # the key's line keeps its comment, and the list begins below it
        item = [f"- path: {text.written(source)}", *(f"  {line}" for line in lines)]
        yield Edit(len(text.text[: source.start].rstrip()), source.end, "")
        yield text.insert_below(source.end, text.indent(key.start) + "  ", item)


def _pin_mapping(text: EditableText, parsed: ParsedReference, pin: Pin) -> Iterator[Edit]:
    """Set `blob` and `reason` in the mapping that names the source, if they differ."""
    reference, location = parsed
    path_key, path = location.trail[-1].key, location.source
    mapping = location.mapping or path
    old_blob, old_reason = mapping.get("blob"), mapping.get("reason")
    blob_line, *reason_lines = _pin_lines(pin)
    lines_below_path: list[str] = []
    if old_blob is None:
        lines_below_path.append(blob_line)
    elif reference.pin != pin.blob:
        yield _replace_value(text, old_blob[1], pin.blob)
    if reference.reason != pin.reason:
        if old_reason is not None:
            yield (
                _remove_pair(text, *old_reason)
                if pin.reason is None
                else _replace_value(
                    text, old_reason[1], write_scalar(pin.reason), keeps_quotes=False
                )
            )
        elif old_blob is None:
            lines_below_path += reason_lines
        else:
            key, value = old_blob
            yield text.insert_below(text.end(value), text.indent(key.start), reason_lines)
    if lines_below_path and path_key is not None:
        yield text.insert_below(text.end(path), text.indent(path_key.start), lines_below_path)


def _replace_value(text: EditableText, old: Node, new: str, *, keeps_quotes: bool = True) -> Edit:
    if old.kind != "scalar" or old.is_shared:
        raise EditError("The existing value is not a plain string.")
    end = text.end(old)
    if old.start >= end:  # "blob:" without a value
        return Edit(old.start, old.start, f" {new}")
    if keeps_quotes and text.text[old.start] in "\"'":
        return Edit(old.start + 1, end - 1, new)
    return Edit(old.start, end, new)


def _remove_pair(text: EditableText, key: Node, value: Node) -> Edit:
    start, end = text.line_start(key.start), text.line_end(max(key.end, text.end(value)))
    if text.before(key.start).strip():  # "- reason: …": the dash stays, for the line that follows
        following = _NEXT_LINE.match(text.text, end)
        if following:
            return Edit(key.start, following.end(), "")
        return Edit(len(text.text[: key.start].rstrip()), end, "")
    return Edit(start, end + len(text.newline(end)), "")


class _PinLines(NamedTuple):
    """The lines of a reference's pin, and the mapping with its path (None: a plain scalar)."""

    mapping: Node | None
    lines: tuple[str, ...]


class _FlowConverter:
    """Rewrites the flow collections that contain pinned sources as blocks, and nothing else.

    `pins` are keyed by the offset of a source's path.
    """

    def __init__(self, text: EditableText, pins: Mapping[int, _PinLines]) -> None:
        self._text = text
        self._pins = pins
        self._offsets = sorted(pins)
        self._pinned_mappings = {id(pin.mapping) for pin in pins.values()}

    def convert(self, step: KeyStep) -> Iterator[Edit]:
        """Turn a flow collection in a block list or mapping into a block."""
        text, (node, key) = self._text, step
        if text.text[node.start] not in "[{":
            raise EditError("It has a YAML tag.")
        line_end = text.line_end(node.end)
        rest = text.text[node.end : line_end]
        if rest.strip() and not rest.lstrip().startswith("#"):
            raise EditError("Other text follows it on the same line.")
        lines = self._block(node)
        if key is not None and text.before(node.start).strip():
            indent = text.indent(key.start) + "  "
            yield Edit(len(text.text[: node.start].rstrip()), node.end, "")
            yield text.insert_below(node.end, indent, lines)
        else:
            separator = text.newline(line_end) + text.indent(node.start)
            yield Edit(node.start, line_end, separator.join([lines[0] + rest, *lines[1:]]))

    def _block(self, node: Node) -> list[str]:
        if node.kind == "scalar":
            return [f"path: {self._text.written(node)}", *self._pins[node.start].lines]
        if node.kind == "sequence":
            children = [(item, _as_list_item(self._value(item))) for item in node.items]
            return self._with_comments(node, children)
        return self._with_comments(node, list(self._pairs(node)))

    def _value(self, node: Node) -> list[str]:
        return self._block(node) if self._contains_pin(node) else [self._text.written(node)]

    def _pairs(self, node: Node) -> Iterator[tuple[Node, list[str]]]:
        """Yield each pair of a mapping as a node that spans it, and its lines."""
        is_pinned = id(node) in self._pinned_mappings
        for key, value in node.pairs:
            span = key._replace(end=max(key.end, value.end))
            if "#" in self._text.text[key.end : value.start]:
                raise EditError("There is a comment between a key and its value.")
            name, pin = self._text.written(key), self._pins.get(value.start)
            if is_pinned and key.value in {"blob", "reason"}:
                yield span, []
            elif pin is not None and pin.mapping is node:
                yield span, [f"{name}: {self._text.written(value)}", *pin.lines]
            elif self._contains_pin(value):
                block = self._block(value)
                below = _as_list_item(block) if value.kind == "scalar" else block
                yield span, [f"{name}:", *(f"  {line}" for line in below)]
            else:
                yield span, [f"{name}: {self._text.written(value)}".rstrip()]

    def _contains_pin(self, node: Node) -> bool:
        first = bisect_left(self._offsets, node.start)
        return first < len(self._offsets) and self._offsets[first] < node.end

    def _with_comments(self, node: Node, children: list[tuple[Node, list[str]]]) -> list[str]:
        """Return the children's lines, each with the comment beside it and those above it."""
        closing = Node("scalar", node.end - 1, node.end)
        lines: list[str] = []
        last_child_line, offset = -1, node.start + 1
        for child, child_lines in [*children, (closing, [])]:
            beside, *above = _comments(self._text.text[offset : child.start])
            if beside and last_child_line >= 0:
                lines[last_child_line] += f"  {beside}"
            elif beside:
                lines.append(beside)
            lines += filter(None, above)
            last_child_line = len(lines) if child_lines else last_child_line
            lines += child_lines
            offset = child.end
        return lines


def _comments(gap: str) -> list[str]:
    """Return the comment of each line, or ""; between values are only commas and white space."""
    return [line[line.find("#") :] if "#" in line else "" for line in LINE_END.split(gap)]


def _as_list_item(lines: list[str]) -> list[str]:
    first, *others = lines
    return [f"- {first}", *(f"  {line}" for line in others)]
