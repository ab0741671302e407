"""Pin references: acknowledge reviewed pages, and find pins for new references."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.core.errors import PageError, RepositoryError
from ubp.core.model import (
    Assessment,
    FilePath,
    ObjectId,
    Page,
    ReferenceVerdict,
)
from ubp.core.shell import git_add, ubp_command
from ubp.core.source import Source
from ubp.git.files import read_file, replace_file, stage_file
from ubp.git.trees import shorten
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.edit_pins import Pin, write_key_pin, write_pins
from ubp.staleness.baseline import Origins, words_of
from ubp.staleness.key_pins import (
    KeyPinned,
    SkippedError,
    missing_reason,
    pin_now,
    pin_past,
)
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


HIDDEN = "the configuration excludes this source"
TOO_SHALLOW = "the history of this shallow clone starts after the page's last change"


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
    commits = _past_commits(assessments, context, options) if is_past else {}
    past = _past_ids(assessments, commits, context)
    chosen = []
    for each in assessments:
        assessment, edited = _without_edited(each, context, options)
        pin_ids, skipped = _choose_pins(assessment, options, past)
        chosen.append((assessment, pin_ids, [*edited, *skipped]))
    ids = {blob for _, pin_ids, _ in chosen for _, blob in pin_ids}
    short_ids = shorten(ids, context.repository)
    acknowledgements = []
    for assessment, pin_ids, skipped in chosen:
        page = assessment.page
        beside = {reference: short_ids[blob] for reference, blob in pin_ids}
        key_pins, skipped_keys = _choose_key_pins(assessment, context, options, commits)
        values = {key: pinned.value for key, pinned in key_pins.items()}
        pins = dict(beside)
        for value, verdicts in key_pins.values():
            pins |= dict.fromkeys(verdicts, value)
        skipped.extend(skipped_keys)
        try:
            if pins:
                _write(page, _NewPins(beside, values), context, options)
        except PageError as error:  # the other pages can be pinned
            why = f"{error.cause} {error.hint}"
            skipped.extend(SkippedReference(verdict.name, why) for verdict in pins)
            pins = {}
        pinned = tuple(
            Pinned(
                verdict.name,
                verdict.reference.pin,
                pin,
                diffs.get((page.filepath, verdict)),
                verdict.is_debt,
            )
            for verdict, pin in pins.items()
        )
        acknowledgements.append(Acknowledgement(page.filepath, pinned, tuple(skipped)))
    return tuple(acknowledgements)


def _without_edited(
    assessment: Assessment, context: StalenessContext, options: AckOptions
) -> tuple[Assessment, list[SkippedReference]]:
    """Take out the drifted references that the page does not have in the work tree any more.

    What the index has is pinned there; only where its source is missing, the edit remains to stage.
    """
    drifted = [
        verdict
        for verdict in assessment.references
        if verdict.verdict != "fresh" and not (options.is_staged and verdict.current_blob)
    ]
    if context.view.snapshot.kind == "worktree" or not drifted:
        return assessment, []
    try:
        data = read_file(context.repository, assessment.page.filepath)
    except RepositoryError:
        return assessment, []
    parsed = parse_page(data, options.keys)
    if parsed.problems:
        return assessment, []
    listed = {(reference.key, reference.literal) for reference in parsed.references}
    edited = {
        verdict
        for verdict in drifted
        if (verdict.reference.key, verdict.reference.literal) not in listed
        and verdict.reference.language is None
    }
    kept = tuple(verdict for verdict in assessment.references if verdict not in edited)
    step = git_add([assessment.page.filepath], context.repository.prefix)
    step = step if options.is_staged else f"{step} && git commit"
    reason = f"the page in the work tree does not list it any more: {step}"
    return assessment._replace(references=kept), [
        SkippedReference(verdict.name, reason) for verdict in drifted if verdict in edited
    ]


def pin_page(
    data: bytes, assessment: Assessment, context: StalenessContext, options: AckOptions
) -> tuple[bytes, tuple[SkippedReference, ...]]:
    """Return a page's bytes with its references pinned as `acknowledge` does, writing nothing."""
    pin_ids, skipped = _choose_pins(assessment, options, {})
    key_pins, skipped_keys = _choose_key_pins(assessment, context, options, {})
    short_ids = shorten({blob for _, blob in pin_ids}, context.repository)
    pins = {reference: short_ids[blob] for reference, blob in pin_ids}
    values = {key: pinned.value for key, pinned in key_pins.items()}
    return _pin_references(data, _NewPins(pins, values), options), (*skipped, *skipped_keys)


