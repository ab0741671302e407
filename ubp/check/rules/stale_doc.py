"""A source has changed since the page described it.

A page names its sources in its front matter (`source_refs`). The rule compares each of them with
what the page described: with its pin, or with what stood there when the page was last changed. It
finds what `ubp stale` finds, one finding for each source, at the line that names it.

Where a state is checked, drift that is as old as `staleness.threshold_days` (7) has the rule's
severity, and younger drift is a warning at most: somebody may be writing about it. Where a change
is checked (`--staged`, `--base`), all drift that the change brings has the rule's severity,
whatever its age; old drift is no finding.

A source that is gone is no finding of this rule but of missing-source.

What to do: read the page beside `ubp stale --diff PAGE`. Edit it where it is no longer true, or say
that it still is: `ubp ack PAGE`.

To ignore one source, write on its line or on the line above: `# ubp: ignore[stale-doc]`
"""

from collections.abc import Iterator

from ubp.check.evidence import Evidence, Judged
from ubp.check.finding import Finding

NAME = "stale-doc"
DRIFTED = frozenset({"modified", "created"})


def find(evidence: Evidence) -> Iterator[Finding]:
    """Find the sources that drifted."""
    for one in evidence.judged:
        if one.answer.verdict in DRIFTED:
            reference = one.answer.reference
            yield Finding(
                rule=NAME,
                filepath=one.page.filepath,
                line=reference.line,
                message=_message(one, is_change=evidence.is_change),
                subject=reference.literal,
                is_minor=not evidence.is_change and one.answer.level != "stale",
                hint="Edit the page, or acknowledge that it is still true.",
                related=one.answer.source_path,
            )


def _message(one: Judged, *, is_change: bool) -> str:
    answer = one.answer
    what = "was modified" if answer.verdict == "modified" else "came after the page"
    if is_change:
        return f"{answer.source_path} {what} by this change."
    if answer.age_days is None:
        return f"{answer.source_path} {what}."
    if answer.since is None:
        return f"{answer.source_path} {what}, not committed yet."
    if answer.age_days == 0:
        return f"{answer.source_path} {what} today."
    days = "1 day" if answer.age_days == 1 else f"{answer.age_days} days"
    return f"{answer.source_path} {what} {days} ago."
