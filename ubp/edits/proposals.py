"""The branches of proposals and the log of decisions, both in the repository itself.

A proposal is the branch `ubp/proposals/<id>`. The log is a chain of commits on `refs/ubp/log`, one
for each edit and each decision: its second parent is the tip of the proposal, so that nothing that
was decided is lost when the branch is deleted. A branch and the log move together.
"""

import json
from collections.abc import Iterator, Sequence
from typing import cast

from ubp.core.errors import UsageError
from ubp.core.model import FilePath, ObjectId
from ubp.edits.messages import read_reason, read_trailers, write_message
from ubp.edits.model import Action, Event, LogEntry, Proposal, ProposedEdit
from ubp.git.commit_messages import CommitMessage, read_messages
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees
from ubp.git.write import (
    ABSENT,
    MAX_ATTEMPTS,
    Author,
    check_not_checked_out,
    create_commit,
    pause,
    read_ref,
    ref_busy,
    update_refs,
)

BRANCH = "ubp/proposals/"
REFERENCE = f"refs/heads/{BRANCH}"
LOG = "refs/ubp/log"
AUTHOR = Author("UBP", "ubp@ubp.invalid")


def branch_of(proposal: int) -> str:
    """Return the name of a proposal's branch."""
    return f"{BRANCH}{proposal}"


def list_proposals(repository: Repository) -> tuple[Proposal, ...]:
    """Return the open proposals, the oldest first."""
    listing = repository.run("for-each-ref", "--format=%(objectname) %(refname)", REFERENCE)
    found = []
    for line in listing.decode("utf-8", "replace").splitlines():
        tip, _, ref = line.partition(" ")
        name = ref.removeprefix(REFERENCE)
        if name.isdecimal() and (proposal := _read(repository, int(name), ObjectId(tip))):
            found.append(proposal)
    return tuple(sorted(found, key=lambda proposal: proposal.id))


def find_proposal(repository: Repository, number: int) -> Proposal:
    """Return an open proposal.

    Raises:
        UsageError: there is none with this id.
    """
    tip = read_ref(repository, f"{REFERENCE}{number}")
    proposal = _read(repository, number, tip) if tip else None
    if proposal is not None:
        return proposal
    entry = next((e for e in read_log(repository) if e.proposal == number), None)
    raise UsageError(
        f"No open proposal {number}.",
        cause=f"It was {entry.event} by {entry.by}." if entry else "",
        hint="List the open ones: ubp proposals",
    )


def read_log(repository: Repository) -> Iterator[LogEntry]:
    """Yield what happened, the latest first."""
    tip = read_ref(repository, LOG)
    if tip is None:
        return
    for commit in read_messages(repository, "--first-parent", tip):
        values = read_trailers(commit.text)
        if "Event" not in values:
            continue
        yield LogEntry(
            cast("Event", values["Event"][0]),
            int(values["Proposal"][0]),
            commit.when,
            tuple(FilePath(json.loads(page)) for page in values.get("Page", ())),
            client=_first(values, "Client"),
            session=_first(values, "Session"),
            by=_first(values, "By"),
            reason=read_reason(commit.text),
            commit=commit.parents[1] if len(commit.parents) > 1 else None,
            accepted_as=ObjectId(commit_id)
            if (commit_id := _first(values, "Accepted-As"))
            else None,
        )


def next_number(repository: Repository) -> int:
    """Return the id of the next proposal."""
    tip = read_ref(repository, LOG)
    if tip is None:
        return 1
    last = next(read_messages(repository, "--max-count=1", tip))
    return 1 + int(_first(read_trailers(last.text), "Last"))


def edit_trailers(proposal: Proposal, edit: ProposedEdit) -> list[tuple[str, str]]:
    """Return the trailers of the commit of an edit."""
    return [
        ("Proposal", str(proposal.id)),
        ("Base", proposal.base),
        ("Action", edit.action),
        ("Page", _encode(edit.page)),
        ("Client", proposal.client),
        ("Model", proposal.model),
        ("Session", proposal.session),
    ]


