"""The review of proposals: what they change, and the decisions about them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from ubp.core.errors import BadArgumentError, GitCommandError, RepositoryError, UsageError
from ubp.core.model import MODE_FILE, FilePath, ObjectId
from ubp.core.running import lock_file
from ubp.core.shell import join, ubp_command
from ubp.edits import leases
from ubp.edits.limits import check_path, find_warnings
from ubp.edits.messages import one_line, write_message
from ubp.edits.model import Agent, Effect, Event, LogEntry, Proposal, ProposedEdit, abbreviates
from ubp.edits.proposals import (
    ProposalMovedError,
    branch_of,
    edit_trailers,
    find_proposal,
    read_log,
    record,
)
from ubp.edits.propose import effect_of
from ubp.edits.renewed import drift_warnings
from ubp.edits.source_changes import SourceChange, find_source_changes
from ubp.edits.special_files import purpose_of
from ubp.git.command import commit_with_hooks
from ubp.git.diff import diff_blobs
from ubp.git.repository import Repository
from ubp.git.saved_files import SavedFiles, save_files, write_files
from ubp.git.trees import diff_trees
from ubp.git.write import (
    ABSENT,
    Author,
    commit_tree,
    create_commit,
    merge_trees,
    ref_busy,
    update_ref,
)
from ubp.index.session import Session, Target
from ubp.index.view import View


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page before and after a proposal; None: there is no such page.

    `sources` are the changes of its sources that the proposal found. `warnings` are what to look
    at: likely secrets, hidden characters, new sources that changed after the page.
    """

    page: FilePath
    before: bytes | None
    after: bytes | None
    sources: tuple[SourceChange, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        """The unified diff."""
        return diff_blobs(self.page, self.before, self.after).text

    @property
    def purpose(self) -> str:
        """What the file does beside informing its readers: it may instruct agents; usually ""."""
        return purpose_of(self.page)


@dataclass(frozen=True, slots=True)
class Review:
    """A proposal with what it changes and what that does."""

    proposal: Proposal
    changes: tuple[PageChange, ...]
    effect: Effect


def review(session: Session, number: int) -> Review:
    """Return all that an open proposal changes, compared with the commit that it began at.

    These are the files that accepting it would change, whatever its edits say of themselves.

    Raises:
        UsageError: there is no open proposal with this number.
    """
    proposal = find_proposal(session.repository, number)
    base = session.view(Target(ref=proposal.base))
    changes = tuple(
        _change_of(session, proposal, base, page) for page in _changed_files(session, proposal)
    )
    effect = effect_of(session, proposal.base, proposal.tip, [change.page for change in changes])
    return Review(proposal, changes, effect)


def _change_of(session: Session, proposal: Proposal, base: View, page: FilePath) -> PageChange:
    after = _bytes_at(session, proposal.tip, page)
    warnings = [*find_warnings((after or b"").decode("utf-8", "surrogateescape"))]
    if after and any(edit.action == "bind" and edit.page == page for edit in proposal.edits):
        warnings += drift_warnings(session, base, page, after)
    return PageChange(
        page,
        _bytes_at(session, proposal.base, page),
        after,
        find_source_changes(session, base, page),
        tuple(warnings),
    )


def accept(session: Session, number: int, at: str | None = None) -> ObjectId:
    """Merge an open proposal into the current branch as one commit, made by git with its hooks.

    The agent is the author and the reviewer the committer. Other staged changes stay staged. An
    edit that an agent adds meanwhile is not merged, and the proposal stays open with it. `at` is
    (the beginning of) the id of the last edit that the reviewer has seen. In a bare repository,
    such as an imported collection, the branch of HEAD moves, and no hook runs.

    Raises:
        UsageError: it is not open or has a later edit, somebody else decides about it, a page of it
            has changes, a merge is in progress, or the repository is the mirror of another one.
        RepositoryError: the proposal conflicts with the branch, the branch moved meanwhile, or a
            hook refused the commit.
    """
    with _deciding(session.repository, number) as proposal:
        return _accept(session, proposal, at)


def _accept(session: Session, proposal: Proposal, at: str | None) -> ObjectId:
    repository = session.repository
    _check_last_edit(proposal, at)
    if repository.root is None and repository.run("config", "remote.origin.url", ok=(0, 1)):
        raise UsageError(
            "Cannot accept a proposal in the mirror of another repository.",
            hint="Run this in a clone.",
        )
    if repository.merge_heads():
        raise UsageError("A merge is in progress.", hint="Finish it first: git merge --continue")
    head = repository.rev_parse("HEAD^{commit}")
    pages = _changed_files(session, proposal)
    if head is None:
        raise UsageError("The current branch has no commits.")
    _check_files(session, proposal, pages)
    base = _merge_base(session, proposal, head)
    tree, conflicts = merge_trees(repository, base, head, proposal.tip)
    if conflicts:
        raise RepositoryError(
            f"Proposal {proposal.id} conflicts with the current branch in {conflicts[0]}.",
            hint=f"Merge it yourself: {join(['git', 'merge', branch_of(proposal.id)])}; then:"
            f" {ubp_command('proposals', 'accept', str(proposal.id))}",
        )
    merged = [page for page in pages if _id_at(session, tree, page) != _id_at(session, head, page)]
    # Without any it was merged already.
    commit = _commit(session, proposal, tree, head, merged) if merged else head
    name = _identity(session)[0]
    entry = replace(
        _entry(session, proposal, "accepted", "", name, proposal.tip), accepted_as=commit
    )
    try:
        record(repository, entry, old=proposal.tip, new=ABSENT)
        leases.end(repository, proposal.id)
    except ProposalMovedError:
        # An agent added an edit while git committed: that one stays open.
        record(repository, entry, old=proposal.tip, new=proposal.tip)
    return commit


def reject(session: Session, number: int, reason: str) -> None:
    """Reject an open proposal: its branch is deleted, and the log keeps it with the reason.

    Raises:
        UsageError: it is not open, somebody else decides about it, or there is no reason.
    """
    if not reason.strip():
        raise UsageError("A rejection needs a reason.", hint="Add --reason TEXT.")
    with _deciding(session.repository, number) as proposal:
        _decide(session, proposal, "rejected", reason)


def withdraw(session: Session, number: int, agent: Agent, reason: str) -> None:
    """Withdraw an open proposal of an agent's own session.

    Raises:
        UsageError: it is not open, another session's, or somebody decides about it.
    """
    with _deciding(session.repository, number) as proposal:
        if proposal.session != agent.session:
            raise UsageError(
                f"Proposal {proposal.id} is not one of this session.",
                cause="Only the session that made it, or a reviewer, can end it.",
            )
        _decide(session, proposal, "withdrawn", reason, by=one_line(agent.client) or "agent")


def revise(
    session: Session, number: int, page: FilePath, text: bytes, at: ObjectId | None = None
) -> ObjectId:
    """Add a reviewer's own edit of a page to an open proposal, and return its commit.

    `at` is the last edit that the reviewer has seen.

    Raises:
        UsageError: it is not open or has a later edit, or the edit changes nothing.
    """
    proposal = find_proposal(session.repository, number)
    _check_last_edit(proposal, at)
    name, email = _identity(session)
    edit = ProposedEdit(ABSENT, int(session.clock()), "revise", page, "", name)
    commit = create_commit(
        session.repository,
        [proposal.tip],
        {page: text},
        message=write_message(f"Revise {page}", "", edit_trailers(proposal, edit)),
        author=Author(name, email),
        when=session.clock(),
    )
    if commit is None:
        raise UsageError(f"The revision changes nothing in {page}.")
    entry = _entry(session, proposal, "proposed", "", name, commit)
    record(session.repository, entry, old=proposal.tip, new=commit)
    return commit


@contextmanager
def _deciding(repository: Repository, number: int) -> Iterator[Proposal]:
    """Yield an open proposal, about which nobody else can decide until the context ends.

    To accept one takes as long as the hooks of the repository.
    """
    path = os.path.join(repository.data_dir, f"proposal-{number}.lock")
    os.makedirs(repository.data_dir, exist_ok=True)
    with lock_file(path) as is_locked:
        if not is_locked:
            raise UsageError(
                f"Somebody else is deciding about proposal {number}.",
                hint="Wait until that command has ended, and try again.",
            )
        try:
            yield find_proposal(repository, number)
        finally:
            with suppress(OSError):
                os.unlink(path)


def _decide(
    session: Session, proposal: Proposal, event: Event, reason: str, *, by: str = ""
) -> None:
    entry = _entry(session, proposal, event, reason, by or _identity(session)[0], proposal.tip)
    record(session.repository, entry, old=proposal.tip, new=ABSENT)
    leases.end(session.repository, proposal.id)


def _entry(  # noqa: PLR0913, PLR0917  # what an entry consists of
    session: Session, proposal: Proposal, event: Event, reason: str, by: str, commit: ObjectId
) -> LogEntry:
    return LogEntry(
        event,
        proposal.id,
        int(session.clock()),
        proposal.pages,
        proposal.client,
        proposal.session,
        by,
        reason,
        commit,
    )


def _commit(
    session: Session,
    proposal: Proposal,
    tree: ObjectId,
    head: ObjectId,
    pages: Sequence[FilePath],
) -> ObjectId:
    """Commit the merged pages; a work tree, if there is one, is put back if that fails."""
    repository = session.repository
    reasons = "\n\n".join(dict.fromkeys(edit.reason for edit in proposal.edits if edit.reason))
    trailers = [
        ("Proposal", str(proposal.id)),
        ("Client", proposal.client),
        ("Model", proposal.model),
        ("Task", proposal.task),
    ]
    title = one_line(f"{proposal.title[:1].upper()}{proposal.title[1:]}")
    message = write_message(title, reasons, trailers)
    agent = Author(proposal.edits[0].author, "agent@ubp.invalid")
    if repository.root is None:
        branch = os.fsdecode(repository.run("symbolic-ref", "HEAD")).strip()
        people = agent, Author(*_identity(session))
        commit = commit_tree(
            repository, [head], tree, message=message, people=people, when=session.clock()
        )
        if not update_ref(repository, branch, commit, head, title):
            raise ref_busy(branch)
        return commit
    author = f"{agent.name} <{agent.email}>"
    saved = save_files(repository, pages, head, tree)
    try:
        write_files(repository, tree, pages)
        commit_with_hooks(
            ["--author", author, "--file=-", "--cleanup=verbatim", "--only", "--", *pages],
            cwd=repository.root or "",
            stdin=message.encode(),
            environment=repository.environment,
        )
    except BaseException as error:
        if repository.rev_parse("HEAD^{commit}") != head:
            raise
        _put_back(saved, proposal)
        if not isinstance(error, GitCommandError):
            raise
        raise RepositoryError(
            f"Proposal {proposal.id} was not committed; nothing has changed.",
            cause=error.cause,
            hint="Fix what the hook reported, or revise the proposal: "
            f"{ubp_command('proposals', 'edit', str(proposal.id))}",
        ) from error
    saved.put_back_flags()
    return repository.resolve("HEAD")


def _put_back(saved: SavedFiles, proposal: Proposal) -> None:
    """Put the files back; the index cannot be where git was killed and left its lock.

    Raises:
        RepositoryError: the index is locked.
    """
    try:
        saved.put_back()
    except GitCommandError as error:
        lock = os.path.join(saved.repository.git_dir, "index.lock")
        if not os.path.lexists(lock):
            raise
        raise RepositoryError(
            f"Proposal {proposal.id} was not committed. Its files are as they were, but it is"
            " staged.",
            cause=f"Another git command is running, or one was killed and left {lock}.",
            hint=f"When none is running: {join(['rm', '-f', lock])}; then:"
            f" {join(['git', 'reset', '--', *saved.files])}",
        ) from error


def _check_last_edit(proposal: Proposal, at: str | None) -> None:
    """Check that a reviewer has seen the last edit, where it is given.

    Raises:
        UsageError: the proposal has a later one.
    """
    # A commit that changes no file may follow the last edit.
    last = proposal.tip, proposal.edits[-1].commit
    if at is not None and not any(abbreviates(at, commit) for commit in last):
        raise UsageError(
            f"The last edit of proposal {proposal.id} is not {at}.",
            cause=f"It is {proposal.tip}, of {proposal.edits[-1].page}.",
            hint=f"Review it: {ubp_command('proposals', 'show', str(proposal.id))}",
        )


def _merge_base(session: Session, proposal: Proposal, head: ObjectId) -> ObjectId:
    """Return where a proposal began, or its last edit that has been accepted on this branch."""
    repository = session.repository
    edits = {edit.commit for edit in proposal.edits}
    for entry in read_log(repository):
        if entry.event != "accepted" or entry.commit not in edits or not entry.accepted_as:
            continue
        merged = repository.rev_parse(f"{entry.accepted_as}^{{commit}}")
        if merged and not repository.run("rev-list", "--max-count=1", merged, "--not", head):
            return entry.commit
    return proposal.base


def _changed_files(session: Session, proposal: Proposal) -> list[FilePath]:
    changes = diff_trees(session.repository, proposal.base, proposal.tip)
    return sorted(
        path for path, entry in changes.items() if entry is None or not entry.is_directory
    )


def _check_files(session: Session, proposal: Proposal, paths: Sequence[FilePath]) -> None:
    """Check that a proposal, which may have been fetched, changes what an agent may write.

    Raises:
        UsageError: it changes another file, or one that none of its edits names.
    """
    before, after = (session.view(Target(ref=commit)) for commit in (proposal.base, proposal.tip))
    for path in paths:
        old, new = before.entry(path), after.entry(path)
        try:
            check_path(session.config, path, after)
            cause = "" if path in proposal.pages else "None of its edits names it."
            if new is not None and new.mode != (old.mode if old else MODE_FILE):
                cause = "It changes what kind of file this is."
        except BadArgumentError as error:
            cause = error.cause
        if cause:
            raise UsageError(
                f"Proposal {proposal.id} changes {path}, and is not accepted.",
                cause=cause,
                hint="If that is what you want, merge its branch yourself: "
                + join(["git", "merge", branch_of(proposal.id)]),
            )


def _id_at(session: Session, revision: ObjectId, page: FilePath) -> ObjectId | None:
    return session.repository.rev_parse(f"{revision}:{page}")


def _bytes_at(session: Session, commit: ObjectId, page: FilePath) -> bytes | None:
    blob = _id_at(session, commit, page)
    return session.repository.read_blobs([blob])[blob] if blob else None


def _identity(session: Session) -> tuple[str, str]:
    """Return the name and address of the user, as git's configuration has them."""
    output = os.fsdecode(session.repository.run("var", "GIT_COMMITTER_IDENT")).strip()
    name, _, rest = output.rpartition(" <")
    return name, rest.partition(">")[0]
