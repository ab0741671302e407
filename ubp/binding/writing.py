"""Writes sources into pages, pinned or not: what `ubp bind` proposed and somebody accepted."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.errors import PageError, RepositoryError
from ubp.git.files import read_file, replace_file
from ubp.git.repository import Repository
from ubp.model import FilePath
from ubp.parse.adding import add_sources
from ubp.parse.edits import as_diff
from ubp.parse.page import parse_page
from ubp.parse.pins import Pin, write_pins
from ubp.paths import normalise


class Naming(NamedTuple):
    """A source that a page names now, and its pin."""

    source_path: str
    pin: str | None


class Bound(NamedTuple):
    """What became of a page: the sources that were written, as a diff, or why it was left alone."""

    filepath: FilePath
    named: tuple[Naming, ...]
    diff: str = ""
    why_left: str = ""


def write_bindings(
    wanted: Mapping[FilePath, Sequence[str]],
    pins: Mapping[tuple[FilePath, FilePath], str],
    repository: Repository,
    keys: Sequence[str],
    *,
    is_dry: bool,
) -> tuple[Bound, ...]:
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
            done.append(Bound(path, (), why_left=why))
        else:
            done.append(Bound(path, named, as_diff(path, before, after)))
    return tuple(done)


def _named(
    path: FilePath,
    before: bytes,
    after: bytes,
    pins: Mapping[tuple[FilePath, FilePath], str],
    keys: Sequence[str],
) -> tuple[Naming, ...]:
    old = {one.literal for one in parse_page(before, keys).references}
    return tuple(
        Naming(one.written, pins.get((path, one.literal)))
        for one in parse_page(after, keys).references
        if one.literal not in old
    )


def _pin(data: bytes, named: Sequence[Naming], keys: Sequence[str]) -> bytes:
    pins = {normalise(one.source_path): one.pin for one in named}
    wanted = {
        one: Pin(pin) for one in parse_page(data, keys).references if (pin := pins.get(one.literal))
    }
    return write_pins(data, keys, wanted) if wanted else data
