"""The texts of `ubp proposals`: the open ones, one with its changes, and the log."""

from collections.abc import Iterable, Iterator, Sequence

from ubp.core.model import ObjectId
from ubp.core.shell import join, ubp_command
from ubp.edits.model import Effect, LogEntry, Proposal
from ubp.edits.proposals import branch_of
from ubp.edits.review import Review
from ubp.frame.wording import SHORT_ID, Style, clock, count, joined, printable
from ubp.staleness.wording import LEVEL_WORDS


def proposals_text(proposals: Sequence[Proposal], style: Style) -> str:
    """Return a line for each open proposal, and the next commands."""
    if not proposals:
        return "No open proposals.\n"
    lines = []
    for proposal in proposals:
        who = f"{printable(proposal.client)}, {clock(proposal.updated)} UTC"
        lines.append(
            f"{style.bold(str(proposal.id))}  {printable(proposal.title)}  {style.dim(who)}"
        )
        if reason := proposal.edits[-1].reason:
            lines.append(f"   {printable(reason.splitlines()[0])}")
    first = str(proposals[0].id)
    return joined(
        [
            *lines,
            "",
            f"{count(len(proposals), 'open proposal')}.",
            f"Next: {style.cyan(ubp_command('proposals', 'show', first))}",
        ]
    )


def review_text(review: Review, style: Style) -> str:
    """Return a proposal with its edits, their effect, and the diff of its pages."""
    proposal = review.proposal
    number = str(proposal.id)
    lines = [
        f"{style.bold(f'Proposal {number}')}: {printable(proposal.title)}",
        f"By {printable(proposal.client)}{_model(proposal)}, session {printable(proposal.session)}",
        f"Branch {branch_of(proposal.id)}, since {proposal.base[:SHORT_ID]}",
        "",
    ]
    for edit in proposal.edits:
        what = f"{clock(edit.when)}  {edit.action} {printable(edit.page)}"
        first, *rest = map(printable, edit.reason.replace("\n\n", "\n").split("\n"))
        lines.append(f"{what}: {first}" if first else what)
        lines += (f"    {line}" for line in rest)
    lines += ["", *_effect(review.effect, style)]
    for change in review.changes:
        if change.purpose:
            lines.append(style.red(f"{printable(change.page)}: {printable(change.purpose)}"))
        warnings = (f"{printable(change.page)}: {warning}" for warning in change.warnings)
        lines += map(style.yellow, warnings)
    for change in review.changes:
        lines += ["", *style.diff(change.diff)]
    accept = ubp_command("proposals", "accept", number, "--at", proposal.tip[:SHORT_ID])
    reject = ubp_command("proposals", "reject", number)
    lines += ["", f"Next: {style.cyan(accept)}, or {style.cyan(f'{reject} --reason TEXT')}"]
    return joined(lines)


def accepted_text(number: int, commit: ObjectId, *, is_open: bool) -> str:
    """Return which commit a proposal became, and whether it has a later edit."""
    rest = f" It has a later edit: {ubp_command('proposals', 'show', str(number))}"
    return f"Accepted proposal {number} as {commit[:SHORT_ID]}.{rest if is_open else ''}\n"


def rejected_text(number: int) -> str:
    """Return that a proposal was rejected, and where it can be found."""
    return f"Rejected proposal {number}; `ubp proposals log` keeps it.\n"


def log_text(entries: Iterable[LogEntry], style: Style) -> str:
    """Return a line for each thing that happened, the latest first."""
    lines = []
    for entry in entries:
        pages = ", ".join(map(printable, entry.pages[:3]))
        more = f" and {len(entry.pages) - 3} more" if len(entry.pages) > 3 else ""  # noqa: PLR2004
        what = f"{entry.event} {entry.proposal} by {printable(entry.by)}: {pages}{more}"
        commit = entry.accepted_as or entry.commit
        lines.append(
            f"{style.dim(clock(entry.when))}  {what}  {commit[:SHORT_ID] if commit else ''}"
        )
        if entry.reason:
            lines.append(f"    {printable(entry.reason.splitlines()[0])}")
    return joined(lines) if lines else "Nothing was proposed yet.\n"


def pull_request_text(proposal: Proposal, remote: str) -> str:
    """Return the commands that push a proposal and open a pull request for it."""
    branch = branch_of(proposal.id)
    reason = proposal.edits[-1].reason or proposal.title
    push = join(["git", "push", remote, f"{branch}:{branch}"])
    create = ["gh", "pr", "create", "--head", branch, "--title", proposal.title, "--body", reason]
    return f"{push}\n{join(create)}\n"


def _model(proposal: Proposal) -> str:
    return f" ({printable(proposal.model)})" if proposal.model else ""


def _effect(effect: Effect, style: Style) -> Iterator[str]:
    for page, after in effect.after.items():
        words = [
            LEVEL_WORDS[level] if level else "no page" for level in (effect.before[page], after)
        ]
        yield f"{printable(page)}: {words[0]} before, {words[1]} after"
    for findings, verb, paint in (
        (effect.introduced, "introduces", style.red),
        (effect.fixed, "fixes", style.green),
    ):
        for finding in findings:
            place = f"{finding.filepath}:{finding.line}"
            yield f"{paint(verb)} {printable(place)}: {printable(finding.message)} [{finding.rule}]"
