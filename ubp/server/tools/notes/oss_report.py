"""`oss_report`: the report on an open source repository, verified now where that is allowed."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.errors import CollectionError
from ubp.core.shell import ubp_command
from ubp.notes.reports import ReportFinder, parse_repository
from ubp.output.agent.notes import oss_report_text
from ubp.output.records.notes import OssReportRecord, oss_report_record
from ubp.server.tools.tool import Tool
from ubp.sync.verify import verify_repository
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class OssReportRequest:
    """A repository."""

    repo_url: Annotated[str, "e.g. https://github.com/owner/repo"]
    verify_if_missing: Annotated[bool, "read the repository now if there is no report"] = False


def run(workspace: Workspace, request: OssReportRequest) -> OssReportRecord:
    """Return the record of the report that exists.

    Raises:
        UsageError: it is not the address of a repository.
        CollectionError: there is none.
    """
    report = ReportFinder(workspace.session).find(request.repo_url)
    if report is None:
        address = parse_repository(request.repo_url)
        raise CollectionError(
            f"There is no report on {address.url}.",
            cause="This server may not use the network." if request.verify_if_missing else "",
            hint=f"A person can make one: {ubp_command('oss-report', address.url, '--verify')}",
        )
    return oss_report_record(report)


def run_online(workspace: Workspace, request: OssReportRequest) -> OssReportRecord:
    """Return the record of the report, verified now if there is none and that is wanted."""
    session = workspace.session
    if request.verify_if_missing and ReportFinder(session).find(request.repo_url) is None:
        address = parse_repository(request.repo_url)
        return oss_report_record(
            verify_repository(address, session.environment, session.progress, session.clock)
        )
    return run(workspace, request)


OSS_REPORT = Tool(
    name="oss_report",
    title="Read a report on a repository",
    description=(
        "Read the report on an open source repository: licence, activity, releases, CI, security "
        "policy, and a score with the evidence for each point. No foreign code is executed."
    ),
    request=OssReportRequest,
    record=OssReportRecord,
    run=run,
    text=oss_report_text,
    budgets=(),
    reads_collections=True,
    run_online=run_online,
)