def record(repository: Repository, entry: LogEntry, *, old: ObjectId, new: ObjectId) -> None:
    """Move a proposal's branch from `old` to `new` (ABSENT: none), and add an entry to the log.

    Raises:
        ProposalMovedError: the branch does not have the value `old` any more.
        RepositoryError: the branch is checked out, or writing failed.
    """
    ref = f"{REFERENCE}{entry.proposal}"
    check_not_checked_out(repository, ref)
    for _ in range(MAX_ATTEMPTS):
        tip = read_ref(repository, LOG)
        number = next_number(repository) - 1
        root = tip or _commit(
            repository, [], write_message("Log of proposals", "", [("Last", "0")]), 0
        )
        message = write_message(
            f"{entry.event} {entry.proposal}",
            entry.reason,
            [
                ("Event", entry.event),
                ("Proposal", str(entry.proposal)),
                *(("Page", _encode(page)) for page in entry.pages),
                ("Client", entry.client),
                ("Session", entry.session),
                ("By", entry.by),
                ("Accepted-As", entry.accepted_as or ""),
                ("Last", str(max(number, entry.proposal))),
            ],
        )
        parents = [root, entry.commit] if entry.commit else [root]
        commit = _commit(repository, parents, message, entry.when)
        updates = [(ref, new, old), (LOG, commit, tip or ABSENT)]
        if update_refs(
            repository, [u for u in updates if u[1] != u[2]], f"{entry.event} {entry.proposal}"
        ):
            return
        if (read_ref(repository, ref) or ABSENT) != old:
            raise ProposalMovedError(entry.proposal)
        pause()
    raise ref_busy(LOG)


class ProposalMovedError(UsageError):
    """A proposal was changed or decided while an edit or a decision was prepared."""

    def __init__(self, number: int) -> None:
        """Say which one."""
        super().__init__(
            f"Proposal {number} has changed meanwhile.",
            cause="Somebody else edited, withdrew or reviewed it.",
            hint="Read its current state, and try again.",
        )


def _commit(
    repository: Repository, parents: Sequence[ObjectId], message: str, when: int
) -> ObjectId:
    commit = create_commit(
        repository, parents, {}, message=message, author=AUTHOR, when=when, is_empty_allowed=True
    )
    assert commit is not None  # noqa: S101  # an empty one is allowed
    return commit


def _read(repository: Repository, number: int, tip: ObjectId) -> Proposal | None:
    """Return the proposal of a branch; None where an agent's edit did not begin it."""
    marked = f"--grep=^UBP-Proposal: {number}$"
    own = next(read_messages(repository, "--first-parent", "--max-count=1", marked, tip), None)
    if own is None:
        return None
    values = read_trailers(own.text)
    base = ObjectId(_first(values, "Base"))
    if not base:
        return None
    commits = list(read_messages(repository, "--first-parent", tip, "--not", base))
    edits = tuple(edit for commit in reversed(commits) for edit in _edits(repository, commit))
    if not edits:
        return None
    who = (_first(values, name) for name in ("Client", "Session", "Model"))
    return Proposal(number, base, tip, edits, *who)


def _edits(repository: Repository, commit: CommitMessage) -> Iterator[ProposedEdit]:
    """Yield the edit of a commit's trailers, or one for each file that a person changed."""
    values = read_trailers(commit.text)
    reason = read_reason(commit.text)
    if "Action" in values:
        action, page = cast("Action", values["Action"][0]), FilePath(json.loads(values["Page"][0]))
        yield ProposedEdit(commit.id, commit.when, action, page, reason, commit.author)
        return
    for path, entry in diff_trees(repository, commit.parents[0], commit.id).items():
        if entry is not None and not entry.is_file:
            continue
        yield ProposedEdit(commit.id, commit.when, "revise", path, reason, commit.author)


def _first(values: dict[str, list[str]], name: str) -> str:
    return values.get(name, [""])[0]


def _encode(path: FilePath) -> str:
    return json.dumps(path)
