"""Which ids pages may pin for sources that they do not name yet."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ubp.git.short_ids import shorten
from ubp.model import FilePath, ObjectId
from ubp.staleness.court import Court
from ubp.staleness.origin import Origins

Pins = Mapping[tuple[FilePath, FilePath], str]
"""By page and source."""
Found = dict[tuple[FilePath, FilePath], ObjectId]


def find_pins(
    wanted: Mapping[FilePath, Sequence[FilePath]], court: Court, *, from_history: bool
) -> Pins:
    """The pin for each source of each page: as the source is, or was when the page last changed.

    Where nothing stands, or nothing stood then, or nobody can tell, there is none.
    """
    found = _as_it_was(wanted, court) if from_history else _as_it_is(wanted, court)
    short = shorten(found.values(), court.repository)
    return {key: short[blob] for key, blob in found.items()}


def _as_it_is(wanted: Mapping[FilePath, Sequence[FilePath]], court: Court) -> Found:
    entries = court.view.entries({source for sources in wanted.values() for source in sources})
    return {
        (page, source): entry.id
        for page, sources in wanted.items()
        for source in sources
        if (entry := entries[source])
    }


def _as_it_was(wanted: Mapping[FilePath, Sequence[FilePath]], court: Court) -> Found:
    """A page that is being edited, or was never committed, describes what stands there."""
    origins, head = Origins.uncommitted(court.view), court.view.snapshot.commit
    names = {page: name for page in wanted if head and (name := origins.of(page))}
    changes = court.history.last_changes(head, set(names.values())) if head else {}
    commits = {
        page: change.commit
        for page, name in names.items()
        if (change := changes.get(name)) and not change.is_boundary
    }
    sources: dict[ObjectId, set[FilePath]] = defaultdict(set)
    for page, commit in commits.items():
        sources[commit].update(wanted[page])
    entries = court.history.entries_at(sources)
    then = {
        (page, source): entry.id
        for page, commit in commits.items()
        for source in wanted[page]
        if (entry := entries[commit, source])
    }
    edited = {page: sources for page, sources in wanted.items() if page not in names}
    return then | _as_it_is(edited, court)
