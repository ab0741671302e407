"""How the words of the domain stand in SQLite's columns, and come back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ubp.model import (
    Drift,
    Entry,
    FilePath,
    ObjectId,
    PageFacts,
    Pair,
    Problem,
    Search,
    SourceReference,
    Tally,
)

ID_BYTES = 20  # SHA-1, the only kind that libgit2 reads


def pack_path(path: str) -> str | bytes:
    """TEXT, or for a name whose bytes are no UTF-8 a BLOB: SQLite takes no lone surrogates."""
    if path.isascii():
        return path
    try:
        path.encode()
    except UnicodeEncodeError:
        return _bytes(path)
    return path


def _bytes(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # "\ud800" from a page's YAML: no file has this name, look in vain
        return path.encode("utf-8", "surrogatepass")


def unpack_path(value: str | bytes) -> FilePath:
    """The path that `pack_path` was given."""
    if isinstance(value, bytes):
        return FilePath(value.decode("utf-8", "surrogateescape"))
    return FilePath(value)


def pack_text(text: str) -> str:
    """Text for people to read, the bytes that were no UTF-8 replaced."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def pack_id(object_id: str) -> bytes:
    """20 bytes for 40 digits."""
    return bytes.fromhex(object_id)


def unpack_id(value: bytes) -> ObjectId:
    """40 digits for 20 bytes; ValueError where it is anything else."""
    if len(value) != ID_BYTES:
        raise ValueError("an object id has 20 bytes")
    return ObjectId(value.hex())


def pack_ids(ids: Iterable[ObjectId]) -> bytes:
    """Ids one after the other."""
    return b"".join(map(bytes.fromhex, ids))


def unpack_ids(value: bytes) -> tuple[ObjectId, ...]:
    """The ids that `pack_ids` was given."""
    return tuple(
        unpack_id(value[start : start + ID_BYTES]) for start in range(0, len(value), ID_BYTES)
    )


def unpack_entry(mode: int, value: bytes) -> Entry:
    """An entry from its two columns."""
    return Entry(mode, unpack_id(value))


def pack_facts(facts: PageFacts) -> str:
    """Compact JSON: a reference's paths are null where they equal what was written."""
    references = [
        (
            one.written,
            None if one.source_path == one.written else one.source_path,
            None if one.literal == one.written else one.literal,
            *one[3:],
        )
        for one in facts.references
    ]
    return _dump((*facts[:4], references, facts.problems))


def unpack_facts(contents: Sequence[str]) -> list[PageFacts]:
    """The facts that `pack_facts` was given, for many pages in one go (0.7 ms for 300 pages).

    Raises:
        ValueError, TypeError: it is something else.
    """
    return [
        PageFacts(
            title,
            doc_type,
            tuple(tags),
            tuple(aliases),
            tuple(
                [
                    SourceReference(
                        written,
                        written if path is None else path,
                        written if literal is None else literal,
                        fragment,
                        key,
                        line,
                        pin,
                        reason,
                    )
                    for written, path, literal, fragment, key, line, pin, reason in references
                ]
            ),
            tuple([Problem(line, message) for line, message in problems]),
        )
        for title, doc_type, tags, aliases, references, problems in _load(contents)
    ]


def pack_search(search: Search) -> str:
    """A search as a key: the same question, the same text."""
    return _dump(search)


def unpack_searches(keys: Sequence[str]) -> list[Search]:
    """The searches that `pack_search` was given; ValueError, TypeError for something else."""
    return [Search(*search) for search in _load(keys)]


def unpack_drift(commits: bytes, is_complete: int, existed: int) -> Drift:
    """A drift from its three columns."""
    return Drift(unpack_ids(commits), bool(is_complete), bool(existed))


def pack_tallies(tallies: Mapping[Pair, Tally]) -> str:
    """Tallies as a text."""
    return _dump([(*pair, *tally) for pair, tally in tallies.items()])


def unpack_tallies(text: str) -> dict[Pair, Tally]:
    """The tallies that `pack_tallies` was given; ValueError, TypeError for something else."""
    return {
        (page, source): Tally(changed, together)
        for page, source, changed, together in json.loads(text)
    }


def _dump(value: object) -> str:
    # ASCII, so that surrogates (bytes that were no UTF-8) come through SQLite unharmed.
    return json.dumps(value, separators=(",", ":"))


def _load(texts: Sequence[str]) -> list[list[Any]]:
    # One document instead of hundreds: a call of json.loads costs more than a page's facts.
    return json.loads("[" + ",".join(texts) + "]")  # type: ignore[no-any-return]
