"""Queries with AND, OR, NOT and parentheses, as FTS5 understands them. Pure.

What a user types, understood and written for FTS5; whatever it is, it never raises. Pure.

Words and quoted phrases are joined by OR and ranked; `-word` excludes, `prefix*` stands for all
that begins so. With an upper-case AND, OR or NOT (and parentheses) a query means what it means to
FTS5 if it parses so; else these are words too. To require every word would leave a third to two
thirds of natural questions without an answer.

A run of CJK characters is looked for whole, and only where no section holds it is it cut: at
changes of script, else into bigrams. So is what punctuation joins (`a.b/c`): at the punctuation.
What is quoted, excluded or ends in a star is never cut. Where pages are found and ranked, pieces
but for bigrams count beside a run that is held, too: over 51 sets Recall@5 and mean reciprocal rank
of words are 0.695 0.559 then, 0.677 0.547 without (14 Japanese ones 0.730 0.592 and 0.696 0.572),
with meaning 0.751 0.611 and 0.747 0.606.

English words stand for all their forms (configure, configured, configuration), unless something in
the query is quoted, excluded or ends in a star. Recall@5 and mean reciprocal rank of 20 English
sets of links, headings and questions: words 0.713 0.581 as they are written, 0.739 0.599 so; with
meaning 0.740 0.608 and 0.760 0.624. Plurals, -ed and -ing alone: 0.735 0.594, 0.755 0.620; both
indexes together, what is written as it stands counting twice: 0.729 0.597, 0.753 0.618.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ubp.core.text import is_cjk
from ubp.search.filters import NO_FILTERS, Filters, parse_filters
from ubp.search.terms import Lexeme, Term, fold_query, read_lexemes, stemmed, terms_of, whole_term

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


MAX_CHARACTERS = 1000  # of a query: a pasted page is no question, and each word costs time
MAX_TERMS = 64  # a sentence of 60 CJK characters, cut into bigrams


class Query(NamedTuple):
    """A query as it was understood.

    `tree` is None where there is nothing to look for. `is_boolean`: AND, OR and NOT were
    understood. `is_shortened`: it was too long, and its end was left out. `is_literal`: only such
    pages answer it as hold what it says: it is boolean, or all of it stands in quotation marks or
    ends in a star. `is_stemmed`: its words stand for all their forms. `has_pieces`: what a run that
    is held consists of counts, too. `wording` is what it says without its syntax.
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

    @property
    def wanted(self) -> Node | None:
        """The tree without what it excludes as a whole."""
        return self.tree.wanted if isinstance(self.tree, Not) else self.tree

    @property
    def excluded(self) -> tuple[Node, ...]:
        """What the tree excludes as a whole."""
        return self.tree.excluded if isinstance(self.tree, Not) else ()


class Cut(NamedTuple):
    """A run that no section holds whole, and what was looked for instead."""

    run: str
    pieces: tuple[str, ...]


class Match(NamedTuple):
    """A query for FTS5; `terms` are what hits may hold, once each."""

    expression: str
    terms: tuple[Term, ...]
    cuts: tuple[Cut, ...]


def read_query(text: str, *, is_exact: bool = False) -> Query:
    """Understand what a user typed; `is_exact`: neither forms nor pieces of it will do."""
    folded, filters = parse_filters(fold_query(text[:MAX_CHARACTERS]))
    query = Query(text, None, is_shortened=len(text) > MAX_CHARACTERS, filters=filters)
    tree = parse_boolean(folded)
    if tree is not None and len([*_all_terms(tree)]) <= MAX_TERMS:
        wording = " ".join(dict.fromkeys(term.written for term in terms_in(tree)))
        return query._replace(tree=tree, is_boolean=True, is_literal=True, wording=wording)
    return _read_words(query, folded, is_exact=is_exact)


