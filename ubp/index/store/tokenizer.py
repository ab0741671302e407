"""SQLite's tokenizers by themselves: the words that the index finds in texts, with their places."""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Literal, NamedTuple

from ubp.index.match import Column
from ubp.index.store.codec import Words

COLUMNS: tuple[Column, ...] = ("title", "headings", "body", "aliases")

Table = Literal["words", "stems"]
"""Words are matched as they are written, or in all forms of English."""

TOKENIZERS: Mapping[Table, str] = {"words": "unicode61", "stems": "porter unicode61"}
"""Those of the tables of the full text (`ubp.index.store.schema`)."""


class PlacedWord(NamedTuple):
    """A word at a place: the number of its column, and of the words before it in the column."""

    column: int
    offset: int
    word: str


class Tokenizer:
    """One of the tokenizers; for several threads."""

    def __init__(self, table: Table) -> None:
        self._lock = Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            f"CREATE VIRTUAL TABLE text USING fts5({', '.join(COLUMNS)}, content='',"
            f" tokenize='{TOKENIZERS[table]}')"
        )
        self._database.execute("CREATE VIRTUAL TABLE token USING fts5vocab(text, instance)")

    def tokens(self, chunks: Sequence[Words]) -> list[list[PlacedWord]]:
        """Return the words of chunks in order, each chunk given by the texts of its columns."""
        found: list[list[PlacedWord]] = [[] for _ in chunks]
        with self._lock:
            self._database.execute("INSERT INTO text (text) VALUES ('delete-all')")
            self._database.executemany(
                "INSERT INTO text (rowid, title, headings, body, aliases) VALUES (?, ?, ?, ?, ?)",
                ((number, *texts) for number, texts in enumerate(chunks)),
            )
            rows = self._database.execute("SELECT term, doc, col, offset FROM token")
            for word, number, column, offset in rows:
                found[number].append(PlacedWord(COLUMNS.index(column), offset, word))
        for tokens in found:
            tokens.sort()
        return found

    @lru_cache(maxsize=8_192)  # noqa: B019  # there are two tokenizers
    def words(self, text: str) -> tuple[str, ...]:
        """Return the words of a text in order."""
        return tuple(token.word for token in self.tokens([("", "", text, "")])[0])


_TOKENIZERS: dict[Table, Tokenizer] = {}
_MAKING = Lock()


def tokenizer(table: Table) -> Tokenizer:
    """Return the tokenizer of a table."""
    with _MAKING:
        if table not in _TOKENIZERS:
            _TOKENIZERS[table] = Tokenizer(table)
        return _TOKENIZERS[table]
