"""What a run of `ubp check` or `ubp stale` answers, with all that a format needs to tell it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ubp.check.finding import Finding
from ubp.check.report import CheckReport
from ubp.model import FilePath, ObjectId, ReferenceVerdict
from ubp.render.wording import shell_word
from ubp.staleness.report import SourceDiff, Summary


class Provenance(NamedTuple):
    """Where the repository can be seen: `url`, and `pages`, which a page's path is added to.

    `revision` is the commit that was looked at, None where files differed from it.
    """

    url: str
    revision: ObjectId | None = None
    branch: str | None = None
    pages: str | None = None


class Outcome(NamedTuple):
    """One run, computed once and told in every format that was asked for.

    `summary` counts the levels of pages, which only `stale` does. `base` is the revision that a
    branch is compared with, `keys` the front matter keys that were named on the command line;
    `diffs` what changed in the sources, where that was asked for.
    """

    command: Literal["check", "stale"]
    report: CheckReport
    exit_status: int
    version: str
    summary: Summary | None = None
    base: str | None = None
    keys: tuple[str, ...] = ()
    provenance: Provenance | None = None
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] = {}

    @property
    def is_staged(self) -> bool:
        """Whether a commit in the making was judged."""
        return self.report.is_change and self.report.snapshot.kind == "staged"

    @property
    def is_answerable(self) -> bool:
        """Whether what was judged is what commands would change: not an old revision."""
        return self.report.is_change or self.report.snapshot.kind == "worktree"


def resolving_commands(findings: tuple[Finding, ...], outcome: Outcome) -> tuple[str, ...]:
    """The commands, typed at the repository's root, that put findings of one page right.

    Empty where the page must be edited by hand, and for a revision that nobody can change.
    """
    if not findings or not outcome.is_answerable:
        return ()
    page = findings[0].filepath
    commands = []
    if any(one.fix for one in findings):
        commands.append(_command("check", "--fix", page=page, outcome=outcome))
    if any(_can_be_acknowledged(one) for one in findings):
        options = ["--staged"] if outcome.is_staged else []
        commands.append(_command("ack", *options, page=page, outcome=outcome))
    return tuple(commands)


def _can_be_acknowledged(one: Finding) -> bool:
    """Whether there is something to pin: not where a source is gone, or hidden."""
    drift = one.drift
    return drift is not None and drift.current_blob is not None and drift.verdict != "fresh"


def _command(*words: str, page: FilePath, outcome: Outcome) -> str:
    path = shell_word(f"./{page}" if page.startswith("-") else page)
    keys = [word for key in outcome.keys for word in ("--key", shell_word(key))]
    return " ".join(["ubp", *words, path, *keys])
