"""One run of `ubp check` or `ubp stale` as an HTML file: what it found, to filter and to read."""

from ubp.render.headline import headline
from ubp.render.html.report import report_html
from ubp.render.outcome import Outcome
from ubp.report.values import Levels, Report


def outcome_html(outcome: Outcome) -> str:
    """The whole file."""
    report, summary = outcome.report, outcome.summary
    levels = None
    if summary is not None and not report.is_change:
        levels = Levels(*(getattr(summary, name) for name in Levels._fields))
    told = Report(
        name=f"ubp {outcome.command}",
        headline=headline(outcome, str),
        snapshot=report.snapshot,
        documents=report.documents,
        levels=levels,
        findings=(*report.findings, *report.debts, *report.unknown),
        ignored=len(report.ignored),
        keys=outcome.keys,
        base=outcome.base,
    )
    return report_html(told)
