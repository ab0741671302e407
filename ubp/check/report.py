"""What a check answers."""

from typing import NamedTuple

from ubp.check.finding import Finding, Severity
from ubp.model import FilePath, Snapshot


class CheckReport(NamedTuple):
    """Findings by path and place; those that do not count stand apart.

    `ignored` are those that were told to be, each with its `suppression`; `debts` old ones that are
    told of though nobody has to answer for them now; `unknown` the references of which a shallow
    clone could not tell. `documents` counts the pages that were looked at; `rules` are the names of
    those that were run. For a change, the findings are those that it brings.
    """

    snapshot: Snapshot
    findings: tuple[Finding, ...]
    ignored: tuple[Finding, ...]
    documents: int
    unknown: tuple[Finding, ...]
    rules: tuple[str, ...]
    is_change: bool = False
    debts: tuple[Finding, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(1 for one in self.findings if one.severity == severity)

    @property
    def accepted(self) -> int:
        """How many of the ignored findings are old ones that the debt file accepts."""
        return sum(one.is_accepted for one in self.ignored)

    @property
    def unverified(self) -> int:
        """Of how many references a shallow clone could not tell."""
        return len(self.unknown)

    @property
    def fixable(self) -> int:
        """How many findings `--fix` can put right."""
        return sum(1 for one in self.findings if one.fix)


class Fixed(NamedTuple):
    """A finding that was put right, and what was written in place of what."""

    finding: Finding
    before: str
    after: str


class LeftAlone(NamedTuple):
    """A page that was not edited though it could have been, and why."""

    filepath: FilePath
    reason: str


class FixReport(NamedTuple):
    """What `--fix` wrote, or in a dry run would write (`diff`); `check` is what is left to do."""

    check: CheckReport
    fixed: tuple[Fixed, ...]
    left: tuple[LeftAlone, ...]
    diff: str
    is_dry: bool
