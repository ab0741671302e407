"""The store's vectors held in memory, as long as they are the same."""

from collections.abc import Mapping

from ubp.embed.collection import Collection
from ubp.embed.model import Model
from ubp.embed.vectors import Vectors
from ubp.model import ObjectId
from ubp.store.vectors import StoredVectors

# The base of which snapshot a collection was made for: commit and scope.
Base = tuple[ObjectId, str]


class Held:
    """All vectors of one model, and the chunks of the commit that was asked about last."""

    def __init__(self, model: Model) -> None:
        self.fingerprint = model.fingerprint
        self.vectors = Vectors(model.dimensions)
        self._base: tuple[Base, Collection] | None = None

    def refresh(self, stored: StoredVectors) -> None:
        """Read what was added since; others may have written too."""
        before, now = self.vectors.sizes(), stored.sizes()
        if before == now:
            return
        changed = stored.blocks(block for block, size in now.items() if before.get(block) != size)
        self.vectors.update(
            {block: (found.keys, found.vectors) for block, found in changed.items()},
            [block for block in before if block not in now],
        )

    def collection(self, base: Base) -> Collection | None:
        """The chunks of a commit, where they are known."""
        return self._base[1] if self._base and self._base[0] == base else None

    def keep(self, base: Base, texts: Mapping[ObjectId, bytes]) -> Collection:
        """Remember the chunks of a commit."""
        self._base = (base, Collection(texts))
        return self._base[1]
