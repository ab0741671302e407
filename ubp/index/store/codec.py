"""How what a page's Markdown says stands in SQLite's columns, and comes back.

How the words of the domain stand in SQLite's columns, and come back.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from ubp.core.model import (
    BaselineQuery,
    Chunk,
    Drift,
    Entry,
    FilePath,
    Link,
    ObjectId,
    PageFacts,
    Pair,
    PairCount,
    Problem,
    Section,
    SourceReference,
)

KEY_BYTES = 16  # of a text's key (`ubp.index.embed.text`)

# A chunk's texts for the full text, in the order of its columns: title, headings, body, aliases.
Words = tuple[str, str, str, str]
ChunkRow = tuple[int, int, int, int, int, int, Words]
LinkRow = tuple[str | int | None, ...]


class PageRows(NamedTuple):
    """All that the store keeps of a page; but for this tuple itself plain values (`marshal`)."""

    title: str | None
    aliases: str
    sections: str
    anchors: str
    texts: bytes
    asked: tuple[int, ...]
    chunks: tuple[ChunkRow, ...]
    links: tuple[LinkRow, ...]


NO_ROWS = PageRows(None, "[]", "[]", "[]", b"", (), (), ())
"""What is kept of a page that cannot be read."""


class PageNames(NamedTuple):
    """What a page calls itself."""

    title: str | None
    aliases: tuple[str, ...]


def checksum(name: str) -> int:
    """A name as a number; two names may have the same, which costs a look and changes nothing."""
    return crc32(name.encode("utf-8", "surrogatepass"))


def checksums(names: Iterable[str]) -> tuple[int, ...]:
    """The checksums of names, each once."""
    return tuple({checksum(name) for name in names})


def pack_json(value: object) -> str:
    """Compact JSON in ASCII: lone surrogates come through SQLite unharmed."""
    return json.dumps(value, separators=(",", ":"))


def pack_link(link: Link) -> LinkRow:
    """A link's columns; SQLite takes no lone surrogates."""
    try:
        "".join([link.target, link.anchor or "", link.label or "", link.context]).encode()
    except UnicodeEncodeError:
        return tuple(clean(value) if isinstance(value, str) else value for value in link)
    return tuple(link)


def clean(text: str) -> str:
    """A text without lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def unpack_links(rows: Iterable[Sequence[object]]) -> tuple[Link, ...]:
    """The links that `pack_link` was given."""
    return tuple(map(Link._make, rows))


def unpack_sections(text: str) -> tuple[Section, ...]:
    """A page's sections; ValueError, TypeError where the text is something else."""
    return tuple(
        Section(heading, level, tuple(path), *rest)
        for heading, level, path, *rest in json.loads(text)
    )


def unpack_names(text: str) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(json.loads(text))


def unpack_chunks(rows: Iterable[Sequence[int]]) -> tuple[Chunk, ...]:
    """Chunks from their columns, in the order of the value's fields."""
    return tuple(map(Chunk._make, rows))


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


def pack_search(search: BaselineQuery) -> str:
    """A search as a key: the same question, the same text."""
    return _dump(search)


def unpack_searches(keys: Sequence[str]) -> list[BaselineQuery]:
    """The searches that `pack_search` was given; ValueError, TypeError for something else."""
    return [BaselineQuery(*search) for search in _load(keys)]


def unpack_drift(commits: bytes, is_complete: int, existed: int) -> Drift:
    """A drift from its three columns."""
    return Drift(unpack_ids(commits), bool(is_complete), bool(existed))


def pack_tallies(tallies: Mapping[Pair, PairCount]) -> str:
    """Tallies as a text."""
    return _dump([(*pair, *tally) for pair, tally in tallies.items()])


def unpack_tallies(text: str) -> dict[Pair, PairCount]:
    """The tallies that `pack_tallies` was given; ValueError, TypeError for something else."""
    return {
        (page, source): PairCount(changed, together)
        for page, source, changed, together in json.loads(text)
    }


def _dump(value: object) -> str:
    # ASCII, so that surrogates (bytes that were no UTF-8) come through SQLite unharmed.
    return json.dumps(value, separators=(",", ":"))


def _load(texts: Sequence[str]) -> list[list[Any]]:
    # One document instead of hundreds: a call of json.loads costs more than a page's facts.
    return json.loads("[" + ",".join(texts) + "]")  # type: ignore[no-any-return]
