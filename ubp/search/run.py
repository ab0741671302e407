"""A search in a session, with its model and file names, and the facts about the found documents."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from ubp.core.config import EXCERPT_ONLY
from ubp.core.errors import ModelError, UbpError
from ubp.core.model import Assessment, FilePath, Page
from ubp.index.session import AssessPaths, Session, Target
from ubp.index.view import View
from ubp.search.dates import Dates, updated_at
from ubp.search.lexical import FileNames
from ubp.search.pages import (
    Mode,
    PageAnswer,
    SearchContext,
    SearchRequest,
    SearchType,
    Stopwatch,
    find_pages,
)
from ubp.search.results import LinkedPage, find_linked
from ubp.search.semantic import SemanticRanking

Value = TypeVar("Value")


class Fallback(NamedTuple):
    """Why a hybrid search used no embeddings, and what helps."""

    reason: str
    hint: str


class FoundPages(NamedTuple):
    """What a search found, and the facts about those documents.

    `assessments` are those of the found documents and of the `linked` ones, `updated_at` the dates
    when the found ones were committed last (seconds). `search_type` is the mode, or
    `fulltext_fallback` if the search used no embeddings because of `fallback`. `milliseconds` is
    the time of each step.
    """

    answer: PageAnswer
    search_type: SearchType
    fallback: Fallback | None
    assessments: Mapping[FilePath, Assessment]
    updated_at: Dates
    linked: Mapping[FilePath, tuple[LinkedPage, ...]]
    milliseconds: Mapping[str, float]


def search_pages(  # noqa: PLR0913  # where, what, and what to report of it
    session: Session,
    target: Target,
    request: SearchRequest,
    assess: AssessPaths,
    *,
    include_linked: bool,
    is_dated: bool,
) -> FoundPages:
    """Return the pages that match a request best, in the order of their scores.

    Raises:
        UsageError: the mode is `semantic`, and there is no model.
        ModelError: the mode is `semantic`, and the configured model cannot be used.
    """
    watch = Stopwatch(session.clock)
    with watch.step("snapshot"):
        view = session.view(target)
        view.full_text()
    with watch.step("vectors"):
        semantic, fallback = _open_semantic(session, view, request.mode)
    context = SearchContext(file_names(view), semantic, watch)
    try:
        answer = find_pages(view, request, context)
    except ModelError as error:  # the model cannot read this query
        if request.mode == "semantic":
            raise
        fallback = Fallback(error.cause, error.hint)
        answer = find_pages(view, request, context._replace(meaning=None))
    paths = [hit.page.filepath for hit in answer.pages]
    with watch.step("linked"):
        linked = find_linked(view, paths, request.link_types) if include_linked else {}
    others = [page.page.filepath for pages in linked.values() for page in pages]
    with watch.step("staleness"):
        assessments = assess(view, [*paths, *others])
    with watch.step("dates"):
        dates = updated_at(session, view, paths) if is_dated else dict.fromkeys(paths)
    search_type: SearchType = "fulltext_fallback" if fallback else request.mode
    return FoundPages(answer, search_type, fallback, assessments, dates, linked, watch.milliseconds)


def label_pages(found: FoundPages, collection: str, policy: str) -> FoundPages:
    """Return what was found in a collection, with its name before each path.

    Where its policy allows excerpts only, sections have no extracts: passages are short.
    """

    def label(page: Page) -> Page:
        return page._replace(filepath=_labelled(collection, page.filepath))

    def keys(facts: Mapping[FilePath, Value]) -> dict[FilePath, Value]:
        return {_labelled(collection, path): fact for path, fact in facts.items()}

    hits = tuple(
        hit._replace(
            page=label(hit.page),
            near=hit.near and label(hit.near),
            collection=collection,
            sections=tuple(
                section._replace(extract=None) if policy == EXCERPT_ONLY else section
                for section in hit.sections
            ),
        )
        for hit in found.answer.pages
    )
    linked = {
        path: tuple(other._replace(page=label(other.page)) for other in others)
        for path, others in found.linked.items()
    }
    return found._replace(
        answer=found.answer._replace(pages=hits),
        assessments=keys(found.assessments),
        updated_at=keys(found.updated_at),
        linked=keys(linked),
    )


def merge_pages(answers: Sequence[FoundPages], limit: int) -> FoundPages:
    """Return the best pages of several labelled answers to one query, by score."""
    first = answers[0]
    hits = sorted(
        (hit for found in answers for hit in found.answer.pages),
        key=lambda hit: (-hit.score, hit.page.filepath),
    )
    merged = first.answer._replace(
        pages=tuple(hits[:limit]),
        total=sum(found.answer.total for found in answers),
        is_exact=all(found.answer.is_exact for found in answers),
        confidence=max(found.answer.confidence for found in answers),
        terms=tuple(dict.fromkeys(term for found in answers for term in found.answer.terms)),
    )
    times: dict[str, float] = {}
    for found in answers:
        for step, spent in found.milliseconds.items():
            times[step] = times.get(step, 0.0) + spent
    return first._replace(
        answer=merged,
        fallback=next((found.fallback for found in answers if found.fallback), None),
        assessments={path: fact for found in answers for path, fact in found.assessments.items()},
        updated_at={path: date for found in answers for path, date in found.updated_at.items()},
        linked={path: pages for found in answers for path, pages in found.linked.items()},
        milliseconds=times,
    )


def own_path(path: FilePath, collection: str) -> FilePath:
    """Return a path without the name of its collection."""
    return FilePath(path.removeprefix(f"{collection}:")) if collection else path


def _labelled(collection: str, path: FilePath) -> FilePath:
    return FilePath(f"{collection}:{path}")


def file_names(view: View) -> FileNames:
    """Return the names of the view's files; they are built again only if paths have changed."""
    last: list[FileNames] = view.context.cache.derived("file names", list)
    paths = view.document_paths()
    if not last or last[0].paths != paths:
        last[:] = [FileNames(paths)]
    return last[0]


def open_search(session: Session) -> tuple[View, SearchContext]:
    """Return what a hybrid search of the session's snapshot needs; without a model, only words."""
    view = session.view()
    view.full_text()
    meaning, _ = _open_semantic(session, view, "hybrid")
    return view, SearchContext(file_names(view), meaning, Stopwatch(session.clock))


def _open_semantic(
    session: Session, view: View, mode: Mode
) -> tuple[SemanticRanking | None, Fallback | None]:
    if mode == "fulltext":
        return None, None
    try:
        return view.semantic_index(session.required_model()), None
    except UbpError as error:
        if mode == "semantic":
            raise
        return None, Fallback(error.cause or error.message, error.hint)
