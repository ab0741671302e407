"""What a push brings: pre-commit's variables tell, and without them what is here."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.errors import RevisionNotFoundError
from ubp.workspace import Workspace

# What a push by hand would be compared with, the best known first.
REMOTES = ("@{upstream}", "origin/HEAD")


class Push(NamedTuple):
    """What is pushed, and what the remote has of it; `base` None: nothing, all of it is judged."""

    base: str | None
    ref: str


def find_push(workspace: Workspace, environment: Mapping[str, str]) -> Push:
    """What the push brings that is under way, or would be if this were one.

    pre-commit names both ends of a push, and neither where a history is pushed from its root on:
    then the whole state counts. By hand it is what the upstream lacks, else the remote's default
    branch; with neither, the whole state again. So it is where what the remote has is unrelated.

    Raises:
        RevisionNotFoundError: there are no commits.
        HistoryTooShortError: a shallow clone ends before both ends meet.
    """
    start, end = (environment.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO"))
    if start and end:
        return _related(workspace, start, end)
    if environment.get("PRE_COMMIT_REMOTE_NAME"):  # a push after all: of a root
        return Push(None, environment.get("PRE_COMMIT_LOCAL_BRANCH") or "HEAD")
    known = next((name for name in REMOTES if _is_known(workspace, name)), None)
    return _related(workspace, known, "HEAD") if known else Push(None, "HEAD")


def _related(workspace: Workspace, start: str, end: str) -> Push:
    repository = workspace.repository
    ends = repository.resolve(start), repository.resolve(end)
    try:
        repository.merge_base(*ends)
    except RevisionNotFoundError:
        return Push(None, end)
    return Push(start, end)


def _is_known(workspace: Workspace, revision: str) -> bool:
    try:
        workspace.repository.resolve(revision)
    except RevisionNotFoundError:
        return False
    return True
