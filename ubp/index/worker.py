"""What a page's bytes say, as the store keeps it; and a process that reads pages for another one.

Not `multiprocessing`: its children begin in the current folder with `import multiprocessing`, and
a repository may hold a file of that name; and they run the caller's main module once more.
"""

import marshal
import struct
import sys
from collections.abc import Mapping
from typing import IO, Any

from ubp.core.model import Chunk, ObjectId, Section
from ubp.core.text import segment_cjk
from ubp.index.embed.text import embedding_key
from ubp.index.store.codec import ChunkRow, PageRows, checksums, clean, pack_json, pack_link
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.parse import parse_markdown
from ubp.markdown.resolve import requested_names

_LENGTH = struct.Struct("<Q")


def read_pages(blobs: Mapping[ObjectId, bytes]) -> dict[ObjectId, PageRows]:
    """Read pages; whatever their bytes are, each has an answer."""
    return {blob: read_page(data) for blob, data in blobs.items()}


def read_page(data: bytes) -> PageRows:
    """Read a page."""
    head = parse_page(data, ())
    found = parse_markdown(data, read_head(data, ()).body)
    chunks = _Chunks(data, head.title, head.aliases, found.sections)
    return PageRows(
        title=clean(head.title) if head.title else None,
        aliases=pack_json(head.aliases),
        sections=pack_json(found.sections),
        anchors=pack_json(found.anchors),
        texts=b"".join(map(chunks.key, found.chunks)),
        asked=checksums({name for link in found.links for name in requested_names(link)}),
        chunks=tuple(map(chunks.row, found.chunks)),
        links=tuple(map(pack_link, found.links)),
    )


def body_of(data: bytes, start: int, end: int) -> str:
    """The text of a chunk, from its bytes."""
    return data[start:end].decode("utf-8", "replace").replace("\0", " ")


class _Chunks:
    """What the chunks of one page have in common."""

    def __init__(
        self,
        data: bytes,
        title: str | None,
        aliases: tuple[str, ...],
        sections: tuple[Section, ...],
    ) -> None:
        self._data = data
        self._title = clean(title) if title else None
        self._sections = sections
        self._title_words = segment_cjk(self._title or "")
        self._aliases = segment_cjk(clean("\n".join(aliases)))
        self._headings = [
            # The page's title has a column of its own.
            segment_cjk(clean("\n".join(path for path in section.heading_path if path != title)))
            for section in sections
        ]

    def row(self, chunk: Chunk) -> ChunkRow:
        body = segment_cjk(body_of(self._data, chunk.byte_start, chunk.byte_end))
        return (*chunk, (self._title_words, self._headings[chunk.section], body, self._aliases))

    def key(self, chunk: Chunk) -> bytes:
        body = body_of(self._data, chunk.byte_start, chunk.byte_end)
        heading_path = self._sections[chunk.section].heading_path
        return embedding_key(self._title, heading_path, body)


def serve(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Read pages as long as somebody sends some."""
    while (task := receive(tasks)) is not None:
        answer = {blob: tuple(rows) for blob, rows in read_pages(task).items()}
        send(answers, answer)


def send(stream: IO[bytes], value: Any) -> None:
    """Write a value of plain types."""
    content = marshal.dumps(value)
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read what the other process (our own, of the same Python) has sent; None: it is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    return marshal.loads(content) if len(content) == length else None  # noqa: S302  # our own child


def main() -> None:
    """Serve on the standard streams."""
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except (KeyboardInterrupt, BrokenPipeError):  # the parent tells what happened
        sys.exit(1)
