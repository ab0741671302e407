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


def find(evidence: RuleContext) -> Iterator[Finding]:
    """Find the sources that drifted."""
    for one in evidence.judged:
        if one.answer.verdict in DRIFTED:
            yield drift_finding(one.page.filepath, one.answer, is_change=evidence.is_change)


def drift_finding(path: FilePath, answer: ReferenceVerdict, *, is_change: bool) -> Finding:
    """Tell of a source that drifted away from what the page at `path` described."""
    return Finding(
        rule=NAME,
        filepath=path,
        line=answer.reference.line,
        message=_message(answer, is_change=is_change and not answer.is_debt),
        subject=answer.reference.literal,
        is_minor=not is_change and answer.level != "stale",
        hint="Edit the page, or acknowledge that it is still true.",
        related=answer.source_path,
        about=answer,
    )


def unknown_finding(path: FilePath, answer: ReferenceVerdict) -> Finding:
    """Tell of a source of which a shallow clone does not tell what the page described."""
    return Finding(
        rule=NAME,
        filepath=path,
        line=answer.reference.line,
        message=verdict_sentence(answer.source_path, answer.verdict),
        subject=answer.reference.literal,
        hint="Fetch the history, or pin what was read.",
        related=answer.source_path,
        about=answer,
        severity="note",
    )


def _message(answer: ReferenceVerdict, *, is_change: bool) -> str:
    when = " by this change" if is_change else describe_drift_time(answer)
    return verdict_sentence(answer.source_path, answer.verdict, when)
