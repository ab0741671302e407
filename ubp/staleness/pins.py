"""Pin references: acknowledge reviewed pages, and find pins for new references."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.core.errors import RepositoryError
from ubp.core.model import Assessment, FilePath, ObjectId, Page, ReferenceVerdict
from ubp.core.shell import git_add
from ubp.core.source import Source
from ubp.git.files import read_file, replace_file, stage_file
from ubp.git.trees import shorten
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.edit_pins import Pin, write_pins
from ubp.staleness.baseline import Origins
from ubp.staleness.model import (
    Acknowledgement,
    Pinned,
    SkippedReference,
    SourceDiff,
    StalenessContext,
)
from ubp.staleness.references import candidates, locate

Pins = Mapping[tuple[FilePath, FilePath], str]
"""Pins by page and source."""
PinIds = dict[tuple[FilePath, FilePath], ObjectId]
PastIds = Mapping[tuple[FilePath, FilePath], ObjectId | None]
"""Ids in the past by page and literal reference; None: the source did not exist."""


class AckOptions(NamedTuple):
    """Options of `ubp ack`.

    `keys`: the front matter keys that name sources; `is_staged`: pin in the index as well;
    `is_from_history`: pin unpinned references to what the source was when the page's text last
    changed; `at`: pin all to what the source was in this commit.
    """

    keys: tuple[str, ...]
    is_staged: bool
    is_from_history: bool
    reason: str | None
    is_hidden: Callable[[FilePath], bool]
    at: ObjectId | None = None


def acknowledge(
    assessments: Sequence[Assessment],
    context: StalenessContext,
    options: AckOptions,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff],
) -> tuple[Acknowledgement, ...]:
    """Write pins into the pages whose references need them, without changing any other byte.

    The pin is the source's id in the snapshot, or an earlier one (see `AckOptions`), so that a team
    can start to pin without losing existing drift. `diffs` become part of the result.

    Raises:
        RepositoryError: a page cannot be read or written.
    """
    is_past = options.is_from_history or options.at
    past = _past_ids(assessments, context, options) if is_past else {}
    chosen = [
        (assessment.page, *_choose_pins(assessment, options, past)) for assessment in assessments
    ]
    ids = {blob for _, pin_ids, _ in chosen for _, blob in pin_ids}
    short_ids = shorten(ids, context.repository)
    acknowledgements = []
    for page, pin_ids, skipped in chosen:
        pins = {reference: short_ids[blob] for reference, blob in pin_ids}
        if pins:
            _write(page, pins, context, options)
        pinned = tuple(
            Pinned(verdict.name, verdict.reference.pin, pin, diffs.get((page.filepath, verdict)))
            for verdict, pin in pins.items()
        )
        acknowledgements.append(Acknowledgement(page.filepath, pinned, tuple(skipped)))
    return tuple(acknowledgements)


def _choose_pins(
    assessment: Assessment, options: AckOptions, past: PastIds
) -> tuple[list[tuple[ReferenceVerdict, ObjectId]], list[SkippedReference]]:
    """Return the ids to pin for the references of a page, and the references that are skipped."""
    pin_ids, skipped = [], []
    for verdict in assessment.references:
        path = verdict.name
        if options.is_hidden(verdict.source_path):
            skipped.append(SkippedReference(path, "the configuration excludes this source"))
        elif options.is_from_history or options.at:
            pin = verdict.reference.pin
            if options.is_from_history and pin is not None:
                continue
            key = assessment.page.filepath, verdict.reference.literal
            if key not in past:
                reason = "the history of this shallow clone starts after the page's last change"
                skipped.append(SkippedReference(path, reason))
            elif blob := past[key]:
                pin_ids += [] if pin and blob.startswith(pin) else [(verdict, blob)]
            else:
                when = "at this revision" if options.at else "when the page last changed"
                skipped.append(SkippedReference(path, f"the source did not exist {when}"))
        elif verdict.verdict == "fresh":
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


def _past_ids(
    assessments: Sequence[Assessment], context: StalenessContext, options: AckOptions
) -> PastIds:
    """Return the ids of the pages' sources at the revision, or when each page's text last changed.

    References are left out where a shallow clone ends before that.
    """
    pages = [assessment.page.filepath for assessment in assessments]
    commits: Mapping[FilePath, ObjectId | None]
    if options.at:
        commits = dict.fromkeys(pages, options.at)
    else:
        commits = find_text_changes(pages, context, options.keys)
    wanted = [
        (assessment.page.filepath, verdict.reference)
        for assessment in assessments
        for verdict in assessment.references
    ]
    sources_at: dict[ObjectId, set[Source]] = defaultdict(set)
    for page, reference in wanted:
        if commit := commits.get(page):
            sources_at[commit].update(candidates(reference))
    ids = context.history.ids_at(sources_at)
    located = locate(context.view, {reference for _, reference in wanted})
    past: dict[tuple[FilePath, FilePath], ObjectId | None] = {}
    for page, reference in wanted:
        if page not in commits:
            continue
        commit = commits[page]
        found = (
            (ids[commit, source] for source in candidates(reference))
            if commit
            else iter([located[reference].id])
        )
        past[page, reference.literal] = next(filter(None, found), None)
    return past


def find_text_changes(
    pages: Collection[FilePath], context: StalenessContext, keys: Sequence[str]
) -> dict[FilePath, ObjectId | None]:
    """Return the commit that last changed the text of each page, not only its front matter.

    None: the text is not committed as it is. A page is left out where a shallow clone ends first.
    """
    head, repository = context.view.snapshot.commit, context.repository
    changes: dict[FilePath, ObjectId | None] = {}
    current = context.view.read(pages)
    origins = Origins.uncommitted(context.view)
    for page in pages:
        data, path = current.get(page), origins.of(page) or page
        if head is None or data is None:
            changes[page] = None
            continue
        log = repository.run("log", "--format=%H", head, "--", path)
        commits = [ObjectId(line) for line in log.decode("ascii").splitlines()]
        entries = context.history.entries_at({commit: [path] for commit in commits})
        blobs = [entry.id if (entry := entries[commit, path]) else None for commit in commits]
        contents = repository.read_blobs({blob for blob in blobs if blob})
        text = data[read_head(data, keys).body :]
        same: list[ObjectId] = []
        for commit, blob in zip(commits, blobs, strict=True):
            old = contents[blob] if blob else None
            if old is None or old[read_head(old, keys).body :] != text:
                break
            same.append(commit)
        if not same:
            changes[page] = None
        elif same[-1] not in repository.shallow_commits():
            changes[page] = same[-1]
    return changes


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
    keys: Sequence[str],
) -> Pins:
    """Return the pins for sources that pages do not name yet.

    A pin is the source's id in the snapshot, or with `from_history` that when the page's text last
    changed. Where the source did not exist, or history ends too early, there is no pin.
    """
    if from_history:
        ids = _ids_in_history(sources_by_page, context, keys)
    else:
        ids = _ids_in_snapshot(sources_by_page, context)
    short_ids = shorten(ids.values(), context.repository)
    return {key: short_ids[blob] for key, blob in ids.items()}


def _ids_in_snapshot(
    sources_by_page: Mapping[FilePath, Sequence[FilePath]], context: StalenessContext
) -> PinIds:
    entries = context.view.entries(
        {_file_path(source) for sources in sources_by_page.values() for source in sources}
    )
    return {
        (page, source): entry.id
        for page, sources in sources_by_page.items()
        for source in sources
        if (entry := entries[_file_path(source)])
    }


def _ids_in_history(
    sources_by_page: Mapping[FilePath, Sequence[FilePath]],
    context: StalenessContext,
    keys: Sequence[str],
) -> PinIds:
    """Return the ids when each page's text last changed; an edited one describes the snapshot."""
    changes = find_text_changes(list(sources_by_page), context, keys)
    commits = {page: commit for page, commit in changes.items() if commit}
    sources: dict[ObjectId, set[FilePath]] = defaultdict(set)
    for page, commit in commits.items():
        sources[commit].update(map(_file_path, sources_by_page[page]))
    entries = context.history.entries_at(sources)
    ids = {
        (page, source): entry.id
        for page, commit in commits.items()
        for source in sources_by_page[page]
        if (entry := entries[commit, _file_path(source)])
    }
    edited = {
        page: sources_by_page[page] for page in sources_by_page if changes.get(page, "") is None
    }
    return ids | _ids_in_snapshot(edited, context)


def _file_path(source: FilePath) -> FilePath:
    """Return the path of a source that may name a part of a file; `bind` proposes no others."""
    return FilePath(source.partition("#")[0])
