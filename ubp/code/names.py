"""What a source file defines, which identifiers it uses, and which paths it names: by patterns.

No grammar of any language: what most of them write alike is found, in all of them.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Generated code is larger; what a person wrote shows itself before.
MAX_BYTES = 400_000
# As git tells a binary file: a NUL near the beginning.
BINARY_PREFIX_BYTES = 8_000

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w{2,}")
# Never begun within a word, nor given back: lines of 400,000 digits exist.
_PATH = re.compile(
    rb"(?<![\w.\x80-\xff-])[\w.\x80-\xff-]++(?:/[\w.\x80-\xff-]++)+"
    rb"|(?<![\w-])[\w-]++\.(?:md|markdown)\b"
)
_WORDS = (
    rb"def|class|function|fn|func|fun|type|struct|interface|enum|trait|union|module|mod|namespace"
    rb"|protocol|record|object|extension|macro_rules!|defmodule|defp|sub|proc|component|service"
    rb"|message|resource|model|const|let|var|val|define"
)
# Several patterns, one after the other: together they take twice as long.
_DEFINED = (
    re.compile(
        rb"\b(?:" + _WORDS + rb")[ \t]+(?:\([^()\n]*\)[ \t]*)?(?:mut[ \t]+|\*[ \t]*)?"
        rb"([A-Za-z_]\w{2,})"
        # else a type follows
        rb"|\bstatic[ \t]+(?:mut[ \t]+)?([A-Za-z_]\w{2,})(?=[ \t]*[:=;])"
    ),
    re.compile(
        rb"(?m)"
        # NAME = …, NAME: type = …, at the beginning of a line
        rb"^([A-Za-z_]\w{2,})[ \t]*(?::[^=\n]{1,80})?=(?!=)"
        # the upper keys of YAML and JSON, the tables of TOML
        rb"""|^[ ]{0,2}(?:-[ ])?["']?([A-Za-z_]\w{2,})["']?[ ]?:(?=\s)"""
        rb"|^\[{1,2}([A-Za-z_]\w{2,})\]{1,2}"
    ),
    re.compile(
        rb"(?m)"
        # methods of classes, functions of shells
        rb"^[ \t]*(?:(?:public|private|protected|static|async|export|override|pub)[ \t]+)+"
        rb"(?:[\w<>,*&]+[ \t]+)?([A-Za-z_]\w{2,})[ \t]*\("
        rb"|^([A-Za-z_]\w{2,})[ \t]*\([ \t]*\)[ \t]*\{"
    ),
)
_CREATED = re.compile(
    rb"\b(?:create|CREATE)[ ]+(?:table|TABLE|view|VIEW|type|TYPE)[ ]+"
    rb"""(?:if not exists |IF NOT EXISTS )?["`]?([A-Za-z_]\w{2,})"""
)


class SourceNames(NamedTuple):
    """The identifiers of a source file: those that it defines, all of them; the paths it names."""

    defined: frozenset[str]
    used: frozenset[str]
    paths: frozenset[str]


NO_NAMES = SourceNames(frozenset(), frozenset(), frozenset())


def read_names(data: bytes) -> SourceNames:
    """The names in a source's bytes; none in a binary file's."""
    if b"\0" in data[:BINARY_PREFIX_BYTES]:
        return NO_NAMES
    data = data[:MAX_BYTES]
    return SourceNames(
        _decoded(set(_defined(data))),
        _decoded(set(_IDENTIFIER.findall(data))),
        _decoded(set(_PATH.findall(_lines_with_paths(data)))),
    )


def _defined(data: bytes) -> Iterator[bytes]:
    for pattern in _DEFINED:
        yield from (name for groups in pattern.findall(data) for name in groups if name)
    if b"create " in data or b"CREATE " in data:
        yield from _CREATED.findall(data)


def _lines_with_paths(data: bytes) -> bytes:
    """The lines that may have one: to look at no others takes a third of the time."""
    return b"\n".join([line for line in data.split(b"\n") if b"/" in line or b".m" in line])


def _decoded(names: set[bytes]) -> frozenset[str]:
    return frozenset([name.decode("utf-8", "replace") for name in names])
