"""The records of a proposal and of its effect, which several answers contain."""

from dataclasses import dataclass
from typing import Annotated

from ubp.answers.checks.finding import FindingRecord, finding_record
from ubp.core.model import Level
from ubp.edits.model import Action, Effect, Proposal
from ubp.edits.proposals import branch_of
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
    model: Annotated[str | None, "model that made it, if its client names one"]
    task: Annotated[str | None, "task that it was made for, if its client names one"]
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
        task=proposal.task or None,
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
