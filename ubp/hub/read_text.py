"""What a page's bytes say, for the search: facts, sections, chunks with their words and vectors.

The hub reads the bytes itself. What a client sends is only text, checked by its blob id: nobody can
give a page words or a meaning that it does not have, and a new version of UBP needs no new push.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ubp.core.model import ObjectId
from ubp.core.text import without_cjk
from ubp.hub.tokens import Vector, vectors
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.embed.text import body_of
from ubp.index.embed.vectors import quantize
from ubp.index.store.codec import PageRows, pack_facts, pack_json
from ubp.index.store.schema import FORMAT
from ubp.index.worker import read_page
from ubp.markdown.document import parse_page

TEXT_FORMAT = FORMAT * 100 + 4
"""The format of what is read here: that of the index, and of the words' literals.

It rises when the bundled model changes, too: the worker reads texts of lower formats again.
"""


@dataclass(frozen=True, slots=True)
class ReadChunk:
    """A chunk's words in both tables, and its vector; None: there is no model."""

    words: Vector
    stems: Vector
    vector: bytes | None


@dataclass(frozen=True, slots=True)
class ReadText:
    """A page, packed as the index packs it; `body` is compressed."""

    blob: ObjectId
    facts: str
    fields: str
    sections: str
    places: str
    body: bytes
    chunks: tuple[ReadChunk, ...]


def read_texts(
    pages: Mapping[ObjectId, bytes], model: EmbeddingModel | None
) -> tuple[ReadText, ...]:
    """Return what pages say, with the vectors of a model if there is one.

    Raises:
        ModelError: the model cannot be used.
    """
    return tuple(_read_text(blob, data, model) for blob, data in pages.items())


def read_chunks(data: bytes) -> tuple[str | None, list[tuple[Sequence[str], str]]]:
    """Return a page's title, and the headings above and the text of each of its chunks."""
    rows = read_page(data)
    return rows.title, _chunks_of(rows, data)


def _chunks_of(rows: PageRows, data: bytes) -> list[tuple[Sequence[str], str]]:
    paths = [section[2] for section in json.loads(rows.sections)]
    return [
        (paths[section], body_of(data, start, end))
        for section, _, _, start, end, _, _ in rows.chunks
    ]


def _read_text(blob: ObjectId, data: bytes, model: EmbeddingModel | None) -> ReadText:
    rows = read_page(data)
    words = [chunk[-1] for chunk in rows.chunks]
    stems = [
        (without_cjk(title), without_cjk(headings), without_cjk(body), without_cjk(aliases))
        for title, headings, body, aliases in words
    ]
    meanings: Sequence[bytes | None] = [None] * len(rows.chunks)
    if model is not None and rows.chunks:
        texts = [model.text_of(rows.title, path, body) for path, body in _chunks_of(rows, data)]
        joined = quantize(model.encode(texts))
        size = model.dimensions
        meanings = [joined[size * place : size * (place + 1)] for place in range(len(texts))]
    return ReadText(
        blob=blob,
        facts=pack_facts(parse_page(data, ())),
        fields=rows.fields,
        sections=rows.sections,
        places=pack_json([chunk[:-1] for chunk in rows.chunks]),
        body=zlib.compress(data, 6),
        chunks=tuple(
            ReadChunk(*parts)
            for parts in zip(
                vectors("words", words),
                vectors("stems", stems),
                meanings,
                strict=True,
            )
        ),
    )
