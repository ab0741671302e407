"""Refused bindings, written into the text of a configuration; its other characters stay.

Writes sources into pages, pinned or not: what `ubp bind` proposed and somebody accepted.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.errors import ConfigError, PageError, RepositoryError, UsageError
from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.git.files import read_file, replace_file
from ubp.git.repository import Repository
from ubp.index.session import Session
from ubp.markdown.document import parse_page
from ubp.markdown.edit_pins import Pin, write_pins
from ubp.markdown.edit_sources import add_sources
from ubp.markdown.text_edits import as_diff
from ubp.staleness.pins import find_pins
from ubp.staleness.state import open_context

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
    new = [one for one in items if one not in there and all(map(normalize_path, one.values()))]
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


class WrittenReference(NamedTuple):
    """A source that a page names now, and its pin."""

    source_path: str
    pin: str | None


class WriteResult(NamedTuple):
    """What became of a page: the sources that were written, as a diff, or why it was left alone."""

    filepath: FilePath
    named: tuple[WrittenReference, ...]
    diff: str = ""
    why_left: str = ""


def bind_pages(
    session: Session,
    sources: Mapping[FilePath, Sequence[str]],
    *,
    pin: bool,
    from_history: bool,
    is_dry: bool,
) -> tuple[WriteResult, ...]:
    """Write sources into pages' front matter, pinned with `pin` or `from_history`.

    Raises:
        UsageError: the repository is bare.
    """
    if session.repository.root is None:
        raise UsageError(
            "A bare repository has no pages to write into.",
            cause="It has no work tree.",
            hint="Run `ubp bind` in a clone.",
        )
    pins: Mapping[tuple[FilePath, FilePath], str] = {}
    if pin or from_history:
        paths = {
            page: [path for name in names if (path := normalize_path(name))]
            for page, names in sources.items()
        }
        pins = find_pins(paths, open_context(session, session.view()), from_history=from_history)
    return write_bindings(sources, pins, session.repository, session.config.keys, is_dry=is_dry)


def write_bindings(
    wanted: Mapping[FilePath, Sequence[str]],
    pins: Mapping[tuple[FilePath, FilePath], str],
    repository: Repository,
    keys: Sequence[str],
    *,
    is_dry: bool,
) -> tuple[WriteResult, ...]:
    """Write sources into the work tree's pages, and touch no other byte; dry, only show it.

    `pins` are keyed by page and source. What a page names already is not written again.
    """
    done = []
    for path, sources in wanted.items():
        try:
            before = read_file(repository, path)
            after = add_sources(before, keys, sources)
            named = _named(path, before, after, pins, keys)
            after = _pin(after, named, keys)
            if not is_dry and after != before:
                replace_file(repository, path, after)
        except (PageError, RepositoryError) as error:
            why = " ".join(filter(None, (error.message, error.cause)))
            done.append(WriteResult(path, (), why_left=why))
        else:
            done.append(WriteResult(path, named, as_diff(path, before, after)))
    return tuple(done)


def _named(
    path: FilePath,
    before: bytes,
    after: bytes,
    pins: Mapping[tuple[FilePath, FilePath], str],
    keys: Sequence[str],
) -> tuple[WrittenReference, ...]:
    old = {one.literal for one in parse_page(before, keys).references}
    return tuple(
        WrittenReference(one.written, pins.get((path, one.literal)))
        for one in parse_page(after, keys).references
        if one.literal not in old
    )


def _pin(data: bytes, named: Sequence[WrittenReference], keys: Sequence[str]) -> bytes:
    pins = {normalize_path(one.source_path): one.pin for one in named}
    wanted = {
        one: Pin(pin) for one in parse_page(data, keys).references if (pin := pins.get(one.literal))
    }
    return write_pins(data, keys, wanted) if wanted else data
