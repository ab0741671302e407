"""A source has changed since the page described it.

A page lists its sources in its front matter (`source_refs`). Each source is compared with its
baseline: its pin or, without a pin, its state when the page was last changed. The findings are
those of `ubp stale`, one for each source, at the line that lists it.

When a snapshot is checked, drift of at least `staleness.threshold_days` (7) has the severity of the
rule; younger drift is only a warning, since the update of the page may be under way, and so is
drift without evidence. When a change is checked (`--staged`, `--base`), a source that was fresh
before it and is not fresh after it has the severity of the rule if there is evidence: its changed
code contains a name, option, path or number that the page mentions. Comments, docstrings, names of
many pages, and in Python formatting and annotations of types are not evidence. Pages without it are
mentioned in one line, as are sources that were stale already. With `staleness.alarms` set to `any`,
or `--alarms any`, no evidence is needed. With `judged`, pages with evidence that the judge of your
environment finds accurate are a line each.

Missing sources are reported by missing-source instead.

What to do: compare the page with `ubp stale --diff PAGE`. Update the page, or acknowledge it as
still accurate with `ubp ack PAGE`. A source with a pin needs both: an edit does not renew the pin.

To ignore a source, add a comment on its line or the line above: `# ubp: ignore[stale-doc]`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.core.model import FilePath, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.staleness.wording import (
    HOOK_PARSER,
    PIN_OF_OTHER_REPOSITORY,
    describe_drift_time,
    evidence_sentence,
    install_parser,
    judgement_sentence,
    verdict_sentence,
)

NAME = "stale-doc"
DRIFTED = frozenset({"modified", "created"})
EDITED = "The change edits the page too: renew its pin if the page is accurate now."


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the sources that drifted."""
    for page, verdict in context.drifted:
        if verdict.verdict in DRIFTED:
            finding = drift_finding(page.filepath, verdict, is_change=context.is_change)
            if verdict.baseline == "pin" and page.filepath in context.changes:
                finding = finding._replace(hint=EDITED)
            yield finding


def drift_finding(path: FilePath, verdict: ReferenceVerdict, *, is_change: bool) -> Finding:
    """Return the finding for a source that drifted from what the page at `path` described."""
    is_new = is_change and not verdict.is_debt
    hint = "Update the page, or acknowledge it as still accurate."
    if verdict.baseline == "pin":  # which no edit of the page renews
        hint = "Update the page if it is no longer accurate, then renew its pin."
    when = " by this change" if is_new else describe_drift_time(verdict)
    return Finding(
        rule=NAME,
        filepath=path,
        line=verdict.reference.line,
        message=" ".join(
            filter(
                None,
                [
                    verdict_sentence(verdict, when),
                    evidence_sentence(verdict),
                    judgement_sentence(verdict.judgement) if verdict.judgement else "",
                ],
            )
        ),
        subject=verdict.reference.literal,
        is_minor=not is_change and (verdict.level != "stale" or verdict.is_noted),
        hint=hint,
        related=verdict.source_path,
        about=verdict,
    )


def unknown_finding(path: FilePath, verdict: ReferenceVerdict) -> Finding:
    """Return the note for a source that cannot be verified here."""
    hint = "Fetch the full history, or pin the source."
    match verdict.note:
        case "no_parser":
            hint = f"Install it: {install_parser()} (pre-commit: {HOOK_PARSER})."
        case "no_collection":
            hint = f"Fetch it: {ubp_command('collections', 'sync', verdict.unfetched)}"
        case "no_version":
            hint = f"If the page is up to date, pin its sources: {ubp_command('ack', path)}"
        case "other_repository":
            hint = PIN_OF_OTHER_REPOSITORY
    return Finding(
        rule=NAME,
        filepath=path,
        line=verdict.reference.line,
        message=verdict_sentence(verdict),
        subject=verdict.reference.literal,
        hint=hint,
        related=verdict.source_path,
        about=verdict,
        severity="note",
    )
