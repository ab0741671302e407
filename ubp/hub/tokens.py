"""The words of texts as `tsvector` literals, made by SQLite's own tokenizers.

They are those of the index of one repository (`ubp.index.store.schema`), so that a search of the
hub finds the same. PostgreSQL's configurations split Japanese into other words than UBP does.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.index.match import AllOf, AnyOf, Column, Match, Phrase
from ubp.index.store.codec import Words
from ubp.index.store.tokenizer import COLUMNS, PlacedWord, Table, tokenizer

LABELS: dict[Column, str] = {"title": "A", "headings": "B", "body": "C", "aliases": "D"}
"""The weight by which a position's column is known."""

# A lexeme that no tokenizer makes, before the title's first word: `is_first` looks for it.
FIRST = "^"
NOTHING = "'!'"
"""A query that no text matches: no tokenizer makes this lexeme."""

# PostgreSQL's limits: of a lexeme in bytes, of positions, of positions of a lexeme, of all of it.
MAX_LEXEME, MAX_POSITION, MAX_POSITIONS, MAX_BYTES = 2_046, 16_383, 255, 900_000
# Bytes that PostgreSQL needs for a lexeme besides its text, and for each position.
LEXEME_BYTES, POSITION_BYTES = 8, 2
COLUMN_GAP = 2  # between columns, so that no phrase is found across them


class Vector(NamedTuple):
    """The words of a chunk as a literal, and their number."""

    literal: str
    length: int


def vectors(table: Table, chunks: Sequence[Words]) -> list[Vector]:
    """Return the words of chunks, each given by the texts of its columns."""
    return [Vector(_literal(tokens), len(tokens)) for tokens in tokenizer(table).tokens(chunks)]


def _literal(tokens: Sequence[PlacedWord]) -> str:
    """Return a `tsvector` literal of tokens in order."""
    places: dict[str, list[str]] = {}
    base, last, column_before, size = 0, 0, -1, 0
    for column, offset, word in tokens:
        if column != column_before:
            base = last + COLUMN_GAP
            column_before = column
            if column == 0:
                places[FIRST] = [f"{base}A"]
                base += 1
        last = base + offset
        length = len(word.encode())
        if last > MAX_POSITION:
            break
        if length > MAX_LEXEME:
            continue
        positions = places.get(word)
        size += POSITION_BYTES if positions is not None else length + LEXEME_BYTES
        if size > MAX_BYTES:
            break
        if positions is None:
            positions = places[word] = []
        if len(positions) < MAX_POSITIONS:
            positions.append(f"{last}{LABELS[COLUMNS[column]]}")
    return " ".join(f"{quote(word)}:{','.join(found)}" for word, found in places.items())


def quote(word: str) -> str:
    """Return a lexeme as literals of `tsvector` and `tsquery` have it."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def write_tsquery(match: Match, table: Table) -> str:
    """Write what is looked for as a `tsquery`."""
    if isinstance(match, Phrase):
        return _phrase(match, table)
    if isinstance(match, AllOf | AnyOf):
        operator = " & " if isinstance(match, AllOf) else " | "
        return f"({operator.join(write_tsquery(part, table) for part in match.parts)})"
    included = write_tsquery(match.included, table)
    return f"({included} & !{write_tsquery(match.excluded, table)})"


def _phrase(phrase: Phrase, table: Table) -> str:
    words = tokenizer(table).words(phrase.words)
    if not words or any(len(word.encode()) > MAX_LEXEME for word in words):
        return NOTHING
    label = LABELS[phrase.column] if phrase.column else ""
    parts = [f"{quote(word)}:{label}" if label else quote(word) for word in words]
    if phrase.is_prefix:
        parts[-1] = f"{quote(words[-1])}:*{label}"
    if phrase.is_first:
        parts.insert(0, f"{quote(FIRST)}:{label}")
    return f"({' <-> '.join(parts)})"


def phrases_in(match: Match) -> Iterator[Phrase]:
    """Yield the phrases of what is looked for, those that are excluded too."""
    if isinstance(match, Phrase):
        yield match
    elif isinstance(match, AllOf | AnyOf):
        for part in match.parts:
            yield from phrases_in(part)
    else:
        yield from phrases_in(match.included)
        yield from phrases_in(match.excluded)
