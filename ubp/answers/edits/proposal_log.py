"""`ubp proposals log`: what was proposed, accepted, rejected and withdrawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from ubp.answers.edits.proposal import ProposalId
from ubp.core.errors import UsageError
from ubp.edits.model import Event, LogEntry
from ubp.edits.proposals import read_log
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import GitId, Moment, Option
from ubp.frame.wording import SHORT_ID, clock_of, moment
from ubp.frame.writer import Writer
from ubp.index.session import Session

MAX_PAGES = 3  # of an entry, more are counted


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


@dataclass(frozen=True, slots=True)
class ProposalLogRequest(Request[LogRecord]):
    """Which entries of the log are wanted."""

    client: (
        Annotated[
            str, Option("Only proposals of programs whose name contains this.", metavar="TEXT")
        ]
        | None
    ) = None
    page: Annotated[str, Option("Only proposals that change this page.", metavar="PAGE")] | None = (
        None
    )
    since: (
        Annotated[
            str,
            Option("Only what happened on or after this day (UTC), as 2026-11-08.", metavar="DATE"),
        ]
        | None
    ) = None


def run(session: Session, request: ProposalLogRequest) -> LogRecord:
    """Return what happened, the latest first.

    Raises:
        UsageError: `since` is not a day.
    """
    client = (request.client or "").casefold()
    earliest = _day(request.since) if request.since else 0
    return LogRecord(
        entries=tuple(
            _entry_record(entry)
            for entry in read_log(session.repository)
            if client in entry.client.casefold()
            and (request.page is None or request.page in entry.pages)
            and entry.when >= earliest
        )
    )


def _entry_record(entry: LogEntry) -> LogEntryRecord:
    return LogEntryRecord(
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


def _day(text: str) -> int:
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise UsageError(f"Invalid --since: {text}.", hint="Write it as 2026-11-08.") from error


def text(record: LogRecord, write: Writer) -> Iterator[str]:
    """Yield a line for each thing that happened, and its reason."""
    if not record.entries:
        yield "Nothing was proposed yet."
    for entry in record.entries:
        pages = ", ".join(map(write.name, entry.pages[:MAX_PAGES]))
        more = len(entry.pages) - MAX_PAGES
        what = f"{entry.event} {entry.id} by {write.quote(entry.by)}: {pages}"
        what += f" and {more} more" if more > 0 else ""
        commit = entry.accepted_as or entry.commit or ""
        yield f"{write.style.dim(clock_of(entry.date))}  {what}  {commit[:SHORT_ID]}"
        if entry.reason:
            yield f"    {write.quote(entry.reason.splitlines()[0])}"


PROPOSAL_LOG = Answer(
    request=ProposalLogRequest, record=LogRecord, run=run, text=text, has_facts=False
)
