"""Pages that list no sources, name what changed, and would be stale if they were bound as proposed.

For readers only: of alarms from proposals alone hardly any was right, so nothing fails for them.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ubp.bindings.features import BindingSuggestions, Suggestion
from ubp.bindings.suggest import confident_suggestions, suggest_bindings
from ubp.core.interruption import interruptible
from ubp.core.model import Assessment, FilePath, Page, SourceReference
from ubp.core.source import possible_sources
from ubp.index.session import Session
from ubp.index.view import View
from ubp.staleness.assess import assess
from ubp.staleness.compare import hide
from ubp.staleness.evidence import add_evidence
from ubp.staleness.model import StalenessContext, lists_few_sources

# Below, most proposals are wrong, whatever changed.
MIN_PROBABLE_CONFIDENCE = 0.4
# Kinds of evidence that are names in the page.
NAMING = frozenset({"path", "file_name", "identifier"})
PROPOSED_SOURCES = 10  # of a page
# Of CPU, whatever else the machine does: nobody waits longer for what was not asked for. `ubp bind`
# took 0.9 s for 662 files, 2.4 s for 993 pages.
MAX_SECONDS = 5.0


def find_probable(
    session: Session,
    context: StalenessContext,
    proposed: Mapping[FilePath, Sequence[Suggestion]],
) -> tuple[Assessment, ...]:
    """Return the pages without sources that name what changed in a source proposed for them.

    That is since the page was last edited. Each has only the references that drifted, with
    evidence, written as the proposals are; a source that had no such path then is not what the page
    describes, or was moved together with it.
    """
    view = context.view
    bound = {page.filepath for page in view.bound_pages()}
    documents = view.pages_at([path for path in proposed if path not in bound])
    virtual = [_with_references(page, proposed[path]) for path, page in documents.items()]
    assessments = [
        assessment._replace(
            references=tuple(
                verdict for verdict in assessment.references if verdict.verdict != "created"
            )
        )
        for assessment in assess(virtual, context)
    ]
    return naming(hide(add_evidence(assessments, context), session.is_hidden))


def naming(assessments: Iterable[Assessment]) -> tuple[Assessment, ...]:
    """Return the assessments with the references that have evidence.

    Pages that name what is gone are first, then those that name most.
    """
    named = (
        assessment._replace(
            references=tuple(
                sorted(
                    (verdict for verdict in assessment.references if verdict.evidence),
                    key=lambda verdict: -len(verdict.evidence),
                )
            )
        )
        for assessment in assessments
    )
    return tuple(sorted((found for found in named if found.references), key=_order))


class ProbablePage(NamedTuple):
    """A page that names something of a file in a line, and seems to describe it."""

    filepath: FilePath
    line: int
    name: str
    source_path: str
    confidence: float


def find_probably_describing(
    session: Session, view: View, paths: Collection[FilePath]
) -> tuple[ProbablePage, ...]:
    """Return the pages without sources that seem to describe files, folders or globs.

    The most confident first. None where a quarter of the pages list sources, or there was no time.
    """
    bound = sum(1 for page in view.bound_pages() if page.facts.references)
    if not lists_few_sources(bound, view.count_documents()):
        return ()
    try:
        proposed = propose_in_time(session, view)
    except OutOfTimeError:
        return ()
    wanted = [source for path in paths for source in possible_sources(path)]
    found: dict[FilePath, ProbablePage] = {}
    for page, suggestions in proposed.items():
        for suggestion in suggestions:
            source = FilePath(suggestion.source_path.partition("#")[0].rstrip("/"))
            named = next((e for e in suggestion.evidence if e.line and e.kind in NAMING), None)
            if named and named.line and any(path.overlaps(source) for path in wanted):
                found.setdefault(
                    page,
                    ProbablePage(
                        page,
                        named.line,
                        named.detail,
                        suggestion.source_path,
                        suggestion.confidence,
                    ),
                )
    return tuple(sorted(found.values(), key=lambda page: (-page.confidence, page.filepath)))


def propose_in_time(
    session: Session, view: View, pages: Sequence[str] = ()
) -> Mapping[FilePath, tuple[Suggestion, ...]]:
    """Return what `propose` does.

    Raises:
        OutOfTimeError: it would take more than MAX_SECONDS.
        UsageError: a PATH matches no page.
    """
    with limited_time():
        return propose(session, view, pages)


def propose(
    session: Session, view: View, pages: Sequence[str] = ()
) -> Mapping[FilePath, tuple[Suggestion, ...]]:
    """Return the likely sources of the pages that list none; `pages` (PATHs) narrow it.

    Raises:
        UsageError: a PATH matches no page.
    """
    likely = {
        page.filepath: confident_suggestions(page, MIN_PROBABLE_CONFIDENCE)
        for page in _suggest(session, view, pages).pages
    }
    return {path: suggestions for path, suggestions in likely.items() if suggestions}


def suggest_in_time(session: Session, view: View) -> BindingSuggestions:
    """Return what `ubp bind` proposes for the pages that list no sources.

    Raises:
        OutOfTimeError: it would take more than MAX_SECONDS.
    """
    with limited_time():
        return _suggest(session, view, ())


def _suggest(session: Session, view: View, pages: Sequence[str]) -> BindingSuggestions:
    return suggest_bindings(session, view, pages, limit=PROPOSED_SOURCES, all_pages=False)


@contextmanager
def limited_time() -> Iterator[None]:
    """Let what runs in the context take MAX_SECONDS of CPU.

    Raises:
        OutOfTimeError: it took more, at a checkpoint.
    """
    end = time.process_time() + MAX_SECONDS

    def check() -> None:
        if time.process_time() > end:
            raise OutOfTimeError

    with interruptible(check):
        yield


class OutOfTimeError(BaseException):
    """Ends the search for proposals at a checkpoint, where nothing catches it."""


def _with_references(page: Page, suggestions: Sequence[Suggestion]) -> Page:
    references = tuple(map(_reference, suggestions))
    return page._replace(facts=page.facts._replace(references=references))


def _reference(suggestion: Suggestion) -> SourceReference:
    path, mark, fragment = suggestion.source_path.rstrip("/").partition("#")
    return SourceReference(
        written=suggestion.source_path,
        source_path=FilePath(path),
        literal=FilePath(path + mark + fragment),
        fragment=mark + fragment or None,
        key="source_refs",
        line=1,
    )


def _order(assessment: Assessment) -> tuple[bool, int, FilePath]:
    """Sort pages that name what is gone first, then those that name most."""
    names = [evidence for verdict in assessment.references for evidence in verdict.evidence]
    is_gone = any(evidence.change == "removed" for evidence in names)
    return not is_gone, -len(names), assessment.page.filepath
