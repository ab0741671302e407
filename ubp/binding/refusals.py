"""Refused bindings, written into the text of a configuration; its other characters stay."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.errors import ConfigError
from ubp.model import FilePath
from ubp.paths import normalise

Refusal = tuple[FilePath, str]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LINE_END = re.compile(r"\r\n|\r|\n")


class _Container(NamedTuple):
    """An object or a list of the text: the keys that lead there, and its brackets' places."""

    trail: tuple[str, ...]
    start: int
    end: int


def add_refusals(text: str, refused: Sequence[Refusal]) -> str:
    """Return the text of a `config.json` with these pairs of page and source in `bind.refused`.

    Raises:
        ConfigError: a file as odd as this cannot be edited in place.
    """
    mark = text[:1] if text.startswith("\ufeff") else ""
    text = text[len(mark) :]
    settings = json.loads(text)
    there = settings.get("bind", {}).get("refused", [])
    items = [{"page": page, "source": source} for page, source in dict.fromkeys(refused)]
    new = [one for one in items if one not in there and all(map(normalise, one.values()))]
    if not new:
        return mark + text
    result = _insert(text, {one.trail: one for one in _containers(text)}, new)
    expected = {**settings, "bind": {**settings.get("bind", {}), "refused": [*there, *new]}}
    if json.loads(result) != expected:
        raise ConfigError(
            "What you refused cannot be written into config.json in place.",
            hint='Write it by hand: "bind": {"refused": [{"page": "…", "source": "…"}]}',
        )
    return mark + result


def _insert(
    text: str, places: Mapping[tuple[str, ...], _Container], new: Sequence[Mapping[str, str]]
) -> str:
    """Put the items into the list, with the objects around it that are not there yet."""
    unit = _unit(text)
    lines = _separated([_written(one) for one in new])
    if ("bind", "refused") not in places:
        lines = ['"refused": [', *(unit + line for line in lines), "]"]
        if ("bind",) not in places:
            lines = ['"bind": {', *(unit + line for line in lines), "}"]
    place = places.get(("bind", "refused")) or places.get(("bind",)) or places[()]
    return _append(text, place, lines, unit)


def _append(text: str, place: _Container, lines: Sequence[str], unit: str) -> str:
    """Put lines behind what a container holds."""
    found = _LINE_END.search(text)
    newline = found[0] if found else "\n"
    line = _LINE_END.split(text[: place.start])[-1]
    outer = line[: len(line) - len(line.lstrip())]
    kept = text[: place.end].rstrip()
    comma = "" if kept.endswith(("{", "[")) else ","
    written = "".join(f"{newline}{outer}{unit}{line}" for line in lines)
    return f"{kept}{comma}{written}{newline}{outer}{text[place.end :]}"


def _written(item: Mapping[str, str]) -> str:
    is_utf8 = not any("\ud800" <= c <= "\udfff" for value in item.values() for c in value)
    return json.dumps(item, ensure_ascii=not is_utf8)


def _unit(text: str) -> str:
    found = re.search(r"[\r\n]([ \t]+)\S", text)
    return found[1] if found else "  "


def _separated(lines: Sequence[str]) -> list[str]:
    return [*(f"{line}," for line in lines[:-1]), *lines[-1:]]


def _containers(text: str) -> Iterator[_Container]:
    """Walk through valid JSON; what stands in lists is passed over."""
    open_ones: list[tuple[str, int]] = []
    key, last = "", ""
    for token in _TOKEN.finditer(text):
        match token[0]:
            case ":":
                key = json.loads(last)
            case "{" | "[":
                open_ones.append((key, token.start()))
                key = ""
            case "}" | "]":
                trail = tuple(name for name, _ in open_ones[1:])
                yield _Container(trail, open_ones.pop()[1], token.start())
        last = token[0]
