"""The debt file's first version, from the findings of today, and the removal of obsolete lines."""

from typing import NamedTuple

from ubp.checks.debt import accepted_debts, find_obsolete, to_debt, write_debts
from ubp.checks.run import check_options, find_current
from ubp.core.model import DEBT_FILE, FilePath
from ubp.index.session import Session
from ubp.staleness.state import open_context


class AcceptedFindings(NamedTuple):
    """The debt file compared with the current findings.

    `text` is what the file should contain, None where it should stay as it is. `accepted` counts
    the findings that it accepts, `pages` their pages, `new` the other findings, and `obsolete` the
    lines without a finding, or that cannot be read.
    """

    text: str | None
    accepted: int
    new: int
    obsolete: int
    pages: int


def accept_findings(session: Session, *, is_pruning: bool = False) -> AcceptedFindings:
    """Return the first debt file, or a comparison with the existing one, or that one pruned.

    New findings are accepted by the first file only: from then on the debt can only shrink.
    """
    staleness = open_context(session, session.view())
    rules, current = find_current(staleness, check_options(session, staleness.view))
    findings = [finding for finding in current if finding.severity != "note"]
    if staleness.view.entry(DEBT_FILE) is None:
        text = write_debts(map(to_debt, findings)) if findings and not is_pruning else None
        accepted = len(findings) if text else 0
        pages = {finding.filepath for finding in findings} if text else set[FilePath]()
        return AcceptedFindings(text, accepted, len(findings) - accepted, 0, len(pages))
    debts = accepted_debts(staleness.view)
    obsolete = {debt.name for debt in find_obsolete(debts, current, rules)}
    kept = [debt for debt in debts.accepted.values() if debt.name not in obsolete]
    removable = len(obsolete) + len(debts.unreadable)
    return AcceptedFindings(
        text=write_debts(kept) if is_pruning and removable else None,
        accepted=len(kept),
        new=sum(1 for finding in findings if not debts.accepts(finding)),
        obsolete=removable,
        pages=len({debt.filepath for debt in kept}),
    )
