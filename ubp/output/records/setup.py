"""Records of `ubp status`."""

from dataclasses import dataclass
from typing import Annotated

from ubp.answers.setup.model import ModelRecord
from ubp.answers.setup.reindex import IndexRecord, index_record
from ubp.answers.staleness.stale_record import SummaryRecord, summary_record
from ubp.core.paths import doc_id
from ubp.frame.fields import Count, DocId, Line, Moment, PagePath
from ubp.frame.records import ProblemRecord, SnapshotRecord, problem_record, snapshot_record
from ubp.frame.wording import moment
from ubp.staleness.status import BUCKETS, Status


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
    broken_links: Annotated[Count | None, "findings of broken-link; null without --check"]
    servers: Annotated[tuple[ServerRecord, ...], "running MCP servers of this repository"]
    model: ModelRecord
    index: IndexRecord


def status_record(status: Status) -> StatusRecord:
    """Return the record of `ubp status`."""
    buckets = {bucket: status.links.buckets.get(bucket, 0) for bucket in BUCKETS}
    return StatusRecord(
        root=status.root,
        snapshot=snapshot_record(status.snapshot),
        summary=summary_record(status.summary),
        unparsed=tuple(
            UnparsedRecord(
                doc_id=doc_id(document.filepath),
                filepath=document.filepath,
                problems=tuple(map(problem_record, document.problems)),
            )
            for document in status.unparsed
        ),
        keys=tuple(status.keys),
        threshold_days=status.threshold_days,
        links=LinksRecord(**buckets),
        broken_links=status.links.broken,
        servers=tuple(
            ServerRecord(pid=server.pid, since=moment(int(server.since)))
            for server in status.servers
        ),
        model=ModelRecord(**status.model._asdict()),
        index=index_record(status.statistics),
    )
