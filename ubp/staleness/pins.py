"""`ack`: somebody read the page and says that it is still true; pins tell everybody else.

Which ids pages may pin for sources that they do not name yet.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.core.errors import RepositoryError
from ubp.core.model import Assessment, FilePath, ObjectId, Page, ReferenceVerdict
from ubp.core.shell import git_add
from ubp.git.files import read_file, replace_file, stage_file
from ubp.git.trees import shorten
from ubp.markdown.document import parse_page
from ubp.markdown.edit_pins import Pin, write_pins
from ubp.staleness.baseline import Origins
from ubp.staleness.model import Acknowledgement, Pinned, SkippedReference, StalenessContext


class AckOptions(NamedTuple):
    """How to acknowledge: which front matter keys, in the index too, what history says, why."""

    keys: tuple[str, ...]
    is_staged: bool
    is_from_history: bool
    reason: str | None
    is_hidden: Callable[[FilePath], bool]


def acknowledge(
    assessments: Iterable[Assessment], court: StalenessContext, terms: AckOptions
) -> tuple[Acknowledgement, ...]:
    """Write pins into the pages whose references need them, and touch no other byte.

    The pin is what stands in the snapshot, or with `is_from_history` the baseline that history
    gives to an unpinned reference, so that a team moves to pins without losing its debts.
    """
    chosen = [(one.page, *_choose(one, terms)) for one in assessments]
    ids = {blob for _, wanted, _ in chosen for _, blob in wanted}
    pins = shorten(ids, court.repository)
    done = []
    for page, wanted, left in chosen:
        answers = {answer: pins[blob] for answer, blob in wanted}
        if answers:
            _write(page, answers, court, terms)
        pinned = (Pinned(a.source_path, a.reference.pin, pin) for a, pin in answers.items())
        done.append(Acknowledgement(page.filepath, tuple(pinned), tuple(left)))
    return tuple(done)


def _choose(
    one: Assessment, terms: AckOptions
) -> tuple[list[tuple[ReferenceVerdict, ObjectId]], list[SkippedReference]]:
    wanted, left = [], []
    for answer in one.references:
        if terms.is_hidden(answer.source_path):
            left.append(
                SkippedReference(answer.source_path, "the configuration excludes this source")
            )
        elif terms.is_from_history:
            if answer.reference.pin is None and answer.baseline_blob is not None:
                wanted.append((answer, ObjectId(answer.baseline_blob)))
            elif answer.reference.pin is None:
                left.append(SkippedReference(answer.source_path, _why_no_baseline(answer)))
        elif answer.verdict == "fresh":
            continue
        elif answer.current_blob is None:
            left.append(SkippedReference(answer.source_path, _why_gone(answer)))
        else:
            wanted.append((answer, answer.current_blob))
    return wanted, left


def _why_no_baseline(answer: ReferenceVerdict) -> str:
    if answer.verdict == "unknown":
        return "this shallow clone ends before the commit that the page describes"
    return "the source did not exist when the page last changed"


def _why_gone(answer: ReferenceVerdict) -> str:
    if answer.moved_to:
        return f"it moved: change the reference to {answer.moved_to}"
    return "nothing stands there: change or remove the reference"


def _write(
    page: Page, answers: dict[ReferenceVerdict, str], court: StalenessContext, terms: AckOptions
) -> None:
    repository, path = court.repository, page.filepath
    if terms.is_staged:
        entry = court.view.entry(path)
        data = repository.read_blobs([page.blob])[page.blob]
        if entry is None or data is None:
            raise RepositoryError(
                f"The staged {path} cannot be read.",
                hint=f"Stage it again: {git_add([path], repository.prefix)}",
            )
        stage_file(repository, path, entry.mode, _pin(data, answers, terms))
    data = read_file(repository, path)
    replace_file(repository, path, _pin(data, answers, terms))


def _pin(data: bytes, answers: dict[ReferenceVerdict, str], terms: AckOptions) -> bytes:
    """Pin those references that these bytes have too; the work tree may differ from the index."""
    wanted = {(a.reference.key, a.reference.written): pin for a, pin in answers.items()}
    pins = {
        reference: Pin(wanted[reference.key, reference.written], terms.reason)
        for reference in parse_page(data, terms.keys).references
        if (reference.key, reference.written) in wanted
    }
    return write_pins(data, terms.keys, pins) if pins else data


Pins = Mapping[tuple[FilePath, FilePath], str]
"""By page and source."""
Found = dict[tuple[FilePath, FilePath], ObjectId]


def find_pins(
    wanted: Mapping[FilePath, Sequence[FilePath]], court: StalenessContext, *, from_history: bool
) -> Pins:
    """The pin for each source of each page: as the source is, or was when the page last changed.

    Where nothing stands, or nothing stood then, or nobody can tell, there is none.
    """
    found = _as_it_was(wanted, court) if from_history else _as_it_is(wanted, court)
    short = shorten(found.values(), court.repository)
    return {key: short[blob] for key, blob in found.items()}


def _as_it_is(wanted: Mapping[FilePath, Sequence[FilePath]], court: StalenessContext) -> Found:
    entries = court.view.entries({source for sources in wanted.values() for source in sources})
    return {
        (page, source): entry.id
        for page, sources in wanted.items()
        for source in sources
        if (entry := entries[source])
    }


def _as_it_was(wanted: Mapping[FilePath, Sequence[FilePath]], court: StalenessContext) -> Found:
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
