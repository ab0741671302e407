"""The dates when documents were committed first and last."""

from collections.abc import Callable, Collection, Mapping, Sequence

from ubp.core.interruption import with_checkpoints
from ubp.core.model import FilePath, LastChange, ObjectId
from ubp.index.session import Session
from ubp.index.view import View

# Committer dates in seconds. None: never committed, or a shallow clone ends too early to know.
Dates = Mapping[FilePath, int | None]
FindChanges = Callable[[ObjectId, Collection[FilePath]], Mapping[FilePath, LastChange]]


def updated_at(session: Session, view: View, paths: Sequence[FilePath]) -> Dates:
    """Return when each of these documents was committed last."""
    return _cached_dates(session, view, paths, "updated_at", session.history.last_changes)


def created_at(session: Session, view: View, paths: Sequence[FilePath]) -> Dates:
    """Return when each of these documents was committed first."""
    return _cached_dates(session, view, paths, "created_at", session.history.first_changes)


def read_dates(session: Session) -> None:
    """Walk history for the dates of all pages: it takes as long as for the oldest of them."""
    view = session.view()
    paths = view.document_paths()
    updated_at(session, view, paths)
    created_at(session, view, paths)


def _cached_dates(
    session: Session, view: View, paths: Sequence[FilePath], name: str, find: FindChanges
) -> Dates:
    cache: dict[FilePath, int | None] = view.of_commit(name, dict)
    new = [path for path in paths if path not in cache]
    if new:
        cache |= _find_dates(session, view, new, find)
    return {path: cache[path] for path in paths}


def _find_dates(
    session: Session, view: View, paths: Sequence[FilePath], find: FindChanges
) -> dict[FilePath, int | None]:
    dates: dict[FilePath, int | None] = dict.fromkeys(paths)
    head = view.snapshot.commit
    if head is None:
        return dates
    entries = view.base_entries(paths)
    committed = [path for path in with_checkpoints(paths) if entries[path] is not None]
    changes = find(head, committed) if committed else {}
    commits = {
        path: changes[path].commit
        for path in with_checkpoints(committed)
        if path in changes and not changes[path].is_boundary
    }
    records = session.history.commits(set(commits.values()))
    dates |= {path: records[commit].date for path, commit in commits.items() if commit in records}
    return dates
