"""`ubp status`: what there is, how much of it is verified, and where the index is."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.setup.model import ModelRecord, model_text
from ubp.answers.setup.reindex import IndexRecord, index_record
from ubp.answers.staleness.stale_record import SummaryRecord, summary_record
from ubp.checks.run import count_lost_links
from ubp.core.paths import doc_id
from ubp.core.running import find_running
from ubp.core.version import __version__
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, DocId, Line, Moment, Option, PagePath
from ubp.frame.records import ProblemRecord, SnapshotRecord, problem_record, snapshot_record
from ubp.frame.wording import count, moment, size
from ubp.frame.writer import Writer
from ubp.index.model_status import model_status
from ubp.index.session import Session
from ubp.staleness.assess import assess
from ubp.staleness.model import Summary
from ubp.staleness.state import build_stale_report, open_context
from ubp.staleness.wording import counted_levels

BUCKET_WORDS = {
    "resolved": "to pages",
    "ambiguous": "ambiguous",
    "missing": "to missing targets",
    "within_page": "within a page",
    "not_a_page": "to files that are not pages",
    "out_of_scope": "out of scope",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnparsedRecord:
    """A page with front matter problems."""

    doc_id: DocId
    filepath: PagePath
    problems: Annotated[tuple[ProblemRecord, ...], "entries by line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksRecord:
    """Number of links per kind of target; the sum is the number of all links."""

    resolved: Annotated[Count, "links to pages"]
    ambiguous: Annotated[Count, "ambiguous links, resolved to the first match alphabetically"]
    missing: Annotated[Count, "links to missing targets"]
    within_page: Annotated[Count, "links within a page"]
    not_a_page: Annotated[
        Count, "links to files that are not pages, and to routes of site generators"
    ]
    out_of_scope: Annotated[Count, "links out of the repository or to excluded pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecord:
    """A process of `ubp serve`."""

    pid: Annotated[Line, "its number"]
    since: Annotated[Moment, "start time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRecord:
    """State of the index and of the documentation."""

    root: Annotated[str | None, "absolute path of the work tree; null for a bare repository"]
    snapshot: SnapshotRecord
    summary: SummaryRecord
    unparsed: Annotated[tuple[UnparsedRecord, ...], "pages with front matter problems"]
    keys: Annotated[tuple[str, ...], "front matter keys that list sources"]
    threshold_days: Annotated[float, "number of days after which drift counts as stale"]
    links: LinksRecord
    broken_links: Annotated[Count | None, "errors of broken-link; null without --check"]
    missing_anchors: Annotated[Count | None, "findings of missing-anchor; null without --check"]
    servers: Annotated[tuple[ServerRecord, ...], "running MCP servers of this repository"]
    model: ModelRecord
    index: IndexRecord


@dataclass(frozen=True, slots=True)
class StatusRequest(Request[StatusRecord]):
    """Whether to `check` also counts the broken links, as `ubp check` does."""

    check: Annotated[
        bool,
        "count the broken links and missing anchors, too",
        Option(
            "Exit with 1 on stale pages, broken links or unreadable front matter; with 2 if a page "
            "cannot be verified or the index cannot be built."
        ),
    ] = False


def run(session: Session, request: StatusRequest) -> StatusRecord:
    """Return what there is and how much of it is verified, in the work tree."""
    view = session.view()
    context = open_context(session, view)
    pages = view.bound_pages()
    report = build_stale_report(context, pages, assess(pages, context))
    buckets = {str(name): number for name, number in view.link_graph().buckets().items()}
    servers = find_running(session.repository.data_dir)
    broken, anchors = count_lost_links(session, context) if request.check else (None, None)
    return StatusRecord(
        root=session.repository.root,
        snapshot=snapshot_record(report.snapshot),
        summary=summary_record(report.summary),
        unparsed=tuple(
            UnparsedRecord(
                doc_id=doc_id(page.filepath),
                filepath=page.filepath,
                problems=tuple(map(problem_record, page.facts.problems)),
            )
            for page in pages
            if page.facts.problems
        ),
        keys=tuple(session.config.keys),
        threshold_days=report.threshold_days,
        links=LinksRecord(**{bucket: buckets.get(bucket, 0) for bucket in BUCKET_WORDS}),
        broken_links=broken,
        missing_anchors=anchors,
        servers=tuple(
            ServerRecord(pid=server.pid, since=moment(int(server.since))) for server in servers
        ),
        model=ModelRecord(**model_status(session, view)._asdict()),
        index=index_record(session.store.statistics()),
    )


def text(record: StatusRecord, write: Writer) -> Iterator[str]:
    """Yield the state of the index on one screen."""
    if write.is_quiet:
        return
    yield f"UBP {__version__} | {write.name(record.root or 'a bare repository')}"
    yield ""
    yield from (f"{name + ':':<15}{words}" for name, words in _rows(record, write))
    if record.unparsed:
        yield ""
    for page in record.unparsed:
        for problem in page.problems:
            place = write.path(f"{page.filepath}:{problem.line}")
            yield f"{place}  {write.name(problem.message)}"
    summary = record.summary
    if summary.stale or summary.possibly_stale or summary.unknown:
        yield ""
        yield f"Next: {write.style.cyan('ubp stale')}"
    elif summary.documents and not summary.bound:
        yield ""
        yield f"Next: {write.style.cyan('ubp bind')} proposes sources for each page"


def _rows(record: StatusRecord, write: Writer) -> Iterator[tuple[str, str]]:
    summary, style = record.summary, write.style
    unparsed = len(record.unparsed)
    warning = style.yellow(f" ({unparsed} with front matter problems)") if unparsed else ""
    yield "Documents", count(summary.documents, "page") + warning
    verified = f", {summary.verified} verified" if summary.bound else ""
    is_partly_bound = 0 < summary.bound < summary.documents - summary.bound
    others = style.dim(" (run `ubp bind` for the others)") if is_partly_bound else ""
    yield "With sources", f"{summary.bound} of {count(summary.documents, 'page')}{verified}{others}"
    yield "Keys", write.name(", ".join(record.keys))
    if summary.bound:
        days = f"stale after {record.threshold_days:g} days"
        levels = counted_levels(Summary(**summary._asdict()))
        yield "Staleness", f"{levels} ({days})"
    else:
        yield "Staleness", style.yellow("nothing to verify: no page lists sources")
    yield "Links", _links(record, write)
    yield "Model", model_text(record.model, write)
    yield "Database", _database(record, write)
    if record.index.written_at is not None:
        yield "Last indexed", _clock(record.index.written_at)
    for server in record.servers:
        yield "Server", f"running (PID {server.pid}, since {_clock(server.since)})"


def _clock(time: str) -> str:
    """Return a time in ISO 8601 for people: 2026-11-08 09:30:00 UTC."""
    return f"{time.replace('T', ' ').removesuffix('Z')} UTC"


def _database(record: StatusRecord, write: Writer) -> str:
    index = record.index
    if index.path is None:
        return f"in memory: {write.name(index.why_in_memory)}"
    path = os.path.relpath(index.path, record.root) if record.root else index.path
    return f"{write.name(path.replace(os.sep, '/'))} ({size(index.size_bytes)})"


def _links(record: StatusRecord, write: Writer) -> str:
    counts = [(getattr(record.links, bucket), words) for bucket, words in BUCKET_WORDS.items()]
    total = sum(number for number, _ in counts)
    details = ", ".join(f"{number} {words}" for number, words in counts if number)
    lost = [
        (record.broken_links, "leads nowhere", "lead nowhere"),
        (record.missing_anchors, "to a missing heading", "to missing headings"),
    ]
    broken = ", ".join(
        f"{number} {one if number == 1 else more}" for number, one, more in lost if number
    )
    if broken:
        broken = write.style.red(f" ({broken}: ubp check)")
    return f"{total}: {details}{broken}" if total else "none"


def _status(record: StatusRecord) -> int:
    if record.broken_links is None:
        return 0
    if record.summary.stale or record.unparsed or record.broken_links:
        return 1
    return 2 if record.summary.unknown else 0


STATUS = Answer(
    request=StatusRequest,
    record=StatusRecord,
    run=run,
    text=text,
    reads_keys=True,
    has_facts=False,
    status=_status,
)
