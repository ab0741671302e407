"""Pins in YAML blocks: lines put in, characters replaced, lines taken out.

YAML in brackets, written again as a block: there a pin can have a line of its own.

Pins written into a page's front matter in place: no byte is touched but theirs.

A pin gets lines of its own, so that re-pins of neighbouring references merge without a conflict: a
text becomes a mapping, and what stands in brackets becomes a block, for only there lines are free.
The result is read again, and unless it says what the page said, with these pins, it is not given.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ubp.core.errors import PageError
from ubp.core.model import SourceReference
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.front_matter import FrontMatter
from ubp.markdown.references import (
    PIN,
    KeyStep,
    ParsedReferences,
    ReferenceLocation,
    find_references,
    one_line,
)
from ubp.markdown.text_edits import LINE_END, Edit, EditError, Text
from ubp.markdown.yaml_nodes import Node, write_scalar

_NEXT_LINE = re.compile(r"(?:\r\n|\r|\n) *(?=[^\s#])")


def pin_lines(blob: str, reason: str | None) -> tuple[str, ...]:
    """Write a pin's lines: path, id and reason stand apart, so that merges do not meet."""
    return f"blob: {blob}", *([f"reason: {write_scalar(reason)}"] if reason else [])


def pin_text(text: Text, step: KeyStep, lines: Sequence[str]) -> Iterator[Edit]:
    """Make a mapping of a source that is a text, in a list or a key's only value."""
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


def pin_mapping(
    text: Text, named: ParsedReferences, blob: str, reason: str | None
) -> Iterator[Edit]:
    """Set `blob` and `reason` in the mapping that names the source, where they differ."""
    reference, place = named
    path_key, path = place.trail[-1].key, place.source
    mapping = place.mapping or path
    old_blob, old_reason = mapping.get("blob"), mapping.get("reason")
    blob_line, *reason_lines = pin_lines(blob, reason)
    below_path: list[str] = []
    if old_blob is None:
        below_path.append(blob_line)
    elif reference.pin != blob:
        yield _replace(text, old_blob[1], blob)
    if reference.reason != reason:
        if old_reason is not None:
            yield (
                _remove(text, *old_reason)
                if reason is None
                else _replace(text, old_reason[1], write_scalar(reason), keeps_quotes=False)
            )
        elif old_blob is None:
            below_path += reason_lines
        else:
            key, value = old_blob
            yield text.insert_below(text.end(value), text.indent(key.start), reason_lines)
    if below_path and path_key is not None:
        yield text.insert_below(text.end(path), text.indent(path_key.start), below_path)


def _replace(text: Text, old: Node, new: str, *, keeps_quotes: bool = True) -> Edit:
    if old.kind != "scalar" or old.is_shared:
        raise EditError("What stands in its place is no plain text.")
    end = text.end(old)
    if old.start >= end:  # "blob:" and nothing
        return Edit(old.start, old.start, f" {new}")
    if keeps_quotes and text.text[old.start] in "\"'":
        return Edit(old.start + 1, end - 1, new)
    return Edit(old.start, end, new)


def _remove(text: Text, key: Node, value: Node) -> Edit:
    start, end = text.line_start(key.start), text.line_end(max(key.end, text.end(value)))
    if text.before(key.start).strip():  # "- reason: …": the dash stays, for the line that follows
        following = _NEXT_LINE.match(text.text, end)
        if following:
            return Edit(key.start, following.end(), "")
        return Edit(len(text.text[: key.start].rstrip()), end, "")
    return Edit(start, end + len(text.newline(end)), "")


class PinLines(NamedTuple):
    """A reference's pin: its lines, and the mapping that has its path (None: a mere text)."""

    mapping: Node | None
    lines: tuple[str, ...]


