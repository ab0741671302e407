"""A search in a session: with its model, if it has one, and the names of its files."""

from typing import NamedTuple

from ubp.core.errors import ModelError, UbpError
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.search.lexical import FileNames
from ubp.search.pages import (
    Mode,
    PageAnswer,
    PageQuery,
    SearchContext,
    SearchType,
    Stopwatch,
    find_pages,
)
from ubp.search.scope import ViewNames
from ubp.search.semantic import SemanticRanking


class Fallback(NamedTuple):
    """Why a hybrid search used no embeddings, and what helps."""

    reason: str
    hint: str


class FoundPages(NamedTuple):
    """What a search found in a view.

    `search_type` is the mode, or `fulltext_fallback` if the search used no embeddings because of
    `fallback`. `watch` has the time of each step.
    """

    view: View
    answer: PageAnswer
    search_type: SearchType
    fallback: Fallback | None
    watch: Stopwatch


def search_pages(session: Session, query: PageQuery, ref: str | None = None) -> FoundPages:
    """Return the pages of the work tree, or of a revision, that match best, by their scores.

    Raises:
        UsageError: the mode is `semantic`, and there is no model; or a filter on a field of front
            matter cannot be read.
        ModelError: the mode is `semantic`, and the configured model cannot be used.
    """
    watch = Stopwatch(session.clock)
    query = query._replace(version=query.version or session.config.version)
    with watch.step("snapshot"):
        view = session.view(Target(ref))
        view.full_text()
    with watch.step("vectors"):
        semantic, fallback = _open_semantic(session, view, query.mode)
    context = SearchContext(file_names(view), semantic, watch)
    try:
        answer = find_pages(view, query, context)
    except ModelError as error:  # the model cannot read this query
        if query.mode == "semantic":
            raise
        fallback = Fallback(error.cause, error.hint)
        answer = find_pages(view, query, context._replace(meaning=None))
    search_type: SearchType = "fulltext_fallback" if fallback else query.mode
    return FoundPages(view, answer, search_type, fallback, watch)


def file_names(view: View) -> ViewNames:
    """Return the names of the view's files; they are built again only if paths have changed."""
    last: list[FileNames] = view.context.cache.derived("file names", list)
    paths = view.document_paths()
    if not last or last[0].paths != paths:
        last[:] = [FileNames(paths)]
    return ViewNames(view, last[0])


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
