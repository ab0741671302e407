"""Embedding state without a loaded model: model fingerprints, the texts that have vectors."""

import time
from typing import NamedTuple

from ubp.core.interruption import with_checkpoints
from ubp.core.model import ObjectId
from ubp.index.embed.locate import ModelLocation, Place
from ubp.index.embed.model_files import fingerprint, stamp, youngest
from ubp.index.link_graph import LinkGraph
from ubp.index.store.codec import pack_path
from ubp.index.store.database import Database
from ubp.index.store.digests import known_digest, save_digests
from ubp.index.store.page_facts import TextTable
from ubp.index.store.vectors import VectorTable, split

# Some file systems store times in steps of two seconds: a file written within the last step may be
# written again unnoticed.
SETTLED_SECONDS = 2.5


def fingerprint_of(database: Database, place: Place) -> bytes:
    """Return the fingerprint of a model; its files are read where they may have changed.

    Raises:
        ModelError: the files cannot be read.
    """
    if not isinstance(place, ModelLocation):
        from ubp.index.embed.known import fingerprint_of_endpoint

        return fingerprint_of_endpoint(place)
    current = stamp(place)
    stored = known_digest(database, pack_path(place.directory), current)
    if stored is not None:
        return stored
    digest = fingerprint(place)
    if time.time() - youngest(place) > SETTLED_SECONDS:
        save_digests(database, {(pack_path(place.directory), current): digest})
    return digest


class EmbeddedCount(NamedTuple):
    """The number of chunks in a snapshot, and of those without a vector."""

    chunks: int
    pending: int


def count_embedded(
    links: LinkGraph, database: Database, model: bytes, dimensions: int
) -> EmbeddedCount:
    """Count the chunks and those without a vector of a model (its fingerprint); load nothing."""

    def count() -> EmbeddedCount:
        table = VectorTable(database, model, dimensions)
        embedded = table.keys(table.sizes())
        keys = [key for keys in texts_of(links, database).values() for key in split(keys)]
        return EmbeddedCount(len(keys), sum(key not in embedded for key in keys))

    return links.read_consistently(count)


def texts_of(links: LinkGraph, database: Database) -> dict[ObjectId, bytes]:
    """Return the joined keys of each page's texts; pages with the same bytes are one."""
    table = TextTable(database)
    texts = links.query_stored(table.texts) or {}
    patched = {node.blob for node in links.patched.values() if node and node.blob}
    texts.update(table.texts_of(patched))
    blobs = with_checkpoints(links.pages().values())
    return {blob: texts[blob] for blob in blobs if blob in texts}
