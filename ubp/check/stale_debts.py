"""What `ubp stale` tells, less what the debt file accepts."""

from ubp.check.as_findings import references_told
from ubp.check.debt import Debts, find_settled
from ubp.check.fingerprint import number
from ubp.check.table import VERIFYING
from ubp.model import Assessment
from ubp.staleness.report import StaleReport


def accept_debts(report: StaleReport, debts: Debts, *, is_whole: bool) -> StaleReport:
    """Mark the references that the debt file accepts; levels stay what they are.

    `is_whole`: the report is about every page, so that what is missing there is settled.
    """
    told = number(one for page in report.pages for one in references_told(page, report))
    old = {(one.filepath, one.about) for one in told if one.drift and debts.accept(one)}
    settled = find_settled(debts, told, VERIFYING) if is_whole else []
    pages = tuple(
        Assessment(
            one.page,
            one.level,
            tuple(
                answer._replace(is_debt=True) if (one.page.filepath, answer) in old else answer
                for answer in one.references
            ),
        )
        for one in report.pages
    )
    return report._replace(pages=pages, accepted=len(old), settled=tuple(settled))
