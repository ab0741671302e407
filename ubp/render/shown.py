"""What of a report is shown: findings, unless everything was asked for."""

from ubp.model import Assessment, ReferenceVerdict
from ubp.staleness.report import StaleReport

AT_REST = frozenset({"fresh", "untracked"})


def shown_pages(report: StaleReport, *, every: bool) -> tuple[Assessment, ...]:
    """The pages that are not fresh, of a change those that it leaves behind; no accepted debts.

    A page whose front matter has a problem is shown too: what cannot be read was not verified.
    """
    if every:
        return report.pages
    if report.is_change:
        return report.brought
    return tuple(
        one
        for one in report.pages
        if (one.level not in AT_REST and not _is_accepted(one)) or one.page.facts.problems
    )


def shown_references(one: Assessment, *, every: bool) -> tuple[ReferenceVerdict, ...]:
    """The references of a shown page that need a word; old debts do not."""
    if every:
        return one.references
    return tuple(
        answer for answer in one.references if answer.verdict != "fresh" and not answer.is_debt
    )


def _is_accepted(one: Assessment) -> bool:
    return all(answer.is_debt for answer in one.references if answer.verdict != "fresh")