class FlowWriter:
    """Writes the collections that hold pinned sources as blocks; all else stays as it is written.

    `pins` are keyed by the place where a source's path starts.
    """

    def __init__(self, text: Text, pins: Mapping[int, PinLines]) -> None:
        self._text = text
        self._pins = pins
        self._places = sorted(pins)
        self._pinned_mappings = {id(pin.mapping) for pin in pins.values()}

    def convert(self, step: KeyStep) -> Iterator[Edit]:
        """Turn a collection that stands in a block list or mapping into a block itself."""
        text, (node, key) = self._text, step
        if text.text[node.start] not in "[{":
            raise EditError("It has a tag.")
        line_end = text.line_end(node.end)
        rest = text.text[node.end : line_end]
        if rest.strip() and not rest.lstrip().startswith("#"):
            raise EditError("Something follows it on its line.")
        lines = self._block(node)
        if key is not None and text.before(node.start).strip():
            indent = text.indent(key.start) + "  "
            yield Edit(len(text.text[: node.start].rstrip()), node.end, "")
            yield text.insert_below(node.end, indent, lines)
        else:
            joint = text.newline(line_end) + text.indent(node.start)
            yield Edit(node.start, line_end, joint.join([lines[0] + rest, *lines[1:]]))

    def _block(self, node: Node) -> list[str]:
        if node.kind == "scalar":
            return [f"path: {self._text.written(node)}", *self._pins[node.start].lines]
        if node.kind == "sequence":
            children = [(item, _listed(self._value(item))) for item in node.items]
            return self._with_comments(node, children)
        return self._with_comments(node, list(self._pairs(node)))

    def _value(self, node: Node) -> list[str]:
        return self._block(node) if self._holds_pin(node) else [self._text.written(node)]

    def _pairs(self, node: Node) -> Iterator[tuple[Node, list[str]]]:
        is_pinned = id(node) in self._pinned_mappings
        for key, value in node.pairs:
            span = key._replace(end=max(key.end, value.end))
            if "#" in self._text.text[key.end : value.start]:
                raise EditError("A comment stands between a key and its value.")
            name, pin = self._text.written(key), self._pins.get(value.start)
            if is_pinned and key.value in {"blob", "reason"}:
                yield span, []
            elif pin is not None and pin.mapping is node:
                yield span, [f"{name}: {self._text.written(value)}", *pin.lines]
            elif self._holds_pin(value):
                block = self._block(value)
                below = _listed(block) if value.kind == "scalar" else block
                yield span, [f"{name}:", *(f"  {line}" for line in below)]
            else:
                yield span, [f"{name}: {self._text.written(value)}".rstrip()]

    def _holds_pin(self, node: Node) -> bool:
        first = bisect_left(self._places, node.start)
        return first < len(self._places) and self._places[first] < node.end

    def _with_comments(self, node: Node, children: list[tuple[Node, list[str]]]) -> list[str]:
        closing = Node("scalar", node.end - 1, node.end)
        lines: list[str] = []
        last, place = -1, node.start + 1
        for child, written in [*children, (closing, [])]:
            beside, *own_lines = _comments(self._text.text[place : child.start])
            if beside and last >= 0:
                lines[last] += f"  {beside}"
            elif beside:
                lines.append(beside)
            lines += filter(None, own_lines)
            last = len(lines) if written else last
            lines += written
            place = child.end
        return lines


def _comments(gap: str) -> list[str]:
    """Return each line's comment, or "": between values there are but commas and white space."""
    return [line[line.find("#") :] if "#" in line else "" for line in LINE_END.split(gap)]


def _listed(lines: list[str]) -> list[str]:
    first, *others = lines
    return [f"- {first}", *(f"  {line}" for line in others)]


_HINT = "Write the reference as a list item with `path:` on a line of its own, and try again."


class Pin(NamedTuple):
    """What a reference describes: 7 to 40 digits of an object id, and why that is still true.

    A reason is written on one line.
    """

    blob: str
    reason: str | None = None


