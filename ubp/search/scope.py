"""The documents that may match a query, whatever their rank: filters, exclusions, operators."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache

from ubp.core.model import FilePath
from ubp.index.match import Match
from ubp.search.filters import Filters
from ubp.search.lexical import FileNames, JoinedNames
from ubp.search.query import And, Condition, Node, Not, Query, Wanted, make_match, terms_in
from ubp.search.searched import Names, Scope, Searched, Words
from ubp.search.terms import Term


def find_scope(query: Query, names: Names) -> Scope:
    """Return the documents that may match a query; None: all of them."""
    condition = query.condition
    return None if condition is None else names.select(condition)


class ViewNames:
    """The names of a view's documents, and those of them that meet a condition."""

    def __init__(self, view: Searched, names: FileNames | JoinedNames) -> None:
        """Answer for the documents of a view, which have these names."""
        self._view = view
        self._names = names
        self.score = names.score
        self.matching = names.matching
        self.equal = names.equal

    def select(self, condition: Condition) -> frozenset[FilePath]:
        """Return the documents that meet a condition."""
        allowed = _allowed(self._view, condition.filters, self._names.paths)
        matcher = _Matcher(self._view.full_text(), self)
        if condition.required is None:
            paths = frozenset(self._names.paths if allowed is None else allowed)
        else:
            matching = matcher.documents(condition.required)
            paths = frozenset(matching if allowed is None else matching.intersection(allowed))
        excluded = (matcher.documents(node, is_excluded=True) for node in condition.excluded)
        return paths.difference(*excluded)


def find_literal(
    view: Searched,
    query: Query,
    names: Names,
    paths: Collection[FilePath],
    *,
    by_name: bool = False,
) -> frozenset[FilePath]:
    """Return those of `paths` that contain what a literal query wants; `by_name`: in their names.

    The lexical ranking has no others. Only what was found by meaning or links has to be checked:
    half of all documents may contain `pre*`.
    """
    if query.included is None:
        return frozenset()
    if by_name:
        return frozenset(names.matching(terms_in(query.included))).intersection(paths)
    return frozenset(_Matcher(view.full_text(), names, paths).documents(query.included))


def _allowed(
    view: Searched, filters: Filters, documents: Sequence[FilePath]
) -> Collection[FilePath] | None:
    """Return those of `documents` (all there are) that match the filters; None: all of them."""
    if not filters.are_any:
        return None
    paths = filters.matching_paths(documents)
    if filters.within is not None:
        paths = [path for path in paths if path in filters.within]
    if filters.fields or filters.excluded_fields:
        fields = view.fields(paths)
        paths = [path for path in paths if filters.match_fields(fields.get(path, {}))]
    if not filters.need_facts:
        return paths
    # Many documents share few combinations of facts: to check each of 26,000 takes 90 ms.
    match_facts = cache(filters.match_facts)
    pages = view.pages_at(paths)
    return [
        path for path, page in pages.items() if match_facts(page.facts.tags, page.facts.doc_type)
    ]


def matches_in(node: Node, full_text: Words, *, is_excluded: bool = False) -> Iterator[Match]:
    """Yield what is looked for in whole documents, of each term of a tree; see `find_scope`."""
    if isinstance(node, Term):
        yield _wanted(node, full_text, is_excluded=is_excluded).match
    elif isinstance(node, Not):
        yield from matches_in(node.included, full_text, is_excluded=is_excluded)
        for part in node.excluded:
            yield from matches_in(part, full_text, is_excluded=True)
    else:
        for part in node.parts:
            yield from matches_in(part, full_text, is_excluded=is_excluded)


def _wanted(term: Term, full_text: Words, *, is_excluded: bool) -> Wanted:
    return make_match(term, lambda part: is_excluded or full_text.has(part.phrase))


class _Matcher:
    """Evaluates the tree of a query for whole documents, those `within` if given."""

    def __init__(
        self,
        full_text: Words,
        names: Names,
        within: Collection[FilePath] | None = None,
    ) -> None:
        self._full_text = full_text
        self._names = names
        self._within = within

    def documents(self, node: Node, *, is_excluded: bool = False) -> set[FilePath]:
        """Return the documents that match a node; excluded terms are never cut into pieces."""
        if isinstance(node, Term):
            wanted = _wanted(node, self._full_text, is_excluded=is_excluded)
            by_name = self._names.matching(wanted.terms)
            if self._within is not None:
                by_name.intersection_update(self._within)
            return by_name | self._full_text.holding(wanted.match, self._within)
        if isinstance(node, Not):
            included = self.documents(node.included, is_excluded=is_excluded)
            return included.difference(
                *(self.documents(part, is_excluded=True) for part in node.excluded)
            )
        parts = [self.documents(part, is_excluded=is_excluded) for part in node.parts]
        return set.intersection(*parts) if isinstance(node, And) else set[FilePath]().union(*parts)
