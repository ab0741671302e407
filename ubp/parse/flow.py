"""YAML in brackets, written again as a block: there a pin can have a line of its own."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ubp.parse.edits import LINE_END, Edit, EditError, Text
from ubp.parse.references import Step
from ubp.parse.yaml_tree import Node


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

    def convert(self, step: Step) -> Iterator[Edit]:
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
