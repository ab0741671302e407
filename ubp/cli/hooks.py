"""Which change a hook judges: the commit in the making, a range, or the whole state.

git names the index of the commit in the making in `GIT_INDEX_FILE`; pre-commit names the range of
`--from-ref` and `--to-ref`, and nothing under `--all-files`. A hook loads this module.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.errors import RevisionNotFoundError
from ubp.core.model import FilePath, Snapshot
from ubp.core.shell import git_add
from ubp.frame.wording import MAX_PAGES, ChangeWords
from ubp.index.session import Target
from ubp.workspace import Workspace

# What a push by hand is compared with, in order of preference.
REMOTES = ("@{upstream}", "origin/HEAD")

# pre-commit starts the hook through a shell or two; more processes between it and git are unusual.
MAX_ANCESTORS = 16
AMEND = ("--am", "--ame", "--amen", "--amend")


class Judged(NamedTuple):
    """What a command judges. In a hook, what cannot be verified is a warning, not a failure.

    `is_amending` is None where that cannot be known.
    """

    target: Target
    is_hook: bool = False
    is_amending: bool | None = False

    def words(self, workspace: Workspace, snapshot: Snapshot) -> ChangeWords:
        """Return how texts name the change, and what must be staged before it can be pinned."""
        target, repository = self.target, workspace.session.repository
        if target.staged:
            staging = _staging(repository.environment, snapshot, repository.prefix)
            is_unsure = self.is_amending is None
            return ChangeWords(is_amend=target.amend, staging=staging, is_unsure=is_unsure)
        is_past = target.ref is not None and repository.resolve(target.ref) != repository.head()
        return ChangeWords(target.base, target.ref if is_past else None)


def is_run_by_git(environment: Mapping[str, str]) -> bool:
    """Return whether a hook calls, of Git or pre-commit, and not a person."""
    return not {"GIT_INDEX_FILE", "PRE_COMMIT"}.isdisjoint(environment)


def judge(workspace: Workspace, target: Target, environment: Mapping[str, str]) -> Judged:
    """Return what a call with these options judges, in a hook or by hand."""
    if not target.staged or target.ref or target.base:
        return Judged(target)
    is_committing = "GIT_INDEX_FILE" in environment
    start, end = (environment.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO"))
    if start and end and not is_committing:
        return Judged(_range(workspace, start, end), is_hook=True)
    is_run_by_hand = "PRE_COMMIT" in environment and not is_committing  # `pre-commit run`
    if is_run_by_hand and not workspace.session.snapshot(target).changes:
        return Judged(Target(), is_hook=True)
    is_amending = _is_amending() if is_committing and not target.amend else target.amend
    repository = workspace.session.repository
    if is_amending and repository.head() in repository.shallow_commits():
        is_amending = False  # the clone lacks the parent
    return Judged(target._replace(amend=bool(is_amending)), is_hook=True, is_amending=is_amending)


def judge_push(workspace: Workspace, environment: Mapping[str, str]) -> Judged:
    """Return the range of the current push, or of a push that would be made now.

    pre-commit names both ends of a push, and neither for a history that is pushed from its root:
    then the whole state is checked. By hand the base is the upstream, else the remote's default
    branch; with neither, or with unrelated histories, the whole state is checked.

    Raises:
        RevisionNotFoundError: there are no commits.
        HistoryTooShortError: a shallow clone ends before the merge base.
    """
    start, end = (environment.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO"))
    if start and end:
        target = _range(workspace, start, end)
    elif environment.get("PRE_COMMIT_REMOTE_NAME"):  # a push from the root
        target = Target(ref=environment.get("PRE_COMMIT_LOCAL_BRANCH") or "HEAD")
    else:
        remote = next((name for name in REMOTES if _exists(workspace, name)), None)
        target = _range(workspace, remote, "HEAD") if remote else Target(ref="HEAD")
    return Judged(target, is_hook=True)


def _range(workspace: Workspace, start: str, end: str) -> Target:
    repository = workspace.session.repository
    start_commit, end_commit = repository.resolve(start), repository.resolve(end)
    try:
        repository.merge_base(start_commit, end_commit)
    except RevisionNotFoundError:
        return Target(ref=end)
    return Target(ref=end, base=start)


def _exists(workspace: Workspace, revision: str) -> bool:
    try:
        workspace.session.repository.resolve(revision)
    except RevisionNotFoundError:
        return False
    return True


def _staging(environment: Mapping[str, str], snapshot: Snapshot, prefix: FilePath) -> str:
    """Return the command that stages what a temporary index has, which git discards on failure.

    `git commit -a` writes its index to `index.lock`, `git commit PATH` to `next-index-PID.lock`.
    """
    name = os.path.basename(environment.get("GIT_INDEX_FILE", ""))
    if not name.endswith(".lock"):
        return ""
    if name.startswith("next-index-") and len(snapshot.changes) <= MAX_PAGES:
        return git_add(sorted(snapshot.changes), prefix)
    return "git add -u"


def _is_amending() -> bool | None:
    """Return whether the hook was started by `git commit --amend`, which git does not tell it.

    The command lines of the processes above are read from /proc; None: there is none to read.
    """
    process = os.getppid()
    for _ in range(MAX_ANCESTORS):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = os.fsdecode(file.read()).split("\0")
            with open(f"/proc/{process}/stat", "rb") as file:
                # The name of the program, in parentheses, may contain anything.
                process = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return None
        if os.path.basename(words[0]) == "git" and "commit" in words:
            return any(word in AMEND for word in words)
    return None
