"""Questions to a listing: what stands where, which documents, what they say."""

from collections.abc import Callable, Collection, Sequence

from ubp.model import MODE_TREE, Entry, FilePath, ObjectId, Page
from ubp.store.database import Rows, T
from ubp.store.facts import chunks, marks, pack_keys
from ubp.store.listing import DOCUMENTS_WITHOUT_FACTS, Listing, Listings
from ubp.store.values import pack_id, pack_path, unpack_entry, unpack_facts, unpack_id, unpack_path


class ListingMovedError(Exception):
    """The listing is no longer what it was found to be: the answer is not known."""


class Listed(Listings):
    """What the listings say.

    Each question is one statement (or a few) without a transaction, so that no reader keeps the
    log from being folded back. Another process may move the listing meanwhile: then, as where the
    database fails, they raise ListingMovedError.
    """

    def listed(self, listing: Listing, paths: Collection[FilePath]) -> dict[FilePath, Entry]:
        """What stands at these paths."""
        rows: Rows = []
        for chunk in chunks(paths):
            rows += self.rows(
                f"SELECT path, mode, id FROM entry WHERE listing = ? AND path IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                [listing.row, *map(pack_path, chunk)],
            )
        return dict(self._entries(listing, rows))

    def listed_files(self, listing: Listing, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """All files below a folder ("" is the root): whatever is no folder itself."""
        condition, arguments = _below(folder)
        return self._entries_where(listing, f"mode <> {MODE_TREE} AND ({condition})", arguments)

    def listed_children(self, listing: Listing, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """What stands in a folder directly ("" is the root)."""
        condition, arguments = _below(folder)
        start = len(_prefix(folder)) + 1
        is_deeper = f"instr(substr(CAST(path AS BLOB), {start}), x'2f')"
        return self._entries_where(listing, f"({condition}) AND NOT {is_deeper}", arguments)

    def listed_beyond_ascii(self, listing: Listing) -> list[FilePath]:
        """The paths that may be written in several Unicode forms."""
        rows = self.rows(
            "SELECT path FROM entry"
            " WHERE listing = ? AND length(path) <> length(CAST(path AS BLOB))",
            [listing.row],
        )
        self._check(listing)
        return [unpack_path(path) for (path,) in rows]

    def listed_documents(self, listing: Listing) -> list[tuple[FilePath, ObjectId]]:
        """The documents and their blobs."""
        rows = self.rows(
            "SELECT path, id FROM entry WHERE listing = ? AND is_document", [listing.row]
        )
        return self._documents(listing, rows)

    def count_documents(self, listing: Listing) -> int:
        """How many documents there are."""
        rows = self.rows(
            "SELECT count(*) FROM entry WHERE listing = ? AND is_document", [listing.row]
        )
        self._check(listing)
        return sum(count for (count,) in rows)

    def documents_without_facts(
        self, listing: Listing, keys: Sequence[str]
    ) -> list[tuple[FilePath, ObjectId]]:
        """The documents that nobody has parsed under these keys, and their blobs."""
        rows = self.rows(DOCUMENTS_WITHOUT_FACTS, [pack_keys(keys), listing.row])
        return self._documents(listing, rows)

    def bound_pages(self, listing: Listing, keys: Sequence[str]) -> list[Page]:
        """The documents with references or problems, in no order.

        Starts from the facts: of 26,000 notes most name no source (1 ms instead of 30). Without
        statistics SQLite would look each one up by the primary key's first column (110 ms).
        """
        rows = self.rows(
            "SELECT path, blob, content FROM facts CROSS JOIN entry INDEXED BY document"
            " ON entry.listing = ? AND entry.id = facts.blob AND entry.is_document"
            " WHERE facts.keys = ? AND facts.is_bound",
            [listing.row, pack_keys(keys)],
        )
        self._check(listing)

        def unpack() -> list[Page]:
            facts = unpack_facts([content for _, _, content in rows])
            return [
                Page(unpack_path(path), unpack_id(blob), one)
                for (path, blob, _), one in zip(rows, facts, strict=True)
            ]

        return self._known(unpack)

    def _entries_where(
        self, listing: Listing, condition: str, arguments: Sequence[object]
    ) -> list[tuple[FilePath, Entry]]:
        rows = self.rows(
            f"SELECT path, mode, id FROM entry WHERE listing = ? AND ({condition})",  # noqa: S608  # from above
            [listing.row, *arguments],
        )
        return self._entries(listing, rows)

    def _entries(self, listing: Listing, rows: Rows) -> list[tuple[FilePath, Entry]]:
        self._check(listing)
        return self._known(
            lambda: [(unpack_path(path), unpack_entry(mode, found)) for path, mode, found in rows]
        )

    def _documents(self, listing: Listing, rows: Rows) -> list[tuple[FilePath, ObjectId]]:
        self._check(listing)
        return self._known(lambda: [(unpack_path(path), unpack_id(blob)) for path, blob in rows])

    def _known(self, values: Callable[[], list[T]]) -> list[T]:
        unpacked = self.unpack(values)
        if unpacked is None:
            raise ListingMovedError
        return unpacked

    def _check(self, listing: Listing) -> None:
        # After the rows were read: generations only grow, so they were this listing's all along.
        now = self.rows(
            'SELECT 1 FROM listing WHERE id = ? AND "commit" = ? AND scope = ? AND generation = ?',
            [listing.row, pack_id(listing.commit), listing.scope, listing.generation],
        )
        if not now:
            raise ListingMovedError


def _prefix(folder: FilePath) -> bytes:
    path = pack_path(folder)
    return (path if isinstance(path, bytes) else path.encode()) + b"/" if folder else b""


def _below(folder: FilePath) -> tuple[str, list[object]]:
    # A folder's undecodable files (BLOB) stand apart from the others (TEXT) in SQLite's order.
    prefix = _prefix(folder)
    if not prefix:
        return "1", []
    end = prefix[:-1] + b"0"  # the character after "/"
    ranges: list[object] = [prefix, end]
    condition = "path >= ? AND path < ?"
    path = pack_path(folder)
    if isinstance(path, str):
        ranges += [path + "/", path + "0"]
        condition = f"{condition} OR {condition}"
    return condition, ranges
