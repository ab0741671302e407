"""A source that the page names does not stand there: deleted, moved, or never there.

One finding for each source, at the line that names it; a page with such a source is `stale` too,
but that is the same fact, so stale-doc does not repeat it. Patterns that match nothing are findings
as well. Absolute paths and paths with `..` are findings of bad-front-matter.

What to do: name the source where it is now, or take the line out. Where Git knows where the file
went, `ubp check --fix` writes the new path. It leaves pages alone whose sources have drifted while
they have no pins: an edit would make such a page look reviewed. Keep what it described with
`ubp ack --history PAGE` first.

To ignore one source, write on its line or on the line above: `# ubp: ignore[missing-source]`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding, SourceFix
from ubp.core.model import FilePath, ReferenceVerdict
from ubp.staleness.wording import verdict_sentence

NAME = "missing-source"
MISSING = frozenset({"deleted", "moved", "not_found"})


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the sources that do not exist."""
    for page, verdict in context.drifted:
        if verdict.verdict in MISSING:
            yield missing_finding(page.filepath, verdict)


def missing_finding(path: FilePath, verdict: ReferenceVerdict) -> Finding:
    """Return the finding for a missing source of the page at `path`."""
    literal, moved_to = verdict.reference.literal, verdict.moved_to
    hint = "Name the file that took its place, or take the line out."
    if moved_to:
        hint = f"It is now {moved_to}."
    return Finding(
        rule=NAME,
        filepath=path,
        line=verdict.reference.line,
        message=verdict_sentence(verdict.source_path, verdict.verdict),
        subject=literal,
        hint=hint,
        related=verdict.source_path,
        fix=SourceFix(literal, moved_to) if moved_to else None,
        about=verdict,
    )
