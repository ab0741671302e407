"""The debt file accepts a finding that is not there any more.

`.ubp/debt.txt` holds the old findings that a repository has accepted (`ubp debt` writes it), and
can only shrink: a line that stayed after its finding was put right would hide the same finding when
it comes back. A line that cannot be read, such as the mark of a conflict, is a finding too.

What to do: `ubp debt --prune` takes such lines out.
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.debt import find_obsolete
from ubp.checks.finding import Finding
from ubp.core.model import DEBT_FILE, Debt

NAME = "obsolete-debt"
HINT = "Take it out: ubp debt --prune"


def find(evidence: RuleContext) -> Iterator[Finding]:
    """Find the lines of the debt file that accept nothing."""
    debts = evidence.debts
    if not debts.accepted and not debts.unreadable:
        return
    for one in debts.unreadable:
        yield Finding(
            NAME, DEBT_FILE, one.line, "This line accepts no finding.", str(one.line), hint=HINT
        )
    for debt in find_obsolete(debts, evidence.standing(), evidence.rules):
        yield obsolete_finding(debt)


def obsolete_finding(debt: Debt) -> Finding:
    """Tell of a debt that nothing stands for any more."""
    return Finding(
        rule=NAME,
        filepath=DEBT_FILE,
        line=debt.line,
        message=f"{debt.filepath} has no such finding any more: {debt.rule}, {debt.subject}.",
        subject=debt.name,
        hint=HINT,
        related=debt.filepath,
    )
