"""The tables of facts by blob: front matter, under the keys that were read, and names in texts."""

import sqlite3
import zlib
from collections.abc import Collection, Mapping, Sequence

from ubp.core.interruption import with_checkpoints
from ubp.core.model import ObjectId, PageFacts
from ubp.index.store.codec import pack_facts, pack_id, unpack_facts, unpack_id
from ubp.index.store.database import Database, later_generation
from ubp.index.store.schema import insertion, intact

# Reading and unpacking 1,000 facts takes 12 ms of CPU, which a server would spend on each call;
# these take about 50 MB.
MAX_CACHED = 50_000


class FactsTable:
    """The front matter facts of pages.

    Those of a blob never change, so that they are remembered when they were read.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered: dict[tuple[str, ObjectId], PageFacts] = {}

    def read(self, blobs: Collection[ObjectId], keys: Sequence[str]) -> dict[ObjectId, PageFacts]:
        """Return the facts of these pages that the table has."""
        if len(self._remembered) > MAX_CACHED:
            self._remembered = {}
        packed, remembered = pack_keys(keys), self._remembered
        known = {
            blob: remembered[packed, blob]
            for blob in with_checkpoints(blobs)
            if (packed, blob) in remembered
        }
        rows = self._database.rows_in(
            f"SELECT blob, content FROM facts WHERE {intact('facts')} AND keys = ? AND blob IN",  # noqa: S608  # ours
            [pack_id(blob) for blob in blobs if blob not in known],
            [packed],
        )
        contents = unpack_facts([content for _, content in rows])
        found = {
            unpack_id(blob): facts
            for (blob, _), facts in with_checkpoints(zip(rows, contents, strict=True))
        }
        remembered.update(
            ((packed, blob), facts) for blob, facts in with_checkpoints(found.items())
        )
        return known | found

    def missing(self, blobs: Collection[ObjectId], keys: Sequence[str]) -> set[ObjectId]:
        """Return those of these pages whose facts the table lacks."""
        rows = self._database.rows_in(
            "SELECT blob FROM facts WHERE keys = ? AND blob IN",
            map(pack_id, blobs),
            [pack_keys(keys)],
        )
        known = {blob for (blob,) in rows}
        return {blob for blob in blobs if pack_id(blob) not in known}

    def save(self, facts: Mapping[ObjectId, PageFacts], keys: Sequence[str]) -> None:
        """Save facts. Call it in batches, so that other writers do not wait long."""
        packed = pack_keys(keys)
        rows = [
            (pack_id(blob), packed, bool(page.references or page.problems), pack_facts(page))
            for blob, page in facts.items()
        ]

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(insertion("facts", "INSERT OR IGNORE"), rows)

        if rows:
            self._database.write(save)

    def forget(self, blobs: Collection[ObjectId]) -> None:
        """Remove the facts of these pages, so that they are parsed again."""
        self._remembered = {}

        def forget(connection: sqlite3.Connection) -> None:
            rows = [(pack_id(blob),) for blob in blobs]
            connection.executemany("DELETE FROM facts WHERE blob = ?", rows)
            # A new generation, so that no reader takes the facts for complete meanwhile.
            connection.execute(
                "UPDATE listing SET complete_for = NULL,"  # noqa: S608  # ours
                f" generation = {later_generation('listing')}"
            )

        self._database.write(forget)


def pack_keys(keys: Sequence[str]) -> str:
    """Return front matter keys as one text. No key has two lines or surrogates in a page."""
    return "\n".join(keys).encode("utf-8", "backslashreplace").decode()


# Names compress to a third; higher levels take longer and gain a tenth.
COMPRESSION_LEVEL = 1


class BlobTable:
    """What was found in blobs, as bytes: of a blob never anything else.

    The kind contains the parser's version where a newer one may find something else.
    """

    def __init__(self, database: Database, kind: str) -> None:
        self._database = database
        self._kind = kind

    def read(self, blobs: Collection[ObjectId]) -> dict[ObjectId, bytes]:
        """Return the contents for these blobs that the table has."""
        rows = self._database.rows_in(
            f"SELECT blob, content FROM names WHERE {intact('names')} AND kind = ? AND blob IN",  # noqa: S608  # ours
            map(pack_id, blobs),
            [self._kind],
        )
        return {unpack_id(blob): content for blob, content in with_checkpoints(rows)}

    def forget(self) -> None:
        """Remove all contents of this kind."""

        def forget(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM names WHERE kind = ?", [self._kind])

        self._database.write(forget)

    def save(self, contents: Mapping[ObjectId, bytes], *, replaces: bool = False) -> None:
        """Save contents by blob; those that are known remain, unless this `replaces` them."""
        verb = "INSERT OR REPLACE" if replaces else "INSERT OR IGNORE"
        rows = [(self._kind, pack_id(blob), content) for blob, content in contents.items()]

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(insertion("names", verb), rows)

        if rows:
            self._database.write(save)


class NameTable:
    """Names found in blobs, as compressed texts.

    An answer's key is the digest of everything that it depends on, so that it never changes either.
    """

    def __init__(self, database: Database, kind: str) -> None:
        self._table = BlobTable(database, kind)

    def read(self, blobs: Collection[ObjectId]) -> dict[ObjectId, str]:
        """Return the texts of these blobs that the table has."""
        contents = self._table.read(blobs)
        return {blob: zlib.decompress(content).decode() for blob, content in contents.items()}

    def forget(self) -> None:
        """Remove all texts of this kind."""
        self._table.forget()

    def save(self, texts: Mapping[ObjectId, str], *, replaces: bool = False) -> None:
        """Save texts by blob; those that are known remain, unless this `replaces` them."""
        contents = {
            blob: zlib.compress(text.encode(), COMPRESSION_LEVEL) for blob, text in texts.items()
        }
        self._table.save(contents, replaces=replaces)
