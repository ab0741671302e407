"""Conversion of values to SQLite's columns and back; SQLite takes no lone surrogates.

Paths and ids are interned: over 100,000 pages their copies took 90 MB of a server's memory, and
listing all of them takes only a tenth longer.

Values that were not packed here raise ValueError or TypeError when they are unpacked.
"""

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from ubp.core.interruption import checkpoint
from ubp.core.model import (
    BaselineQuery,
    Chunk,
    Drift,
    Entry,
    FilePath,
    KeyPin,
    Link,
    ObjectId,
    PageFacts,
    PageFields,
    Pair,
    PairCount,
    Problem,
    Section,
    SourceReference,
)
from ubp.markdown.sites.anchors import HeadingName, IncludedPage, PageAnchors

TEXTS_PER_DOCUMENT = 5000  # 25 ms
KEY_BYTES = 16  # the length of a text's key (`ubp.index.embed.text`)

# A chunk's texts in the order of the full text's columns: title, headings, body, aliases.
Words = tuple[str, str, str, str]
ChunkRow = tuple[int, int, int, int, int, int, Words]
LinkRow = tuple[str | int | None, ...]


class PageRows(NamedTuple):
    """The rows of a page in all tables. But for this tuple all values can be marshalled."""

    title: str | None
    aliases: str
    addresses: str
    fields: str
    sections: str
    anchors: str
    texts: bytes
    requested: tuple[int, ...]
    chunks: tuple[ChunkRow, ...]
    links: tuple[LinkRow, ...]


NO_ROWS = PageRows(None, "[]", "[]", "{}", "[]", "[[],[],[],false,[]]", b"", (), (), ())
"""The rows of a page that cannot be read."""


class PageNames(NamedTuple):
    """The names that a page gives itself."""

    title: str | None
    aliases: tuple[str, ...]
    addresses: tuple[tuple[str, tuple[str, ...]], ...]


def checksum(name: str) -> int:
    """Return a name as a number; a collision costs a lookup and changes no answer."""
    return crc32(name.encode("utf-8", "surrogatepass"))


def checksums(names: Iterable[str]) -> tuple[int, ...]:
    """Return the checksums of names, without duplicates."""
    return tuple({checksum(name) for name in names})


def pack_json(value: object) -> str:
    """Return compact JSON in ASCII, so that lone surrogates survive in SQLite."""
    return json.dumps(value, separators=(",", ":"))


def pack_link(link: Link) -> LinkRow:
    """Return a link's columns, lone surrogates replaced."""
    try:
        "".join([link.target, link.anchor or "", link.label or "", link.context]).encode()
    except UnicodeEncodeError:
        return tuple(clean(value) if isinstance(value, str) else value for value in link)
    return tuple(link)


def clean(text: str) -> str:
    """Return a text with its lone surrogates replaced."""
    return text.encode("utf-8", "replace").decode()


def unpack_links(rows: Iterable[Sequence[object]]) -> tuple[Link, ...]:
    """Return the links of rows by `pack_link`."""
    return tuple(map(Link._make, rows))


def unpack_sections(text: str) -> tuple[Section, ...]:
    """Return a page's sections."""
    return tuple(
        Section(heading, level, tuple(path), *rest)
        for heading, level, path, *rest in json.loads(text)
    )


def unpack_anchors(text: str) -> PageAnchors:
    """Return what a page says about its anchors."""
    headings, ids, targets, is_generated, includes = json.loads(text)
    names = tuple(HeadingName(*heading) for heading in headings)
    included = tuple(IncludedPage(*include) for include in includes)
    return PageAnchors(names, tuple(ids), tuple(targets), bool(is_generated), included)


