"""What changed in the sources of a page before an agent edited it: the evidence for the edit."""

from typing import NamedTuple

from ubp.core.model import Evidence, FilePath, Verdict
from ubp.git.diff import join_hunks
from ubp.index.session import Session
from ubp.index.view import View
from ubp.review.ordered_diff import rank_diffs
from ubp.staleness.assess import assess
from ubp.staleness.diff import diff_pages
from ubp.staleness.evidence import add_evidence
from ubp.staleness.state import open_context


class SourceChange(NamedTuple):
    """A source that drifted, its diff, and the names of changed code that the page has."""

    name: str
    verdict: Verdict
    diff: str
    evidence: tuple[Evidence, ...]


def find_source_changes(session: Session, view: View, page: FilePath) -> tuple[SourceChange, ...]:
    """Return the drift of a page's sources in a view, what concerns the page most first.

    So are the hunks of each diff. A page that does not exist there has none.
    """
    known = view.page(page)
    if known is None:
        return ()
    context = open_context(session, view)
    (assessed,) = add_evidence(assess([known], context), context)
    found = [(reference, diff.text) for _, reference, diff in diff_pages([assessed], context)]
    found.sort(key=lambda item: -len(item[0].evidence))
    names = {evidence.name for reference, _ in found for evidence in reference.evidence}
    text = (view.read([page]).get(page) or b"").decode("utf-8", "replace")
    ranked = rank_diffs([diff for _, diff in found], text, names)
    return tuple(
        SourceChange(
            reference.name,
            reference.verdict,
            join_hunks([item.part for item in items]),
            reference.evidence,
        )
        for (reference, _), items in zip(found, ranked, strict=True)
    )