def _read_words(query: Query, folded: str, *, is_exact: bool) -> Query:
    lexemes = list(read_lexemes(folded))
    wanted = [one for one in lexemes if not one.is_excluded]
    unwanted = [one for one in lexemes if one.is_excluded] if wanted else []
    # Who only excludes cannot mean it: `--option`, `-5`.
    wanted = wanted or lexemes
    terms = list(chain.from_iterable(map(terms_of, wanted)))
    is_stemmed = not is_exact and not any(map(_is_exact, lexemes))
    if is_stemmed:
        terms = list(map(stemmed, terms))
    excluded = [whole_term(one) for one in unwanted]
    if not terms:
        return query
    tree: Node = Or(tuple(terms[:MAX_TERMS]))
    if excluded:
        tree = Not(tree, tuple(excluded[:MAX_TERMS]))
    return query._replace(
        tree=tree,
        is_shortened=query.is_shortened or max(len(terms), len(excluded)) > MAX_TERMS,
        is_literal=all(one.is_quoted or one.is_prefix for one in wanted),
        is_stemmed=is_stemmed,
        has_pieces=not is_exact,
        wording=" ".join(one.text for one in wanted),
    )


def _is_exact(lexeme: Lexeme) -> bool:
    """Whether a word is meant as it is written; so are those beside it, for one index is asked.

    CJK characters have no forms, and stand in the index of words as they are written alone.
    """
    is_marked = lexeme.is_quoted or lexeme.is_prefix or lexeme.is_excluded
    return is_marked or any(map(is_cjk, lexeme.text))


def write_match(tree: Node, is_held: Callable[[Term], bool], *, has_pieces: bool = False) -> Match:
    """Write a query for FTS5; `is_held` tells whether a section holds a term whole.

    `has_pieces`: what a held run consists of is looked for, too.
    """
    writer = _Writer(is_held, has_pieces=has_pieces)
    expression = writer.write(tree)
    return Match(expression, tuple(dict.fromkeys(writer.terms)), tuple(dict.fromkeys(writer.cuts)))


def any_of(terms: Iterable[Term]) -> str:
    """What holds one of these terms at least, for FTS5."""
    return _either(term.expression for term in terms)


def terms_in(node: Node) -> Iterator[Term]:
    """The terms of a tree but for those that it excludes."""
    if isinstance(node, Term):
        yield node
    elif isinstance(node, Not):
        yield from terms_in(node.wanted)
    else:
        yield from chain.from_iterable(map(terms_in, node.parts))


class _Writer:
    def __init__(self, is_held: Callable[[Term], bool], *, has_pieces: bool) -> None:
        self.terms: list[Term] = []
        self.cuts: list[Cut] = []
        self._is_held = is_held
        self._has_pieces = has_pieces

    def write(self, node: Node) -> str:
        if isinstance(node, Term):
            return _either(term.expression for term in self._as_held(node))
        if isinstance(node, Not):
            wanted = self.write(node.wanted)
            return f"({wanted} NOT {_either(map(_write_whole, node.excluded))})"
        return _join(node, map(self.write, node.parts))

    def _as_held(self, term: Term) -> list[Term]:
        found = list(self._pieces(term))[: max(1, MAX_TERMS - len(self.terms))]
        if found[0] != term:
            self.cuts.append(Cut(term.written, tuple(piece.written for piece in found)))
        self.terms += found
        return found

    def _pieces(self, term: Term) -> Iterator[Term]:
        is_held = not term.parts or self._is_held(term)
        if is_held:
            yield term
        if not is_held or (self._has_pieces and not term.is_uniform):
            for part in term.parts:
                yield from self._pieces(part)


def _write_whole(node: Node) -> str:
    if isinstance(node, Term):
        return node.expression
    if isinstance(node, Not):
        excluded = _either(map(_write_whole, node.excluded))
        return f"({_write_whole(node.wanted)} NOT {excluded})"
    return _join(node, map(_write_whole, node.parts))


def _join(node: And | Or, expressions: Iterable[str]) -> str:
    return f"({' AND '.join(expressions)})" if isinstance(node, And) else _either(expressions)


def _either(expressions: Iterable[str]) -> str:
    unique = list(dict.fromkeys(expressions))
    return f"({' OR '.join(unique)})" if len(unique) > 1 else unique[0]


def _all_terms(node: Node) -> Iterator[Term]:
    if isinstance(node, Term):
        yield node
        return
    parts = (node.wanted, *node.excluded) if isinstance(node, Not) else node.parts
    yield from chain.from_iterable(map(_all_terms, parts))
