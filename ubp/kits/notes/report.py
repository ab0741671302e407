"""`ubp notes report` and `oss_report`: the report on an open source repository."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from ubp.core.errors import CollectionError
from ubp.core.shell import ubp_command
from ubp.frame.answer import Answer, Place, Request, ToolTraits
from ubp.frame.fields import Count, Moment, Option, Percent
from ubp.frame.records import DAY
from ubp.frame.wording import SHORT_ID, count, moment
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.notes.forges import find_repository
from ubp.kits.notes.reports import (
    BuildResult,
    OssReport,
    ReportFinder,
    TestResult,
    Verdict,
    parse_repository,
)
from ubp.kits.notes.verify import verify_repository


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePointRecord:
    """A part of a score."""

    name: Annotated[str, "what it is for"]
    points: Annotated[Count, "points"]
    most: Annotated[Count, "the most it can be; 0: unknown, or it does not apply"]
    evidence: Annotated[str, "why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OssReportRecord:
    """A report on a repository: what its files, history and CI say. UBP executes none of it."""

    repoUrl: Annotated[str, "its address"]
    repoName: Annotated[str, "its name"]
    commit: Annotated[str, "the commit that was read"]
    stars: Annotated[Count | None, "stars; null: unknown"] = None
    license: Annotated[str, "SPDX id; empty: none was recognized"] = ""
    language: Annotated[str, "language of most source files"] = ""
    languages: Annotated[tuple[str, ...], "languages with their numbers of files"] = ()
    securityScore: Annotated[Percent, "sum of the points, in percent of what is known and applies"]
    securityVerdict: Annotated[Verdict, "LOW_RISK from 80, VERIFY from 50"]
    points: Annotated[tuple[ScorePointRecord, ...], "each part of the score, with its evidence"]
    buildResult: Annotated[BuildResult, "of its own CI; UBP runs nothing"]
    testResult: Annotated[TestResult, "of its own CI; UBP runs nothing"]
    usageNotes: Annotated[str, "what lacks most points"]
    tags: Annotated[Count, "tags"] = 0
    last_tag: Annotated[str, "newest tag"] = ""
    days_between_tags: Annotated[Count | None, "median of the last ten"] = None
    authors: Annotated[Count, "authors, by address"] = 0
    documents: Annotated[Count, "Markdown pages"] = 0
    stale_documents: Annotated[Count, "pages that no longer describe their sources"] = 0
    verifiedAt: Annotated[Moment, "when it was read"]


@dataclass(frozen=True, slots=True)
class OssReportRequest(Request[OssReportRecord]):
    """A repository."""

    repo_url: Annotated[
        str,
        "e.g. https://github.com/owner/repo",
        Option(
            "The address of the repository, or OWNER/NAME on GitHub; with --verify also of a "
            "package on PyPI or npm.",
            is_argument=True,
            name="url",
            missing="the address of a repository",
        ),
    ]
    verify_if_missing: Annotated[bool, "read the repository now if there is no report"] = False
    verify: Annotated[
        bool,
        Option("Read the repository now, over the network, and save the report.", is_only=True),
    ] = False


def run(session: Session, request: OssReportRequest) -> OssReportRecord:
    """Return the report that exists.

    Raises:
        UsageError: it is not the address of a repository.
        CollectionError: there is none.
    """
    report = ReportFinder(session).find(request.repo_url)
    if report is None:
        address = parse_repository(request.repo_url)
        command = ubp_command("notes", "report", address.url, "--verify")
        raise CollectionError(
            f"There is no report on {address.url}.",
            cause="This server may not use the network." if request.verify_if_missing else "",
            hint=f"A person can make one: {command}",
        )
    return _record(report)


def run_anywhere(place: Place, request: OssReportRequest) -> OssReportRecord | None:
    """Return the report that is made now; None: one that exists is wanted.

    Raises:
        UsageError: it is not the address of a repository or a package.
        CollectionError: the repository is not known, or cannot be fetched.
        RepositoryError: it cannot be read, or the report cannot be written.
    """
    if not request.verify:
        parse_repository(request.repo_url)
        return None
    address = find_repository(request.repo_url, place.environment)
    report = verify_repository(address, place.environment, place.progress, place.clock)
    return _record(report)


def run_online(session: Session, request: OssReportRequest) -> OssReportRecord:
    """Return the report, verified now if there is none and that is wanted."""
    if request.verify_if_missing:
        address = find_repository(request.repo_url, session.environment)
        request = replace(request, repo_url=address.url)
    if request.verify_if_missing and ReportFinder(session).find(request.repo_url) is None:
        return run_anywhere(session, replace(request, verify=True)) or run(session, request)
    return run(session, request)


def _record(report: OssReport) -> OssReportRecord:
    return OssReportRecord(
        repoUrl=report.url,
        repoName=report.name,
        commit=report.commit,
        stars=report.stars,
        license=report.license,
        language=report.language,
        languages=report.languages,
        securityScore=report.score,
        securityVerdict=report.verdict,
        points=tuple(ScorePointRecord(**point._asdict()) for point in report.points),
        buildResult=report.build_result,
        testResult=report.test_result,
        usageNotes=report.usage_notes,
        tags=report.tags,
        last_tag=report.last_tag,
        days_between_tags=report.days_between_tags,
        authors=report.authors,
        documents=report.documents,
        stale_documents=report.stale_documents,
        verifiedAt=moment(report.verified_at),
    )


def text(record: OssReportRecord, write: Writer) -> Iterator[str]:
    """Yield the score with each of its points, and the other facts."""
    yield from _agents_text(record, write) if write.is_agent else _peoples_text(record, write)


def _agents_text(record: OssReportRecord, write: Writer) -> Iterator[str]:
    at = f"commit {record.commit[:SHORT_ID]}, {record.verifiedAt[:DAY]}"
    yield f"{write.name(record.repoUrl)}, {at}. {write.notice()}"
    score = f"score {record.securityScore} of 100: {record.securityVerdict}"
    yield f"{score}. {write.quote(record.usageNotes)}"
    stars = "" if record.stars is None else f", {record.stars} stars"
    yield (
        f"licence {write.quote(record.license or 'unknown')}, "
        f"language {write.name(record.language or 'unknown')}{stars}, "
        f"build {record.buildResult}, tests {record.testResult}"
    )
    for point in record.points:
        points = f"{point.points}/{point.most}"
        yield f"  {points} {write.name(point.name)}: {write.quote(point.evidence)}"


def _peoples_text(record: OssReportRecord, write: Writer) -> Iterator[str]:
    style = write.style
    color = {"LOW_RISK": style.green, "VERIFY": style.yellow}.get(record.securityVerdict, style.red)
    verdict = color(f"{record.securityScore} of 100: {record.securityVerdict}")
    yield f"{style.bold(write.name(record.repoUrl))}  {verdict}"
    at = f"commit {write.name(record.commit[:SHORT_ID])}, read {record.verifiedAt[:DAY]}"
    licence = write.name(record.license or "unknown licence")
    language = write.name(record.language or "unknown language")
    stars = "" if record.stars is None else f", {count(record.stars, 'star')}"
    yield f"  {at}, {licence}, {language}{stars}"
    results = f"build {record.buildResult}, tests {record.testResult}"
    yield f"  {results} (by its own CI; nothing was run)"
    yield ""
    width = max((len(point.name) for point in record.points), default=0)
    for point in record.points:
        points = f"{point.points:>2} of {point.most:>2}" if point.most else "   -    "
        yield f"  {write.name(point.name):<{width}}  {points}  {write.quote(point.evidence)}"
    yield ""
    yield f"  {write.quote(record.usageNotes)}"


REPORT = Answer(
    request=OssReportRequest,
    record=OssReportRecord,
    run=run,
    text=text,
    run_anywhere=run_anywhere,
    budgets=(),
    reads_collections=True,
    tool=ToolTraits(
        title="Read a report on a repository",
        description=(
            "Read the report on an open source repository: licence, activity, releases, CI, "
            "security policy, and a score with the evidence for each point. No foreign code is "
            "executed."
        ),
        run_online=run_online,
    ),
)
