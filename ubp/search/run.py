"""A search in a session, or in several as one: with models and the names of files."""

from collections.abc import Mapping, Sequence
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
from ubp.search.searched import Searched
from ubp.search.semantic import SemanticRanking
from ubp.search.together import MeaningTogether, Together


class Fallback(NamedTuple):
    """Why a hybrid search used no embeddings, and what helps."""

    reason: str
    hint: str


class FoundPages(NamedTuple):
    """What a search found in a view, or in those of several sessions by the names of repositories.

    The name of the only one is "". `search_type` is the mode, or `fulltext_fallback` if the search
    used no embeddings because of `fallback`; of several it is that of the first that has none.
    `watch` has the time of each step.
    """

    views: Mapping[str, View]
    answer: PageAnswer
    search_type: SearchType
    fallback: Fallback | None
    watch: Stopwatch


def search_pages(
    session: Session, query: PageQuery, ref: str | None = None, others: Sequence[Session] = ()
) -> FoundPages:
    """Return the pages of the work tree, or of a revision, that match best, by their scores.

    With `others`, the pages of all sessions are ranked as those of one, and know their repository.

    Raises:
        UsageError: the mode is `semantic`, and there is no model; or a filter on a field of front
            matter cannot be read.
        ModelError: the mode is `semantic`, and the configured model cannot be used.
    """
    watch = Stopwatch(session.clock)
    query = query._replace(version=query.version or session.config.version)
    sessions = name_repositories((session, *others))
    with watch.step("snapshot"):
        views = {name: each.view(Target(ref)) for name, each in sessions.items()}
        for view in views.values():
            view.full_text()
    with watch.step("vectors"):
        opened = {
            name: _open_semantic(sessions[name], view, query.mode) for name, view in views.items()
        }
    fallback = next((missing for _, missing in opened.values() if missing), None)
    parts = {name: meaning for name, (meaning, _) in opened.items() if meaning}
    searched, context = _join(views, parts, watch)
    try:
        answer = find_pages(searched, query, context)
    except ModelError as error:  # the model cannot read this query
        if query.mode == "semantic":
            raise
        fallback = Fallback(error.cause, error.hint)
        answer = find_pages(searched, query, context._replace(meaning=None))
    search_type: SearchType = "fulltext_fallback" if fallback else query.mode
    return FoundPages(views, answer, search_type, fallback, watch)


def name_repositories(sessions: Sequence[Session]) -> dict[str, Session]:
    """Return sessions by the names that paths know them by; "" if there is only one."""
    if len(sessions) == 1:
        return {"": sessions[0]}
    named: dict[str, Session] = {}
    for number, session in enumerate(sessions):
        name = session.collection.name if session.collection else "."
        named[f"{name}@{number}" if name in named else name] = session  # of another version
    return named


def _join(
    views: Mapping[str, View], parts: Mapping[str, SemanticRanking], watch: Stopwatch
) -> tuple[Searched, SearchContext]:
    """Return what is searched: the only view, or all of them as one."""
    if len(views) == 1:
        view = next(iter(views.values()))
        return view, SearchContext(file_names(view), next(iter(parts.values()), None), watch)
    together = Together(views)
    names = ViewNames(together, FileNames(together.document_paths()))
    meaning = MeaningTogether(together, parts) if parts else None
    return together, SearchContext(names, meaning, watch)


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
