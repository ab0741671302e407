"""Definitions of public names whose signatures differ between two versions of a source."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# A longer one is shown up to here: nobody reads more parameters.
MAX_LINES = 15
MAX_CHARACTERS = 700
# Larger files are generated.
MAX_BYTES = 400_000

_MODIFIERS = (
    r"(?:(?:export|default|public|protected|internal|static|final|abstract|override|virtual|async"
    r"|pub(?:\([^)\n]*\))?|unsafe|extern|inline|open|suspend|declare)[ \t]+)*"
)
_DEFINITION = (
    rf"(?m)^[ \t]*{_MODIFIERS}(?:def|function\*?|fn|func|fun|class|interface|struct|trait|enum"
    r"|type)[ \t]+(?:\([^()\n]*\)[ \t]*)?([A-Za-z]\w*)"
)


class Signature(NamedTuple):
    """A name and the text that defines it before and after a change; "": it is not defined."""

    name: str
    before: str
    after: str


def changed_signatures(before: bytes | None, after: bytes | None) -> Iterator[Signature]:
    """Yield the definitions whose signatures two versions of a source do not have in common.

    The body of a function, and what a class contains, are left out. Names that begin with "_" are
    private. A name that a version defines several times is compared with its first definition.
    """
    old, new = _signatures(before), _signatures(after)
    for name in {**old, **new}:
        if _words(old.get(name, "")) != _words(new.get(name, "")):
            yield Signature(name, old.get(name, ""), new.get(name, ""))


def signature_at(text: str, line: int) -> str:
    """Return a definition that begins at a line (from 1), without its body, on one line."""
    start = sum(len(other) + 1 for other in text.split("\n")[: line - 1])
    return " ".join(_signature(text, start, start).split())


def is_definition(line: str, name: str) -> bool:
    """Return whether a line defines a name with a keyword such as `def`, `class` or `fn`."""
    return any(match[1] == name for match in re.finditer(_DEFINITION, line))


def _signatures(data: bytes | None) -> dict[str, str]:
    if data is None or len(data) > MAX_BYTES or b"\0" in data[:8_000]:
        return {}
    text = data.decode("utf-8", "replace")
    found: dict[str, str] = {}
    for match in re.finditer(_DEFINITION, text):
        if match[1] not in found:
            found[match[1]] = _signature(text, match.start(), match.end())
    return found


def _signature(text: str, start: int, name_end: int) -> str:
    """Return a definition up to the end of its parameters and what follows them on that line."""
    depth = 0
    end = name_end
    limit = min(len(text), start + MAX_CHARACTERS)
    while end < limit:
        character = text[end]
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth <= 0 and character in "\n{":
            break
        end += 1
    lines = text[start:end].split("\n")[:MAX_LINES]
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] if line[:indent].isspace() else line for line in lines).rstrip()


def _words(signature: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s,]", signature)
