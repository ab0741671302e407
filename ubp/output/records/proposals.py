"""Records of proposals: edits, reviews, and the log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.checks.finding import FindingRecord, finding_record
from ubp.core.model import Level, ObjectId
from ubp.edits.model import Action, EditResult, Effect, Event, LogEntry, Proposal
from ubp.edits.proposals import branch_of
from ubp.edits.review import Review
from ubp.frame.fields import GitId, Line, Moment, PagePath
from ubp.frame.wording import moment

ProposalId = Annotated[Line, "number of the proposal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedEditRecord:
    """An edit of a proposal."""

    commit: Annotated[GitId, "commit of the edit"]
    date: Annotated[Moment, "when it was made"]
    action: Annotated[Action, "what it does; revise: a reviewer's own edit"]
    filepath: PagePath
    reason: Annotated[str, "reason that was given"]
    author: Annotated[str, "who made it"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRecord:
    """A proposal that waits for review."""

    id: ProposalId
    title: Annotated[str, "what it does"]
    branch: Annotated[str, "branch that contains it"]
    base: Annotated[GitId, "commit that it began at"]
    pages: Annotated[tuple[str, ...], "paths of the pages that it changes"]
    client: Annotated[str, "program that made it"]
    model: Annotated[str | None, "model that made it, if it was told"]
    session: Annotated[str, "session that made it"]
    updated_at: Annotated[Moment, "when its last edit was made"]
    edits: Annotated[tuple[ProposedEditRecord, ...], "edits, oldest first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEffectRecord:
    """The staleness of a page before and after a change."""

    filepath: PagePath
    before: Annotated[Level | None, "level before; null if there was no such page"]
    after: Annotated[Level | None, "level after; null if there is no such page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """What a change does to findings and staleness."""

    introduced: Annotated[tuple[FindingRecord, ...], "findings that it introduces"]
    fixed: Annotated[tuple[FindingRecord, ...], "findings of its pages that it fixes"]
    staleness: Annotated[tuple[PageEffectRecord, ...], "staleness of its pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRecord:
    """An edit that was proposed."""

    proposal: ProposalRecord
    filepath: PagePath
    blob: Annotated[GitId, "id of the page's new text, for expected_blob of the next edit"]
    diff: Annotated[str, "unified diff of the edit"]
    effect: Annotated[EffectRecord, "what it does to findings and staleness"]
    warnings: Annotated[tuple[str, ...], "what a reviewer should look at"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalsRecord:
    """The proposals that wait for review."""

    proposals: Annotated[tuple[ProposalRecord, ...], "open proposals, oldest first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChangeRecord:
    """The change of a page."""

    filepath: PagePath
    diff: Annotated[str, "unified diff"]
    purpose: Annotated[
        str | None, "what the file does beside informing its readers: it may instruct agents"
    ]
    warnings: Annotated[tuple[str, ...], "what a reviewer should look at"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """A proposal with its changes and their effect."""

    proposal: ProposalRecord
    changes: Annotated[tuple[PageChangeRecord, ...], "changes of its pages since its base"]
    effect: Annotated[EffectRecord, "what it does to findings and staleness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord:
    """The end of a proposal."""

    id: ProposalId
    event: Annotated[Event, "accepted, rejected or withdrawn"]
    commit: Annotated[GitId | None, "commit that an accepted proposal became"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsRecord:
    """The ends of several proposals."""

    decisions: Annotated[tuple[DecisionRecord, ...], "decisions, in the order they were made"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestRecord:
    """How a proposal becomes a pull request."""

    id: ProposalId
    commands: Annotated[tuple[str, ...], "commands that push its branch and open a pull request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntryRecord:
    """Something that happened to a proposal."""

    event: Annotated[Event, "what happened"]
    id: ProposalId
    date: Annotated[Moment, "when"]
    pages: Annotated[tuple[str, ...], "paths of its pages"]
    client: Annotated[str, "program that made the proposal"]
    session: Annotated[str, "session that made the proposal"]
    by: Annotated[str, "who did this"]
    reason: Annotated[str, "reason that was given"]
    commit: Annotated[GitId | None, "last commit of the proposal then"]
    accepted_as: Annotated[GitId | None, "commit that an accepted proposal became"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """What happened to proposals."""

    entries: Annotated[tuple[LogEntryRecord, ...], "latest first"]


def edit_record(result: EditResult) -> EditRecord:
    """Return the record of an edit that was proposed."""
    return EditRecord(
        proposal=proposal_record(result.proposal),
        filepath=result.edit.page,
        blob=result.blob,
        diff=result.diff,
        effect=effect_record(result.effect),
        warnings=result.warnings,
    )


def proposals_record(proposals: Sequence[Proposal]) -> ProposalsRecord:
    """Return the record of the open proposals."""
    return ProposalsRecord(proposals=tuple(map(proposal_record, proposals)))


def review_record(review: Review) -> ReviewRecord:
    """Return the record of a proposal with its changes."""
    return ReviewRecord(
        proposal=proposal_record(review.proposal),
        changes=tuple(
            PageChangeRecord(
                filepath=change.page,
                diff=change.diff,
                purpose=change.purpose or None,
                warnings=change.warnings,
            )
            for change in review.changes
        ),
        effect=effect_record(review.effect),
    )


def log_record(entries: Iterable[LogEntry]) -> LogRecord:
    """Return the record of the log."""
    return LogRecord(
        entries=tuple(
            LogEntryRecord(
                event=entry.event,
                id=entry.proposal,
                date=moment(entry.when),
                pages=entry.pages,
                client=entry.client,
                session=entry.session,
                by=entry.by,
                reason=entry.reason,
                commit=entry.commit,
                accepted_as=entry.accepted_as,
            )
            for entry in entries
        )
    )


def proposal_record(proposal: Proposal) -> ProposalRecord:
    """Return the record of a proposal."""
    return ProposalRecord(
        id=proposal.id,
        title=proposal.title,
        branch=branch_of(proposal.id),
        base=proposal.base,
        pages=proposal.pages,
        client=proposal.client,
        model=proposal.model or None,
        session=proposal.session,
        updated_at=moment(proposal.updated),
        edits=tuple(
            ProposedEditRecord(
                commit=edit.commit,
                date=moment(edit.when),
                action=edit.action,
                filepath=edit.page,
                reason=edit.reason,
                author=edit.author,
            )
            for edit in proposal.edits
        ),
    )


def effect_record(effect: Effect) -> EffectRecord:
    """Return the record of what a change does."""
    return EffectRecord(
        introduced=tuple(map(finding_record, effect.introduced)),
        fixed=tuple(map(finding_record, effect.fixed)),
        staleness=tuple(
            PageEffectRecord(filepath=page, before=effect.before[page], after=effect.after[page])
            for page in effect.before
        ),
    )


def decision_record(number: int, event: Event, commit: ObjectId | None = None) -> DecisionRecord:
    """Return the record of a decision."""
    return DecisionRecord(id=number, event=event, commit=commit)
