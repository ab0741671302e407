"""The one place that builds the rooms and joins them; it delegates and never decides.

This is the Python API: open a workspace, ask, close it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ubp.errors import UsageError
from ubp.example import Example
from ubp.git.snapshot import read_commit, read_document
from ubp.git.trees import diff_trees
from ubp.index import View
from ubp.model import DEBT_FILE, Assessment, FilePath, Page, ReferenceVerdict, Snapshot
from ubp.rooms import Question
from ubp.running import find_running
from ubp.staleness.assess import assess, hide
from ubp.staleness.court import Change, Court
from ubp.staleness.order import most_telling_first
from ubp.staleness.report import (
    Acknowledgement,
    Affected,
    SourceDiff,
    StaleReport,
    summarise,
    worst_first,
)
from ubp.status import LinkCounts, Status, tell_status
from ubp.upkeep import Upkeep

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.check.accept import Accepting
    from ubp.check.report import CheckReport, FixReport
    from ubp.check.run import Terms
    from ubp.report.comparing import Comparison
    from ubp.report.values import Report, Span


class Workspace(Upkeep):
    """A repository with its index. Not safe for use by several threads at once."""

    def stale(
        self,
        paths: Sequence[str] = (),
        *,
        ref: str | None = None,
        staged: bool = False,
        base: str | None = None,
        every: bool = False,
    ) -> StaleReport:
        """Which pages no longer describe their sources; `Question` tells what the arguments ask.

        `paths` (relative to the directory that was opened) narrow the answer; `every` tells pages
        without sources too, and of a change the old debts. `ubp.staleness.order` tells the order.
        """
        question = Question(ref, staged, base)
        if not (staged or base is not None):
            court = self._court(self.snapshot(question))
            pages = self._pages(court.view, paths, every=every)
            report = self._report(court, pages, assess(pages, court), paths)
            return self._settle(report, court, is_whole=not paths)
        from ubp.staleness.change import assess_change, touched_pages

        change = self._change(question)
        pages = concerned = self._pages(change.after.view, paths, every=every)
        if not every:
            touched = {page.filepath for page in touched_pages(change)}
            concerned = [page for page in pages if page.filepath in touched]
        report = self._report(change.after, pages, assess_change(concerned, change), paths)
        report = report._replace(is_change=True)
        return self._settle(report, change.after, is_whole=False)

    def compare(
        self, since: str, paths: Sequence[str] = (), *, ref: str | None = None
    ) -> "Comparison":
        """What became of pages from a revision to now, or to `ref`: how their levels changed."""
        from ubp.report.comparing import compare_levels

        then, now = (self._court(self.snapshot(Question(one))) for one in (since, ref))
        return compare_levels(then, now, paths, self._selected)

    def affected(self, paths: Sequence[str], *, ref: str | None = None) -> tuple[Affected, ...]:
        """Which pages describe these files, folders or globs."""
        from ubp.selection import path_from_root
        from ubp.staleness.affected import find_affected

        view = self.view(Question(ref))
        return find_affected(view, [path_from_root(path, self.repository) for path in paths])

    def acknowledge(
        self,
        paths: Sequence[str] = (),
        *,
        every: bool = False,
        staged: bool = False,
        from_history: bool = False,
        reason: str | None = None,
    ) -> tuple[Acknowledgement, ...]:
        """Pin the references of these pages (or of `every` page) that are not at their baseline.

        `staged` pins what the index holds, in the index and in the work tree; `from_history` pins
        the baselines that history gives to unpinned references.

        Raises:
            UsageError: neither pages nor `every` are given, or a path names no page.
        """
        from ubp.staleness.acknowledge import Terms, acknowledge
        from ubp.staleness.change import assess_change, touched_pages

        if not paths and not every:
            raise UsageError(
                "Which pages did you review?",
                cause="`ubp ack` vouches for pages, so it wants their names.",
                hint="Name them: ubp ack docs/page.md; or all of them: ubp ack --all",
            )
        question = Question(staged=staged)
        change = self._change(question) if staged else None
        court = change.after if change else self._court(self.snapshot(question))
        pages = self._pages(court.view, paths)
        if change:
            touched = {page.filepath for page in touched_pages(change)}
            pages = [page for page in pages if paths or page.filepath in touched]
        assessed = assess_change(pages, change) if change else assess(pages, court)
        terms = Terms(self.config.keys, staged, from_history, reason, self.is_hidden)
        return acknowledge(assessed, court, terms)

    def diffs(
        self, report: StaleReport
    ) -> Iterator[tuple[Assessment, ReferenceVerdict, SourceDiff]]:
        """For each reference that drifted, what changed since the page described its source."""
        from ubp.staleness.diff import diff_pages

        view = self._view(report.snapshot)
        return diff_pages(report.pages, view, self.repository, self.is_hidden)

    def report(self, *, ref: str | None = None, span: "Span | None" = None) -> "Report":
        """How fresh the documentation is: levels, ages, a trend over `span`, what matters most."""
        from ubp.report.ask import ask_report

        court = self._court(self.snapshot(Question(ref)))
        pages = court.view.pages()
        stale = self._report(court, pages, assess(pages, court), ())
        return ask_report(self, court, stale, self._terms(court.view, (), ()), span)

    def example(self, report: StaleReport, paths: Sequence[str] = ()) -> Example | None:
        """Where no page of a report names a source: a page, and a source to begin with."""
        from ubp.example import find_example

        view = self._view(report.snapshot)
        read = partial(read_document, self.repository, report.snapshot)
        return find_example(view, read, self.is_hidden, self._selected(view, paths))

    def check(
        self,
        paths: Sequence[str] = (),
        *,
        ref: str | None = None,
        staged: bool = False,
        base: str | None = None,
        rules: Sequence[str] = (),
    ) -> "CheckReport":
        """What is wrong in the pages; `Question` tells what the arguments ask.

        Of a change it is what the change brings. `rules` are names of rules, none: those that the
        configuration has not switched off.

        Raises:
            UsageError: there is no such rule, or a path names no page.
        """
        from ubp.check.run import check_change, check_state

        question = Question(ref, staged, base)
        if staged or base is not None:
            change = self._change(question)
            return check_change(change, self._terms(change.after.view, paths, rules))
        court = self._court(self.snapshot(question))
        return check_state(court, self._terms(court.view, paths, rules))

    def place(self, report: "CheckReport") -> "CheckReport":
        """The report with the places of its findings, to the character, and of their sources."""
        from ubp.check.places import place

        return place(report, self._view(report.snapshot), self.repository, self.is_hidden)

    def fix(
        self, paths: Sequence[str] = (), *, rules: Sequence[str] = (), is_dry: bool = False
    ) -> "FixReport":
        """Put right in the work tree what has a single possible remedy; `is_dry` only shows it.

        Raises:
            UsageError: there is no such rule, or a path names no page.
        """
        from ubp.check.fix import fix_findings
        from ubp.check.run import check_state

        court = self._court(self.snapshot(Question()))
        terms = self._terms(court.view, paths, rules)
        fixed = fix_findings(check_state(court, terms), court, self.config, is_dry=is_dry)
        if is_dry or not fixed.fixed:
            return fixed
        return fixed._replace(check=self.check(paths, rules=rules))

    def accept(self, *, is_pruning: bool = False) -> "Accepting":
        """Compare what is found with the debt file, and tell what it should say."""
        from ubp.check.accept import accept_findings

        court = self._court(self.snapshot(Question()))
        terms = self._terms(court.view, (), ())
        return accept_findings(court, terms, is_pruning=is_pruning)

    def status(self, *, finds_broken: bool = False) -> Status:
        """How much there is, how much of it is verified, where the index lies.

        `finds_broken` has the links that lead nowhere counted as `check` counts them.
        """
        court = self._court(self.snapshot(Question()))
        pages = court.view.bound_pages()
        report = self._report(court, pages, assess(pages, court), ())
        buckets = {str(name): n for name, n in court.view.learn_graph().buckets().items()}
        return tell_status(
            report,
            pages,
            statistics=self.store.statistics(),
            root=self.repository.root,
            keys=self.config.keys,
            links=LinkCounts(buckets, self._count_broken(court) if finds_broken else None),
            servers=find_running(self.repository.data_dir),
            model=self.model_status(court.view),
        )

    def _court(self, snapshot: Snapshot) -> Court:
        return self._court_over(self._view(snapshot))

    def _settle(self, report: StaleReport, court: Court, *, is_whole: bool) -> StaleReport:
        """The report less the debts that are accepted, the most telling pages first."""
        if court.view.entry(DEBT_FILE) is not None:
            from ubp.check.evidence import debts_of
            from ubp.check.stale_debts import accept_debts

            report = accept_debts(report, debts_of(court.view), is_whole=is_whole)
        return most_telling_first(report, court)

    def _pages(self, view: View, paths: Sequence[str], *, every: bool = False) -> list[Page]:
        if every:
            named = self._selected(view, paths) if paths else view.document_paths()
            return [page for path in sorted(named) if (page := view.page(path))]
        selected = self._selected(view, paths) if paths else None
        pages = view.bound_pages()
        return [page for page in pages if selected is None or page.filepath in selected]

    def _selected(self, view: View, paths: Sequence[str]) -> frozenset[FilePath]:
        from ubp.selection import select_pages

        return select_pages(paths, view, self.repository)

    def _count_broken(self, court: Court) -> int:
        from ubp.check.run import check_state

        terms = self._terms(court.view, (), ("broken-link",))
        return check_state(court, terms).count("error")

    def _terms(self, view: View, paths: Sequence[str], rules: Sequence[str]) -> "Terms":
        from ubp.check.run import Terms

        wanted = self._selected(view, paths) if paths else None
        return Terms(self.config, tuple(rules), wanted, self.is_hidden)

    def _change(self, question: Question) -> Change:
        after = self._court(self.snapshot(question))
        head = after.view.snapshot.commit
        if question.base is None:
            parents = [head, *self.repository.merge_heads()] if head else []
            changes = after.view.snapshot.changes
        else:
            found = self.repository.resolve(question.base)
            start = self.repository.merge_base(found, head) if head else found
            parents = [start]
            changes = diff_trees(self.repository, start, head) if head else {}
        before = tuple(self._court(read_commit(self.repository, parent)) for parent in parents)
        return Change(before, after, changes)

    def _report(
        self,
        court: Court,
        pages: Sequence[Page],
        assessed: Sequence[Assessment],
        paths: Sequence[str],
    ) -> StaleReport:
        view = court.view
        documents = len(self._selected(view, paths)) if paths else view.count_documents()
        answers = worst_first(hide(assessed, self.is_hidden))
        bound = sum(1 for page in pages if page.facts.references)
        return StaleReport(
            snapshot=view.snapshot,
            pages=answers,
            summary=summarise(answers, documents, bound),
            threshold_days=court.rules.threshold_days,
            is_shallow=self.repository.is_shallow,
        )
