"""What the texts about staleness share: the visible pages, counts in words, options."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from ubp.core.model import QUIET_LEVELS, Assessment, FilePath, Level, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.frame.wording import ChangeWords, Style
from ubp.staleness.first_reference import FirstReference
from ubp.staleness.model import SourceDiff, StaleReport, Summary
from ubp.staleness.wording import LEVEL_WORDS

# The levels of pages that list sources, worst first.
BOUND_LEVELS: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh")
# After a number of pages.
COUNTED_LEVEL_WORDS: Mapping[Level, str] = {**LEVEL_WORDS, "untracked": "without sources"}


class Relaxed(Protocol):
    """A finding of relaxed-check; the hook does not load `ubp.checks.finding`."""

    @property
    def filepath(self) -> FilePath:
        """The page."""

    @property
    def line(self) -> int:
        """The line of the page, from 1."""

    @property
    def severity(self) -> str:
        """Whether it is an error or a warning."""

    @property
    def message(self) -> str:
        """What is not reported."""

    @property
    def hint(self) -> str:
        """Why it is not."""


class StaleTextOptions(NamedTuple):
    """What a text about staleness contains, and where it is read.

    `every`: fresh pages and old debts, too. `quiet`: one line a finding, nothing else. `prefix`:
    the directory, from the root, where commands are typed. `change`: how the change is named.
    `keys`: the front matter keys given on the command line. `diffs`: the changes of references'
    sources. `key` and `example`: what to write where no page names a source. `relaxed`: what the
    change keeps from being reported.
    """

    style: Style
    every: bool = False
    quiet: bool = False
    prefix: FilePath = FilePath("")
    change: ChangeWords = ChangeWords()
    keys: tuple[str, ...] = ()
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] = {}
    key: str = "source_refs"
    example: FirstReference | None = None
    relaxed: Sequence[Relaxed] = ()

    def command(self, *words: str) -> str:
        """Return a command to type, with the keys that this one was given."""
        return self.style.cyan(ubp_command(*words, keys=self.keys))


def visible_pages(report: StaleReport, *, every: bool) -> tuple[Assessment, ...]:
    """Return the pages that are not fresh, of a change those that it makes stale; or `every` page.

    Pages whose drift is accepted debt are left out. A page whose front matter has a problem is
    shown, too: what cannot be read was not verified.
    """
    if every:
        return report.pages
    if report.is_change:
        return report.introduced
    return tuple(
        assessment
        for assessment in report.pages
        if (assessment.level not in QUIET_LEVELS and not _is_accepted(assessment))
        or assessment.page.facts.problems
    )


def visible_references(assessment: Assessment, *, every: bool) -> tuple[ReferenceVerdict, ...]:
    """Return the references to show: not the fresh ones and old debts, unless `every` one."""
    if every:
        return assessment.references
    return tuple(
        reference
        for reference in assessment.references
        if reference.verdict != "fresh" and not reference.is_debt
    )


def _is_accepted(assessment: Assessment) -> bool:
    return all(
        reference.is_debt for reference in assessment.references if reference.verdict != "fresh"
    )


def count_levels(summary: Summary) -> str:
    """Return how many pages have each level, worst first: `2 stale, 35 fresh`."""
    counts = [(getattr(summary, level), LEVEL_WORDS[level]) for level in BOUND_LEVELS]
    return ", ".join(f"{number} {words}" for number, words in counts if number)


def count_bound(summary: Summary) -> str:
    """Return how many pages list sources: `40 of 128 pages list sources`."""
    if not summary.documents:
        return "No pages found"
    pages = "page" if summary.documents == 1 else "pages"
    if not summary.bound:
        return f"No page lists sources yet ({summary.documents} {pages} found)"
    verb = "lists" if summary.bound == 1 else "list"
    return f"{summary.bound} of {summary.documents} {pages} {verb} sources"
