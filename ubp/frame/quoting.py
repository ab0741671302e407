"""Quotations of what documents contain, for agents: a reader cannot mistake them for ours."""

import re
import secrets
from collections.abc import Iterator

from ubp.frame.wording import printable, printable_line

MARKER_BYTES = 4
# A marker is eight letters, no digits: then all of them are equally many tokens.
_LETTERS = str.maketrans("0123456789", "ghijklmnop")

_PLAIN_NAME = re.compile(r"[\w./@+~=%-]+")


def quoted(text: str) -> str:
    """Return a document's text in double quotes, on one line; it cannot end the quotation."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(escaped)}"'


def name(text: str) -> str:
    """Return a path, a tag or the like: as it is where it is one plain word, else quoted."""
    return text if _PLAIN_NAME.fullmatch(text) else quoted(text)


def new_marker(*texts: str) -> str:
    """Return a random word that is in none of these texts, to enclose them in one answer."""
    marker = ""
    while not marker or any(marker in text for text in texts):
        marker = secrets.token_hex(MARKER_BYTES).translate(_LETTERS)
    return marker


def fenced(text: str, marker: str) -> Iterator[str]:
    """Yield the lines of a document's text between two lines with the marker."""
    yield f"<<<{marker}"
    yield from map(printable_line, text.splitlines())
    yield f"{marker}>>>"
