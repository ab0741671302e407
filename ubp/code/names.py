"""The identifiers that a source file defines and uses, and the paths in it, found by patterns.

The patterns cover what most languages write alike; no language has a grammar here.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Larger files are generated; what people wrote comes before.
MAX_BYTES = 400_000
# A file is binary if a NUL is near its beginning, as in Git.
BINARY_PREFIX_BYTES = 8_000

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w{2,}")
# Possessive, and never started inside a word: lines of 400,000 digits exist.
_PATH = re.compile(
    rb"(?<![\w.\x80-\xff-])[\w.\x80-\xff-]++(?:/[\w.\x80-\xff-]++)+"
    rb"|(?<![\w-])[\w-]++\.(?:md|markdown)\b"
)
_WORDS = (
    rb"def|class|function|fn|func|fun|type|struct|interface|enum|trait|union|module|mod|namespace"
    rb"|protocol|record|object|extension|macro_rules!|defmodule|defp|sub|proc|component|service"
    rb"|message|resource|model|const|let|var|val|define"
)
# Three patterns, because a single one takes twice as long.
_DEFINITIONS = (
    re.compile(
        rb"\b(?:" + _WORDS + rb")[ \t]+(?:\([^()\n]*\)[ \t]*)?(?:mut[ \t]+|\*[ \t]*)?"
        rb"([A-Za-z_]\w{2,})"
        # `static` before anything else is followed by a type
        rb"|\bstatic[ \t]+(?:mut[ \t]+)?([A-Za-z_]\w{2,})(?=[ \t]*[:=;])"
    ),
    re.compile(
        rb"(?m)"
        # NAME = …, NAME: type = …, at the beginning of a line
        rb"^([A-Za-z_]\w{2,})[ \t]*(?::[^=\n]{1,80})?=(?!=)"
        # the top-level keys of YAML and JSON, the tables of TOML
        rb"""|^[ ]{0,2}(?:-[ ])?["']?([A-Za-z_]\w{2,})["']?[ ]?:(?=\s)"""
        rb"|^\[{1,2}([A-Za-z_]\w{2,})\]{1,2}"
    ),
    re.compile(
        rb"(?m)"
        # methods with modifiers, shell functions
        rb"^[ \t]*(?:(?:public|private|protected|static|async|export|override|pub)[ \t]+)+"
        rb"(?:[\w<>,*&]+[ \t]+)?([A-Za-z_]\w{2,})[ \t]*\("
        rb"|^([A-Za-z_]\w{2,})[ \t]*\([ \t]*\)[ \t]*\{"
    ),
)
_SQL_DEFINITION = re.compile(
    rb"\b(?:create|CREATE)[ ]+(?:table|TABLE|view|VIEW|type|TYPE)[ ]+"
    rb"""(?:if not exists |IF NOT EXISTS )?["`]?([A-Za-z_]\w{2,})"""
)


class SourceNames(NamedTuple):
    """The identifiers that a source file defines, all that it contains, and the paths in it."""

    defined: frozenset[str]
    used: frozenset[str]
    paths: frozenset[str]


NO_NAMES = SourceNames(frozenset(), frozenset(), frozenset())


def read_names(data: bytes) -> SourceNames:
    """Return the names in a source file's bytes; none for a binary file."""
    if b"\0" in data[:BINARY_PREFIX_BYTES]:
        return NO_NAMES
    data = data[:MAX_BYTES]
    # searching only the lines that may contain a path takes a third of the time
    path_lines = b"\n".join([line for line in data.split(b"\n") if b"/" in line or b".m" in line])
    return SourceNames(
        _decode(set(_find_definitions(data))),
        _decode(set(_IDENTIFIER.findall(data))),
        _decode(set(_PATH.findall(path_lines))),
    )


def _find_definitions(data: bytes) -> Iterator[bytes]:
    for pattern in _DEFINITIONS:
        yield from (name for groups in pattern.findall(data) for name in groups if name)
    if b"create " in data or b"CREATE " in data:
        yield from _SQL_DEFINITION.findall(data)


def _decode(names: set[bytes]) -> frozenset[str]:
    return frozenset([name.decode("utf-8", "replace") for name in names])
