"""An outcome in one sentence, for those who read no further; never greener than the truth."""

from collections import Counter
from collections.abc import Callable

from ubp.render.outcome import Outcome
from ubp.render.wording import count, left_out, printable, revision
from ubp.staleness.report import Summary


def headline(outcome: Outcome, quote: Callable[[str], str] = printable) -> str:
    """What was found; `quote` writes the name of a revision."""
    told = _checked(outcome, quote) if outcome.summary is None else _stale(outcome, quote)
    doubts = outcome.report.unverified
    doubt = f" {count(doubts, 'source')} could not be verified: this clone is shallow."
    return told + (doubt if doubts else "")


def _checked(outcome: Outcome, quote: Callable[[str], str]) -> str:
    report = outcome.report
    pages = count(report.documents, "page")
    ignored = left_out(len(report.ignored) - report.accepted, report.accepted)
    if not report.findings:
        if not report.documents:
            return "There are no pages: nothing was checked."
        found = "Nothing found"
        if report.is_change:
            found = f"{_change(outcome, quote)} brings nothing to find"
        return f"{found} in {pages}{ignored}."
    kinds = Counter(one.severity for one in report.findings)
    counts = " and ".join(count(kinds[kind], kind) for kind in ("error", "warning") if kinds[kind])
    where = len({one.filepath for one in report.findings})
    brings = f"{_change(outcome, quote)} brings " if report.is_change else ""
    return f"{brings}{counts} in {where} of {pages}{ignored}."


def _stale(outcome: Outcome, quote: Callable[[str], str]) -> str:
    summary = outcome.summary
    if summary is None or not summary.bound:
        return "No page names a source: nothing was verified."
    if outcome.report.is_change:
        return _left_behind(outcome, summary, quote)
    pages = count(summary.bound, "page")
    named = f"{pages} that {'names' if summary.bound == 1 else 'name'} sources"
    if summary.fresh == summary.bound:
        return f"Fresh: {named}."
    levels = ((summary.stale, "stale"), (summary.possibly_stale, "possibly stale"))
    told = " and ".join(f"{number} {words}" for number, words in levels if number)
    return f"Of {named}, {told or 'none is known to be stale'}."


def _left_behind(outcome: Outcome, summary: Summary, quote: Callable[[str], str]) -> str:
    change = _change(outcome, quote)
    left = len({one.filepath for one in outcome.report.findings})
    if left:
        return f"{change} leaves {count(left, 'page')} behind."
    if not summary.verified:
        return f"{change} touches no source of a page."
    return f"{change} leaves no page behind ({summary.verified} verified)."


def _change(outcome: Outcome, quote: Callable[[str], str]) -> str:
    if outcome.base is None:
        return "This commit"
    return f"This branch, since {quote(revision(outcome.base))},"
