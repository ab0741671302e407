"""Pins at front matter keys of a project's own: `default_lang_commit`, `verified-at`.

Such a pin is the id of a commit, unless the page has the id of its source there. The commit is the
one that last changed the source: it is in the main line already, so that it survives the squash of
the branch on which a page is reviewed.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath, ObjectId, ReferenceVerdict
from ubp.core.source import Source, file_of
from ubp.git.trees import shorten
from ubp.staleness.model import StalenessContext
from ubp.staleness.references import candidates, locate

FULL_ID = 40


class SkippedError(Exception):
    """A reference is not pinned; the message is the reason."""


class KeyPinned(NamedTuple):
    """The value to write at a key, and the references that it pins anew."""

    value: str
    verdicts: tuple[ReferenceVerdict, ...]


def missing_reason(verdict: ReferenceVerdict) -> str:
    """Return why a source that is not here cannot be pinned."""
    if verdict.note == "other_repository":
        where = "the source is in another repository"
        return f"{where}; add to the reference the `blob` that it has there"
    if verdict.moved_to and verdict.reference.language is None:
        return f"the source moved: change the reference to {verdict.new_name}"
    if verdict.moved_to:
        return f"the original moved to {verdict.moved_to}: move the translation too"
    if verdict.reference.language is not None:
        return "the original does not exist: remove the translation"
    return "the source does not exist: update or remove the reference"


def pin_now(
    key: str, verdicts: Sequence[ReferenceVerdict], context: StalenessContext
) -> KeyPinned | None:
    """Return the pin of the snapshot for the references of a page that share a key.

    None: all of them are at their baseline.

    Raises:
        SkippedError: no pin at this key would be right.
    """
    drifted = tuple(verdict for verdict in verdicts if verdict.verdict != "fresh")
    if not drifted:
        return None
    older = [verdict for verdict in drifted if verdict.is_debt]
    if older:
        raise SkippedError(
            f"{key} pins every source of the page, and {older[0].name} was stale before this "
            "change: review all of them, then run `ubp ack` for the page alone"
        )
    for verdict in drifted:
        if verdict.current_blob is None:
            raise SkippedError(missing_reason(verdict))
    first = verdicts[0]
    pin = first.reference.pin
    is_commit = pin is None or first.baseline_commit is not None or first.note == "no_pin"
    if not is_commit and len(verdicts) == 1 and first.current_blob:
        return KeyPinned(_like(pin, first.current_blob, context), drifted)
    if first.collection:
        from ubp.staleness.collections import pinned_commit

        commit = pinned_commit(first.collection, context)
    else:
        commit = _find_commit(verdicts, context)
    if commit is None:
        name = drifted[0].name
        raise SkippedError(
            f"{key} is a commit, and no commit has {name} as it is now: commit it first"
        )
    return KeyPinned(_like(pin, commit, context), drifted)


def pin_past(
    verdicts: Sequence[ReferenceVerdict], commit: ObjectId, context: StalenessContext
) -> KeyPinned | None:
    """Return the pin to a commit of the past; None: it is the pin already.

    Raises:
        SkippedError: a source did not exist at that commit.
    """
    pin = verdicts[0].reference.pin
    if pin and commit.startswith(pin):
        return None
    for verdict in verdicts:
        sources = candidates(verdict.reference)
        ids = context.history.ids_at({commit: sources})
        if not any(ids[commit, source] for source in sources):
            raise SkippedError(f"{verdict.name} did not exist at {commit[:12]}")
    return KeyPinned(_like(pin, commit, context), tuple(verdicts))


def _find_commit(
    verdicts: Sequence[ReferenceVerdict], context: StalenessContext
) -> ObjectId | None:
    """Return a commit with all sources as they are now: the last that changed one, else HEAD."""
    head = context.view.snapshot.commit
    if head is None:
        return None
    located = locate(context.view, {verdict.reference for verdict in verdicts})
    wanted: dict[Source, ObjectId | None] = {
        file_of(found.source): found.id for found in located.values()
    }
    if _has(head, wanted, context):
        for commit in _last_commits(head, {source.path for source in wanted}, context):
            if _has(commit, wanted, context):
                return commit
        return head
    return None


def _last_commits(
    head: ObjectId, paths: Collection[FilePath], context: StalenessContext
) -> list[ObjectId]:
    """Return the commits that last changed these files of a commit's tree."""
    entries = context.view.base_entries(paths)
    files = {path for path in paths if (entry := entries[path]) and entry.is_file}
    changes = context.history.last_changes(head, files) if files else {}
    return sorted({changes[path].commit for path in files if path in changes})


def _has(
    commit: ObjectId, wanted: Mapping[Source, ObjectId | None], context: StalenessContext
) -> bool:
    ids = context.history.ids_at({commit: wanted.keys()})
    return all(ids[commit, source] == object_id for source, object_id in wanted.items())


def _like(pin: str | None, object_id: ObjectId, context: StalenessContext) -> str:
    """Return an id as long as the pin that it replaces, if that is unique."""
    if pin is None or len(pin) == FULL_ID:
        return object_id
    return max(shorten([object_id], context.repository)[object_id], object_id[: len(pin)], key=len)
