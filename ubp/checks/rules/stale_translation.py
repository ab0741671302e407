"""The original of a translation has changed, or does not exist any more.

Rules in the configuration say which page translates which (`translations`), and which key of its
front matter names the commit that it was translated from; without such a key, the last commit that
changed the page counts. The original is compared with that commit.

This is a warning, because whoever edits an original need not know all its languages: in pull
requests it is part of the comment, and nothing fails. To make it an error, set
`check.severity.stale-translation`. `ubp stale --translations` counts the translations of each
language, also those that are missing.

What to do: see what changed in the original with `ubp stale --translations --diff PAGE`. Update the
translation, then write the commit into its front matter with `ubp ack PAGE`. If the original was
moved, move the translation too; if it was removed, remove the translation.

To ignore a page, list it under `check.ignore`, or add a comment on the line of its pin or the line
above, or where it has none on the first line of the page: `ubp: ignore[stale-translation]`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.core.model import FilePath, ReferenceVerdict
from ubp.staleness.model import GONE
from ubp.staleness.wording import describe_drift_time, verdict_sentence

NAME = "stale-translation"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the translations whose original drifted, is gone, or has an unknown pin."""
    for page, verdict in context.translated:
        if verdict.verdict != "unknown" or verdict.note == "no_pin":
            yield translation_finding(page.filepath, verdict, is_change=context.is_change)
        else:
            context.not_checked[NAME] = (
                "the history of this clone starts after some pages were translated"
            )


def translation_finding(path: FilePath, verdict: ReferenceVerdict, *, is_change: bool) -> Finding:
    """Return the finding for a translation that is not fresh."""
    hint = "Update the translation."
    if verdict.reference.pin_key:
        hint = f"Update the translation, then renew {verdict.reference.pin_key}."
    if verdict.verdict in GONE:
        moved_to = verdict.moved_to
        hint = f"The original is now {moved_to}." if moved_to else "Remove the translation."
    is_new = is_change and not verdict.is_debt
    when = " by this change" if is_new else describe_drift_time(verdict)
    return Finding(
        rule=NAME,
        filepath=path,
        line=verdict.reference.line,
        message=f"The original {verdict_sentence(verdict, when)}",
        subject=verdict.reference.literal,
        hint=hint,
        related=verdict.source_path,
    )
