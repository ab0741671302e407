"""What the store remembers of models: their fingerprints."""

import time

from ubp.embed.files import fingerprint, stamp, youngest
from ubp.embed.place import ModelPlace
from ubp.store.database import Database
from ubp.store.values import pack_path
from ubp.store.vectors import known_fingerprint, save_fingerprint

# Some file systems tell times in steps of two seconds: what was written within them may be
# written again, unnoticed.
SETTLED_SECONDS = 2.5


def fingerprint_of(database: Database, place: ModelPlace) -> bytes:
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
