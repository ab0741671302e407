"""Which texts a snapshot's pages have, by their keys."""

from typing import NamedTuple

from ubp.indexing.laying import ATTEMPTS
from ubp.indexing.linked import Linked
from ubp.model import ObjectId
from ubp.store.database import Database
from ubp.store.texts import StoredTexts
from ubp.store.vectors import StoredVectors, split


class Embedded(NamedTuple):
    """How many chunks a snapshot has, and how many of them have no vector."""

    chunks: int
    pending: int


def count_embedded(linked: Linked, database: Database, model: bytes, dimensions: int) -> Embedded:
    """Count what is embedded with a model (its fingerprint), without loading anything."""
    for _ in range(ATTEMPTS):
        before = linked.times_laid
        stored = StoredVectors(database, model, dimensions)
        known = stored.keys(stored.sizes())
        keys = [key for keys in texts_of(linked, database).values() for key in split(keys)]
        if linked.times_laid == before:
            break
    return Embedded(len(keys), sum(key not in known for key in keys))


def texts_of(linked: Linked, database: Database) -> dict[ObjectId, bytes]:
    """The keys of each page's texts; pages with the same bytes are one."""
    texts = StoredTexts(database)
    found = linked.of_stored(texts.texts) or {}
    patched = {node.blob for node in linked.patched.values() if node and node.blob}
    found.update(texts.texts_of(patched))
    return {blob: found[blob] for blob in linked.pages().values() if blob in found}
