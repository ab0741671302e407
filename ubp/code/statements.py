"""Compare source code by its statements, whatever their formatting and their annotations of types.

No parser is used, as in `ubp.code.comments`. It is done for Python; of other languages, each
version is returned whole. What a program can read when it runs is not a mere annotation and stays:
the types of fields, those of functions with decorators, and those that contain a call or `Literal`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from ubp.core.model import FilePath

# Larger files are generated; of 100 kB this takes 27 ms, of brackets alone 0.4 s.
MAX_BYTES = 500_000
_SUFFIX = ".py"  # a stub (.pyi) has nothing but types

_STRING = (
    rb"(?:\b[bBfFrRtTuU]{1,2})?"
    rb'(?:"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)"
    rb'|"(?:[^"\\\n]|\\.)*+"'
    rb"|'(?:[^'\\\n]|\\.)*+')"
)
_BOUNDARY = re.compile(
    rb"(?s)(?P<string>" + _STRING + rb")|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>(?<!\\)\n)"
)
_TOKEN = re.compile(rb"(?s)" + _STRING + rb"|\w+|->|:=|\*\*|//|<<|>>|[-+*/%@&|^=!<>]=|\\\n|[^\s\w]")
# With an escape, what follows may belong to it; with three quotes, there may be lines in it.
_SIMPLE_STRING = re.compile(rb"""([bBfFrRtTuU]*)(["'])((?!\2\2)[^\\\n]*)\2""")
_NO_TEXT = (b"", b"")
_HEADER = re.compile(rb"(class|(?:async[ \t]+)?def)\b")
_DECORATOR = re.compile(rb"@[ \t]*(?:\w+[ \t]*\.[ \t]*)*(\w+)")
# They read no annotations.
_PLAIN_DECORATORS = frozenset(
    b"abstractmethod asynccontextmanager cache cached_property classmethod contextmanager deleter"
    b" final getter lru_cache overload override property setter staticmethod wraps".split()
)
_FOR_TYPES = re.compile(
    rb"from (?:__future__|typing|typing_extensions|collections \. abc) import\b"
    rb"|import (?:typing|typing_extensions)$|if (?:typing \. )?TYPE_CHECKING :$"
)
_EXPORTS = re.compile(rb"__all__ (?:\+=|=|: [^=]*=) ")
_TEXT = re.compile(rb"""["']([^"'\n]+)["']""")
_KEYWORDS = frozenset(
    b"and as assert async await case class def del elif else except finally for from global if"
    b" import in is lambda match nonlocal not or raise return try while with yield".split()
)
_OPENING, _CLOSING = frozenset([b"(", b"[", b"{"]), frozenset([b")", b"]", b"}"])
# Parentheses between these contain a whole value, which needs none unless it is a tuple, or one
# of `_BOUND`. At the end of a statement, no tuple needs them after `_BEFORE_VALUES`.
_BEFORE_VALUES = frozenset(
    b"= += -= *= /= %= @= &= |= ^= return import if elif while except raise yield".split()
)
_BEFORE = _BEFORE_VALUES | _OPENING | {b",", b":"}
_AFTER = _CLOSING | {b",", b":", b"="}
_BOUND = frozenset([b"for", b"yield", b":="])


class _Statement(NamedTuple):
    """A logical line; `keeps_types`: the types in it may be more than annotations."""

    text: bytes
    keeps_types: bool


def differing_statements(old: bytes, new: bytes, path: FilePath) -> tuple[bytes, bytes]:
    """Return what is left of both versions without the statements that both have.

    Neither contains comments. Names that an `__all__` lists in addition are left out: they are
    defined elsewhere. So are imports of types.
    """
    if not path.endswith(_SUFFIX) or max(len(old), len(new)) > MAX_BYTES:
        return old, new
    statements = _split(old), _split(new)
    versions = [Counter(version) for version in statements]
    forms = [
        _forms(version - other) for version, other in zip(versions, reversed(versions), strict=True)
    ]
    counts = [Counter(form for form, _ in version) for version in forms]
    old_rest, new_rest = (
        list(_without(version, common))
        for version, common in zip(forms, reversed(counts), strict=True)
    )
    exported, now_exported = (
        [text for form, text in rest if _EXPORTS.match(form)] for rest in (old_rest, new_rest)
    )
    lines = [text for form, text in old_rest if not _EXPORTS.match(form)]
    if now_exported:
        kept = {name for text in now_exported for name in _TEXT.findall(text)}
        names = (name for text in exported for name in _TEXT.findall(text))
        lines += [b'"%b",' % name for name in names if name not in kept]
    new_lines = [text for form, text in new_rest if not _EXPORTS.match(form)]
    return b"\n".join(lines), b"\n".join(new_lines)


def _forms(statements: Counter[_Statement]) -> list[tuple[bytes, bytes]]:
    """Return the normal form and the text of each statement, without imports of types."""
    forms = [(_normal_form(statement), statement.text) for statement in statements.elements()]
    return [(form, text) for form, text in forms if not _FOR_TYPES.match(form)]


def _without(
    forms: Sequence[tuple[bytes, bytes]], common: Counter[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the statements without as many as there are in the other version."""
    left = common.copy()
    for form, text in forms:
        if left[form] > 0:
            left[form] -= 1
        else:
            yield form, text


@lru_cache(maxsize=128)  # the version of now is compared with several older ones
def _split(data: bytes) -> tuple[_Statement, ...]:
    """Return the logical lines of a file."""
    statements: list[_Statement] = []
    scopes: list[tuple[int, bool]] = []  # the indentation of a header, and whether of a class
    is_read = False  # whether a decorator may read the types
    for text in _logical_lines(data):
        code = text.lstrip()
        if not code:
            continue
        indent = len(text) - len(code)
        while scopes and scopes[-1][0] >= indent:
            scopes.pop()
        keeps_types = scopes[-1][1] if scopes else indent > 0
        if decorator := _DECORATOR.match(code):
            is_read = is_read or decorator[1] not in _PLAIN_DECORATORS
        elif header := _HEADER.match(code):
            keeps_types = is_read
            scopes.append((indent, header[1] == b"class"))
            is_read = False
        statements.append(_Statement(text, keeps_types))
    return tuple(statements)


def _logical_lines(data: bytes) -> Iterator[bytes]:
    start = depth = 0
    for token in _BOUNDARY.finditer(data):
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "end" if not depth:
                yield data[start : token.start()]
                start = token.end()
    yield data[start:]


def _normal_form(statement: _Statement) -> bytes:
    """Return the tokens of a statement, the same for all its formattings."""
    tokens = [token for token in _TOKEN.findall(statement.text) if token != b"\\\n"]
    kept = tokens if statement.keeps_types else _without_types(tokens)
    return b" ".join(_without_formatting(kept))


def _without_types(tokens: Sequence[bytes]) -> Sequence[bytes]:
    if b"lambda" in tokens:  # its colon is like that before a type
        return tokens
    if b"def" in tokens[:2]:
        return _without_types_of_function(tokens)
    colon = 1
    while tokens[colon : colon + 1] == [b"."]:
        colon += 2
    if tokens[colon : colon + 1] != [b":"] or tokens[0] in _KEYWORDS or not _is_name(tokens[0]):
        return tokens
    end = _find(tokens, colon, b"=")
    kept = _read_type(tokens[colon:end]) or ([] if end < len(tokens) else [b":"])
    return [*tokens[:colon], *kept, *tokens[end:]]


def _without_types_of_function(tokens: Sequence[bytes]) -> Sequence[bytes]:
    start = _find(tokens, 0, b"(") + 1
    kept = [*tokens[:start]]
    while start < len(tokens) and tokens[start] != b")":
        end = _find(tokens, start, b",", b")")
        parameter = tokens[start:end]
        colon = _find(parameter, 0, b":")
        value = max(_find(parameter, 0, b"="), colon)
        kept += [*parameter[:colon], *_read_type(parameter[colon:value]), *parameter[value:]]
        is_last = tokens[end : end + 1] != [b","]
        kept += () if is_last else [b","]
        start = end if is_last else end + 1
    end = _find(tokens, start + 1, b":")
    return [*kept, b")", *_read_type(tokens[start + 1 : end]), *tokens[end:]]


def _read_type(annotation: Sequence[bytes]) -> Sequence[bytes]:
    """Return an annotation if it has more than types, else nothing."""
    return annotation if b"(" in annotation or b"Literal" in annotation else ()


def _find(tokens: Sequence[bytes], start: int, *wanted: bytes) -> int:
    """Return where one of the wanted tokens is outside brackets, from a start on; else the end."""
    depth = 0
    for number in range(start, len(tokens)):
        token = tokens[number]
        if not depth and token in wanted:
            return number
        depth += (token in _OPENING) - (token in _CLOSING)
    return len(tokens)


def _is_name(token: bytes) -> bool:
    return bool(re.match(rb"[^\W\d]", token))


class _Bracket(NamedTuple):
    """An open bracket: its place, the token before it, and what was counted before it."""

    start: int
    before: bytes
    commas: int
    bound: int


def _without_formatting(tokens: Sequence[bytes]) -> list[bytes]:
    """Return tokens without needless commas and parentheses, and texts in one piece."""
    kept: list[bytes] = []
    brackets: list[_Bracket] = []
    commas = bound = 0
    joined = list(_joined_texts(tokens))
    end = len(joined) - (joined[-1:] == [b":"])
    for number, token in enumerate(joined, 1):
        bound += token in _BOUND
        if token in _OPENING:
            brackets.append(_Bracket(len(kept), kept[-1] if kept else b"", commas, bound))
            commas = 0
        elif token == b",":
            commas += 1
        elif token in _CLOSING and brackets:
            bracket = brackets.pop()
            opening = kept[bracket.start]
            if kept[-1] == b"," and _is_needless(opening, bracket.before, commas):
                kept.pop()
                commas -= 1
            is_end = number == end and not brackets and bracket.before in _BEFORE_VALUES
            is_value = (
                not commas
                and bound == bracket.bound
                and bracket.before in _BEFORE
                and (number == len(joined) or joined[number] in _AFTER)
            )
            is_empty = bracket.start == len(kept) - 1
            commas = bracket.commas
            if opening == b"(" and not is_empty and (is_end or is_value):
                kept[bracket.start] = b""
                continue
        kept.append(token)
    return [token for token in kept if token]


def _is_needless(opening: bytes, before: bytes, commas: int) -> bool:
    """Return whether the last comma in brackets changes nothing: `(a,)` is a tuple."""
    is_after_value = before not in _KEYWORDS and bool(re.search(rb"[\w)\]\"']$", before))
    return (
        commas > 1
        or opening == b"{"
        or (opening == b"[") != is_after_value
        or (before == b"import")
    )


def _joined_texts(tokens: Sequence[bytes]) -> Iterator[bytes]:
    """Yield tokens with each string in double quotes, and strings in a row as one."""
    for kind, group in groupby(map(_read_text, tokens), lambda text: text[:2]):
        if kind == _NO_TEXT:
            yield from (token for _, _, token in group)
        else:
            prefix, quote = kind
            yield prefix + quote + b"".join(body for _, _, body in group) + quote


def _read_text(token: bytes) -> tuple[bytes, bytes, bytes]:
    """Return prefix, quote and body of a string; of other tokens nothing, nothing and the token."""
    text = _SIMPLE_STRING.fullmatch(token)
    if not text:
        is_escaped = token[:1] == b"'" and b"\\" in token and not re.search(rb"[\"\n]|.'.", token)
        return *_NO_TEXT, b'"%b"' % token[1:-1] if is_escaped else token
    prefix, quote, body = text.groups()
    is_plain = b'"' not in body
    return prefix.lower().replace(b"u", b""), b'"' if is_plain else quote, body
