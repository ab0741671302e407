"""The store's vectors in memory, kept while a session lasts."""

from collections.abc import Mapping

from ubp.core.model import ObjectId
from ubp.index.embed.model import Model
from ubp.index.embed.vectors import VectorCollection, Vectors
from ubp.index.store.vectors import VectorTable

Base = tuple[ObjectId, str]
"""The commit and the scope that a collection was built for."""


class VectorCache:
    """All vectors of one model, and the chunks of one commit."""

    def __init__(self, model: Model) -> None:
        self.fingerprint = model.fingerprint
        self.vectors = Vectors(model.dimensions)
        self._base: tuple[Base, VectorCollection] | None = None

    def refresh(self, stored: VectorTable) -> None:
        """Read what was saved since the last time, by other processes too."""
        cached, current = self.vectors.sizes(), stored.sizes()
        if cached == current:
            return
        changed = stored.blocks(n for n, size in current.items() if cached.get(n) != size)
        self.vectors.update(
            {number: (block.keys, block.vectors) for number, block in changed.items()},
            [number for number in cached if number not in current],
        )

    def collection(self, base: Base) -> VectorCollection | None:
        """Return the chunks of a commit, if they are cached."""
        return self._base[1] if self._base and self._base[0] == base else None

    def keep(self, base: Base, texts: Mapping[ObjectId, bytes]) -> VectorCollection:
        """Cache the chunks of a commit, instead of those of another one, and return them."""
        self._base = (base, VectorCollection(texts))
        return self._base[1]
