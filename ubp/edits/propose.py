"""Propose edits: each is a commit on the branch of a proposal; nothing else is touched."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ubp.checks.finding import Finding
from ubp.checks.relaxed import find_relaxation
from ubp.checks.rules import bad_front_matter, missing_source, relaxed_check
from ubp.checks.run import check_change, check_options, check_state
from ubp.core.errors import BadArgumentError, PageNotFoundError, UsageError
from ubp.core.model import FilePath, Level, ObjectId
from ubp.edits.leases import check_lock
from ubp.edits.limits import check_path, check_rate, check_text, find_warnings
from ubp.edits.messages import one_line, write_message
from ubp.edits.model import (
    Action,
    Agent,
    EditResult,
    Effect,
    LogEntry,
    Proposal,
    ProposedEdit,
    abbreviates,
)
from ubp.edits.proposals import (
    ProposalMovedError,
    edit_trailers,
    find_proposal,
    list_proposals,
    next_number,
    record,
)
from ubp.edits.renewed import drift_warnings, find_remaining, renew_pins
from ubp.edits.special_files import purpose_of
from ubp.git.diff import diff_blobs
from ubp.git.write import ABSENT, MAX_ATTEMPTS, Author, create_commit
from ubp.index.select import similar_pages
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.staleness.assess import assess
from ubp.staleness.state import open_change, open_context

AGENT_ADDRESS = "agent@ubp.invalid"
# Whatever their severity, an agent must ask for leave to introduce findings of these rules. Others
# are only reported: pages that list the edited one as a source become stale by any edit. Of
# missing-source, those of the edited page are refused, too.
REFUSED_RULES = frozenset(
    {
        *("broken-link", "missing-anchor", "ambiguous-link"),
        *(bad_front_matter.NAME, relaxed_check.NAME),
    }
)

Change = Callable[[bytes | None, View], bytes]
"""Returns the new bytes of a page from the old ones (None: it is new) and the state they are in."""


@dataclass(frozen=True, slots=True)
class EditRequest:
    """An edit of a page by an agent.

    `proposal` adds it to one of the session's own; else it goes to the one that has the page
    already, or to a new one. `expected_blob` is (the beginning of) the id of the text that the edit
    was written for; "" for a new page. `reviewed`: the pins of the page's sources are renewed;
    None: if the agent was shown what changed in the sources of that text.
    """

    agent: Agent
    action: Action
    page: FilePath
    change: Change
    reason: str
    expected_blob: str | None = None
    proposal: int | None = None
    allow_findings: bool = False
    reviewed: bool | None = None


class FindingsRefusedError(UsageError):
    """An edit introduces findings that nobody has allowed."""


def propose(session: Session, request: EditRequest) -> EditResult:
    """Commit an edit to a proposal, and return it with its diff and its effect.

    The work tree, the index and the current branch are not touched.

    Raises:
        BadArgumentError: the path or the text is not allowed, or `expected_blob` is not the page's.
        PageNotFoundError: there is no such page.
        FindingsRefusedError: links would break, front matter be invalid or the page list a source
            that does not exist, and it was not allowed.
        UsageError: the page is locked, the agent is too fast, or nothing would change.
        RepositoryError: writing failed.
    """
    if not request.reason.strip():
        raise BadArgumentError("reason", "`reason` must not be empty.")
    repository = session.repository
    for _ in range(MAX_ATTEMPTS):
        proposals = list_proposals(repository)
        current = _choose(proposals, request)
        base = current.base if current else _head(session)
        parent = current.tip if current else base
        try:
            return _propose(session, request, proposals, current, base, parent)
        except ProposalMovedError:
            if current is not None:
                raise  # another process has taken the number of a new one
    raise ProposalMovedError(next_number(repository))


def effect_of(
    session: Session, parent: ObjectId, commit: ObjectId, pages: Sequence[FilePath]
) -> Effect:
    """Return what the change from `parent` to `commit` does to findings and to these pages."""
    before, after = (
        open_context(session, session.view(Target(ref=ref))) for ref in (parent, commit)
    )
    target = Target(ref=commit, base=parent)
    change = open_change(session, target)
    options = check_options(session, change.after.view)._replace(
        relaxation=find_relaxation(session, target, change)
    )
    introduced = check_change(change, options).findings
    states: list[tuple[list[Finding], dict[FilePath, Level | None]]] = []
    for context in (before, after):
        there = [page for page in pages if context.view.page(page) is not None]
        options = check_options(session, context.view)._replace(paths=frozenset(there))
        found = list(check_state(context, options).findings) if there else []
        known = context.view.pages_at(there)
        levels: dict[FilePath, Level | None] = dict.fromkeys(pages)
        for assessment in assess([known[page] for page in there], context):
            levels[assessment.page.filepath] = assessment.level
        states.append((found, levels))
    (old, old_levels), (new, new_levels) = states
    return Effect(tuple(introduced), _gone(old, new), old_levels, new_levels)


def _propose(  # noqa: PLR0913, PLR0917  # one attempt of `propose`
    session: Session,
    request: EditRequest,
    proposals: Sequence[Proposal],
    current: Proposal | None,
    base: ObjectId,
    parent: ObjectId,
) -> EditResult:
    repository, agent, page = session.repository, request.agent, request.page
    view = session.view(Target(ref=parent))
    now = session.clock()
    check_path(session.config, page, view)
    check_lock(repository, proposals, page, agent, now)
    old, blob = _read(session, view, request, current)
    new = request.change(old, view)
    if new == (old or b"") and old is not None:
        raise UsageError(f"The edit changes nothing in {page}.")
    is_judged = blob in agent.judged if request.reviewed is None else request.reviewed
    renewed: tuple[str, ...] = ()
    if request.action == "update" and is_judged:
        new, renewed = renew_pins(session, view, page, new)
    text = new.decode("utf-8", "surrogateescape")
    check_text(session.config, text)
    check_rate(session.config, agent, len(new))
    number = current.id if current else next_number(repository)
    author = Author(
        one_line(agent.client).replace("<", "").replace(">", "") or "agent", AGENT_ADDRESS
    )
    edit = ProposedEdit(ABSENT, int(now), request.action, page, request.reason, author.name)
    proposal = Proposal(
        number,
        base,
        parent,
        (*(current.edits if current else ()), edit),
        client=one_line(agent.client),
        session=one_line(agent.session),
        model=one_line(agent.model),
        task=one_line(agent.task),
    )
    subject = f"{request.action.capitalize()} {page}"
    message = write_message(subject, request.reason, edit_trailers(proposal, edit))
    commit = create_commit(
        repository, [parent], {page: new}, message=message, author=author, when=now
    )
    if commit is None:
        raise UsageError(f"The edit changes nothing in {page}.")
    effect = effect_of(session, parent, commit, [page])
    _check_findings(effect, request)
    entry = LogEntry(
        "proposed",
        number,
        int(now),
        (page,),
        client=proposal.client,
        session=proposal.session,
        by=author.name,
        reason=request.reason,
        commit=commit,
    )
    record(repository, entry, old=current.tip if current else ABSENT, new=commit)
    agent.proposals.add(number)
    written = session.view(Target(ref=commit)).entry(page)
    new_blob = written.id if written else blob
    if is_judged:
        agent.judged.add(new_blob)
    return EditResult(
        find_proposal(repository, number),
        edit,
        new_blob,
        diff_blobs(page, old, new).text,
        effect,
        (
            *filter(None, [purpose_of(page)]),
            *find_warnings(text),
            *(drift_warnings(session, view, page, new) if request.action == "bind" else ()),
        ),
        renewed,
        find_remaining(session, session.view(Target(ref=base)), page, new),
    )


def _choose(proposals: Sequence[Proposal], request: EditRequest) -> Proposal | None:
    """Return the proposal to which an edit belongs; None: a new one."""
    own = {p.id: p for p in proposals if p.session == request.agent.session}
    if request.proposal is None:
        return next((p for p in own.values() if request.page in p.pages), None)
    if request.proposal not in own:
        raise BadArgumentError(
            "proposal",
            f"Proposal {request.proposal} is not an open proposal of this session.",
            cause=f"Its open proposals: {', '.join(map(str, own))}." if own else "It has none.",
            hint="Omit `proposal` to begin a new one.",
        )
    return own[request.proposal]


def _head(session: Session) -> ObjectId:
    head = session.repository.rev_parse("HEAD^{commit}")
    if head is None:
        raise UsageError(
            "There is no commit to base a proposal on.",
            hint="Commit the present state first: git add -A && git commit",
        )
    return head


def _read(
    session: Session, view: View, request: EditRequest, current: Proposal | None
) -> tuple[bytes | None, ObjectId]:
    """Return the page's bytes and blob in the proposal; None: it is new."""
    page = request.page
    entry = view.entry(page)
    if request.action == "create":
        if entry is not None:
            raise BadArgumentError(
                "filepath", f"{page} exists already.", hint="Use ubp_update_page to change it."
            )
        return None, ABSENT
    if entry is None:
        raise PageNotFoundError(
            f"There is no page {page} in the last commit.",
            near=similar_pages(page, view),
            cause="Proposals are based on the last commit.",
        )
    expected = request.expected_blob
    if expected is not None and not abbreviates(expected, entry.id):
        is_uncommitted = session.repository.root is not None and session.view().is_changed(page)
        cause, hint = f"Its blob id is {entry.id}.", "Read the page again."
        if current is not None and page in current.pages:
            cause = f"Your proposal {current.id} has changed it: its blob id there is {entry.id}."
            hint = (
                f"If you know that text, pass expected_blob {entry.id}; else read the page again."
            )
        elif is_uncommitted:
            cause, hint = f"{page} has changes that are not committed.", "Commit them first."
        raise BadArgumentError(
            "expected_blob",
            f"{page} is not the text that the edit was written for.",
            cause=cause,
            hint=hint,
        )
    data = session.repository.read_blobs([entry.id])[entry.id]
    if data is None:
        raise UsageError(f"{page} cannot be read: it is too large, or missing from this clone.")
    return data, entry.id


def _check_findings(effect: Effect, request: EditRequest) -> None:
    refused = [
        finding
        for finding in effect.introduced
        if finding.rule in REFUSED_RULES
        or (finding.rule == missing_source.NAME and finding.filepath == request.page)
    ]
    if not refused or request.allow_findings:
        return
    lines = [f"{f.filepath}:{f.line} {f.message} [{f.rule}]" for f in refused[:10]]
    is_one = len(refused) == 1
    has_leave = request.action in {"create", "update"}
    leave = ", or pass allow_findings to propose the edit as it is" if has_leave else ""
    raise FindingsRefusedError(
        f"The edit introduces {len(refused)} finding{'' if is_one else 's'}.",
        cause="\n".join(lines),
        hint=f"Correct {'it' if is_one else 'them'}{leave}.",
    )


def _gone(old: Sequence[Finding], new: Sequence[Finding]) -> tuple[Finding, ...]:
    left = Counter((finding.rule, finding.filepath, finding.subject) for finding in new)
    gone = []
    for finding in old:
        key = finding.rule, finding.filepath, finding.subject
        if left[key] > 0:
            left[key] -= 1
        else:
            gone.append(finding)
    return tuple(gone)
