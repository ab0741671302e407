"""The branches of proposals and the log of decisions, both in the repository itself.

A proposal is the branch `ubp/proposals/<id>`. The log is a chain of commits on `refs/ubp/log`, one
for each edit and each decision: its second parent is the tip of the proposal, so that nothing that
was decided is lost when the branch is deleted. A branch and the log move together.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import get_args

from ubp.core.errors import GitCommandError, UsageError
from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import doc_id
from ubp.edits.messages import read_reason, read_trailers, write_message
from ubp.edits.model import Action, Agent, Event, LogEntry, Proposal, ProposedEdit
from ubp.git.commit_messages import CommitMessage, read_messages
from ubp.git.output import is_valid_path
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
MAX_COMMITS = 500
"""A branch with more commits is not a proposal: reading those of people takes 3 ms each."""

MAX_KNOWN = 1_000
"""So many proposals are remembered by their tips: a server reads each once, for 10 ms."""
_known: dict[tuple[str, int, ObjectId], Proposal] = {}

# Branches and the log can be fetched: what they contain is checked as it is read.
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_COMMIT_ID = re.compile(r"[0-9a-f]{40}")


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
        if (number := number_of(name)) and (proposal := _read(repository, number, ObjectId(tip))):
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


def find_own(repository: Repository, agent: Agent | None, name: str) -> Proposal | None:
    """Return the open proposal of an agent that changes the page of this name, if there is one.

    `name` is a path, the end of one, or a `doc_id`, perhaps with a `#` and a section.
    """
    if agent is None or not agent.proposals:
        return None
    page = name.partition("#")[0]
    for proposal in list_proposals(repository):
        if proposal.session == agent.session and any(
            page in {path, doc_id(path)} or path.endswith(f"/{page}") for path in proposal.pages
        ):
            return proposal
    return None


def read_log(repository: Repository) -> Iterator[LogEntry]:
    """Yield what happened, the latest first."""
    tip = read_ref(repository, LOG)
    if tip is None:
        return
    for commit in read_messages(repository, "--first-parent", tip):
        if entry := _log_entry(commit):
            yield entry


def _log_entry(commit: CommitMessage) -> LogEntry | None:
    """Return what a commit of the log records; None where it is not a record."""
    values = read_trailers(commit.text)
    event = next((name for name in get_args(Event) if name == _first(values, "Event")), None)
    number = number_of(_first(values, "Proposal"))
    if event is None or number is None:
        return None
    accepted_as = _first(values, "Accepted-As")
    return LogEntry(
        event,
        number,
        commit.when,
        tuple(page for value in values.get("Page", ()) if (page := _decode(value))),
        client=_first(values, "Client"),
        session=_first(values, "Session"),
        by=_first(values, "By"),
        reason=read_reason(commit.text),
        commit=commit.parents[1] if len(commit.parents) > 1 else None,
        accepted_as=ObjectId(accepted_as) if _COMMIT_ID.fullmatch(accepted_as) else None,
    )


def next_number(repository: Repository) -> int:
    """Return the id of the next proposal: the first after the last one that no branch has.

    A log that was fetched may name the greatest id: the next one would be of no proposal.
    """
    number = number_of(str(1 + _last_number(repository))) or 1
    while read_ref(repository, f"{REFERENCE}{number}"):
        number += 1
    return number


def _last_number(repository: Repository) -> int:
    """Return the id of the last proposal in the log, 0 if there was none."""
    tip = read_ref(repository, LOG)
    if tip is None:
        return 0
    last = next(read_messages(repository, "--max-count=1", tip))
    return number_of(_first(read_trailers(last.text), "Last")) or 0


def edit_trailers(proposal: Proposal, edit: ProposedEdit) -> list[tuple[str, str]]:
    """Return the trailers of the commit of an edit."""
    return [
        ("Proposal", str(proposal.id)),
        ("Base", proposal.base),
        ("Action", edit.action),
        ("Page", _encode(edit.page)),
        ("Client", proposal.client),
        ("Model", proposal.model),
        ("Task", proposal.task),
        ("Session", proposal.session),
    ]


def record(repository: Repository, entry: LogEntry, *, old: ObjectId, new: ObjectId) -> None:
    """Move a proposal's branch from `old` to `new` (ABSENT: none), and add an entry to the log.

    Where both are the same, only the entry is added, wherever the branch is.

    Raises:
        ProposalMovedError: the branch does not have the value `old` any more.
        RepositoryError: the branch is checked out, or writing failed.
    """
    ref = f"{REFERENCE}{entry.proposal}"
    check_not_checked_out(repository, ref)
    for _ in range(MAX_ATTEMPTS):
        tip = read_ref(repository, LOG)
        number = _last_number(repository)
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
        if old != new and (read_ref(repository, ref) or ABSENT) != old:
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
    key = repository.common_dir, number, tip
    known = _known.get(key)
    if known is None and (known := _read_commits(repository, number, tip)) is not None:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        _known[key] = known
    return known


def _read_commits(repository: Repository, number: int, tip: ObjectId) -> Proposal | None:
    marked = f"--grep=^UBP-Proposal: {number}$"
    own = next(read_messages(repository, "--first-parent", "--max-count=1", marked, tip), None)
    if own is None:
        return None
    values = read_trailers(own.text)
    base = ObjectId(_first(values, "Base"))
    if not _COMMIT_ID.fullmatch(base):
        return None
    commits = _own_commits(repository, base, tip)
    edits = tuple(edit for commit in reversed(commits) for edit in _edits(repository, commit))
    if not edits:
        return None
    who = (_first(values, name) for name in ("Client", "Session", "Model", "Task"))
    return Proposal(number, base, tip, edits, *who)


def _own_commits(repository: Repository, base: ObjectId, tip: ObjectId) -> Sequence[CommitMessage]:
    """Return the commits from `base` to `tip`, the latest first; none of other branches."""
    limit = f"--max-count={MAX_COMMITS + 1}"
    try:
        commits = list(read_messages(repository, "--first-parent", limit, tip, "--not", base))
    except GitCommandError:  # there is no commit `base`
        return ()
    is_continuous = bool(commits) and commits[-1].parents[:1] == (base,)
    # Git itself writes no commit without an author or a time.
    is_complete = all(commit.author and commit.when for commit in commits)
    return commits if is_continuous and is_complete and len(commits) <= MAX_COMMITS else ()


def _edits(repository: Repository, commit: CommitMessage) -> Iterator[ProposedEdit]:
    """Yield the edit of a commit's trailers, or one for each file that a person changed."""
    values = read_trailers(commit.text)
    reason = read_reason(commit.text)
    action = next((name for name in get_args(Action) if name == _first(values, "Action")), None)
    page = _decode(_first(values, "Page"))
    if action and page:
        yield ProposedEdit(commit.id, commit.when, action, page, reason, commit.author)
        return
    for path, entry in diff_trees(repository, commit.parents[0], commit.id).items():
        if entry is not None and entry.is_directory:
            continue
        yield ProposedEdit(commit.id, commit.when, "revise", path, reason, commit.author)


def _first(values: dict[str, list[str]], name: str) -> str:
    return values.get(name, [""])[0]


def number_of(text: str) -> int | None:
    """Return the proposal's number, None for what is none."""
    return int(text) if _NUMBER.fullmatch(text) else None


def _encode(path: FilePath) -> str:
    return json.dumps(path)


def _decode(value: str) -> FilePath | None:
    """Return the path that `_encode` wrote, None for anything else."""
    try:
        value = json.loads(value)
    except (ValueError, RecursionError):
        return None
    is_path = isinstance(value, str) and is_valid_path(FilePath(value))
    return FilePath(value) if is_path else None
