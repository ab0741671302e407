"""A page's bytes as text, and the way back: which byte a character of a line stands at."""

from bisect import bisect_left, bisect_right
from itertools import accumulate

BOM = b"\xef\xbb\xbf"
_SURROGATES = dict.fromkeys(range(0xDC80, 0xDD00), 0xFFFD)


class SourceText:
    """A page's text with line feeds only, neither BOM nor NUL, and U+FFFD for each wrong byte.

    `lines` are its lines, `starts` their offsets in `text`; lines and columns count from 0.
    """

    __slots__ = ("_byte_starts", "_last", "_raw", "lines", "starts", "text")

    def __init__(self, data: bytes) -> None:
        body = data.removeprefix(BOM)
        raw, self.text = _decode(body)
        self.lines = self.text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        # One character is one byte where all is ASCII, even where U+FFFD stands for a NUL.
        self._raw = None if body.isascii() else raw.split("\n")
        self._byte_starts = list(
            accumulate(map(len, body.splitlines(keepends=True)), initial=len(data) - len(body))
        )
        self._last = (-1, 0, 0)  # line, column, byte

    def byte_at(self, line: int, column: int) -> int:
        """Return the byte at which a line's character begins; quick from left to right."""
        start = self._byte_starts[line]
        if self._raw is None:
            return start + column
        known_line, known_column, byte = self._last
        if known_line != line or known_column > column:
            known_column, byte = 0, start
        text = self._raw[line][known_column:column]
        byte += len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
        self._last = (line, column, byte)
        return byte

    def byte_of(self, offset: int) -> int:
        """Return the byte at which a character of `text` begins."""
        line = self.line_of(offset)
        return self.byte_at(line, offset - self.starts[line])

    def line_of_byte(self, byte: int) -> int:
        """Return the first line that begins at this byte or behind it."""
        return bisect_left(self._byte_starts, byte)

    def line_of(self, offset: int) -> int:
        """Return the line that a character of `text` is in."""
        return bisect_right(self.starts, offset) - 1


def _decode(body: bytes) -> tuple[str, str]:
    """Return the text with each wrong byte as a surrogate, so that it can be encoded, and clean."""
    try:
        raw = clean = _with_line_feeds(body.decode())
    except UnicodeDecodeError:
        raw = _with_line_feeds(body.decode("utf-8", "surrogateescape"))
        clean = raw.translate(_SURROGATES)
    return raw, clean.replace("\0", "\ufffd")


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
