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


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the lines of the debt file that accept no current finding."""
    debts = context.debts
    if not debts.accepted and not debts.unreadable:
        return
    for unreadable in debts.unreadable:
        yield Finding(
            NAME,
            DEBT_FILE,
            unreadable.line,
            "This line accepts no finding.",
            str(unreadable.line),
            hint=HINT,
        )
    for debt in find_obsolete(debts, context.find_current(), context.rules):
        yield obsolete_finding(debt)


def obsolete_finding(debt: Debt) -> Finding:
    """Return the finding for a debt without a current finding."""
    return Finding(
        rule=NAME,
        filepath=DEBT_FILE,
        line=debt.line,
        message=f"{debt.filepath} has no such finding any more: {debt.rule}, {debt.subject}.",
        subject=debt.name,
        hint=HINT,
        related=debt.filepath,
    )
