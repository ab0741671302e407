"""Literal values in configurations that are programs (JavaScript, TypeScript, Python).

A configuration is never executed: only strings, numbers and lists that are written out are read.
"""

import re

_STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
_JS_TOKEN = rf"(?s)(?P<string>{_STRING})|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
_BRACKET = rf"(?s)(?P<string>{_STRING})|(?P<open>[\[{{(])|(?P<close>[\]}})])"


def without_comments(text: str) -> str:
    """Return a JavaScript text without its comments."""
    return re.sub(_JS_TOKEN, lambda token: token["string"] or " ", text)


def string_after(text: str, name: str) -> str | None:
    """Return the first literal string under a key of an object, or assigned to a name."""
    match = re.search(
        rf"(?<![\w.$])[\"']?{re.escape(name)}[\"']?\s*(?::|=(?!=))\s*({_STRING})", text
    )
    return _unquote(match[1]) if match else None


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


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[:1] in {'"', "'", "`"} else text
