"""The store's vectors in memory, kept while a session lasts."""

import threading
from collections.abc import Mapping

from ubp.core.model import ObjectId
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.embed.vectors import VectorCollection, Vectors
from ubp.index.store.vectors import VectorTable

Base = tuple[ObjectId, str]
"""The commit and the scope that a collection was built for."""


class VectorCache:
    """All vectors of one model, and the chunks of one commit; several threads may use it."""

    def __init__(self, model: EmbeddingModel) -> None:
        self.fingerprint = model.fingerprint
        self._lock = threading.Lock()
        self._vectors = Vectors(model.dimensions)
        self._base: tuple[Base, VectorCollection] | None = None

    def read(self, stored: VectorTable) -> Vectors:
        """Return what is stored; reads what was saved since the last time, by others too."""
        with self._lock:
            cached, current = self._vectors.sizes(), stored.sizes()
            if cached != current:
                changed = stored.blocks(n for n, size in current.items() if cached.get(n) != size)
                self._vectors = self._vectors.updated(
                    {number: (block.keys, block.vectors) for number, block in changed.items()},
                    [number for number in cached if number not in current],
                )
            return self._vectors

    def collection(self, base: Base) -> VectorCollection | None:
        """Return the chunks of a commit, if they are cached."""
        return self._base[1] if self._base and self._base[0] == base else None

    def keep(self, base: Base, texts: Mapping[ObjectId, bytes]) -> VectorCollection:
        """Cache the chunks of a commit, instead of those of another one, and return them."""
        self._base = (base, VectorCollection(texts))
        return self._base[1]
