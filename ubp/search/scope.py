"""Which pages may answer a query, whatever its legs say: filters, exclusions, operators."""

from collections.abc import Collection, Sequence
from functools import cache

from ubp.core.model import FilePath
from ubp.index.fulltext import FullTextSearch
from ubp.index.view import View
from ubp.search.filters import Filters
from ubp.search.lexical import FileNames
from ubp.search.query import And, Node, Not, Query, terms_in, write_match
from ubp.search.terms import Term

Scope = frozenset[FilePath] | None
"""The pages that may answer; None: all of them."""


def find_scope(view: View, query: Query, names: FileNames) -> Scope:
    """The pages that may answer.

    Here a page is the unit: it holds both words of `a AND b` in whatever sections, or in the name
    of its file, and none that is excluded in any of them.
    """
    admitted = find_allowed(view, query.filters, names.paths)
    if query.tree is None or not (query.is_boolean or query.excluded):
        return admitted
    answering = _Answering(view.full_text(), names)
    if query.is_boolean:
        held = answering.pages(query.tree)
        return frozenset(held) if admitted is None else admitted & held
    excluded = (answering.pages(one, is_excluded=True) for one in query.excluded)
    return frozenset(names.paths if admitted is None else admitted).difference(*excluded)


def find_literal(
    view: View,
    query: Query,
    names: FileNames,
    paths: Collection[FilePath],
    *,
    by_name: bool = False,
) -> frozenset[FilePath]:
    """Those of these pages that hold what a literal query wants; `by_name`: in their names.

    Its words find no others. Only what is found by meaning or links has to be looked at: the pages
    that hold `pre*` may be half of all.
    """
    if query.wanted is None:
        return frozenset()
    if by_name:
        return frozenset(names.holding(terms_in(query.wanted))).intersection(paths)
    return frozenset(_Answering(view.full_text(), names, paths).pages(query.wanted))


def find_allowed(view: View, filters: Filters, documents: Sequence[FilePath]) -> Scope:
    """The pages that filters admit, of all `documents`."""
    if not any(filters):
        return None
    paths = filters.admitted(documents)
    if not filters.need_facts:
        return frozenset(paths)
    # Many pages, few combinations: to compare 26,000 one by one takes 90 ms.
    admit = cache(filters.admit)
    pages = view.pages_at(paths)
    return frozenset(
        path for path, page in pages.items() if admit(page.facts.tags, page.facts.doc_type)
    )


class _Answering:
    def __init__(
        self,
        full_text: FullTextSearch,
        names: FileNames,
        within: Collection[FilePath] | None = None,
    ) -> None:
        self._full_text = full_text
        self._names = names
        self._within = within

    def pages(self, node: Node, *, is_excluded: bool = False) -> set[FilePath]:
        """The pages that hold what a tree says; what is excluded is never cut."""
        if isinstance(node, Term):
            match = write_match(
                node, lambda term: is_excluded or self._full_text.has(term.expression)
            )
            named = self._names.holding(match.terms)
            if self._within is not None:
                named.intersection_update(self._within)
            return named | self._full_text.holding(match.expression, self._within)
        if isinstance(node, Not):
            wanted = self.pages(node.wanted, is_excluded=is_excluded)
            return wanted.difference(*(self.pages(one, is_excluded=True) for one in node.excluded))
        found = [self.pages(part, is_excluded=is_excluded) for part in node.parts]
        return set.intersection(*found) if isinstance(node, And) else set[FilePath]().union(*found)
