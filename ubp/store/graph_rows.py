"""How what a page's Markdown says stands in SQLite's columns, and comes back."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from ubp.model import Chunk, Link, Section

KEY_BYTES = 16  # of a text's key (`ubp.embed.text`)

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


NOTHING = PageRows(None, "[]", "[]", "[]", b"", (), (), ())
"""What is kept of a page that cannot be read."""


class PageNaming(NamedTuple):
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
