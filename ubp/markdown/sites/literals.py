"""Literal values in configurations that are programs (JavaScript, TypeScript, Python).

A configuration is never executed: only strings, numbers and lists that are written out are read.
"""

import re
from collections.abc import Sequence

MAX_CONSTANTS = 4  # that are read one through another

_STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
_JS_TOKEN = rf"(?s)(?P<string>{_STRING})|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
_BRACKET = rf"(?s)(?P<string>{_STRING})|(?P<open>[\[{{(])|(?P<close>[\]}})])"


def without_comments(text: str) -> str:
    """Return a JavaScript text without its comments."""
    return re.sub(_JS_TOKEN, lambda token: token["string"] or " ", text)


def string_after(text: str, name: str) -> str | None:
    """Return the least nested literal string under a key of an object, or assigned to a name.

    A constant of the same text is a literal, too, alone or in a template: `base: `${BASE}/``.
    """
    return _string(text, name, depth=0)


def own_string(text: str, block: str, name: str) -> str | None:
    """Return the literal string under a key of an object itself, not of what is nested in it.

    `text` has the constants that the object may use.
    """
    match = re.search(_assigned(name), without_nested(block))
    if match is None:
        return None
    return _string(f"{text}\n__own__ = {match[0].split(':', 1)[-1]}\n", "__own__", depth=0)


def without_nested(block: str) -> str:
    """Return the text of an object without the objects and lists in it."""
    kept, depth, start = [], 0, 0
    for token in re.compile(_BRACKET).finditer(block):
        if token["open"]:
            if depth == 1:
                kept.append(block[start : token.start()])
            depth += 1
            start = token.end() if depth == 1 else start
        elif token["close"]:
            depth -= 1
            start = token.end() if depth == 1 else start
            if depth == 0:
                kept.append(block[start : token.start()] if start <= token.start() else "")
                break
    return "".join(kept)


def _assigned(name: str) -> str:
    value = rf"(?P<string>{_STRING})|(?P<constant>[A-Za-z_$][\w$]*)(?=\s*(?:[,;}}\n]|\Z))"
    return rf"(?<![\w.$])[\"']?{re.escape(name)}[\"']?\s*(?::|=(?!=))\s*(?:{value})"


def _string(text: str, name: str, *, depth: int) -> str | None:
    match = _least_nested(text, list(re.finditer(_assigned(name), text)))
    if match is None or depth > MAX_CONSTANTS:
        return None
    if match["constant"]:
        return _string(text, match["constant"], depth=depth + 1)
    written = _unquote(match["string"])
    if match["string"][0] == "`":
        for constant in re.findall(r"\$\{\s*([\w$]+)\s*\}", written)[:MAX_CONSTANTS]:
            literal = _string(text, constant, depth=depth + 1) or "${"
            written = re.sub(r"\$\{\s*[\w$]+\s*\}", literal.replace("\\", ""), written, count=1)
        return None if "${" in written else written
    return written


def _least_nested(
    text: str, matches: Sequence[re.Match[str]], *, in_object: bool = False
) -> re.Match[str] | None:
    """Return the first of the matches, in order, that are in the fewest brackets.

    `in_object`: of those whose innermost bracket is an object's, not that of parameters.
    """
    found: list[tuple[int, re.Match[str]]] = []
    opened: list[str] = []
    tokens = re.compile(_BRACKET).finditer(text)
    token = next(tokens, None)
    for match in matches:
        while token is not None and token.start() < match.start():
            if token["open"]:
                opened.append(token["open"])
            elif token["close"] and opened:
                opened.pop()
            token = next(tokens, None)
        if not in_object or opened[-1:] == ["{"]:
            found.append((len(opened), match))
    return min(found, key=lambda item: item[0])[1] if found else None


def object_with(text: str, keys: str) -> str:
    """Return the object with the least nested of these keys, a pattern; "" if there is none."""
    pattern = rf"(?<![\w.$])[\"']?(?:{keys})[\"']?\s*:"
    match = _least_nested(text, list(re.finditer(pattern, text)), in_object=True)
    return object_around(text, match.start()) if match else ""


def object_around(text: str, offset: int) -> str:
    """Return the innermost object that an offset is in, with its braces; "" if there is none."""
    opened: list[int] = []
    for token in re.compile(_BRACKET).finditer(text, 0, offset):
        if token["open"]:
            opened.append(token.start())
        elif token["close"] and opened:
            opened.pop()
    start = next((start for start in reversed(opened) if text[start] == "{"), None)
    return "" if start is None else block_at(text, start)


def number_after(text: str, name: str) -> int | None:
    """Return the first literal whole number under a key or assigned to a name."""
    match = re.search(rf"(?<![\w.$]){re.escape(name)}\s*(?::|=(?!=))\s*(\d{{1,6}})\b", text)
    return int(match[1]) if match else None


def block_after(text: str, name: str) -> str:
    """Return the first object or list under a key, with its brackets; "" if there is none."""
    match = re.search(rf"(?<![\w.$])[\"']?{re.escape(name)}[\"']?\s*[:=]\s*(?=[\[{{])", text)
    return block_at(text, match.end()) if match else ""


def block_at(text: str, start: int) -> str:
    """Return the object or list that begins at an offset, to the end of its brackets."""
    depth = 0
    for token in re.compile(_BRACKET).finditer(text, start):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
            if depth == 0:
                return text[start : token.end()]
    return ""


def strings_in(block: str) -> list[str]:
    """Return the literal strings in a text."""
    return [_unquote(string) for string in re.findall(_STRING, block)]


def pairs_in(block: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of literal strings in an object, in order: `{ "a": "b" }`."""
    found = re.findall(rf"({_STRING})\s*:\s*({_STRING})", block)
    return tuple((_unquote(key), _unquote(value)) for key, value in found)


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[:1] in {'"', "'", "`"} else text
