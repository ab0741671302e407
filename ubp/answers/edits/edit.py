"""What the answers that propose an edit have in common: arguments, record, text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

from ubp.answers.checks.finding import FindingRecord
from ubp.answers.edits.proposal import (
    EffectRecord,
    ProposalRecord,
    effect_record,
    proposal_record,
)
from ubp.answers.staleness.stale_record import EvidenceRecord, evidence_record
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.edits import propose as engine
from ubp.edits.model import Action, Agent
from ubp.frame.fields import GitId, Keyword, PagePath
from ubp.frame.quoting import quoted
from ubp.frame.wording import SHORT_ID, count, printable
from ubp.frame.writer import Writer
from ubp.index.session import Session

MAX_REASON_CHARACTERS = 2_000
MAX_CONTENT_CHARACTERS = 8_000_000
MAX_FINDINGS = 10
MAX_NAMES = 12
UNVERIFIED = frozenset({"stale", "possibly_stale"})

Path = Annotated[str, "repository-relative path of the page"]
Reason = Annotated[str, "why, for the reviewer", Keyword("maxLength", MAX_REASON_CHARACTERS)]
Content = Annotated[str, "Markdown", Keyword("maxLength", MAX_CONTENT_CHARACTERS)]
ProposalNumber = Annotated[int, "add the edit to this proposal of yours", Keyword("minimum", 1)]
AllowFindings = Annotated[bool, "propose it even if it breaks links"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRecord:
    """An edit that was proposed."""

    proposal: ProposalRecord
    filepath: PagePath
    blob: Annotated[GitId, "id of the page's new text, for expected_blob of the next edit"]
    diff: Annotated[str, "unified diff of the edit"]
    effect: Annotated[EffectRecord, "what it does to findings and staleness"]
    renewed: Annotated[tuple[str, ...], "sources whose pins it renews"] = ()
    remaining: Annotated[
        tuple[EvidenceRecord, ...],
        "names that the sources lost or changed since the page was last true, and it still has",
    ] = ()
    warnings: Annotated[tuple[str, ...], "what a reviewer should look at"] = ()


class PageRequest(Protocol):
    """What the requests of these answers have in common."""

    @property
    def filepath(self) -> str:
        """The page."""

    @property
    def reason(self) -> str:
        """Why, for the reviewer."""

    @property
    def proposal(self) -> int | None:
        """The proposal that the edit is added to."""

    @property
    def agent(self) -> Agent | None:
        """Who proposes it."""


def propose(  # noqa: PLR0913  # an edit in full
    session: Session,
    action: Action,
    request: PageRequest,
    change: engine.Change,
    *,
    expected_blob: str | None = None,
    allow_findings: bool = False,
    reviewed: bool | None = None,
) -> EditRecord:
    """Propose an edit of the agent that asks, and return its record.

    Raises:
        UsageError: no agent asks, the edit is not allowed, or it would break links.
        RepositoryError: writing failed.
    """
    result = engine.propose(
        session,
        engine.EditRequest(
            known_agent(request.agent),
            action,
            FilePath(request.filepath),
            change,
            request.reason,
            expected_blob,
            request.proposal,
            allow_findings,
            reviewed,
        ),
    )
    return EditRecord(
        proposal=proposal_record(result.proposal),
        filepath=result.edit.page,
        blob=result.blob,
        diff=result.diff,
        effect=effect_record(result.effect),
        renewed=result.renewed,
        remaining=tuple(map(evidence_record, result.remaining)),
        warnings=result.warnings,
    )


def known_agent(agent: Agent | None) -> Agent:
    """Return the agent that asks.

    Raises:
        UsageError: it is unknown.
    """
    if agent is None:
        raise UsageError("Proposals are made through the server: ubp serve --toolsets +edit")
    return agent


def text(record: EditRecord, write: Writer) -> Iterator[str]:
    """Yield where an edit was proposed, what it changes, and what that does."""
    marker = write.marker(record.diff)
    place = f"proposal {record.proposal.id}, on the branch {record.proposal.branch}"
    yield f"Proposed as {place}; a person reviews it. {write.notice(marker)}"
    yield f"{write.name(record.filepath)} now has blob {record.blob[:SHORT_ID]} there."
    for page in record.effect.staleness:
        if page.before is None:
            yield f"Staleness of the new page: {page.after}."
        else:
            yield f"Staleness: {page.before} before, {page.after} after."
    yield from _pins_text(record, write)
    yield from _remaining_text(record, write)
    yield from _findings_text(record.effect.introduced, "Introduces", write)
    yield from _findings_text(record.effect.fixed, "Fixes", write)
    yield from (f"Warning: {printable(warning)}" for warning in record.warnings)
    yield ""
    yield from write.diff(record.diff, marker)


def _pins_text(record: EditRecord, write: Writer) -> Iterator[str]:
    """Yield which pins are renewed, or how to renew them where the page stays stale."""
    if record.renewed:
        yield f"Pins renewed: {', '.join(map(write.name, record.renewed))}."
    elif any(page.before and page.after in UNVERIFIED for page in record.effect.staleness):
        call = f"ubp_acknowledge(filepath={quoted(record.filepath)}, proposal={record.proposal.id}"
        yield (
            "The pins of its sources are as before. If the page is accurate now, renew them:"
            f' {call}, reason="\u2026"{write.arguments()})'
        )


def _remaining_text(record: EditRecord, write: Writer) -> Iterator[str]:
    """Yield the names of changed code that the page still has: half a repair shows."""
    for change in ("removed", "changed"):
        found = [name for name in record.remaining if name.change == change]
        names = [f"{write.quote(name.name)} (line {name.line})" for name in found]
        if names:
            more = f" and {len(names) - MAX_NAMES} more" if names[MAX_NAMES:] else ""
            shown = f"{', '.join(names[:MAX_NAMES])}{more}"
            yield f"Still on the page, {change} in its sources: {shown}."


def _findings_text(findings: Sequence[FindingRecord], verb: str, write: Writer) -> Iterator[str]:
    if findings:
        yield f"{verb} {count(len(findings), 'finding')}:"
    for finding in findings[:MAX_FINDINGS]:
        place = f"{write.name(finding.filepath)}:{finding.line}"
        yield f"  {place} {write.quote(finding.message)} [{finding.rule}]"
