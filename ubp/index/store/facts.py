"""What pages say, keyed by their blob and by the front matter keys that were read.

The names in sources and the mentions in pages, keyed by blob; learned on demand only.
"""

import sqlite3
import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from ubp.core.model import ObjectId, PageFacts
from ubp.index.store.codec import pack_facts, pack_id, unpack_facts, unpack_id
from ubp.index.store.database import Database, Rows, chunks, marks

# Reading and unpacking 1,000 of them takes 12 ms of CPU, and a server is asked again and again; so
# many take about 50 MB.
MAX_CACHED = 50_000


class FactsTable:
    """The facts of pages. Written once; they can only be missing.

    What was read is remembered: the facts of a blob never change.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered: dict[tuple[str, ObjectId], PageFacts] = {}

    def read(self, blobs: Collection[ObjectId], keys: Sequence[str]) -> dict[ObjectId, PageFacts]:
        """The facts of these pages, as far as they are known."""
        if len(self._remembered) > MAX_CACHED:
            self._remembered = {}
        packed, remembered = pack_keys(keys), self._remembered
        known = {blob: remembered[packed, blob] for blob in blobs if (packed, blob) in remembered}
        found = self._read_stored([blob for blob in blobs if blob not in known], packed)
        remembered.update(((packed, blob), facts) for blob, facts in found.items())
        return known | found

    def _read_stored(self, blobs: Collection[ObjectId], keys: str) -> dict[ObjectId, PageFacts]:
        rows = []
        for chunk in chunks(blobs):
            sql = f"SELECT blob, content FROM facts WHERE keys = ? AND blob IN ({marks(chunk)})"  # noqa: S608  # marks are "?,?"
            rows += self._database.rows(sql, [keys, *map(pack_id, chunk)])

        def unpack() -> dict[ObjectId, PageFacts]:
            contents = unpack_facts([content for _, content in rows])
            return {unpack_id(blob): one for (blob, _), one in zip(rows, contents, strict=True)}

        return self._database.unpack(unpack) or {}

    def missing(self, blobs: Collection[ObjectId], keys: Sequence[str]) -> set[ObjectId]:
        """Those of these pages whose facts are not known."""
        known = set()
        for chunk in chunks(blobs):
            sql = f"SELECT blob FROM facts WHERE keys = ? AND blob IN ({marks(chunk)})"  # noqa: S608  # marks are "?,?"
            known.update(self._database.rows(sql, [pack_keys(keys), *map(pack_id, chunk)]))
        return {blob for blob in blobs if (pack_id(blob),) not in known}

    def save(self, facts: Mapping[ObjectId, PageFacts], keys: Sequence[str]) -> None:
        """Keep these; call it in batches, so that no writer holds others up."""
        rows = [
            (pack_id(blob), pack_keys(keys), bool(one.references or one.problems), pack_facts(one))
            for blob, one in facts.items()
        ]

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR IGNORE INTO facts (blob, keys, is_bound, content) VALUES (?, ?, ?, ?)",
                rows,
            )

        if rows:
            self._database.write(save)

    def forget(self, blobs: Collection[ObjectId]) -> None:
        """Let these pages be parsed again."""
        self._remembered = {}

        def forget(connection: sqlite3.Connection) -> None:
            rows = [(pack_id(blob),) for blob in blobs]
            connection.executemany("DELETE FROM facts WHERE blob = ?", rows)
            # Another generation, so that no reader takes the facts for complete meanwhile.
            connection.execute(
                "UPDATE listing SET complete_for = NULL,"
                " generation = generation + (SELECT max(generation) FROM listing)"
            )

        self._database.write(forget)


def pack_keys(keys: Sequence[str]) -> str:
    """The front matter keys as one text; one of two lines, or with surrogates, is in no page."""
    return "\n".join(keys).encode("utf-8", "backslashreplace").decode()


Kind = Literal["source", "page", "answer"]

# Names compress to a third; more effort takes longer and gains a tenth.
EFFORT = 1


class NameTable:
    """What blobs name, as texts. A blob's never change; they can only be missing.

    An answer's key is the digest of all that it hangs on, so the same holds for it.
    """

    def __init__(self, database: Database, kind: Kind) -> None:
        self._database = database
        self._kind = kind

    def read(self, blobs: Collection[ObjectId]) -> dict[ObjectId, str]:
        """The texts of these blobs, as far as they are known."""
        rows: Rows = []
        for chunk in chunks(blobs):
            rows += self._database.rows(
                f"SELECT blob, content FROM names WHERE kind = ? AND blob IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                [self._kind, *map(pack_id, chunk)],
            )
        return self._database.unpack(lambda: dict(_unpacked(*row) for row in rows)) or {}

    def forget(self) -> None:
        """Let all texts of this kind go."""

        def forget(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM names WHERE kind = ?", [self._kind])

        self._database.write(forget)

    def save(self, texts: Mapping[ObjectId, str]) -> None:
        """Keep these."""
        rows = [
            (self._kind, pack_id(blob), zlib.compress(text.encode(), EFFORT))
            for blob, text in texts.items()
        ]

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR IGNORE INTO names (kind, blob, content) VALUES (?, ?, ?)", rows
            )

        if rows:
            self._database.write(save)


def _unpacked(blob: bytes, content: bytes) -> tuple[ObjectId, str]:
    try:
        return unpack_id(blob), zlib.decompress(content).decode()
    except zlib.error as error:
        raise ValueError("names are compressed") from error
