"""The words of texts as `tsvector` literals, made by SQLite's own tokenizers.

They are those of the index of one repository (`ubp.index.store.schema`), so that a search of the
hub finds the same. PostgreSQL's configurations split Japanese into other words than UBP does.

A CJK character is a word, and most Japanese sections have the common ones. So two of them in a row
are a lexeme, too: what contains 「設定」 is found without a look into all that has 設 and 定.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ubp.core.text import is_cjk
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
    size = 0
    for word, position, label in _lexemes_of(tokens):
        if position > MAX_POSITION:
            break
        length = len(word.encode())
        if length > MAX_LEXEME:
            continue
        positions = places.get(word)
        size += POSITION_BYTES if positions is not None else length + LEXEME_BYTES
        if size > MAX_BYTES:
            break
        if positions is None:
            positions = places[word] = []
        if len(positions) < MAX_POSITIONS:
            positions.append(f"{position}{label}")
    return " ".join(f"{quote(word)}:{','.join(found)}" for word, found in places.items())


def _lexemes_of(tokens: Sequence[PlacedWord]) -> Iterator[tuple[str, int, str]]:
    """Yield each lexeme of tokens in order, its position, and the label of its column."""
    base, last, column_before, word_before = 0, 0, -1, ""
    for column, offset, word in tokens:
        label = LABELS[COLUMNS[column]]
        if column != column_before:
            base = last + COLUMN_GAP
            column_before = column
            if column == 0:
                yield FIRST, base, label
                base += 1
        position = base + offset
        if position == last + 1 and is_pair(word_before, word):
            yield pair(word_before, word), last, label
        yield word, position, label
        last, word_before = position, word


def is_pair(word: str, following: str) -> bool:
    """Return whether two words in a row are a lexeme."""
    return len(word) == len(following) == 1 and _is_cjk(word) and _is_cjk(following)


_is_cjk = lru_cache(maxsize=8_192)(is_cjk)


def pair(word: str, following: str) -> str:
    """Return the lexeme of two words in a row, which no tokenizer makes.

    It begins with a blank, so that the beginning of a word does not find it, too.
    """
    return f" {word} {following}"


def lexemes_of(phrase: Phrase, table: Table) -> dict[int, str]:
    """Return the lexemes that find a phrase, by their distance from its first word.

    The last word of a prefix is by itself.
    """
    words = tokenizer(table).words(phrase.words)
    whole = len(words) - phrase.is_prefix
    found: dict[int, str] = {}
    covered = -1
    for place, word in enumerate(words):
        if place + 1 < whole and is_pair(word, words[place + 1]):
            found[place] = pair(word, words[place + 1])
            covered = place + 1
        elif place > covered:
            found[place] = word
    return found


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
    lexemes = lexemes_of(phrase, table)
    if not lexemes or any(len(lexeme.encode()) > MAX_LEXEME for lexeme in lexemes.values()):
        return NOTHING
    label = LABELS[phrase.column] if phrase.column else ""
    places = [*lexemes]
    query = f"{quote(FIRST)}:{label} <-> " if phrase.is_first else ""
    for before, (place, lexeme) in zip([*places[:1], *places], lexemes.items(), strict=False):
        query += f" <{place - before}> " if place > before else ""
        beginning = "*" if phrase.is_prefix and place == places[-1] else ""
        written = f"{quote(lexeme)}:{beginning}{label}"
        query += written.removesuffix(":")
    return f"({query})"


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
