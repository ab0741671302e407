"""Pin references: acknowledge reviewed pages, and find pins for new references."""

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

Pins = Mapping[tuple[FilePath, FilePath], str]
"""Pins by page and source."""
PinIds = dict[tuple[FilePath, FilePath], ObjectId]


class AckOptions(NamedTuple):
    """Options of `ubp ack`.

    `keys`: the front matter keys that name sources; `is_staged`: pin in the index as well;
    `is_from_history`: pin the baseline that history gives to unpinned references.
    """

    keys: tuple[str, ...]
    is_staged: bool
    is_from_history: bool
    reason: str | None
    is_hidden: Callable[[FilePath], bool]


def acknowledge(
    assessments: Iterable[Assessment], context: StalenessContext, options: AckOptions
) -> tuple[Acknowledgement, ...]:
    """Write pins into the pages whose references need them, without changing any other byte.

    The pin is the source's id in the snapshot, or with `is_from_history` the baseline that history
    gives to an unpinned reference, so that a team can start to pin without losing existing drift.

    Raises:
        RepositoryError: a page cannot be read or written.
    """
    chosen = [(assessment.page, *_choose_pins(assessment, options)) for assessment in assessments]
    ids = {blob for _, pin_ids, _ in chosen for _, blob in pin_ids}
    short_ids = shorten(ids, context.repository)
    acknowledgements = []
    for page, pin_ids, skipped in chosen:
        pins = {reference: short_ids[blob] for reference, blob in pin_ids}
        if pins:
            _write(page, pins, context, options)
        pinned = tuple(
            Pinned(verdict.name, verdict.reference.pin, pin) for verdict, pin in pins.items()
        )
        acknowledgements.append(Acknowledgement(page.filepath, pinned, tuple(skipped)))
    return tuple(acknowledgements)


def _choose_pins(
    assessment: Assessment, options: AckOptions
) -> tuple[list[tuple[ReferenceVerdict, ObjectId]], list[SkippedReference]]:
    """Return the ids to pin for the references of a page, and the references that are skipped."""
    pin_ids, skipped = [], []
    for verdict in assessment.references:
        path = verdict.name
        if options.is_hidden(verdict.source_path):
            skipped.append(SkippedReference(path, "the configuration excludes this source"))
        elif options.is_from_history:
            if verdict.reference.pin is not None:
                continue
            if verdict.baseline_blob is not None:
                pin_ids.append((verdict, ObjectId(verdict.baseline_blob)))
            elif verdict.verdict == "unknown":
                reason = "the history of this shallow clone starts after the page's last change"
                skipped.append(SkippedReference(path, reason))
            else:
                reason = "the source did not exist when the page last changed"
                skipped.append(SkippedReference(path, reason))
        elif verdict.verdict == "fresh" or verdict.is_debt:
            continue
        elif verdict.current_blob is not None:
            pin_ids.append((verdict, verdict.current_blob))
        elif verdict.moved_to:
            reason = f"the source moved: change the reference to {verdict.new_name}"
            skipped.append(SkippedReference(path, reason))
        else:
            reason = "the source does not exist: update or remove the reference"
            skipped.append(SkippedReference(path, reason))
    return pin_ids, skipped


def _write(
    page: Page,
    pins: Mapping[ReferenceVerdict, str],
    context: StalenessContext,
    options: AckOptions,
) -> None:
    repository, path = context.repository, page.filepath
    if options.is_staged:
        entry = context.view.entry(path)
        data = repository.read_blobs([page.blob])[page.blob]
        if entry is None or data is None:
            raise RepositoryError(
                f"Cannot read the staged {path}.",
                hint=f"Stage it again: {git_add([path], repository.prefix)}",
            )
        stage_file(repository, path, entry.mode, _pin_references(data, pins, options))
    data = read_file(repository, path)
    replace_file(repository, path, _pin_references(data, pins, options))


def _pin_references(
    data: bytes, pins: Mapping[ReferenceVerdict, str], options: AckOptions
) -> bytes:
    """Pin the references that these bytes have too: the work tree may differ from the index."""
    pins_as_written = {
        (verdict.reference.key, verdict.reference.written): pin for verdict, pin in pins.items()
    }
    edits = {
        reference: Pin(pins_as_written[reference.key, reference.written], options.reason)
        for reference in parse_page(data, options.keys).references
        if (reference.key, reference.written) in pins_as_written
    }
    return write_pins(data, options.keys, edits) if edits else data


def find_pins(
    sources_by_page: Mapping[FilePath, Sequence[FilePath]],
    context: StalenessContext,
    *,
    from_history: bool,
) -> Pins:
    """Return the pins for sources that pages do not name yet.

    A pin is the source's id in the snapshot, or with `from_history` that of the last change of the
    page. Where the source did not exist, or history ends too early, there is no pin.
    """
    find_ids = _ids_in_history if from_history else _ids_in_snapshot
    ids = find_ids(sources_by_page, context)
    short_ids = shorten(ids.values(), context.repository)
    return {key: short_ids[blob] for key, blob in ids.items()}


def _ids_in_snapshot(
    sources_by_page: Mapping[FilePath, Sequence[FilePath]], context: StalenessContext
) -> PinIds:
    entries = context.view.entries(
        {source for sources in sources_by_page.values() for source in sources}
    )
    return {
        (page, source): entry.id
        for page, sources in sources_by_page.items()
        for source in sources
        if (entry := entries[source])
    }


def _ids_in_history(
    sources_by_page: Mapping[FilePath, Sequence[FilePath]], context: StalenessContext
) -> PinIds:
    """Return the ids at each page's last change; an edited or new page describes the snapshot."""
    origins, head = Origins.uncommitted(context.view), context.view.snapshot.commit
    old_paths = {
        page: old_path for page in sources_by_page if head and (old_path := origins.of(page))
    }
    changes = context.history.last_changes(head, set(old_paths.values())) if head else {}
    commits = {
        page: change.commit
        for page, old_path in old_paths.items()
        if (change := changes.get(old_path)) and not change.is_boundary
    }
    sources: dict[ObjectId, set[FilePath]] = defaultdict(set)
    for page, commit in commits.items():
        sources[commit].update(sources_by_page[page])
    entries = context.history.entries_at(sources)
    ids = {
        (page, source): entry.id
        for page, commit in commits.items()
        for source in sources_by_page[page]
        if (entry := entries[commit, source])
    }
    edited = {page: sources for page, sources in sources_by_page.items() if page not in old_paths}
    return ids | _ids_in_snapshot(edited, context)
