"""Texts as editors have them: edited by ranges, with columns in the units of the protocol.

A line ends with LF, CRLF or CR and with nothing else: Python's `splitlines` knows more line ends,
and so does pygls, which would lose its place in a text with a form feed or U+2028.
"""

from bisect import bisect_right
from typing import Literal, NamedTuple

from ubp.markdown.front_matter import LINE_END

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""In which units clients count columns; the server and the client agree upon one."""


class Place(NamedTuple):
    """A line and a column in units of the protocol, both from 0."""

    line: int
    character: int


class Text:
    """An immutable text; `starts` and `ends` are the offsets of its lines without line ends."""

    __slots__ = ("encoding", "ends", "starts", "text")

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        matches = list(LINE_END.finditer(text))
        self.starts = [0, *(match.end() for match in matches)]
        self.ends = [*(match.start() for match in matches), len(text)]

    def line(self, number: int) -> str:
        """Return a line, counted from 0; one beyond the end is empty."""
        if number >= len(self.starts):
            return ""
        return self.text[self.starts[number] : self.ends[number]]

    def offset(self, place: Place) -> int:
        """Return the offset of a place; beyond the end of its line or text that end is meant."""
        if place.line >= len(self.starts):
            return len(self.text)
        line = self.line(place.line)
        return self.starts[place.line] + _characters(line, place.character, self.encoding)

    def column(self, place: Place) -> int:
        """Return the column of a place in characters, from 0."""
        return _characters(self.line(place.line), place.character, self.encoding)

    def place(self, offset: int) -> Place:
        """Return the place of an offset."""
        line = bisect_right(self.starts, offset) - 1
        return self.place_at(line, min(offset, self.ends[line]) - self.starts[line])

    def place_at(self, line: int, column: int) -> Place:
        """Return the place of a line and a column in characters, both from 0."""
        return Place(line, _units(self.line(line)[:column], self.encoding))

    def replace(self, start: Place, end: Place, text: str) -> "Text":
        """Return the text with the part from one place to another replaced."""
        first, last = self.offset(start), self.offset(end)
        return Text(self.text[:first] + text + self.text[max(first, last) :], self.encoding)


def _units(text: str, encoding: Encoding) -> int:
    """Return the length of a text in units."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _characters(line: str, units: int, encoding: Encoding) -> int:
    """Return how many characters of a line fit into so many units."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    counted = 0
    for index, letter in enumerate(line):
        counted += _units(letter, encoding)
        if counted > units:
            return index
    return len(line)
