"""What the pages of a work tree describe in collections."""

from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.index.session import Session
from ubp.staleness.assess import assess
from ubp.staleness.references import collection_of
from ubp.staleness.state import open_context


class Described(NamedTuple):
    """What the pages of a work tree describe in collections.

    `unfetched` are the versions that the comparison lacks (see `ReferenceVerdict`), `outdated` the
    pages with a source in a collection that is not fresh.
    """

    unfetched: tuple[str, ...]
    outdated: tuple[FilePath, ...]


def find_described(session: Session) -> Described:
    """Compare the pages with references to collections."""
    context = open_context(session, session.view())
    pages = [
        page
        for page in context.view.bound_pages()
        if any(
            collection_of(reference.source_path, context.rules.collections)
            for reference in page.facts.references
        )
    ]
    verdicts = [
        (assessment.page.filepath, verdict)
        for assessment in assess(pages, context)
        for verdict in assessment.references
        if verdict.collection
    ]
    unfetched = dict.fromkeys(verdict.unfetched for _, verdict in verdicts if verdict.unfetched)
    outdated = dict.fromkeys(
        page for page, verdict in verdicts if verdict.verdict not in {"fresh", "unknown"}
    )
    return Described(tuple(unfetched), tuple(outdated))
