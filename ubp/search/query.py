"""Queries as users type them, parsed into what is looked for; only filters can be wrong. Pure.

Words and quoted phrases are joined by OR and ranked; `-word` excludes, `prefix*` matches every word
with that beginning. A query with an upper-case AND, OR or NOT (and parentheses) has the meaning
that it has in FTS5, but NOT may also follow AND, OR and parentheses, and begin the query. If it
does not parse, or only excludes (`a OR NOT b`), these are words. To require every word would leave
a third to two thirds of natural questions without an answer.

A run of CJK characters is searched for as a whole. Only if no section contains it is it cut: at
changes of script, else into bigrams. What punctuation joins (`a.b/c`) is cut at the punctuation,
except the numbers of a version, which is searched for with and without `v`, then by its series.
Quoted, excluded and prefix terms are never cut. When documents are ranked, the pieces of an
existing run except bigrams count as well: over 51 sets Recall@5 and mean reciprocal rank of words
are 0.695 0.559 with them, 0.677 0.547 without (14 Japanese ones 0.730 0.592 and 0.696 0.572), with
meaning 0.751 0.611 and 0.747 0.606.

English words match all their forms (configure, configured, configuration), unless something in the
query is quoted, excluded or a prefix. Recall@5 and mean reciprocal rank of 20 English sets of
links, headings and questions: words 0.713 0.581 as written, 0.739 0.599 in all forms; with meaning
0.740 0.608 and 0.760 0.624. Plurals, -ed and -ing only: 0.735 0.594, 0.755 0.620; both indexes
together, words as written counting twice: 0.729 0.597, 0.753 0.618.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ubp.core.text import is_cjk
from ubp.index.match import AllOf, Match, Without, any_of
from ubp.search.filters import NO_FILTERS, Filters, parse_filters, unknown_fields
from ubp.search.terms import (
    Lexeme,
    Term,
    normalize_query,
    read_lexemes,
    stemmed,
    terms_of,
    whole_term,
)

OPERATORS = frozenset({Lexeme("AND"), Lexeme("OR"), Lexeme("NOT")})
# FTS5's parser gives up at about a hundred levels; nobody types ten.
MAX_DEPTH = 16
MAX_CHARACTERS = 1000  # a pasted page is not a question, and each word costs time
MAX_TERMS = 64  # a sentence of 60 CJK characters, cut into bigrams


class And(NamedTuple):
    """A node that matches what matches all of its parts."""

    parts: tuple["Node", ...]


class Or(NamedTuple):
    """A node that matches what matches one of its parts."""

    parts: tuple["Node", ...]


class Not(NamedTuple):
    """A node that matches what is included and matches none of the excluded nodes."""

    included: "Node"
    excluded: tuple["Node", ...]


Node = Term | And | Or | Not


class Condition(NamedTuple):
    """Which documents may match, whatever their rank.

    They pass the filters, match what is `required` and none of what is `excluded`. Operators apply
    to a whole document: both words of `a AND b` must occur in any of its sections or in its file's
    name, and no excluded word in any of them.
    """

    filters: Filters = NO_FILTERS
    required: "Node | None" = None
    excluded: "tuple[Node, ...]" = ()


class Query(NamedTuple):
    """A parsed query; `tree` is None if it contains nothing to search for.

    Beside filters it may only exclude: then `tree` is None, too, and `only_excluded` is what.

    `is_boolean`: it has operators. `is_shortened`: it was too long and its end was left out.
    `is_literal`: only documents that contain it match, because it is boolean, or all of it is
    quoted or a prefix. `is_stemmed`: its words match all their forms. `has_pieces`: the pieces of
    an existing run count as well. `wording` is the text without its syntax. `unknown_fields` look
    like filters, but no document has such a field: each with the field that was probably meant.
    `unread_operators` are words, because the query does not parse with them or only excludes.
    """

    text: str
    tree: Node | None
    is_boolean: bool = False
    is_shortened: bool = False
    is_literal: bool = False
    is_stemmed: bool = False
    has_pieces: bool = False
    wording: str = ""
    filters: Filters = NO_FILTERS
    unknown_fields: tuple[tuple[str, str | None], ...] = ()
    unread_operators: tuple[str, ...] = ()
    only_excluded: "tuple[Node, ...]" = ()

    @property
    def included(self) -> Node | None:
        """The tree without what it excludes as a whole."""
        return self.tree.included if isinstance(self.tree, Not) else self.tree

    @property
    def excluded(self) -> tuple[Node, ...]:
        """What is excluded as a whole."""
        return self.tree.excluded if isinstance(self.tree, Not) else self.only_excluded

    @property
    def condition(self) -> Condition | None:
        """The condition on documents; None: all may match."""
        required = self.tree if self.is_boolean else None
        excluded = () if required is not None else self.excluded
        is_any = required is None and not excluded and not self.filters.are_any
        return None if is_any else Condition(self.filters, required, excluded)


class Cut(NamedTuple):
    """A run that no section contains, and the pieces that were searched for instead."""

    run: str
    pieces: tuple[str, ...]


class UnknownWord(NamedTuple):
    """A word of a query that no section contains, and the word that was probably meant."""

    written: str
    closest: str


class Wanted(NamedTuple):
    """What a query looks for; `terms` are the distinct terms that hits may contain."""

    match: Match
    terms: tuple[Term, ...]
    cuts: tuple[Cut, ...]
    unknown: tuple[UnknownWord, ...] = ()


def read_query(
    text: str, *, is_exact: bool = False, field_names: Callable[[], Collection[str]] = tuple
) -> Query:
    """Parse what a user typed; `is_exact`: match neither forms nor pieces of words.

    `field_names` are those of all documents; it is called if anything looks like their filter.

    Raises:
        UsageError: a filter on one of these fields cannot be read.
    """
    normalized, filters = parse_filters(normalize_query(text[:MAX_CHARACTERS]), field_names)
    query = Query(
        text,
        None,
        is_shortened=len(text) > MAX_CHARACTERS,
        filters=filters,
        unknown_fields=unknown_fields(normalized, field_names),
    )
    tree = _parse_boolean(normalized)
    if isinstance(tree, _Complement):
        if filters.are_any:
            return query._replace(is_boolean=True, only_excluded=(tree.excluded,))
    elif tree is not None and len([*_all_terms(tree)]) <= MAX_TERMS:
        wording = " ".join(dict.fromkeys(term.written for term in terms_in(tree)))
        return query._replace(tree=tree, is_boolean=True, is_literal=True, wording=wording)
    return _read_words(query, normalized, is_exact=is_exact)


def _parse_boolean(text: str) -> "Node | _Complement | None":
    """Return the tree of a normalized query; None if it has no operator or does not parse.

    Adjacent terms bind closest and are all required, then NOT, AND, OR.
    """
    lexemes = list(read_lexemes(text, has_parentheses=True))
    if not OPERATORS.intersection(lexemes):
        return None
    parser = _Parser(lexemes)
    try:
        tree = parser.parse_or(0)
    except _SyntaxError:
        return None
    return tree if parser.is_done else None


def make_match(tree: Node, exists: Callable[[Term], bool], *, has_pieces: bool = False) -> Wanted:
    """Return what a query looks for; `exists` returns whether any section contains a whole term.

    `has_pieces`: the pieces of an existing run are searched for as well.
    """
    maker = _Maker(exists, has_pieces=has_pieces)
    match = maker.make(tree)
    return Wanted(match, tuple(dict.fromkeys(maker.terms)), tuple(dict.fromkeys(maker.cuts)))


def terms_in(node: Node) -> Iterator[Term]:
    """Yield the terms of a tree except those that it excludes."""
    if isinstance(node, Term):
        yield node
    elif isinstance(node, Not):
        yield from terms_in(node.included)
    else:
        yield from chain.from_iterable(map(terms_in, node.parts))


def _all_terms(node: Node) -> Iterator[Term]:
    if isinstance(node, Term):
        yield node
        return
    parts = (node.included, *node.excluded) if isinstance(node, Not) else node.parts
    yield from chain.from_iterable(map(_all_terms, parts))


def _read_words(query: Query, normalized: str, *, is_exact: bool) -> Query:
    lexemes = list(read_lexemes(normalized))
    included = [lexeme for lexeme in lexemes if not lexeme.is_excluded]
    excluded = [whole_term(lexeme) for lexeme in lexemes if lexeme.is_excluded][:MAX_TERMS]
    if not included and query.filters.are_any:
        return query._replace(only_excluded=tuple(excluded))
    if not included:  # the hyphens cannot mean it: `--option`, `-5`
        included, excluded = lexemes, []
    terms = list(chain.from_iterable(map(terms_of, included)))
    is_stemmed = not is_exact and not any(map(_is_exact, lexemes))
    if is_stemmed:
        terms = list(map(stemmed, terms))
    if not terms:
        return query
    tree: Node = Or(tuple(terms[:MAX_TERMS]))
    if excluded:
        tree = Not(tree, tuple(excluded[:MAX_TERMS]))
    return query._replace(
        tree=tree,
        is_shortened=query.is_shortened or max(len(terms), len(excluded)) > MAX_TERMS,
        is_literal=all(lexeme.is_quoted or lexeme.is_prefix for lexeme in included),
        is_stemmed=is_stemmed,
        has_pieces=not is_exact,
        wording=" ".join(lexeme.text for lexeme in included),
        unread_operators=tuple(dict.fromkeys(each.text for each in lexemes if each in OPERATORS)),
    )


def _is_exact(lexeme: Lexeme) -> bool:
    """Return whether a word is meant as written, and with it the query: one index is searched.

    CJK characters have no forms, and are only in the index of words as written.
    """
    is_marked = lexeme.is_quoted or lexeme.is_prefix or lexeme.is_excluded
    return is_marked or any(map(is_cjk, lexeme.text))


class _SyntaxError(Exception):
    """The query does not parse."""


class _Complement(NamedTuple):
    """What matches everything but a node: only together with others it is one."""

    excluded: Node


def _complement(part: Node | _Complement) -> Node | _Complement:
    return part.excluded if isinstance(part, _Complement) else _Complement(part)


def _all(parts: Sequence[Node | _Complement]) -> Node | _Complement:
    """Return what matches all of these parts."""
    if not parts:
        raise _SyntaxError
    included = tuple(part for part in parts if not isinstance(part, _Complement))
    excluded = tuple(part.excluded for part in parts if isinstance(part, _Complement))
    if not included:
        return _Complement(_joined(Or, excluded))
    node = _joined(And, included)
    return Not(node, excluded) if excluded else node


def _any(parts: Sequence[Node | _Complement]) -> Node | _Complement:
    """Return what matches any of these parts: all but what none of them matches."""
    included = tuple(part for part in parts if not isinstance(part, _Complement))
    if len(included) == len(parts):
        return _joined(Or, included)
    return _complement(_all(tuple(map(_complement, parts))))


def _joined(kind: type[And | Or], parts: tuple[Node, ...]) -> Node:
    return kind(parts) if len(parts) > 1 else parts[0]


class _Parser:
    def __init__(self, lexemes: Sequence[Lexeme]) -> None:
        self._lexemes = lexemes
        self._next = 0

    @property
    def is_done(self) -> bool:
        return self._next == len(self._lexemes)

    def parse_or(self, depth: int) -> "Node | _Complement":
        if depth > MAX_DEPTH:
            raise _SyntaxError
        parts = [self._parse_and(depth)]
        while self._take("OR"):
            parts.append(self._parse_and(depth))
        return _any(parts)

    def _parse_and(self, depth: int) -> "Node | _Complement":
        parts = [self._parse_not(depth)]
        while self._take("AND"):
            parts.append(self._parse_not(depth))
        return _all(parts)

    def _parse_not(self, depth: int) -> "Node | _Complement":
        parts = [] if self._is_next("NOT") else [self._parse_group(depth)]
        while self._take("NOT"):
            parts.append(_complement(self._parse_group(depth)))
        return _all(parts)

    def _parse_group(self, depth: int) -> "Node | _Complement":
        parts: list[Node | _Complement] = []
        while not self.is_done and not self._is_next("OR", "AND", "NOT", ")"):
            if self._take("("):
                parts.append(self.parse_or(depth + 1))
                if not self._take(")"):
                    raise _SyntaxError
            else:
                lexeme = self._lexemes[self._next]
                self._next += 1
                term = whole_term(lexeme)
                parts.append(_Complement(term) if lexeme.is_excluded else term)
        return _all(parts)

    def _is_next(self, *words: str) -> bool:
        return not self.is_done and self._lexemes[self._next] in map(Lexeme, words)

    def _take(self, word: str) -> bool:
        is_next = self._is_next(word)
        self._next += is_next
        return is_next


class _Maker:
    def __init__(self, exists: Callable[[Term], bool], *, has_pieces: bool) -> None:
        self.terms: list[Term] = []
        self.cuts: list[Cut] = []
        self._exists = exists
        self._has_pieces = has_pieces

    def make(self, node: Node) -> Match:
        if isinstance(node, Term):
            pieces = list(self._pieces(node))[: max(1, MAX_TERMS - len(self.terms))]
            if pieces[0] != node:
                self.cuts.append(Cut(node.written, tuple(piece.written for piece in pieces)))
            self.terms += pieces
            return any_of(piece.phrase for piece in pieces)
        if isinstance(node, Not):
            included = self.make(node.included)
            return Without(included, any_of(map(_whole, node.excluded)))
        return _join(node, map(self.make, node.parts))

    def _pieces(self, term: Term) -> Iterator[Term]:
        is_whole = not term.parts or self._exists(term)
        if is_whole:
            yield term
        if not is_whole or (self._has_pieces and not term.is_uniform):
            for part in term.parts:
                if not is_whole or self._exists(part):
                    yield from self._pieces(part)


def _whole(node: Node) -> Match:
    """Return what a node looks for, its terms uncut."""
    if isinstance(node, Term):
        return node.phrase
    if isinstance(node, Not):
        return Without(_whole(node.included), any_of(map(_whole, node.excluded)))
    return _join(node, map(_whole, node.parts))


def _join(node: And | Or, parts: Iterable[Match]) -> Match:
    return AllOf(tuple(parts)) if isinstance(node, And) else any_of(parts)