def unpack_addresses(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the addresses that a page sets, by their keys."""
    if text == "[]":
        return ()
    return tuple((str(key), tuple(addresses)) for key, addresses in json.loads(text))


def unpack_fields(text: str) -> PageFields:
    """Return the fields of a page's front matter."""
    if text == "{}":
        return {}
    return {
        str(name): tuple(value) if isinstance(value, list) else str(value)
        for name, value in json.loads(text).items()
    }


def unpack_names(text: str) -> tuple[str, ...]:
    """Return a list of texts."""
    return tuple(json.loads(text))


def unpack_chunks(rows: Iterable[Sequence[int]]) -> tuple[Chunk, ...]:
    """Return chunks from rows in the order of the value's fields."""
    return tuple(map(Chunk._make, rows))


ID_BYTES = 20  # SHA-1, the only kind that libgit2 reads


def pack_path(path: str) -> str | bytes:
    """Return a path as TEXT, or as a BLOB if its bytes are not UTF-8."""
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
    except UnicodeEncodeError:  # "\ud800" from a page's YAML: no file has this name
        return path.encode("utf-8", "surrogatepass")


def unpack_path(value: str | bytes) -> FilePath:
    """Return a path by `pack_path`."""
    if isinstance(value, bytes):
        return FilePath(value.decode("utf-8", "surrogateescape"))
    return FilePath(sys.intern(value))


def pack_text(text: str) -> str:
    """Return text for people, bytes that were not UTF-8 replaced."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def pack_id(object_id: str) -> bytes:
    """Return an id of 40 digits as 20 bytes."""
    return bytes.fromhex(object_id)


def unpack_id(value: bytes) -> ObjectId:
    """Return 20 bytes as an id of 40 digits."""
    if len(value) != ID_BYTES:
        raise ValueError("an object id has 20 bytes")
    return ObjectId(sys.intern(value.hex()))


def pack_ids(ids: Iterable[ObjectId]) -> bytes:
    """Return ids as concatenated bytes."""
    return b"".join(map(bytes.fromhex, ids))


def unpack_ids(value: bytes) -> tuple[ObjectId, ...]:
    """Return the ids by `pack_ids`."""
    if len(value) % ID_BYTES:
        raise ValueError("an object id has 20 bytes")
    digits = value.hex()
    length = 2 * ID_BYTES
    return tuple(
        [ObjectId(digits[start : start + length]) for start in range(0, len(digits), length)]
    )


def unpack_entry(mode: int, value: bytes) -> Entry:
    """Return an entry from its two columns."""
    return Entry(mode, unpack_id(value))


def pack_entries(entries: Mapping[FilePath, Entry | None]) -> str:
    """Return the entries at some paths of a commit as compact JSON."""
    return pack_json(entries)


def unpack_entries(
    text: str, paths: Collection[FilePath] | None = None
) -> dict[FilePath, Entry | None]:
    """Return the entries by `pack_entries`, or those at these paths alone."""
    entries = json.loads(text)
    found = entries if paths is None else [path for path in paths if path in entries]
    return {path: None if entries[path] is None else Entry(*entries[path]) for path in found}


def pack_facts(facts: PageFacts) -> str:
    """Return facts as compact JSON; a reference's paths are null where they equal `written`."""
    references = [
        (
            reference.written,
            None if reference.source_path == reference.written else reference.source_path,
            None if reference.literal == reference.written else reference.literal,
            *reference[3:],
        )
        for reference in facts.references
    ]
    return pack_json((*facts[:4], references, facts.problems, facts.pins))


def unpack_facts(contents: Sequence[str]) -> list[PageFacts]:
    """Return the facts of many pages by `pack_facts` (0.7 ms for 300 pages)."""
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
                        *rest,
                    )
                    for written, path, literal, *rest in references
                ]
            ),
            tuple([Problem(line, message) for line, message in problems]),
            tuple([KeyPin(*pin) for pin in pins]),
        )
        for title, doc_type, tags, aliases, references, problems, pins in _load(contents)
    ]


def pack_search(search: BaselineQuery) -> str:
    """Return a search as a key."""
    return pack_json(search)


def unpack_searches(keys: Sequence[str]) -> list[BaselineQuery]:
    """Return the searches by `pack_search`."""
    return [BaselineQuery(*search) for search in _load(keys)]


def unpack_drift(commits: bytes, is_complete: int, existed: int) -> Drift:
    """Return a drift from its three columns."""
    return Drift(unpack_ids(commits), bool(is_complete), bool(existed))


def pack_co_changes(counts: Mapping[Pair, PairCount]) -> str:
    """Return counts as a text."""
    return pack_json([(*pair, *count) for pair, count in counts.items()])


def unpack_co_changes(text: str) -> dict[Pair, PairCount]:
    """Return the counts by `pack_co_changes`."""
    return {
        (page, source): PairCount(changed, together)
        for page, source, changed, together in json.loads(text)
    }


def _load(texts: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the values of these texts, with checkpoints."""
    for start in range(0, len(texts), TEXTS_PER_DOCUMENT):
        checkpoint()
        # One document instead of many: a call of json.loads costs more than the facts of a page.
        yield from json.loads(f"[{','.join(texts[start : start + TEXTS_PER_DOCUMENT])}]")
