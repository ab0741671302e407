"""Parse TOML into the tree of nodes that YAML is parsed into.

`tomllib` keeps no offsets: each key and value is looked up among the words and strings of the text,
in the order in which it was read. What is not found as it is usually written is marked as shared:
no edit touches it.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple

from ubp.core.toml import TooManyPartsError, find_words, parse_toml
from ubp.markdown.yaml_nodes import MAX_DEPTH, MAX_EVENTS, Node

_AFTER_KEY = re.compile(r"[ \t]*+[=.\]]")


class BadTomlError(Exception):
    """The text is not valid TOML, or exceeds the limits; `offset` is where in the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_toml(text: str, offset: int = 0) -> Node:
    """Return the tree of a TOML document; `offset` is added to offsets.

    Raises:
        BadTomlError: the text cannot be parsed.
    """
    try:
        tokens = _read_tokens(text)
        settings = parse_toml(text)
    except TooManyPartsError as error:
        raise BadTomlError(str(error), offset + error.offset) from error
    except ValueError as error:
        line = re.search(r"at line (\d+)", str(error))
        starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
        start = starts[min(int(line[1]), len(starts)) - 1] if line else 0
        message = str(error).partition(" (at")[0]
        raise BadTomlError(message[:1].lower() + message[1:], offset + start) from error
    return _Builder(text, tokens, offset).node(settings, 0)


class _Tokens(NamedTuple):
    """Where the text has each key, quoted or not, and each string: offsets in ascending order."""

    keys: dict[str, list[int]]
    strings: dict[str, list[int]]


def _read_tokens(text: str) -> _Tokens:
    """Return the keys and strings of a TOML document."""
    tokens = _Tokens({}, {})
    for match in find_words(text):
        name = match.lastgroup or ""
        value = match[name]
        if name != "bare" and not (name == "basic" and "\\" in value):
            tokens.strings.setdefault(value, []).append(match.start())
        if _AFTER_KEY.match(text, match.end()):
            tokens.keys.setdefault(value, []).append(match.start())
    return tokens


class _Builder:
    """Builds nodes; the search for each goes on where the last one was found."""

    def __init__(self, text: str, tokens: _Tokens, offset: int) -> None:
        self._text = text
        self._tokens = tokens
        self._offset = offset
        self._position = 0
        self._count = 0

    def node(self, value: Any, depth: int) -> Node:
        """Return the node of a value."""
        self._count += 1
        if self._count > MAX_EVENTS or depth > MAX_DEPTH:
            raise BadTomlError("too many values, or nested too deeply", self._offset)
        if isinstance(value, dict):
            start = self._position
            pairs = tuple(
                (self._key(key), self.node(item, depth + 1)) for key, item in value.items()
            )
            return self._node("mapping", start, self._position, pairs=pairs)
        if isinstance(value, list):
            start = self._text.find("[", self._position)
            is_table = self._text.startswith("[[", start) or any(isinstance(i, dict) for i in value)
            self._position = max(start, self._position) + 1
            items = tuple(self.node(item, depth + 1) for item in value)
            end = self._text.find("]", self._position) + 1
            is_found = 0 <= start < end and not is_table
            self._position = max(end, self._position) if is_found else self._position
            return self._node(
                "sequence", start, self._position, items=items, is_flow=True, is_shared=not is_found
            )
        if isinstance(value, str):
            return self._string(value)
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        return self._node("scalar", self._position, self._position, value=shown, is_shared=True)

    def _key(self, key: str) -> Node:
        start = self._find(self._tokens.keys, key)
        if start is None:
            return self._node("scalar", self._position, self._position, value=key)
        is_quoted = self._text[start] in "\"'"
        self._position = start + len(key) + 2 * is_quoted
        return self._node("scalar", start, self._position, value=key)

    def _string(self, value: str) -> Node:
        start = self._find(self._tokens.strings, value)
        if start is None:
            return self._node(
                "scalar", self._position, self._position, value=value, style='"', is_shared=True
            )
        self._position = start + len(value) + 2
        return self._node("scalar", start, self._position, value=value, style=self._text[start])

    def _find(self, places: Mapping[str, list[int]], value: str) -> int | None:
        """Return the first place of a value that is not before the last one."""
        starts = places.get(value, [])
        index = bisect_left(starts, self._position)
        return starts[index] if index < len(starts) else None

    def _node(self, kind: Any, start: int, end: int, **fields: Any) -> Node:
        return Node(kind, max(0, start) + self._offset, end + self._offset, **fields)
