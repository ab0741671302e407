"""TOML that others wrote: `tomllib` within limits."""

import re
from collections.abc import Iterator
from typing import Any

MAX_PARTS = 50
"""A key's number of parts: `tomllib` takes memory and time by their square, 6 GB for 80 kB."""

# In one pass, and each character once: a string or comment may contain the signs of the others.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?P<basic>(?:[^"\\\r\n]|\\[^\r\n])*+)"?'
    r"|'(?P<literal>[^'\r\n]*+)'?"
    r"|(?P<bare>[\w-]++)"
    r"|#[^\r\n]*+",
    re.DOTALL,
)


class TooManyPartsError(ValueError):
    """A key has more than MAX_PARTS parts; `offset` is where in the text."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"a key has more than {MAX_PARTS} parts")
        self.offset = offset


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML document.

    Raises:
        ValueError: it is not valid, nested too deeply, or a key has too many parts.
    """
    import tomllib

    for _ in find_words(text):
        pass
    try:
        return tomllib.loads(text.replace("\r\n", "\n").replace("\r", "\n"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def find_words(text: str) -> Iterator[re.Match[str]]:
    """Yield the words and strings of one line, by the groups `bare`, `basic` and `literal`.

    Raises:
        TooManyPartsError: a key has too many parts.
    """
    parts, end = 0, 0
    for match in _TOKEN.finditer(text):
        if match.lastgroup is None:
            continue
        parts = parts + 1 if text[end : match.start()].strip(" \t") == "." else 1
        if parts > MAX_PARTS:
            raise TooManyPartsError(match.start())
        end = match.end()
        yield match
