"""The chunks of some pages and their vectors: which are best, which are alike."""

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ubp.embed.matrix import Floats, best
from ubp.embed.text import KEY_BYTES
from ubp.embed.vectors import Keys, Rows, Vectors, as_keys
from ubp.model import ObjectId

Mask: TypeAlias = npt.NDArray[np.bool_]


class Found(NamedTuple):
    """A chunk: its page's blob and its number there; `score` is a cosine."""

    page: ObjectId
    number: int
    score: float


class Collection:
    """Chunks of pages."""

    def __init__(self, texts: Mapping[ObjectId, bytes]) -> None:
        """`texts` are the keys of the texts of each page's chunks, in order."""
        self.pages = list(texts)
        self._keys: Keys = as_keys(b"".join(texts.values()))
        counts = [len(keys) // KEY_BYTES for keys in texts.values()]
        self._ends = np.array(list(accumulate(counts)), dtype=np.intp)
        self._counts = np.array(counts, dtype=np.intp)
        self._rows: Rows = np.empty(0, dtype=np.intp)
        self._seen: tuple[Vectors | None, int, int] = (None, 0, 0)  # what `_rows` are of

    def __len__(self) -> int:
        return len(self._keys)

    def missing(self, vectors: Vectors) -> dict[ObjectId, int]:
        """The pages with chunks that have no vector, and how many of them."""
        chunks = np.flatnonzero(self.rows(vectors) < 0)
        pages, counts = np.unique(self.pages_of(chunks), return_counts=True)
        return {
            self.pages[page]: count
            for page, count in zip(pages.tolist(), counts.tolist(), strict=True)
        }

    def best(
        self, cosines: Floats, vectors: Vectors, limit: int, mask: Mask | None = None
    ) -> list[Found]:
        """The chunks with the best of these cosines; `mask` tells which pages count."""
        rows = self.rows(vectors)
        scores = np.where(rows >= 0, cosines[rows] if len(cosines) else 0, -np.inf)
        if mask is not None:
            scores[np.repeat(~mask, self._counts)] = -np.inf
        chunks = best(scores.astype(np.float32, copy=False), limit)
        chunks = chunks[scores[chunks] > -np.inf]
        return self.found(chunks, scores[chunks].tolist())

    def found(self, chunks: Rows | list[int], scores: list[float]) -> list[Found]:
        """These chunks, by their places in the whole."""
        pages = self.pages_of(chunks)
        numbers = np.asarray(chunks) - self._ends[pages] + self._counts[pages]
        return [
            Found(self.pages[page], number, score)
            for page, number, score in zip(pages.tolist(), numbers.tolist(), scores, strict=True)
        ]

    def mask(self, pages: set[ObjectId]) -> Mask:
        """Which pages are among these."""
        return np.fromiter(
            (page in pages for page in self.pages), dtype=bool, count=len(self.pages)
        )

    def rows(self, vectors: Vectors) -> Rows:
        """The number of each chunk's vector; -1: it has none."""
        known, version, number = self._seen
        if known is not vectors or version != vectors.version:
            self._rows = np.full(len(self), -1, dtype=np.intp)
        elif number == len(vectors):
            return self._rows
        unknown = np.flatnonzero(self._rows < 0)
        self._rows[unknown] = vectors.find(self._keys[unknown])
        self._seen = vectors, vectors.version, len(vectors)
        return self._rows

    def pages_of(self, chunks: Rows | list[int]) -> Rows:
        """The page of each of these chunks."""
        return np.searchsorted(self._ends, chunks, side="right")
