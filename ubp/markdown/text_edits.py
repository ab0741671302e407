"""Edits of a text in place, and its lines as they are: whichever line ends and indents it has."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ubp.markdown.yaml_nodes import Node

LINE_END = re.compile(r"\r\n|\r|\n")


class EditError(Exception):
    """It cannot be edited in place; the message is a sentence that says why."""


def as_diff(path: str, before: bytes, after: bytes) -> str:
    """Return what changed in a file, with a line of what stands around it."""
    from difflib import unified_diff

    old, new = (data.decode("utf-8", "surrogateescape").splitlines() for data in (before, after))
    lines = unified_diff(old, new, f"a/{path}", f"b/{path}", n=1, lineterm="")
    return "".join(f"{line}\n" for line in lines)


class Edit(NamedTuple):
    """The characters from `start` to `end` give way to `text`."""

    start: int
    end: int
    text: str


class Text:
    """A text in which nodes have their places; every line of it is ended."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def written(self, node: Node) -> str:
        """Return a node as it stands there."""
        return self.text[node.start : self.end(node)]

    def end(self, node: Node) -> int:
        """Return where a node ends; the YAML reader adds the empty lines behind block scalars."""
        return node.start + len(self.text[node.start : node.end].rstrip())

    def line_start(self, place: int) -> int:
        """Return where the line of a place begins."""
        return max(self.text.rfind("\n", 0, place), self.text.rfind("\r", 0, place)) + 1

    def line_end(self, place: int) -> int:
        """Return where the line of a place ends, before its line end."""
        found = LINE_END.search(self.text, place)
        return found.start() if found else len(self.text)

    def newline(self, line_end: int) -> str:
        """Return the line end that stands there."""
        found = LINE_END.match(self.text, line_end)
        return found[0] if found else "\n"

    def before(self, place: int) -> str:
        """Return what stands before a place on its line."""
        return self.text[self.line_start(place) : place]

    def indent(self, place: int) -> str:
        """Return the spaces that put another line below a place."""
        return " " * len(self.before(place))

    def insert_below(self, place: int, indent: str, lines: Sequence[str]) -> Edit:
        """Put lines below the line of a place."""
        end = self.line_end(place)
        newline = self.newline(end)
        return Edit(end, end, "".join(f"{newline}{indent}{line}" for line in lines))

    def apply(self, edits: Iterable[Edit]) -> str:
        """Return the text after edits that do not overlap; insertions at one place keep order."""
        pieces, place = [], 0
        for edit in sorted(edits, key=lambda edit: edit.start):
            pieces += [self.text[place : edit.start], edit.text]
            place = edit.end
        return "".join([*pieces, self.text[place:]])
