"""The store's vectors held in memory, as long as they are the same."""

from collections.abc import Mapping

from ubp.core.model import ObjectId
from ubp.index.embed.model import Model
from ubp.index.embed.vectors import VectorCollection, Vectors
from ubp.index.store.vectors import VectorTable

# The base of which snapshot a collection was made for: commit and scope.
Base = tuple[ObjectId, str]


class VectorCache:
    """All vectors of one model, and the chunks of the commit that was asked about last."""

    def __init__(self, model: Model) -> None:
        self.fingerprint = model.fingerprint
        self.vectors = Vectors(model.dimensions)
        self._base: tuple[Base, VectorCollection] | None = None

    def refresh(self, stored: VectorTable) -> None:
        """Read what was added since; others may have written too."""
        before, now = self.vectors.sizes(), stored.sizes()
        if before == now:
            return
        changed = stored.blocks(block for block, size in now.items() if before.get(block) != size)
        self.vectors.update(
            {block: (found.keys, found.vectors) for block, found in changed.items()},
            [block for block in before if block not in now],
        )

    def collection(self, base: Base) -> VectorCollection | None:
        """The chunks of a commit, where they are known."""
        return self._base[1] if self._base and self._base[0] == base else None

    def keep(self, base: Base, texts: Mapping[ObjectId, bytes]) -> VectorCollection:
        """Remember the chunks of a commit."""
        self._base = (base, VectorCollection(texts))
        return self._base[1]
