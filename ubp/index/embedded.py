"""What the store remembers of models: their fingerprints.

Which texts a snapshot's pages have, by their keys.
"""

import time
from typing import NamedTuple

from ubp.core.model import ObjectId
from ubp.index.embed.locate import ModelLocation
from ubp.index.embed.model_files import fingerprint, stamp, youngest
from ubp.index.link_graph import LinkGraph
from ubp.index.link_updates import MAX_ATTEMPTS
from ubp.index.store.codec import pack_path
from ubp.index.store.database import Database
from ubp.index.store.page_facts import TextTable
from ubp.index.store.vectors import VectorTable, known_fingerprint, save_fingerprint, split

# Some file systems tell times in steps of two seconds: what was written within them may be
# written again, unnoticed.
SETTLED_SECONDS = 2.5


def fingerprint_of(database: Database, place: ModelLocation) -> bytes:
    """The fingerprint of a model; its files are read where they may have changed.

    Raises:
        ModelError: they cannot be read.
    """
    now = stamp(place)
    known = known_fingerprint(database, pack_path(place.directory), now)
    if known is not None:
        return known
    found = fingerprint(place)
    if time.time() - youngest(place) > SETTLED_SECONDS:
        save_fingerprint(database, pack_path(place.directory), now, found)
    return found


class EmbeddedCount(NamedTuple):
    """How many chunks a snapshot has, and how many of them have no vector."""

    chunks: int
    pending: int


def count_embedded(
    linked: LinkGraph, database: Database, model: bytes, dimensions: int
) -> EmbeddedCount:
    """Count what is embedded with a model (its fingerprint), without loading anything."""
    for _ in range(MAX_ATTEMPTS):
        before = linked.load_count
        stored = VectorTable(database, model, dimensions)
        known = stored.keys(stored.sizes())
        keys = [key for keys in texts_of(linked, database).values() for key in split(keys)]
        if linked.load_count == before:
            break
    return EmbeddedCount(len(keys), sum(key not in known for key in keys))


def texts_of(linked: LinkGraph, database: Database) -> dict[ObjectId, bytes]:
    """The keys of each page's texts; pages with the same bytes are one."""
    texts = TextTable(database)
    found = linked.query_stored(texts.texts) or {}
    patched = {node.blob for node in linked.patched.values() if node and node.blob}
    found.update(texts.texts_of(patched))
    return {blob: found[blob] for blob in linked.pages().values() if blob in found}
