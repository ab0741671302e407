"""Queries with AND, OR, NOT and parentheses, as FTS5 understands them. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.search.terms import Lexeme, Term, read_lexemes, whole_term

# FTS5's parser gives up at about a hundred; nobody types ten.
MAX_DEPTH = 16


class And(NamedTuple):
    """Each of them."""

    parts: tuple["Node", ...]


class Or(NamedTuple):
    """At least one of them."""

    parts: tuple["Node", ...]


class Not(NamedTuple):
    """What is wanted, but for what holds one of the excluded."""

    wanted: "Node"
    excluded: tuple["Node", ...]


Node = Term | And | Or | Not


def parse_boolean(text: str) -> Node | None:
    """The tree of a folded query; None: it has no operator, or does not parse.

    Side by side terms bind closest and are all required, then come NOT, AND, OR; NOT stands
    between what is wanted and what is not.
    """
    lexemes = list(read_lexemes(text, has_parentheses=True))
    if not any(map(_is_operator, lexemes)):
        return None
    parser = _Parser(lexemes)
    try:
        tree = parser.read_or(0)
    except _DoesNotParseError:
        return None
    return tree if parser.is_done else None


class _DoesNotParseError(Exception):
    pass


class _Parser:
    def __init__(self, lexemes: Sequence[Lexeme]) -> None:
        self._lexemes = lexemes
        self._next = 0

    @property
    def is_done(self) -> bool:
        return self._next == len(self._lexemes)

    def read_or(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise _DoesNotParseError
        parts = [self._read_and(depth)]
        while self._take("OR"):
            parts.append(self._read_and(depth))
        return Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def _read_and(self, depth: int) -> Node:
        parts = [self._read_not(depth)]
        while self._take("AND"):
            parts.append(self._read_not(depth))
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def _read_not(self, depth: int) -> Node:
        wanted, excluded = self._read_group(depth), []
        while self._take("NOT"):
            excluded.append(self._read_group(depth))
        return Not(wanted, tuple(excluded)) if excluded else wanted

    def _read_group(self, depth: int) -> Node:
        wanted: list[Node] = []
        excluded: list[Node] = []
        while not self.is_done and not self._is_next("OR", "AND", "NOT", ")"):
            if self._take("("):
                wanted.append(self.read_or(depth + 1))
                if not self._take(")"):
                    raise _DoesNotParseError
            else:
                lexeme = self._lexemes[self._next]
                self._next += 1
                (excluded if lexeme.is_excluded else wanted).append(whole_term(lexeme))
        if not wanted:
            raise _DoesNotParseError
        group = And(tuple(wanted)) if len(wanted) > 1 else wanted[0]
        return Not(group, tuple(excluded)) if excluded else group

    def _is_next(self, *words: str) -> bool:
        if self.is_done:
            return False
        lexeme = self._lexemes[self._next]
        return lexeme in map(Lexeme, words)

    def _take(self, word: str) -> bool:
        is_next = self._is_next(word)
        self._next += is_next
        return is_next


def _is_operator(lexeme: Lexeme) -> bool:
    return lexeme in {Lexeme("AND"), Lexeme("OR"), Lexeme("NOT")}
