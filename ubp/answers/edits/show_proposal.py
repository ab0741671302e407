"""`ubp proposals show`: a proposal with its changes and their effect."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.edits.proposal import (
    EffectRecord,
    ProposalRecord,
    effect_record,
    proposal_record,
)
from ubp.answers.staleness.stale_record import EvidenceRecord, evidence_record
from ubp.core.model import Verdict
from ubp.core.shell import path_argument, ubp_command
from ubp.edits.review import Review, review
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import PagePath
from ubp.frame.wording import SHORT_ID, clock_of, count
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.staleness.wording import LEVEL_WORDS, describe_noted

MAX_SOURCE_LINES = 60  # of the diff of each source; `ubp stale --diff` prints the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChangeRecord:
    """What changed in a source since the page was last true."""

    source_path: Annotated[str, "source, from the root"]
    verdict: Annotated[Verdict, "what became of it"]
    diff: Annotated[str, "unified diff, the hunks first that concern the page most"]
    evidence: Annotated[
        tuple[EvidenceRecord, ...], "names in its changed lines that the page contains"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChangeRecord:
    """The change of a page."""

    filepath: PagePath
    diff: Annotated[str, "unified diff"]
    sources: Annotated[
        tuple[SourceChangeRecord, ...], "changes of its sources before the proposal: why it edits"
    ]
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


@dataclass(frozen=True, slots=True)
class ShowProposalRequest(Request[ReviewRecord]):
    """The proposal to review."""

    proposal: Annotated[int, "its number"]


def run(session: Session, request: ShowProposalRequest) -> ReviewRecord:
    """Return what an open proposal changes, and its effect on findings and staleness.

    Raises:
        UsageError: there is no open proposal with this number.
    """
    return review_record(review(session, request.proposal))


def review_record(reviewed: Review) -> ReviewRecord:
    """Return the record of a review."""
    return ReviewRecord(
        proposal=proposal_record(reviewed.proposal),
        changes=tuple(
            PageChangeRecord(
                filepath=change.page,
                diff=change.diff,
                sources=tuple(
                    SourceChangeRecord(
                        source_path=source.name,
                        verdict=source.verdict,
                        diff=source.diff,
                        evidence=tuple(map(evidence_record, source.evidence)),
                    )
                    for source in change.sources
                ),
                purpose=change.purpose or None,
                warnings=change.warnings,
            )
            for change in reviewed.changes
        ),
        effect=effect_record(reviewed.effect),
    )


def text(record: ReviewRecord, write: Writer) -> Iterator[str]:
    """Yield a proposal with its edits, their effect, and the diff of its pages."""
    proposal, style = record.proposal, write.style
    number = str(proposal.id)
    sources = (source.diff for change in record.changes for source in change.sources)
    marker = write.marker(*sources, *(change.diff for change in record.changes))
    if write.is_agent:
        yield write.notice(marker)
    yield f"{style.bold(f'Proposal {number}')}: {write.title(proposal.title)}"
    yield from summary_text(record, write)
    yield ""
    yield from effect_text(record, write)
    for change in record.changes:
        yield ""
        yield from sources_text(change, write, marker)
        if change.sources:
            yield style.bold(f"Edit of {write.name(change.filepath)}:")
        yield from write.diff(change.diff, marker)
    last = proposal.edits[-1].commit[:SHORT_ID]
    accept = ubp_command("proposals", "accept", number, "--at", last)
    reject = ubp_command("proposals", "reject", number)
    yield ""
    yield f"Next: {style.cyan(accept)}, or {style.cyan(f'{reject} --reason TEXT')}"


def summary_text(record: ReviewRecord, write: Writer) -> Iterator[str]:
    """Yield who proposes it, since when, and each edit with its reason."""
    proposal = record.proposal
    model = f" ({write.quote(proposal.model)})" if proposal.model else ""
    yield f"By {write.quote(proposal.client)}{model}, session {write.name(proposal.session)}"
    if proposal.task:
        yield f"Task: {write.quote(proposal.task)}"
    yield f"Branch {proposal.branch}, since {proposal.base[:SHORT_ID]}"
    yield ""
    for edit in proposal.edits:
        what = f"{clock_of(edit.date)}  {edit.action} {write.name(edit.filepath)}"
        first, *rest = edit.reason.replace("\n\n", "\n").split("\n")
        yield f"{what}: {write.quote(first)}" if first else what
        yield from (f"    {write.quote(line)}" for line in rest)


def sources_text(change: PageChangeRecord, write: Writer, marker: str = "") -> Iterator[str]:
    """Yield what changed in the sources of a page."""
    for source in change.sources:
        names = ", ".join(write.quote(evidence.name) for evidence in source.evidence)
        named = f"; the page names {names}" if names else ""
        what = describe_noted(source.verdict, None, "")
        yield write.style.bold(f"Why: {write.name(source.source_path)} {what}{named}")
        lines = source.diff.split("\n") if source.diff else []
        yield from write.diff("\n".join(lines[:MAX_SOURCE_LINES]), marker)
        if (more := len(lines) - MAX_SOURCE_LINES) > 0:
            command = ubp_command("stale", "--diff", path_argument(change.filepath))
            yield f"{count(more, 'more line')}: {write.style.cyan(command)}"
        yield ""


def effect_text(record: ReviewRecord, write: Writer) -> Iterator[str]:
    """Yield what it does to findings and staleness, and what to look at in its pages."""
    effect = record.effect
    for page in effect.staleness:
        before, after = (
            LEVEL_WORDS[level] if level else "no page" for level in (page.before, page.after)
        )
        yield f"{write.name(page.filepath)}: {before} before, {after} after"
    for findings, verb in (
        (effect.introduced, write.style.red("introduces")),
        (effect.fixed, write.style.green("fixes")),
    ):
        for finding in findings:
            place = write.name(f"{finding.filepath}:{finding.line}")
            yield f"{verb} {place}: {write.quote(finding.message)} [{finding.rule}]"
    for change in record.changes:
        name = write.name(change.filepath)
        if change.purpose:
            yield write.style.red(f"{name}: {change.purpose}")
        yield from (write.style.yellow(f"{name}: {warning}") for warning in change.warnings)


SHOW_PROPOSAL = Answer(
    request=ShowProposalRequest, record=ReviewRecord, run=run, text=text, has_facts=False
)
