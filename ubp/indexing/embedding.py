"""Chunks without a vector given one, in batches, each kept as soon as it is there."""

from collections.abc import Iterator, Mapping
from itertools import islice

from ubp.embed.model import Model
from ubp.embed.text import key_of, text_to_embed
from ubp.embed.vectors import quantise
from ubp.indexing.base import Ground
from ubp.indexing.contents import Contents
from ubp.indexing.worker import body_of
from ubp.model import MODE_FILE, Entry, FilePath, ObjectId
from ubp.seams import EMBEDDING
from ubp.store.texts import StoredTexts, TextRows
from ubp.store.vectors import StoredVectors, split

# Whatever is interrupted loses less than a batch: 0.2 s of work.
PAGES_A_BATCH = 64


class Embedding:
    """Embeds the chunks of one snapshot's pages."""

    def __init__(
        self, ground: Ground, model: Model, texts: StoredTexts, stored: StoredVectors
    ) -> None:
        self._ground = ground
        self._model = model
        self._texts = texts
        self._stored = stored
        self._contents = Contents(ground.repository, ground.snapshot)

    def embed(self, pages: Mapping[ObjectId, FilePath], total: int) -> int:
        """Embed these pages, which have so many chunks without a vector; tell how many texts."""
        done = 0
        known = _Known(self._stored)
        for batch in _batches(pages):
            texts = known.leave_out(self._read(batch))
            if texts:
                vectors = self._model.encode(list(texts.values()))
                self._stored.save(b"".join(texts), quantise(vectors))
            done += len(texts)
            self._ground.progress(EMBEDDING, min(done, total), total)
        return done

    def _read(self, pages: Mapping[ObjectId, FilePath]) -> dict[bytes, str]:
        """The texts of pages by their keys; of what cannot be had none."""
        entries = {path: Entry(MODE_FILE, blob) for blob, path in pages.items()}
        contents = self._contents.read(entries)
        rows = self._texts.text_rows(pages)
        found: dict[bytes, str] = {}
        for blob, path in pages.items():
            data = contents[path]
            if data is not None and blob in rows:
                found.update(_texts_of(rows[blob], data))
        return found


class _Known:
    """The keys that have a vector already, those by other processes too."""

    def __init__(self, stored: StoredVectors) -> None:
        self._stored = stored
        self._sizes: dict[int, int] = {}
        self._keys: set[bytes] = set()

    def leave_out(self, texts: dict[bytes, str]) -> dict[bytes, str]:
        """Those of these texts that have none."""
        sizes = self._stored.sizes()
        changed = [block for block, size in sizes.items() if self._sizes.get(block) != size]
        self._keys |= self._stored.keys(changed)
        self._sizes = sizes
        return {key: text for key, text in texts.items() if key not in self._keys}


def _texts_of(rows: TextRows, data: bytes) -> Iterator[tuple[bytes, str]]:
    for key, (heading_path, start, end) in zip(split(rows.keys), rows.places, strict=False):
        chunk = (rows.title, heading_path, body_of(data, start, end))
        # Of bytes that are not the blob's own (a file changed meanwhile) nothing is kept.
        if key_of(*chunk) == key:
            yield key, text_to_embed(*chunk)


def _batches(pages: Mapping[ObjectId, FilePath]) -> Iterator[dict[ObjectId, FilePath]]:
    items = iter(pages.items())
    while batch := dict(islice(items, PAGES_A_BATCH)):
        yield batch