def _choose_pins(
    assessment: Assessment, options: AckOptions, past: PastIds
) -> tuple[list[tuple[ReferenceVerdict, ObjectId]], list[SkippedReference]]:
    """Return the ids to pin for the references of a page, and the references that are skipped."""
    pin_ids, skipped = [], []
    for verdict in assessment.references:
        if _has_key_pin(verdict):
            continue
        try:
            blob = _pin_of(assessment.page.filepath, verdict, options, past)
        except SkippedError as reason:
            skipped.append(SkippedReference(verdict.name, str(reason)))
        else:
            if blob is not None:
                pin_ids.append((verdict, blob))
    return pin_ids, skipped


def _has_key_pin(verdict: ReferenceVerdict) -> bool:
    """Return whether a reference is pinned at a key of its own.

    Of sources in collections, only the original of a translation is.
    """
    reference = verdict.reference
    is_own = not verdict.collection or reference.language is not None
    return bool(reference.pin_key) and is_own


def _choose_key_pins(
    assessment: Assessment,
    context: StalenessContext,
    options: AckOptions,
    commits: Mapping[FilePath, ObjectId | None],
) -> tuple[dict[str, KeyPinned], list[SkippedReference]]:
    """Return the pins to write at keys of their own, and the references that are skipped."""
    by_key: dict[str, list[ReferenceVerdict]] = defaultdict(list)
    for verdict in assessment.references:
        if _has_key_pin(verdict):
            by_key[verdict.reference.pin_key or ""].append(verdict)
    pins: dict[str, KeyPinned] = {}
    skipped = []
    for key, verdicts in by_key.items():
        try:
            pinned = _key_pin(assessment.page.filepath, key, verdicts, context, options, commits)
        except SkippedError as reason:
            skipped += [
                SkippedReference(verdict.name, str(reason))
                for verdict in verdicts
                if verdict.verdict != "fresh" or options.at
            ]
        else:
            if pinned:
                pins[key] = pinned
    return pins, skipped


def _key_pin(  # noqa: PLR0913, PLR0917  # what a pin depends on
    page: FilePath,
    key: str,
    verdicts: Sequence[ReferenceVerdict],
    context: StalenessContext,
    options: AckOptions,
    commits: Mapping[FilePath, ObjectId | None],
) -> KeyPinned | None:
    if any(options.is_hidden(verdict.source_path) for verdict in verdicts):
        raise SkippedError(HIDDEN)
    is_past = options.at or options.is_from_history
    if options.is_from_history and verdicts[0].reference.pin:
        return None
    if is_past and page not in commits:
        raise SkippedError(TOO_SHALLOW)
    commit = commits.get(page)
    pinned = pin_past(verdicts, commit, context) if commit else pin_now(key, verdicts, context)
    if pinned and options.reason:
        raise SkippedError(f"{key} has no place for a reason: run `ubp ack` without --reason")
    return pinned


def _pin_of(
    page: FilePath, verdict: ReferenceVerdict, options: AckOptions, past: PastIds
) -> ObjectId | None:
    """Return the id to pin, None if the pin stays as it is."""
    if options.is_hidden(verdict.source_path):
        raise SkippedError(HIDDEN)
    if verdict.reference.language is not None:
        if verdict.verdict == "fresh":
            return None
        raise SkippedError("no `pin` in its rule of `translations`: an edit of the page renews it")
    if options.is_from_history or options.at:
        return _past_pin(page, verdict, options, past)
    return _current_pin(verdict)


def _past_pin(
    page: FilePath, verdict: ReferenceVerdict, options: AckOptions, past: PastIds
) -> ObjectId | None:
    """Return the past id to pin, None if the pin stays as it is."""
    pin = verdict.reference.own_pin
    if options.is_from_history and pin is not None:
        return None
    key = page, verdict.reference.literal
    if key not in past:
        raise SkippedError(TOO_SHALLOW)
    if blob := past[key]:
        return None if pin and blob.startswith(pin) else blob
    when = "at this revision" if options.at else "when the page last changed"
    raise SkippedError(f"the source did not exist {when}")


def _current_pin(verdict: ReferenceVerdict) -> ObjectId | None:
    """Return the id of the snapshot to pin, None if the pin stays as it is.

    What a change did not make stale is pinned to its baseline: the edit of the page would otherwise
    hide its drift.
    """
    if verdict.verdict == "fresh":
        return None
    if verdict.is_debt:
        is_pinned = verdict.reference.own_pin is not None or verdict.baseline_blob is None
        return None if is_pinned else ObjectId(str(verdict.baseline_blob))
    if verdict.current_blob is not None:
        return verdict.current_blob
    if verdict.note == "no_collection":
        command = ubp_command("collections", "sync", verdict.unfetched)
        raise SkippedError(f"its collection is not on this machine; fetch it: {command}")
    raise SkippedError(missing_reason(verdict))


