"""A listed source does not exist: deleted, moved, or never committed.

Nor do the files of a submodule or behind a symbolic link, which Git does not list.

There is one finding for each missing source, at the line that lists it, and for each glob that
matches no file. Pages with a missing source count as stale, but stale-doc does not report the same
source again. Absolute paths and paths with `..` are reported by bad-front-matter.

What to do: replace the source or remove it. If Git shows that the file was renamed, `ubp check
--fix` writes the new path. It skips pages with stale unpinned sources, since any edit would make
them look reviewed; pin their baseline first with `ubp ack --history PAGE`.

To ignore a source, add a comment on its line or the line above: `# ubp: ignore[missing-source]`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding, SourceFix
from ubp.core.model import FilePath, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.staleness.wording import evidence_sentence, unnamed_collection, verdict_sentence

NAME = "missing-source"
MISSING = frozenset({"deleted", "moved", "not_found"})


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the sources that do not exist."""
    for page, verdict in context.drifted:
        if verdict.verdict in MISSING:
            yield missing_finding(page.filepath, verdict)


def missing_finding(path: FilePath, verdict: ReferenceVerdict) -> Finding:
    """Return the finding for a missing source of the page at `path`."""
    literal, moved_to = verdict.reference.literal, verdict.new_name
    hint = "Replace or remove the source."
    if moved_to:
        hint = f"Its new path is {moved_to}."
    elif verdict.note == "no_listing":
        hint = "List the submodule itself, or the path of the file that the link leads to."
    elif name := unnamed_collection(verdict):
        hint = f"Add it: {ubp_command('collections', 'add', name, 'SOURCE')}"
    return Finding(
        rule=NAME,
        filepath=path,
        line=verdict.reference.line,
        message=" ".join(
            filter(
                None,
                [verdict_sentence(verdict._replace(moved_to=None)), evidence_sentence(verdict)],
            )
        ),
        subject=literal,
        hint=hint,
        related=verdict.source_path,
        fix=SourceFix(literal, _new_reference(verdict)) if moved_to else None,
        about=verdict,
    )


def _new_reference(verdict: ReferenceVerdict) -> str:
    """Return the reference to write; the tail of a file's is kept."""
    tail = verdict.moved_fragment or verdict.reference.fragment or ""
    return f"{verdict.moved_to}{tail}"
