"""A page's bytes as text, and the byte offsets of its characters."""

from bisect import bisect_left, bisect_right
from itertools import accumulate

BOM = b"\xef\xbb\xbf"
_SURROGATES = dict.fromkeys(range(0xDC80, 0xDD00), 0xFFFD)


class SourceText:
    """A page's text: line ends are line feeds, NUL and wrong bytes U+FFFD, and a BOM is dropped.

    `lines` are its lines, `starts` their offsets in `text`; lines and columns count from 0.
    """

    __slots__ = ("_byte_starts", "_last", "_raw", "lines", "starts", "text")

    def __init__(self, data: bytes) -> None:
        body = data.removeprefix(BOM)
        raw, self.text = _decode(body)
        self.lines = self.text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        # In ASCII each character is a byte, also where U+FFFD replaces a NUL.
        self._raw = None if body.isascii() else raw.split("\n")
        self._byte_starts = list(
            accumulate(map(len, body.splitlines(keepends=True)), initial=len(data) - len(body))
        )
        self._last = (-1, 0, 0)  # line, column, byte

    def byte_at(self, line: int, column: int) -> int:
        """Return the offset of a character's first byte; fast for ascending columns of a line."""
        start = self._byte_starts[line]
        if self._raw is None:
            return start + column
        last_line, last_column, byte = self._last
        if last_line != line or last_column > column:
            last_column, byte = 0, start
        text = self._raw[line][last_column:column]
        byte += len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
        self._last = (line, column, byte)
        return byte

    def byte_of(self, offset: int) -> int:
        """Return the byte offset of a character of `text`."""
        line = self.line_of(offset)
        return self.byte_at(line, offset - self.starts[line])

    def line_of_byte(self, byte: int) -> int:
        """Return the first line that begins at this byte or after it."""
        return bisect_left(self._byte_starts, byte)

    def line_of(self, offset: int) -> int:
        """Return the line of a character of `text`."""
        return bisect_right(self.starts, offset) - 1


def _decode(body: bytes) -> tuple[str, str]:
    """Return the text with wrong bytes as surrogates, which can be encoded again, and as U+FFFD."""
    try:
        raw = clean = _with_line_feeds(body.decode())
    except UnicodeDecodeError:
        raw = _with_line_feeds(body.decode("utf-8", "surrogateescape"))
        clean = raw.translate(_SURROGATES)
    return raw, clean.replace("\0", "\ufffd")


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