def write_pins(data: bytes, keys: Sequence[str], pins: Mapping[SourceReference, Pin]) -> bytes:
    """Return the page with these pins; a reference's reason is replaced, or dropped if None.

    References are known by their `literal` path, which a page has once; their lines may be those
    of another version of the page. The same pins again return the same bytes.

    Raises:
        PageError: the page has no such reference, or YAML that cannot be edited in place.
        ValueError: a pin is no object id.
    """
    found = read_head(data, keys)
    named = {one.reference.literal: one for one in find_references(found, keys)[0]}
    wanted = []
    for reference, pin in pins.items():
        if reference.literal not in named:
            raise PageError(f"The page does not name {reference.literal}.")
        one, new = named[reference.literal], _clean(pin)
        if new != (one.reference.pin, one.reference.reason):
            wanted.append((one, new))
    if not wanted:
        return data
    text = Text(found.text)
    head = text.apply(_edits(text, wanted)).encode("utf-8", "surrogateescape")
    result = head + data[found.body :]
    if not _is_as_wanted(data, result, keys, {one.reference.literal: pin for one, pin in wanted}):
        references = [one.reference for one, _ in wanted]
        raise _refusal(references, "The page would then say something else than it does now.")
    return result


def _clean(pin: Pin) -> Pin:
    if not PIN.fullmatch(pin.blob):
        raise ValueError(f"{pin.blob!r} is no object id")
    reason = one_line(pin.reason or "").encode("utf-8", "replace").decode()
    return Pin(pin.blob.lower(), reason or None)


def _edits(text: Text, wanted: Sequence[tuple[ParsedReferences, Pin]]) -> Iterator[Edit]:
    flows: dict[int, tuple[ParsedReferences, KeyStep, dict[int, PinLines]]] = {}
    for one, pin in wanted:
        place = one.place
        with _telling(one):
            flow = _outermost_flow(place)
            if flow is not None:
                *_, lines = flows.setdefault(flow.node.start, (one, flow, {}))
                lines[place.source.start] = PinLines(place.mapping, pin_lines(*pin))
            elif place.mapping is not None:
                yield from pin_mapping(text, one, *pin)
            else:
                yield from pin_text(text, place.trail[-1], pin_lines(*pin))
    for one, flow, lines in flows.values():
        with _telling(one):
            yield from FlowWriter(text, lines).convert(flow)


def _outermost_flow(place: ReferenceLocation) -> KeyStep | None:
    nodes = [node for step in place.trail for node in step if node is not None]
    if any(node.is_shared for node in nodes):
        raise EditError("It stands behind an anchor (&) or an alias (*), so others share it.")
    if place.source.style in {"|", ">"}:
        raise EditError("Its path is a block of text.")
    if place.trail[0].node.is_flow:
        raise EditError("The whole front matter stands in brackets.")
    return next((step for step in place.trail if step.node.is_flow), None)


@contextmanager
def _telling(one: ParsedReferences) -> Iterator[None]:
    try:
        yield
    except EditError as error:
        raise _refusal([one.reference], str(error)) from error


def _refusal(references: Sequence[SourceReference], why: str) -> PageError:
    written = ", ".join(f"{one.written} (line {one.line})" for one in references)
    return PageError(f"No pin can be written in place for {written}.", cause=why, hint=_HINT)


def _is_as_wanted(
    data: bytes, result: bytes, keys: Sequence[str], wanted: Mapping[str, Pin]
) -> bool:
    before, after = parse_page(data, keys), parse_page(result, keys)
    expected = [
        reference._replace(line=0, pin=pin.blob, reason=pin.reason)
        if (pin := wanted.get(reference.literal))
        else reference._replace(line=0)
        for reference in before.references
    ]
    old, new = read_head(data, keys), read_head(result, keys)
    return (
        [reference._replace(line=0) for reference in after.references] == expected
        and before._replace(references=(), problems=())
        == after._replace(references=(), problems=())
        and {one.message for one in after.problems} <= {one.message for one in before.problems}
        and _names(new) == _names(old)
        and data[old.body :] == result[new.body :]
    )


def _names(head: FrontMatter) -> list[str]:
    return [key.value for key, _ in head.root.pairs] if head.root else []
