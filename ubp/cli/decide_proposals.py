"""`ubp proposals --interactive`: the open proposals as items, and what was decided about them."""

from collections.abc import Iterator
from dataclasses import replace

from ubp.answers.edits.decide import ACCEPT, REJECT, AcceptRequest, DecisionsRecord, RejectRequest
from ubp.answers.edits.show_proposal import (
    effect_text,
    review_record,
    sources_text,
    summary_text,
)
from ubp.cli.decide import decide
from ubp.cli.decisions import Choice, Decision, Item, Panes
from ubp.cli.error_handler import CLEAN, FAILED
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError
from ubp.core.shell import ubp_command
from ubp.edits.proposals import list_proposals
from ubp.edits.review import Review, review, revise
from ubp.frame.wording import Style, count, joined, printable
from ubp.frame.writer import Writer
from ubp.index.session import Session

ACCEPTED = Choice("a", "accept", "accepted")
REJECTED = Choice(
    "r", "reject", "rejected", prompt="Reason, for the log", text="not needed", has_reason=True
)


def decide_proposals(session: Session, terminal: Terminal) -> int:
    """Let the user decide about the open proposals, then apply that, the oldest first.

    One that cannot be accepted does not keep the others from it.
    """
    reviews = [review(session, number) for number in open_numbers(session)]
    if not reviews:
        terminal.write("No open proposals.\n")
        return CLEAN
    items = [proposal_item(reviewed) for reviewed in reviews]
    decided = decide("Proposals", items, session.repository, terminal)
    status = CLEAN
    for number, decision in decided.items():
        try:
            _apply(reviews[number], decision, session, terminal)
        except UbpError as error:
            terminal.report(error)
            status = FAILED
    left = len(open_numbers(session))
    terminal.write(f"{count(left, 'proposal')} left for later.\n" if left else "")
    return status


def proposal_item(reviewed: Review) -> Item:
    """Return the item of a proposal."""
    proposal = reviewed.proposal
    files = {change.page: change.after for change in reviewed.changes if change.after is not None}
    more = f", {count(len(files), 'page')}" if len(files) > 1 else ""
    return Item(
        printable(proposal.edits[0].page),
        printable(f"{proposal.id}: {proposal.edits[0].action}{more}, {proposal.client}"),
        (ACCEPTED, REJECTED),
        lambda decision: _panes(reviewed, decision),
        files,
    )


def _panes(reviewed: Review, decision: Decision) -> Panes:
    write = Writer(Style(is_on=True))
    changes = tuple(
        replace(change, after=decision.edited.get(change.page, change.after))
        for change in reviewed.changes
    )
    record = review_record(replace(reviewed, changes=changes))

    # What to look at comes before the diff, what else it does below.
    urgent = replace(record, effect=replace(record.effect, staleness=(), fixed=()))
    other = replace(record, changes=(), effect=replace(record.effect, introduced=()))

    def page() -> Iterator[str]:
        yield from (write.quote(edit.reason) for edit in record.proposal.edits if edit.reason)
        if decision.edited:
            yield write.style.yellow("With your edit, which is checked when it is applied.")
        else:
            yield from effect_text(urgent, write)
        for change in record.changes:
            yield ""
            _, head, hunks = change.diff.partition("\n@@")
            is_named = len(record.changes) == 1 and head  # by the title
            yield from write.diff(f"@@{hunks}" if is_named else change.diff, "")
        yield ""
        yield from () if decision.edited else effect_text(other, write)
        yield from summary_text(record, write)

    sources = [line for change in record.changes for line in sources_text(change, write)]
    return Panes(
        printable(f"Proposal {reviewed.proposal.id}: {reviewed.proposal.title}"),
        joined(page()),
        "What changed in its sources",
        joined(sources).rstrip("\n"),
    )


def _apply(reviewed: Review, decision: Decision, session: Session, terminal: Terminal) -> None:
    number, last = reviewed.proposal.id, reviewed.proposal.tip
    if decision.choice == REJECTED:
        reject_proposal(number, decision.text, session, terminal)
        return
    for page, text in decision.edited.items():
        last = revise(session, number, page, text, last)
    if decision.choice == ACCEPTED:
        accept_proposal(number, last, session, terminal)
    else:
        terminal.write(f"Revised proposal {number}.\n")


def open_numbers(session: Session) -> list[int]:
    """Return the numbers of the open proposals, the oldest first."""
    return [proposal.id for proposal in list_proposals(session.repository)]


def accept_proposal(
    number: int, at: str | None, session: Session, terminal: Terminal
) -> DecisionsRecord:
    """Accept a proposal, and print that before the next one is tried."""
    record = ACCEPT.run(session, AcceptRequest((number,), at))
    if not (terminal.options.json or terminal.options.quiet):
        terminal.write(joined(ACCEPT.text(record, Writer(terminal.style))))
        if number in open_numbers(session):
            terminal.write(
                f"It has a later edit: {ubp_command('proposals', 'show', str(number))}\n"
            )
    return record


def reject_proposal(
    number: int, reason: str, session: Session, terminal: Terminal
) -> DecisionsRecord:
    """Reject a proposal, and print that before the next one is tried."""
    record = REJECT.run(session, RejectRequest((number,), reason))
    if not (terminal.options.json or terminal.options.quiet):
        terminal.write(joined(REJECT.text(record, Writer(terminal.style))))
    return record
