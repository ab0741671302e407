"""What of a report is shown: findings, unless everything was asked for.

Levels in words.

How a report is told to people.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.model import QUIET_LEVELS, Assessment, FilePath, Level, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.output.wording import Style
from ubp.staleness.first_reference import FirstReference
from ubp.staleness.model import SourceDiff, StaleReport, Summary
from ubp.staleness.wording import LEVEL_WORDS


def visible_pages(report: StaleReport, *, every: bool) -> tuple[Assessment, ...]:
    """The pages that are not fresh, of a change those that it leaves behind; no accepted debts.

    A page whose front matter has a problem is shown too: what cannot be read was not verified.
    """
    if every:
        return report.pages
    if report.is_change:
        return report.introduced
    return tuple(
        one
        for one in report.pages
        if (one.level not in QUIET_LEVELS and not _is_accepted(one)) or one.page.facts.problems
    )


def visible_references(one: Assessment, *, every: bool) -> tuple[ReferenceVerdict, ...]:
    """The references of a shown page that need a word; old debts do not."""
    if every:
        return one.references
    return tuple(
        answer for answer in one.references if answer.verdict != "fresh" and not answer.is_debt
    )


def _is_accepted(one: Assessment) -> bool:
    return all(answer.is_debt for answer in one.references if answer.verdict != "fresh")


COUNTED: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh")


def count_levels(summary: Summary) -> str:
    """How many pages have each level, worst first: `2 stale, 35 fresh`."""
    counts = [(getattr(summary, level), LEVEL_WORDS[level]) for level in COUNTED]
    return ", ".join(f"{number} {words}" for number, words in counts if number)


def count_bound(summary: Summary) -> str:
    """How many pages name sources: `40 of 128 pages name sources`."""
    verb = "names" if summary.bound == 1 else "name"
    pages = "page" if summary.documents == 1 else "pages"
    return f"{summary.bound} of {summary.documents} {pages} {verb} sources"


class StaleTextOptions(NamedTuple):
    """What is told, and where it is read.

    `every`: fresh pages and old debts too. `quiet`: a line a finding, nothing else. `prefix`: the
    folder, from the root, where commands are typed. `base`: the revision that a branch is compared
    with. `keys`: the front matter keys that were named on the command line. `diffs`: what changed
    in a reference's source. `key` and `example`: what to write where no page names a source.
    """

    style: Style
    every: bool = False
    quiet: bool = False
    prefix: FilePath = FilePath("")
    base: str | None = None
    keys: tuple[str, ...] = ()
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] = {}
    key: str = "source_refs"
    example: FirstReference | None = None

    def command(self, *words: str) -> str:
        """Return a command to type, with the keys that this one was given."""
        return self.style.cyan(ubp_command(*words, keys=self.keys))
