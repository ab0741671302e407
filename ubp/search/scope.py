"""The documents that may match a query, whatever their rank: filters, exclusions, operators."""

from collections.abc import Collection, Sequence
from functools import cache

from ubp.core.model import FilePath
from ubp.index.fulltext import FullTextSearch
from ubp.index.view import View
from ubp.search.filters import Filters
from ubp.search.lexical import FileNames
from ubp.search.query import And, Node, Not, Query, make_match, terms_in
from ubp.search.terms import Term

Scope = frozenset[FilePath] | None
"""The documents that may match; None: all of them."""


def find_scope(view: View, query: Query, names: FileNames) -> Scope:
    """Return the documents that may match.

    Operators apply to a whole document: both words of `a AND b` must occur in any of its sections
    or in its file's name, and no excluded word in any of them.
    """
    allowed = find_allowed(view, query.filters, names.paths)
    if query.tree is None or not (query.is_boolean or query.excluded):
        return allowed
    matcher = _Matcher(view.full_text(), names)
    if query.is_boolean:
        matching = matcher.documents(query.tree)
        return frozenset(matching) if allowed is None else allowed & matching
    excluded = (matcher.documents(node, is_excluded=True) for node in query.excluded)
    return frozenset(names.paths if allowed is None else allowed).difference(*excluded)


def find_literal(
    view: View,
    query: Query,
    names: FileNames,
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


def find_allowed(view: View, filters: Filters, documents: Sequence[FilePath]) -> Scope:
    """Return those of `documents` (all there are) that match the filters."""
    if not any(filters) and filters.within is None:
        return None
    paths = filters.matching_paths(documents)
    if filters.within is not None:
        paths = [path for path in paths if path in filters.within]
    if filters.fields or filters.excluded_fields:
        fields = view.fields(paths)
        paths = [path for path in paths if filters.match_fields(fields.get(path, {}))]
    if not filters.need_facts:
        return frozenset(paths)
    # Many documents share few combinations of facts: to check each of 26,000 takes 90 ms.
    match_facts = cache(filters.match_facts)
    pages = view.pages_at(paths)
    return frozenset(
        path for path, page in pages.items() if match_facts(page.facts.tags, page.facts.doc_type)
    )


class _Matcher:
    """Evaluates the tree of a query for whole documents, those `within` if given."""

    def __init__(
        self,
        full_text: FullTextSearch,
        names: FileNames,
        within: Collection[FilePath] | None = None,
    ) -> None:
        self._full_text = full_text
        self._names = names
        self._within = within

    def documents(self, node: Node, *, is_excluded: bool = False) -> set[FilePath]:
        """Return the documents that match a node; excluded terms are never cut into pieces."""
        if isinstance(node, Term):
            wanted = make_match(node, lambda term: is_excluded or self._full_text.has(term.phrase))
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
