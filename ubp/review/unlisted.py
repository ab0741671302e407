"""Pages that list no sources, and the sources that they seem to describe, where these drifted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ubp.bindings.features import BindingSuggestions, Suggestion
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, suggest_bindings
from ubp.core.model import FilePath, Page, ReferenceVerdict, SourceReference
from ubp.index.session import Session
from ubp.index.view import View
from ubp.staleness.assess import assess
from ubp.staleness.compare import hide
from ubp.staleness.evidence import add_evidence
from ubp.staleness.model import worst_first
from ubp.staleness.state import open_context

MAX_PAGES = 20  # for which evidence is looked for


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A page, the source that it seems to describe, and what became of that since its last edit."""

    filepath: FilePath
    suggestion: Suggestion
    verdict: ReferenceVerdict


def find_unlisted(
    session: Session, view: View, limit: int, paths: Sequence[str] = ()
) -> tuple[Unlisted, ...]:
    """Return the pages that would not be fresh if they listed what they probably describe.

    Of all pages, or of those at `paths`. Those that name what changed come first, then the most
    confident ones.
    """
    suggestions = suggest_bindings(
        session, view, paths, limit=1, all_pages=False, narrows=False
    )  # whole files are compared
    suggested = _best(suggestions)
    pages = [
        _listing(page, suggested[path]) for path, page in view.pages_at(list(suggested)).items()
    ]
    context = open_context(session, view)
    assessed = [
        assessment
        for assessment in worst_first(hide(assess(pages, context), session.is_hidden))
        if any(reference.verdict not in {"fresh", "unknown"} for reference in assessment.references)
    ]
    assessed.sort(key=lambda drifted: -suggested[drifted.page.filepath].confidence)
    found = [
        Unlisted(drifted.page.filepath, suggested[drifted.page.filepath], drifted.references[0])
        for drifted in add_evidence(assessed[:MAX_PAGES], context)
    ]
    found.sort(key=lambda unlisted: not unlisted.verdict.evidence)
    return tuple(found[:limit])


def _best(suggestions: BindingSuggestions) -> Mapping[FilePath, Suggestion]:
    return {
        page.filepath: page.suggestions[0]
        for page in suggestions.pages
        if page.suggestions and page.suggestions[0].confidence >= MIN_REVIEW_CONFIDENCE
    }


def _listing(page: Page, suggestion: Suggestion) -> Page:
    """Return a page as if it listed the file or folder of a suggestion."""
    path = FilePath(suggestion.source_path.partition("#")[0].rstrip("/"))
    reference = SourceReference(path, path, path, None, "", 1)
    return page._replace(facts=page.facts._replace(references=(reference,)))
