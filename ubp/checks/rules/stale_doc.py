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

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.core.model import FilePath, ReferenceVerdict
from ubp.staleness.wording import describe_drift_time, verdict_sentence

NAME = "stale-doc"
DRIFTED = frozenset({"modified", "created"})


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the sources that drifted."""
    for page, verdict in context.drifted:
        if verdict.verdict in DRIFTED:
            yield drift_finding(page.filepath, verdict, is_change=context.is_change)


def drift_finding(path: FilePath, verdict: ReferenceVerdict, *, is_change: bool) -> Finding:
    """Return the finding for a source that drifted from what the page at `path` described."""
    is_new = is_change and not verdict.is_debt
    when = " by this change" if is_new else describe_drift_time(verdict)
    return Finding(
        rule=NAME,
        filepath=path,
        line=verdict.reference.line,
        message=verdict_sentence(verdict.source_path, verdict.verdict, when),
        subject=verdict.reference.literal,
        is_minor=not is_change and verdict.level != "stale",
        hint="Edit the page, or acknowledge that it is still true.",
        related=verdict.source_path,
        about=verdict,
    )


def unknown_finding(path: FilePath, verdict: ReferenceVerdict) -> Finding:
    """Return the note for a source that a shallow clone cannot verify."""
    return Finding(
        rule=NAME,
        filepath=path,
        line=verdict.reference.line,
        message=verdict_sentence(verdict.source_path, verdict.verdict),
        subject=verdict.reference.literal,
        hint="Fetch the history, or pin what was read.",
        related=verdict.source_path,
        about=verdict,
        severity="note",
    )
