"""Asks history and the verdicts for all that a review of bindings needs."""

from collections.abc import Callable, Sequence

from ubp.binding.review import Binding, BindingReview, review_bindings
from ubp.git.change_log import LoggedChange
from ubp.model import Assessment, FilePath, ReferenceVerdict
from ubp.paths import is_glob
from ubp.staleness.court import Court
from ubp.staleness.order import count_hanging

MOST_COMMITS = 500  # half a year of a busy project


def review(
    assessed: Sequence[Assessment], court: Court, commits: int | None = None
) -> BindingReview:
    """Judge the bindings of these pages by so many of the last commits (500).

    Of hidden sources nothing is told.

    Raises:
        RepositoryError: history cannot be read.
    """
    commits = MOST_COMMITS if commits is None else commits
    head = court.view.snapshot.commit
    log = court.history.change_log(commits, head=head) if head else []
    bindings = _bindings(assessed, court)
    older = _older(bindings, log, court) if len(log) == commits else frozenset()
    found = review_bindings(bindings, log, older.__contains__, _standing(court))
    since = log[-1].date if log else None
    return BindingReview(found, len(log), since, court.repository.is_shallow)


def _bindings(assessed: Sequence[Assessment], court: Court) -> list[Binding]:
    hanging = count_hanging(court.view.bound_pages())
    told = {
        (one.page.filepath, answer.source_path): answer
        for one in assessed
        for answer in reversed(one.references)  # of a source that is named twice the first line
        if not court.rules.is_hidden(answer.source_path)
    }
    entries = court.view.entries({source for _, source in told})
    folders = {source for source, entry in entries.items() if entry and entry.is_directory}
    return [
        Binding(
            filepath=page,
            source_path=source,
            line=answer.reference.line,
            verdict=answer.verdict,
            pages=hanging[answer.reference.source_path],
            is_wide=source in folders or (entries[source] is None and is_glob(source)),
            moved_to=_shown(answer, court),
        )
        for (page, source), answer in told.items()
    ]


def _shown(answer: ReferenceVerdict, court: Court) -> FilePath | None:
    moved = answer.moved_to
    return None if moved is None or court.rules.is_hidden(moved) else moved


def _older(
    bindings: Sequence[Binding], log: Sequence[LoggedChange], court: Court
) -> frozenset[FilePath]:
    """The pages that the oldest of the commits found, or made."""
    oldest = log[-1].commit
    found = court.history.entries_at({oldest: {one.filepath for one in bindings}})
    return frozenset(path for (_, path), entry in found.items() if entry)


def _standing(court: Court) -> Callable[[FilePath], bool]:
    def stands(path: FilePath) -> bool:
        entry = court.view.entry(path)
        return entry is not None and entry.is_file and not court.rules.is_hidden(path)

    return stands
