"""A source changes again and again, and the page hardly ever: it is named too broadly.

Off unless the configuration gives it a severity (`check.severity`), or it is asked for with
`--rule broad-source`: it reads the last 500 commits. Found are sources that changed in ten and more
of them, hardly ever in the same commit as the page, and mostly without a change of the page in the
thirty days after: a file that everything passes through, a folder that changes every week. Found
are also folders and globs of which a few files were there whenever the page changed, too. `ubp bind
--review` shows the figures, for every source that a page names.

What to do: name the file that the page really describes (`ubp bind --explain PAGE` proposes some),
or take the line out. Where every change of the source concerns the page, keep it, and edit or `ubp
ack` the page when it is told.

To ignore one source, write on its line or on the line above: `# ubp: ignore[broad-source]`
"""

from collections.abc import Iterator

from ubp.bindings.review import BROAD, ReviewedBinding
from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding

NAME = "broad-source"


def find(evidence: RuleContext) -> Iterator[Finding]:
    """Find the sources that fire without an answer, and those that are wider than the page."""
    for one in evidence.reviewed:
        if one.judgement in BROAD:
            yield Finding(
                rule=NAME,
                filepath=one.binding.filepath,
                line=one.binding.line,
                message=_message(one),
                subject=one.binding.source_path,
                hint=_hint(one),
                related=one.binding.source_path,
            )


def _message(one: ReviewedBinding) -> str:
    source, pages = one.binding.source_path or ".", one.binding.pages
    changed = f"{source} changed in {one.changed} of {one.commits} commits"
    if one.proposal:
        return f"{changed}, and the page with few of its files."
    named = f" {pages} pages name it." if one.judgement == "hub" else ""
    return f"{changed}, the page in {one.together} of these and after {one.followed} others.{named}"


def _hint(one: ReviewedBinding) -> str:
    if one.proposal:
        return f"Name {', '.join(one.proposal)} instead."
    return "Name what the page really describes, or take the line out."
