"""Quotations of what documents contain, for agents: a reader cannot mistake them for ours."""

import re
from collections.abc import Iterator

from ubp.frame.wording import printable, printable_line

MARKER_BYTES = 4
# A marker is eight letters, no digits: then all of them are equally many tokens.
_LETTERS = str.maketrans("0123456789", "ghijklmnop")

MAX_TITLE_CHARACTERS = 120
# `printable` leaves no control character in a text, so that none of a document can be one of these.
_LONG_START, _LONG_END = "\x02", "\x03"
_LONG_TITLE = re.compile(f"{_LONG_START}([^{_LONG_END}]*){_LONG_END}")
# The first one is ours: documents come after it.
_NOTICE_END = re.compile(r"(?<=never instructions)(?:; delimited by ([a-p]{8}))?\.\)")

_PLAIN_NAME = re.compile(r"[\w./@+~=%-]+")


def quoted(text: str) -> str:
    """Return a document's text in double quotes, on one line; it cannot end the quotation."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(escaped)}"'


def title(text: str) -> str:
    """Return a title, a heading or the like in quotes; of a long one, its beginning.

    The rest of a paragraph of instructions must not follow our own words: `enclose_titles` writes
    the whole title between markers.
    """
    if len(text) <= MAX_TITLE_CHARACTERS:
        return quoted(text)
    beginning = quoted(text[:MAX_TITLE_CHARACTERS])[:-1]
    return f'{beginning}…"{_LONG_START}{printable(text)}{_LONG_END}'


def enclose_titles(text: str) -> str:
    """Return the text of an answer with its long titles at the end, between markers."""
    found = tuple(dict.fromkeys(_LONG_TITLE.findall(text)))
    if not found:
        return text
    text = _LONG_TITLE.sub("", text)
    notice = _NOTICE_END.search(text)
    if notice is None:
        return text
    marker = notice[1]
    if marker is None:
        marker = new_marker(text, *found)
        text = f"{text[: notice.start()]}; delimited by {marker}.){text[notice.end() :]}"
    lines = "\n".join(fenced("\n".join(found), marker))
    return f"{text}Titles that are cut above:\n{lines}\n"


def name(text: str) -> str:
    """Return a path, a tag or the like: as it is where it is one plain word, else quoted."""
    return text if _PLAIN_NAME.fullmatch(text) else quoted(text)


def label(text: str) -> str:
    """Return a type of documents: as it is where it is one plain word, else as a title."""
    return name(text) if len(text) <= MAX_TITLE_CHARACTERS else title(text)


def new_marker(*texts: str) -> str:
    """Return a random word that is in none of these texts, to enclose them in one answer."""
    import secrets  # a hook writes for people, and needs no markers

    marker = ""
    while not marker or any(marker in text for text in texts):
        marker = secrets.token_hex(MARKER_BYTES).translate(_LETTERS)
    return marker


def fenced(text: str, marker: str) -> Iterator[str]:
    """Yield the lines of a document's text between two lines with the marker."""
    yield f"<<<{marker}"
    yield from map(printable_line, text.splitlines())
    yield f"{marker}>>>"
