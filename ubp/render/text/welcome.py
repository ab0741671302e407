"""A repository in one line."""

from ubp.render.ansi import Style
from ubp.render.wording import count
from ubp.staleness.report import StaleReport


def welcome_text(report: StaleReport, style: Style) -> str:
    """How many pages name sources, how many are stale, and the command that tells more."""
    summary = report.summary
    named = f"{summary.bound} of {count(summary.documents, 'page')}"
    if not summary.bound:
        state = style.yellow(f"{named} name sources, so nothing can be verified")
    elif report.count("fresh") == summary.bound:
        state = style.green(f"{named} name sources, and all of them are fresh")
    else:
        stale, other = summary.stale, summary.possibly_stale + summary.unknown
        state = f"{named} name sources, {stale} of them are stale, {other} may be"
    return f"Here: {state}. {style.cyan('ubp stale')} tells more.\n"
