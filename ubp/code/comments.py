"""Remove what is only comment or docstring from source code, by the signs of its language.

No parser is used: whether a line is code must not depend on what is installed, and a hook has no
time for one. Where the signs are ambiguous, the text stays: it counts as code.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from ubp.core.model import FilePath

# Larger files are generated; this takes 0.05 s.
MAX_BYTES = 1_000_000
MAX_INDENT = 100  # of a docstring

# Strings are found so that a sign in one is not a comment. Quantifiers are possessive, and what is
# not closed ends with the file, so that the time is linear.
_DOUBLE = rb'"(?:[^"\\\n]|\\.)*+"'
_QUOTED = _DOUBLE + rb"|'(?:[^'\\\n]|\\.)*+'"
_CHARACTER = rb"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"  # a quote alone is a lifetime of Rust
_TRIPLE = rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)' + rb"|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)"
_TEMPLATE = rb"`(?:[^`\\]|\\.)*+(?:`|\Z)"
_HASH = rb"(?<!\S)#[^\n]*"
_SLASHES = rb"(?<![:\\])//[^\n]*"
_BLOCK = rb"(?<!\\)/\*.*?(?:\*/|\Z)"
_DASHES = rb"--[^\n]*"
_ELIXIR_DOC = (
    rb'@(?:module|type)?doc[ \t]+(?:~[sS])?(?:"""(?:[^"\\]|\\.|"(?!""))*+"""|' + _DOUBLE + rb")"
)
_MARKUP = rb"<!--.*?(?:-->|\Z)"

# The strings of a language, and its comments.
_SIGNS: Mapping[str, tuple[bytes, bytes]] = {
    suffix: signs
    for suffixes, signs in (
        ("py pyi pyx", (_TRIPLE + b"|" + _QUOTED, _HASH)),
        (
            "sh bash zsh fish rb rake gemspec pl r jl yaml yml toml cfg conf nix cmake mk",
            (_QUOTED, _HASH),
        ),
        ("ex exs", (_TRIPLE + b"|" + _QUOTED, _HASH + b"|" + _ELIXIR_DOC)),
        ("js jsx mjs cjs ts tsx mts cts", (_TEMPLATE + b"|" + _QUOTED, _SLASHES + b"|" + _BLOCK)),
        ("go", (_TEMPLATE + b"|" + _DOUBLE + b"|" + _CHARACTER, _SLASHES + b"|" + _BLOCK)),
        (
            "rs c h cc cpp cxx hpp hh java kt kts swift scala cs dart zig proto groovy",
            (
                _TRIPLE + b"|" + _DOUBLE + b"|" + _CHARACTER,
                _SLASHES + b"|" + _BLOCK,
            ),
        ),
        ("php tf tfvars hcl", (_QUOTED, rb"(?<!\S)#(?!\[)[^\n]*|" + _SLASHES + b"|" + _BLOCK)),
        ("css scss sass less", (_QUOTED, rb"(?<!\S)//[^\n]*|" + _BLOCK)),
        ("sql", (_QUOTED, _DASHES + b"|" + _BLOCK)),
        ("lua hs elm", (_QUOTED, _DASHES)),
        ("md mdx markdown html htm xml svg vue svelte", (b"(?!)", _MARKUP)),
    )
    for suffix in suffixes.split()
}
_PYTHON = frozenset({"py", "pyi", "pyx"})
_TRIPLE_QUOTES = frozenset({b'"""', b"'''"})
_CLOSING = {b"/*": b"*/", b"<!": b"-->"}


@lru_cache(maxsize=128)  # the version of now is compared with several older ones
def without_comments(data: bytes, path: FilePath) -> bytes:
    """Return a source file without comments, and without docstrings.

    These are bare strings in Python, and the text of `@doc` and the like in Elixir.
    """
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    if suffix not in _SIGNS or len(data) > MAX_BYTES:
        return data
    pieces: list[bytes] = []
    end = depth = 0
    for token in _pattern(suffix).finditer(data):
        start = None
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "comment" if _is_closed(token):
                start = token.start()
            case "string" if suffix in _PYTHON and not depth:
                start = _find_docstring(token)
        if start is not None:
            pieces.append(data[end:start])
            end = token.end()
    return b"".join([*pieces, data[end:]])


@cache
def _pattern(suffix: str) -> re.Pattern[bytes]:
    strings, comments = _SIGNS[suffix]
    brackets = rb"|(?P<open>[(\[{])|(?P<close>[)\]}])" if suffix in _PYTHON else b""
    return re.compile(b"(?s)(?P<comment>%b)|(?P<string>%b)%b" % (comments, strings, brackets))


def _is_closed(comment: re.Match[bytes]) -> bool:
    """Return whether a comment has the sign that it must end with, if there is one."""
    closing = _CLOSING.get(comment[0][:2])
    return closing is None or comment[0].endswith(closing)


def _find_docstring(string: re.Match[bytes]) -> int | None:
    """Return where the line of a string begins that is a statement of its own, None of others."""
    data, text, start = string.string, string[0], string.start()
    if text[:3] in _TRIPLE_QUOTES and (len(text) < len('""""""') or text[-3:] != text[:3]):
        return None  # not closed
    earliest = max(start - MAX_INDENT, 0)
    line_start = data.rfind(b"\n", earliest, start) + 1 or earliest
    is_statement = (
        (line_start == 0 or data[line_start - 1 : line_start] == b"\n")
        and not data[line_start:start].strip(b" \trRuU")
        and data[max(line_start - 2, 0) : line_start] != b"\\\n"
        and re.compile(rb"[ \t\r;]*+(?:[#\n]|\Z)").match(data, string.end())
    )
    return line_start if is_statement else None
