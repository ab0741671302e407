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


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the sources that change without the page, and those of which it needs a part."""
    for review in context.reviewed:
        if review.judgement in BROAD:
            yield Finding(
                rule=NAME,
                filepath=review.binding.filepath,
                line=review.binding.line,
                message=_message(review),
                subject=review.binding.source_path,
                hint=_hint(review),
                related=review.binding.source_path,
            )


def _message(review: ReviewedBinding) -> str:
    source, pages = review.binding.source_path or ".", review.binding.pages
    changed = f"{source} changed in {review.changed} of {review.commits} commits"
    if review.proposal:
        return f"{changed}, and the page with few of its files."
    named = f" {pages} pages name it." if review.judgement == "hub" else ""
    together, followed = review.together, review.followed
    return f"{changed}, the page in {together} of these and after {followed} others.{named}"


def _hint(review: ReviewedBinding) -> str:
    if review.proposal:
        return f"Name {', '.join(review.proposal)} instead."
    return "Name what the page really describes, or take the line out."
