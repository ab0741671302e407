"""Accepts the findings of today, once, and takes out of the debt file what was put right."""

from typing import NamedTuple

from ubp.checks.context import accepted_debts
from ubp.checks.debt import find_obsolete, to_debt, write_debts
from ubp.checks.run import CheckOptions, find_current
from ubp.core.model import DEBT_FILE, FilePath
from ubp.staleness.model import StalenessContext


class AcceptedFindings(NamedTuple):
    """What the debt file accepts, and how that compares with what is found.

    `text` is what the file should say, None where it should stay as it is. So many findings are
    `accepted`, `new` ones are not, so many lines were `settled` (nothing stands for them any more,
    or they cannot be read). `pages` counts those of the accepted findings.
    """

    text: str | None
    accepted: int
    new: int
    settled: int
    pages: int


def accept_findings(
    court: StalenessContext, terms: CheckOptions, *, is_pruning: bool = False
) -> AcceptedFindings:
    """Write the first debt file, or compare the one that is there, or prune it.

    What is new is accepted by the first file only: from then on the debt can only shrink.
    """
    rules, standing = find_current(court, terms)
    told = [one for one in standing if one.severity != "note"]
    if court.view.entry(DEBT_FILE) is None:
        text = write_debts(map(to_debt, told)) if told and not is_pruning else None
        accepted = len(told) if text else 0
        pages = {one.filepath for one in told} if text else set[FilePath]()
        return AcceptedFindings(text, accepted, len(told) - accepted, 0, len(pages))
    debts = accepted_debts(court.view)
    settled = {debt.name for debt in find_obsolete(debts, standing, rules)}
    kept = [debt for debt in debts.accepted.values() if debt.name not in settled]
    gone = len(settled) + len(debts.unreadable)
    return AcceptedFindings(
        text=write_debts(kept) if is_pruning and gone else None,
        accepted=len(kept),
        new=sum(1 for one in told if not debts.accept(one)),
        settled=gone,
        pages=len({debt.filepath for debt in kept}),
    )
