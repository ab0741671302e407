"""The debt file lists a finding that no longer exists.

`.ubp/debt.txt` contains the existing findings that `ubp debt` accepted, and can only shrink: if the
line of a fixed finding stayed, it would hide the same finding when it comes back. Lines that cannot
be parsed, such as conflict markers, are reported as well.

Of a change (`--staged`, `--base`) only unreadable lines are reported, and only where it edits the
file. A change that fixes an accepted finding does not fail: the output mentions the obsolete lines.

What to do: run `ubp debt --prune`, which removes such lines.
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.debt import find_obsolete
from ubp.checks.finding import Finding
from ubp.core.model import DEBT_FILE, Debt

NAME = "obsolete-debt"
HINT = "Remove it: ubp debt --prune"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the lines of the debt file that accept no current finding."""
    debts = context.debts
    if not debts.accepted and not debts.unreadable:
        return
    is_edited = not context.is_change or DEBT_FILE in context.changes
    for unreadable in debts.unreadable if is_edited else ():
        yield Finding(
            NAME,
            DEBT_FILE,
            unreadable.line,
            "This line is not a valid finding.",
            str(unreadable.line),
            hint=HINT,
        )
    if not context.is_change:
        current = context.find_current()
        checked = [rule for rule in context.rules if rule not in context.not_checked]
        for debt in find_obsolete(debts, current, checked):
            yield obsolete_finding(debt)


def obsolete_finding(debt: Debt) -> Finding:
    """Return the finding for a debt without a current finding."""
    return Finding(
        rule=NAME,
        filepath=DEBT_FILE,
        line=debt.line,
        message=f"{debt.filepath} no longer has this finding: {debt.rule}, {debt.subject}.",
        subject=debt.name,
        hint=HINT,
        related=debt.filepath,
    )