def _past_commits(
    assessments: Sequence[Assessment], context: StalenessContext, options: AckOptions
) -> Mapping[FilePath, ObjectId | None]:
    """Return the revision, or the commit that last changed each page's text (None: no commit).

    Pages are left out where a shallow clone ends before that.
    """
    pages = [assessment.page.filepath for assessment in assessments]
    if options.at:
        return dict.fromkeys(pages, options.at)
    return find_text_changes(pages, context, options.keys)


def _past_ids(
    assessments: Sequence[Assessment],
    commits: Mapping[FilePath, ObjectId | None],
    context: StalenessContext,
) -> PastIds:
    """Return the ids of the pages' sources at these commits, None: in the snapshot."""
    verdicts = [
        (assessment.page.filepath, verdict)
        for assessment in assessments
        for verdict in assessment.references
    ]
    wanted = [(page, verdict.reference) for page, verdict in verdicts if not verdict.collection]
    past = _past_ids_in_collections(verdicts, commits, context)
    sources_at: dict[ObjectId, set[Source]] = defaultdict(set)
    for page, reference in wanted:
        if commit := commits.get(page):
            sources_at[commit].update(candidates(reference))
    ids = context.history.ids_at(sources_at)
    located = locate(context.view, {reference for _, reference in wanted})
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


def _past_ids_in_collections(
    verdicts: Collection[tuple[FilePath, ReferenceVerdict]],
    commits: Mapping[FilePath, ObjectId | None],
    context: StalenessContext,
) -> dict[tuple[FilePath, FilePath], ObjectId | None]:
    wanted = {
        (page, verdict.reference): commits[page]
        for page, verdict in verdicts
        if verdict.collection and page in commits
    }
    if not wanted:
        return {}
    from ubp.staleness.collections import past_ids

    ids = past_ids(wanted, context)
    return {(page, reference.literal): found for (page, reference), found in ids.items()}


def find_text_changes(
    pages: Collection[FilePath], context: StalenessContext, keys: Sequence[str]
) -> dict[FilePath, ObjectId | None]:
    """Return the commit that last changed the text of each page, not only its front matter.

    White space does not count: `ubp bind --write` adds a blank line. None: the text is not
    committed. A page is left out where a shallow clone ends first.
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
        text = words_of(data[read_head(data, keys).body :])
        same: list[ObjectId] = []
        for commit, blob in zip(commits, blobs, strict=True):
            old = contents[blob] if blob else None
            if old is None or words_of(old[read_head(old, keys).body :]) != text:
                break
            same.append(commit)
        if not same:
            changes[page] = None
        elif same[-1] not in repository.shallow_commits():
            changes[page] = same[-1]
    return changes


class _NewPins(NamedTuple):
    """The pins to write beside the references of a page, and those at keys of their own."""

    beside: Mapping[ReferenceVerdict, str]
    at_keys: Mapping[str, str]


def _write(
    page: Page,
    pins: _NewPins,
    context: StalenessContext,
    options: AckOptions,
) -> None:
    repository, path = context.repository, page.filepath
    data = _pin_references(read_file(repository, path), pins, options)
    if options.is_staged:
        entry = context.view.entry(path)
        staged = repository.read_blobs([page.blob])[page.blob]
        if entry is None or staged is None:
            raise RepositoryError(
                f"Cannot read the staged {path}.",
                hint=f"Stage it again: {git_add([path], repository.prefix)}",
            )
        stage_file(repository, path, entry.mode, _pin_references(staged, pins, options))
    replace_file(repository, path, data)


def _pin_references(data: bytes, pins: _NewPins, options: AckOptions) -> bytes:
    """Pin the references that these bytes have too: the work tree may differ from the index."""
    pins_as_written = {
        (verdict.reference.key, verdict.reference.written): pin
        for verdict, pin in pins.beside.items()
    }
    edits = {
        reference: Pin(pins_as_written[reference.key, reference.written], options.reason)
        for reference in parse_page(data, options.keys).references
        if (reference.key, reference.written) in pins_as_written
    }
    if edits:
        data = write_pins(data, options.keys, edits)
    for key, pin in pins.at_keys.items():
        data = write_key_pin(data, key, pin, options.keys)
    return data


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
