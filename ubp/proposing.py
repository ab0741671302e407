"""The workspace's questions about bindings: which there could be, which are worth having.

What answers them is imported when they are asked: `ubp stale` needs none of it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ubp.config import scope
from ubp.errors import UsageError
from ubp.model import FilePath
from ubp.relating import Relating
from ubp.rooms import Question

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.binding.coverage import Coverage
    from ubp.binding.review import BindingReview
    from ubp.binding.suggestion import BindingSuggestions
    from ubp.binding.writing import Bound
    from ubp.staleness.pinning import Pins

MOST_PROPOSED = 10


class Proposing(Relating):
    """The part of a workspace that proposes what pages describe."""

    def suggest_bindings(
        self,
        pages: Sequence[str] = (),
        *,
        limit: int = MOST_PROPOSED,
        all_pages: bool = False,
    ) -> "BindingSuggestions":
        """The sources that pages seem to describe, with a confidence and the evidence.

        Of pages without references; `pages` (PATHs) narrows to those, bound or not, and
        `all_pages` asks about every page. What a page names already is never proposed, nor what
        `bind.refused` has.

        Raises:
            UsageError: a PATH names no page.
        """
        from ubp.binding.suggest import Request, suggest_sources
        from ubp.binding.suggestion import BindingSuggestions
        from ubp.selection import select_pages

        view = self.view(Question())
        documents = view.document_paths()
        bound = {page.filepath for page in view.bound_pages() if page.facts.references}
        if pages:
            asked = sorted(select_pages(pages, view, self.repository))
        else:
            asked = [path for path in documents if all_pages or path not in bound]
        limits = f"{scope(self.config)}\n{self.config.keys}"
        request = Request(asked, limit, self.is_hidden, self.config.refused, limits)
        found = suggest_sources(view, self.history, request)
        return BindingSuggestions(tuple(found), len(documents), len(bound))

    def bind(
        self,
        wanted: Mapping[FilePath, Sequence[str]],
        *,
        pin: bool = False,
        from_history: bool = False,
        is_dry: bool = False,
    ) -> "tuple[Bound, ...]":
        """Write sources (from the root; a folder may end in "/") into pages' front matter.

        `pin` says that the pages were read and are true; `from_history` pins the sources as they
        were when each page last changed, so that drift since then shows. Dry, nothing is written.

        Raises:
            UsageError: the repository is bare.
        """
        from ubp.binding.writing import write_bindings

        if self.repository.root is None:
            raise UsageError(
                "A bare repository has no pages to write into.",
                cause="It has no work tree.",
                hint="Run `ubp bind` in a clone.",
            )
        pins = self._pins(wanted, from_history=from_history) if pin or from_history else {}
        return write_bindings(wanted, pins, self.repository, self.config.keys, is_dry=is_dry)

    def review_bindings(
        self, pages: Sequence[str] = (), *, commits: int | None = None
    ) -> "BindingReview":
        """What history says of the sources that pages name, of all pages or of these (PATHs).

        At how many of the last `commits` (500) each would have fired, and what came of it. Of
        hidden sources nothing is told.

        Raises:
            UsageError: a PATH names no page.
            RepositoryError: history cannot be read.
        """
        from ubp.reviewing import review
        from ubp.selection import select_pages
        from ubp.staleness.assess import assess

        view = self.view(Question())
        wanted = select_pages(pages, view, self.repository) if pages else None
        bound = [p for p in view.bound_pages() if wanted is None or p.filepath in wanted]
        court = self._court_over(view)
        return review(assess(bound, court), court, commits)

    def coverage(
        self, paths: Sequence[str] = (), *, days: float | None = None, ref: str | None = None
    ) -> "Coverage":
        """Which sources no page describes, weighed by how much they changed in the last `days`.

        `paths` (files, folders, globs) narrow it; without `days` it is a year.

        Raises:
            UsageError: a PATH names no source.
        """
        from ubp.binding.coverage import DEFAULT_DAYS, measure_coverage
        from ubp.staleness.naming import read_namings

        view = self.view(Question(ref))
        namings = read_namings(view, self.is_hidden, partial(self._assessments, view))
        length = DEFAULT_DAYS if days is None else days
        return measure_coverage(self, view, namings.is_described, paths, length)

    def _pins(self, wanted: Mapping[FilePath, Sequence[str]], *, from_history: bool) -> "Pins":
        from ubp.paths import normalise
        from ubp.staleness.pinning import find_pins

        paths = {
            page: [path for source in sources if (path := normalise(source))]
            for page, sources in wanted.items()
        }
        court = self._court_over(self.view(Question()))
        return find_pins(paths, court, from_history=from_history)
