"""Parse pages into the rows that the store keeps; a worker process that does so for another one.

`multiprocessing` is not used: its children import `multiprocessing` with the current folder on
their path, where a repository may have a file of that name, and they run the caller's main module.
"""

import marshal
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

from ubp.core.model import ObjectId
from ubp.core.text import identifier_parts, segment_cjk
from ubp.index.embed.text import body_of, embedding_key
from ubp.index.store.codec import ChunkRow, PageRows, checksums, clean, pack_json, pack_link
from ubp.markdown.document import (
    labels_of,
    read_fields,
    read_head,
    read_names,
    written_addresses,
)
from ubp.markdown.parse import parse_markdown
from ubp.markdown.resolve import requested_names

# A word to FTS5, of private use: no text is searched for it.
BOUNDARY = "\ue000"

_LENGTH = struct.Struct("<Q")


def read_pages(blobs: Mapping[ObjectId, bytes]) -> dict[ObjectId, PageRows]:
    """Return the rows of each page, whatever its bytes are."""
    return {blob: read_page(data) for blob, data in blobs.items()}


def read_page(data: bytes) -> PageRows:
    """Return the rows of a page."""
    front_matter = read_head(data, ())
    page_title, aliases, tags = read_names(front_matter, data)
    body = parse_markdown(data, front_matter.body)
    links = (*body.links, *body.embedded)
    addresses = written_addresses(front_matter)
    if body.anchors.targets:
        addresses += (("target", body.anchors.targets),)
    title = clean(page_title) if page_title else None
    title_words = index_words(title or "")
    alias_words = index_names(aliases)
    heading_words = [
        # The page's title has a column of its own.
        index_names([h for h in section.heading_path if h != page_title])
        for section in body.sections
    ]
    # Tags, categories and authors are words of the text, where they are found; in a column of names
    # they would name the page.
    fields = read_fields(front_matter)
    labels = tuple(dict.fromkeys((*tags, *labels_of(fields))))
    label_words = index_names(labels) if labels else ""
    keys: list[bytes] = []
    chunks: list[ChunkRow] = []
    for chunk in body.chunks:
        text = body_of(data, chunk.byte_start, chunk.byte_end)
        keys.append(embedding_key(title, body.sections[chunk.section].heading_path, text))
        body_words = index_words(text) + (f"\n{label_words}" if labels and not chunks else "")
        words = (title_words, heading_words[chunk.section], body_words, alias_words)
        chunks.append((*chunk, words))
    return PageRows(
        title=title,
        aliases=pack_json(aliases),
        addresses=pack_json(addresses),
        fields=pack_json(fields),
        sections=pack_json(body.sections),
        anchors=pack_json(body.anchors),
        texts=b"".join(keys),
        requested=checksums({name for link in links for name in requested_names(link)}),
        chunks=tuple(chunks),
        links=tuple(map(pack_link, links)),
    )


def index_words(text: str) -> str:
    """Return the words of a text for FTS5: CJK characters apart, and the parts of identifiers."""
    return "\n".join([segment_cjk(text), *identifier_parts(text)])


def index_names(names: Sequence[str]) -> str:
    """Return the words of names for FTS5, in which no phrase reaches from one into the next."""
    return f"\n{BOUNDARY}\n".join(index_words(clean(name)) for name in names)


def serve(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Read pages until no more tasks are sent."""
    while (task := receive(tasks)) is not None:
        send(answers, {blob: tuple(rows) for blob, rows in read_pages(task).items()})


def send(stream: IO[bytes], value: Any) -> None:
    """Write a value of types that `marshal` supports."""
    content = marshal.dumps(value)
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read what the other process (our own, of the same Python) sent; None: it has ended."""
    prefix = stream.read(_LENGTH.size)
    if len(prefix) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(prefix)
    content = stream.read(length)
    return marshal.loads(content) if len(content) == length else None  # noqa: S302  # our own child


def main() -> None:
    """Serve on the standard streams."""
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except (KeyboardInterrupt, BrokenPipeError):  # the parent reports it
        sys.exit(1)
