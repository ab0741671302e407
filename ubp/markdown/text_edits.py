"""Edits of a text in place that preserve its line ends and indentation."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ubp.markdown.front_matter import LINE_END
from ubp.markdown.yaml_nodes import Node


class EditError(Exception):
    """The text cannot be edited in place; the message is a sentence with the reason."""


def as_diff(path: str, before: bytes, after: bytes) -> str:
    """Return the unified diff of a file, with one line of context."""
    from difflib import unified_diff

    old, new = (data.decode("utf-8", "surrogateescape").splitlines() for data in (before, after))
    lines = unified_diff(old, new, f"a/{path}", f"b/{path}", n=1, lineterm="")
    return "".join(f"{line}\n" for line in lines)


class Edit(NamedTuple):
    """The replacement of the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


class EditableText:
    """A text whose YAML nodes have offsets in it; each of its lines has a line end."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def written(self, node: Node) -> str:
        """Return the text of a node."""
        return self.text[node.start : self.end(node)]

    def end(self, node: Node) -> int:
        """Return the end of a node without the empty lines that YAML adds to a block scalar."""
        return node.start + len(self.text[node.start : node.end].rstrip())

    def line_start(self, offset: int) -> int:
        """Return the start of the line that contains an offset."""
        return max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1

    def line_end(self, offset: int) -> int:
        """Return the end of the line that contains an offset, before its line end."""
        match = LINE_END.search(self.text, offset)
        return match.start() if match else len(self.text)

    def newline(self, line_end: int) -> str:
        """Return the line end at an offset, a line feed if there is none."""
        match = LINE_END.match(self.text, line_end)
        return match[0] if match else "\n"

    def before(self, offset: int) -> str:
        """Return the part of the line before an offset."""
        return self.text[self.line_start(offset) : offset]

    def indent(self, offset: int) -> str:
        """Return the spaces that align another line with an offset."""
        return " " * len(self.before(offset))

    def insert_below(self, offset: int, indent: str, lines: Sequence[str]) -> Edit:
        """Return the insertion of lines below the line that contains an offset."""
        end = self.line_end(offset)
        newline = self.newline(end)
        return Edit(end, end, "".join(f"{newline}{indent}{line}" for line in lines))

    def apply(self, edits: Iterable[Edit]) -> str:
        """Return the edited text; edits must not overlap; insertions at one offset keep order."""
        pieces, position = [], 0
        for edit in sorted(edits, key=lambda edit: edit.start):
            pieces += [self.text[position : edit.start], edit.text]
            position = edit.end
        return "".join([*pieces, self.text[position:]])
