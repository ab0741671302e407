"""Read the board of a commit: its files, the verdicts on its pages, its links and owners."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial

from ubp.board.model import (
    Board,
    BoardEdge,
    BoardFile,
    BoardPage,
    BoardReference,
    is_path,
    is_text,
)
from ubp.board.owners import PLACES, Owners, read_owners
from ubp.core.config import is_record
from ubp.core.interruption import with_checkpoints
from ubp.core.model import Entry, FilePath, LastChange, ObjectId, ReferenceVerdict
from ubp.core.repository_names import repository_name, split_reference
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.staleness.references import collection_of
from ubp.staleness.state import assess_paths, assess_translations, join_translations, open_context

MAX_FRAGMENT_CHARACTERS = 1_000
_ID = re.compile(r"[0-9a-f]{4,64}")
_UNKNOWN: tuple[ObjectId | None, int | None] = None, None


def read_board(session: Session, revision: str) -> Board:
    """Return the board of a revision.

    Raises:
        RevisionNotFoundError: there is no such revision.
    """
    view = session.view(Target(ref=revision))
    commit = view.snapshot.commit
    assert commit is not None  # noqa: S101  # for the type checker: it is a revision
    files = {path: entry for path, entry in view.files() if entry.is_file}
    shown = {path: entry for path, entry in files.items() if not session.is_hidden(path)}
    named = {path: entry for path, entry in shown.items() if is_path(path)}
    pages = _read_pages(session, view, named)
    tips = _last_changes(session, commit, pages, named)
    return Board(
        commit,
        tuple(
            BoardFile(path, entry.id, *tips.get(path, _UNKNOWN), pages.get(path))
            for path, entry in sorted(named.items())
        ),
        len(shown) - len(named),
    )


def _read_pages(
    session: Session, view: View, files: Mapping[FilePath, Entry]
) -> dict[FilePath, BoardPage]:
    paths = [path for path in view.document_paths() if path in files]
    assessments = assess_paths(session, view, paths)
    context = open_context(session, view)
    translations = assess_translations(context)
    joined = join_translations(tuple(assessments.values()), translations)
    owners = _owners(session, view)
    edges = _edges(view, paths, files)
    describe = partial(_reference, session)
    return {
        assessment.page.filepath: BoardPage(
            assessment.level,
            is_record(session.config, assessment.page.filepath, assessment.page.facts.doc_type),
            owners.of(assessment.page.filepath),
            tuple(filter(None, map(describe, assessment.references))),
            edges.get(assessment.page.filepath, ()),
        )
        for assessment in with_checkpoints(joined)
        if assessment.page.filepath in files
    }


def _reference(session: Session, verdict: ReferenceVerdict) -> BoardReference | None:
    """Return a reference as others may see it; None: its source is excluded, or has no name."""
    written = verdict.reference.source_path
    collections = {setting.name: setting for setting in session.config.collections}
    name = collection_of(written, collections)
    if name:
        repository = repository_name(collections[name].address)
        path = verdict.source_path.removeprefix(f"{name}:")
        if not repository:
            return None
    else:
        repository, path = split_reference(verdict.source_path)
    fragment = (verdict.reference.fragment or "").removeprefix("#")
    if verdict.source_path == verdict.reference.literal != written:
        fragment = ""  # `notes#1.md` is a file
    is_shown = is_path(path) and is_text(fragment) and len(fragment) <= MAX_FRAGMENT_CHARACTERS
    if session.is_hidden(FilePath(path)) or not is_shown:
        return None
    return BoardReference(
        repository,
        path,
        fragment,
        _id(verdict.reference.pin),
        verdict.verdict,
        verdict.level,
        verdict.baseline,
        _id(verdict.baseline_blob),
        _id(verdict.current_blob),
        verdict.since,
        len(verdict.commits),
        # A hub of an earlier version refuses a push with a note that it does not know.
        None if verdict.note == "other_repository" else verdict.note,
    )


def _edges(
    view: View, paths: Collection[FilePath], files: Mapping[FilePath, Entry]
) -> dict[FilePath, tuple[BoardEdge, ...]]:
    found = {}
    for path, edges in view.link_graph().out(paths).items():
        links = Counter(
            (target, edge.link.link_type)
            for edge in edges
            if (target := edge.resolution.target) is not None and target != path and target in files
        )
        if links:
            found[path] = tuple(BoardEdge(*link, number) for link, number in sorted(links.items()))
    return found


def _owners(session: Session, view: View) -> Owners:
    entries = view.entries([FilePath(place) for place in PLACES])
    blobs = {place: entry.id for place, entry in entries.items() if entry and entry.is_file}
    contents = session.repository.read_blobs(list(blobs.values()))
    return read_owners({place: contents[blob] for place, blob in blobs.items()})


def _last_changes(
    session: Session,
    commit: ObjectId,
    pages: Mapping[FilePath, BoardPage],
    files: Mapping[FilePath, Entry],
) -> dict[FilePath, tuple[ObjectId, int]]:
    """Return the commit that last changed each page and source, and its date, where known."""
    sources = {
        FilePath(reference.path)
        for page in pages.values()
        for reference in page.references
        if not reference.repository
    }
    wanted = [path for path in files if path in pages or path in sources]
    changes: dict[FilePath, LastChange] = session.history.last_changes(commit, wanted)
    known = {
        path: change.commit
        for path in wanted
        if (change := changes.get(path)) and not change.is_boundary
    }
    commits = session.history.commits(set(known.values()))
    return {path: (change, commits[change].date) for path, change in known.items()}


def _id(written: str | None) -> str | None:
    """Return an id, perhaps shortened; None for a pin that is something else."""
    lower = (written or "").lower()
    return lower if _ID.fullmatch(lower) else None
