"""A repository in one line."""

from ubp.render.ansi import Style
from ubp.render.text.levels import count_bound, count_levels
from ubp.staleness.report import StaleReport


def welcome_text(report: StaleReport, style: Style) -> str:
    """How many pages name sources, their levels, and the command that tells more."""
    summary = report.summary
    named = count_bound(summary)
    if not summary.bound:
        state = style.yellow(f"{named}: nothing can be verified")
    elif summary.fresh == summary.bound:
        state = style.green(f"{named}: {count_levels(summary)}")
    else:
        state = f"{named}: {count_levels(summary)}"
    return f"Here: {state}. {style.cyan('ubp stale')} tells more.\n"
