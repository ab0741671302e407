"""Compare definitions and sections of two blobs by their digests, without their text."""

from collections.abc import Sequence
from dataclasses import dataclass

from ubp.board.parts import name_digest
from ubp.code.symbols import normalize_symbol
from ubp.core.paths import PAGE_SUFFIXES
from ubp.core.source import digest
from ubp.core.text import fold, slug
from ubp.hub.database import Connection


@dataclass(frozen=True, slots=True)
class PartState:
    """What a parser of one version found of a part in a blob: its digest, None if it is not there.

    Two states are compared only if their `parser` is the same.
    """

    parser: str
    digest: str | None


def find_part(
    connection: Connection, repository: int, blob: str, path: str, fragment: str
) -> tuple[PartState, ...]:
    """Return the states of a part of a file, as each parser that has read this blob found it.

    `blob` may be shortened, as pins are. None: nobody has sent the parts of this blob, or its
    parser could not read it.
    """
    parsers = connection.execute(
        "select blob, parser from parsed where repository = %s and is_read"
        " and starts_with(encode(blob, 'hex'), %s) order by parser",
        [repository, blob],
    ).fetchall()
    is_section = path.lower().endswith(PAGE_SUFFIXES)
    states = []
    for full, parser in parsers:
        if is_section != parser.startswith("markdown "):
            continue
        rows = connection.execute(
            "select names, digest from part where repository = %s and blob = %s and parser = %s"
            " order by number",
            [repository, full, parser],
        ).fetchall()
        named = [([bytes(n).hex() for n in names], bytes(d).hex()) for names, d in rows]
        find = _find_section if is_section else _find_symbol
        found = find(named, fragment)
        states.append(PartState(parser, digest(found) if found else None))
    return tuple(states)


_Named = Sequence[tuple[Sequence[str], str]]


def _find_symbol(parts: _Named, fragment: str) -> list[str]:
    """Return the digests of a symbol's definitions: those of the whole name, or ending so."""
    name = name_digest(normalize_symbol(fragment))
    whole = [found for names, found in parts if names[0] == name]
    return whole or [found for names, found in parts if name in names]


def _find_section(parts: _Named, fragment: str) -> list[str]:
    """Return the digest of the first section with this id, heading or slug."""
    text = " ".join(fragment.split())
    for name in (fragment, fold(text), slug(text)):
        wanted = name_digest(name)
        if found := next((found for names, found in parts if wanted in names), None):
            return [found]
    return []


def is_same_part(
    connection: Connection, repository: int, blobs: tuple[str, str], path: str, fragment: str
) -> bool | None:
    """Return whether a part is the same in two blobs; None: no parser has read both."""
    old, new = (find_part(connection, repository, blob, path, fragment) for blob in blobs)
    before = {state.parser: state.digest for state in old}
    for state in new:
        if state.parser in before:
            return state.digest == before[state.parser]
    return None
