"""A source changes often but its page hardly ever: the reference is too broad.

Off by default, because it reads the last 500 commits. Enable it with `check.severity` in the
configuration, or run it once with `--rule broad-source`.

The rule reports sources that changed in at least 10 of these commits, hardly ever in the same
commit as the page, and mostly without a change of the page within the next 30 days: for example a
central file that almost every change touches, or a directory that changes every week. It also
reports directories and globs of which only a few files changed together with the page, and files of
which the page names only a few symbols, where references to these would have announced the same
edits of the page. `ubp bind --review` shows the figures for every source.

What to do: list the file that the page actually describes (`ubp bind --explain PAGE` proposes
candidates), or remove the source. If every change of the source does concern the page, keep it, and
update or acknowledge (`ubp ack`) the page when it is reported as stale.

To ignore a source, add a comment on its line or the line above: `# ubp: ignore[broad-source]`
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding

if TYPE_CHECKING:  # few checks review bindings
    from ubp.bindings.review import ReviewedBinding

NAME = "broad-source"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the sources that change without the page, and those of which it needs a part."""
    from ubp.bindings.review import BROAD

    for review in context.reviewed:
        if review.judgement in BROAD:
            yield Finding(
                rule=NAME,
                filepath=review.binding.filepath,
                line=review.binding.line,
                message=_message(review),
                subject=review.binding.source,
                hint=_hint(review),
                related=review.binding.source_path,
            )


def _message(review: "ReviewedBinding") -> str:
    source, pages = review.binding.source or ".", review.binding.pages
    changed = f"{source} changed in {review.changed} of {review.commits} commits"
    if review.proposal and not review.binding.is_wide:
        return f"{changed}; the page names few of its symbols."
    if review.proposal:
        return f"{changed}; the page only along with a few of its files."
    named = f" {pages} pages list it." if review.judgement == "hub" else ""
    together, followed = review.together, review.followed
    return f"{changed}; the page in {together} of them, and after {followed} more.{named}"


def _hint(review: "ReviewedBinding") -> str:
    if review.proposal:
        effect = f" ({review.narrowed})" if review.narrowed else ""
        return f"List {', '.join(review.proposal)} instead{effect}."
    return "List the file that the page actually describes, or remove the source."
