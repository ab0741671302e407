"""Reports on open source repositories: what was found, the score, and the document that keeps both.

A report is the document `oss/OWNER/REPO.md`. Its front matter has every fact, so that it can be
read back; the text below is for people. The score is a sum of points, each with its evidence
(docs/guide/notes.md has the table).
"""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.git.repository import open_repository
from ubp.index.collections import (
    Collection,
    collection_environment,
    collections_dir,
    repository_path,
)
from ubp.index.session import Session
from ubp.kits.notes.note import REPORTS, day_of, parse_date
from ubp.markdown.document import read_head
from ubp.markdown.new_page import write_page
from ubp.markdown.yaml_nodes import Node

FORGES = frozenset({"github.com", "gitlab.com", "codeberg.org"})
"""Where repositories are verified: an agent must not make UBP reach any other host."""

REPORT_COLLECTION = "oss-reports"
"""The collection of reports that UBP writes."""

Verdict = Literal["LOW_RISK", "VERIFY", "HIGH_RISK"]
BuildResult = Literal["BUILD_SUCCESS", "BUILD_FAILURE", "NOT_RUN"]
TestResult = Literal["TEST_PASS", "TEST_FAILURE", "NOT_RUN"]
LOW_RISK, VERIFY = 80, 50  # the lowest scores of these verdicts

_NAME = re.compile(r"[\w.-]{1,100}")


class RepositoryAddress(NamedTuple):
    """A repository on a forge."""

    host: str
    owner: str
    name: str

    @property
    def url(self) -> str:
        """Its address, without a suffix."""
        return f"https://{self.host}/{self.owner}/{self.name}"

    @property
    def path(self) -> FilePath:
        """Where its report is."""
        host = "" if self.host == "github.com" else f"{self.host}/"
        return FilePath(f"{REPORTS}{host}{self.owner}/{self.name}.md")


class ScorePoint(NamedTuple):
    """Points of the score: `points` of `most` (0: unknown, or it does not apply), and why."""

    name: str
    points: int
    most: int
    evidence: str


class OssReport(NamedTuple):
    """A report on a repository at a commit; dates are in seconds, None: unknown.

    `language` is that of most source files, `languages` their numbers. `documents` are Markdown
    pages, `bound_documents` those that name sources, `stale_documents` those that no longer
    describe them, by UBP's own count.
    """

    url: str
    name: str
    commit: str
    verified_at: int
    points: tuple[ScorePoint, ...]
    stars: int | None = None
    license: str = ""
    language: str = ""
    languages: tuple[str, ...] = ()
    authors: int = 0
    authors_of_year: int = 0
    commits_of_year: int = 0
    last_commit_at: int | None = None
    tags: int = 0
    last_tag: str = ""
    last_tag_at: int | None = None
    days_between_tags: int | None = None
    actions: int = 0
    pinned_actions: int = 0
    security_policy: str = ""
    ci: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    documents: int = 0
    bound_documents: int = 0
    stale_documents: int = 0
    build_result: BuildResult = "NOT_RUN"
    test_result: TestResult = "NOT_RUN"

    @property
    def score(self) -> int:
        """The sum of the points, in percent of what is known and applies."""
        most = sum(point.most for point in self.points)
        return round(100 * sum(point.points for point in self.points) / most) if most else 0

    @property
    def verdict(self) -> Verdict:
        """What the score means."""
        if self.score >= LOW_RISK:
            return "LOW_RISK"
        return "VERIFY" if self.score >= VERIFY else "HIGH_RISK"

    @property
    def usage_notes(self) -> str:
        """What lacks most of its points, in a sentence."""
        weak = sorted(
            (point for point in self.points if point.points * 2 < point.most),
            key=lambda point: point.points - point.most,
        )
        if not weak:
            return "Nothing lacks more than half of its points."
        return "Check first: " + "; ".join(f"{p.name} ({p.evidence})" for p in weak[:3]) + "."


def parse_repository(url: str) -> RepositoryAddress:
    """Return the repository at an address of a forge: https, or as git writes it.

    Raises:
        UsageError: it is none.
    """
    text = url.strip()
    if "://" not in text and not text.startswith(("/", ".", "~")):
        text = f"https://{text}" if text.split("/")[0] in FORGES else f"https://github.com/{text}"
    try:
        parts = urlsplit(text)
        host, is_plain = (parts.hostname or "").removeprefix("www."), parts.port is None
    except ValueError:
        host, is_plain = "", False
    names = [name for name in parts.path.split("/") if name] if host else []
    is_address = parts.scheme == "https" and host in FORGES and is_plain if host else False
    names = (
        names[: names.index("-")] if "-" in names else names
    )  # of GitLab: what follows is a page
    if host != "gitlab.com":  # where groups have groups
        names = names[: len(("owner", "name"))]
    if is_address and parts.username is None and len(names) >= len(("owner", "name")):
        *owners, name = (*names[:-1], names[-1].removesuffix(".git"))
        if all(_NAME.fullmatch(part) and part.strip(".") for part in (*owners, name)):
            return RepositoryAddress(host, "/".join(owners), name)
    raise UsageError(
        f"Not the address of a repository: {url}",
        cause=f"Repositories are on {', '.join(sorted(FORGES))}; of a package on pypi.org or "
        "npmjs.com, --verify finds the repository.",
        hint="Use an address such as https://github.com/OWNER/REPOSITORY.",
    )


def write_report(report: OssReport) -> bytes:
    """Return the document of a report."""
    fields: dict[str, object] = {
        name: _written(value)
        for name, value in report._asdict().items()
        if value not in (None, "", ()) and name not in {"points", "name"}
    }
    for name in ("verified_at", "last_commit_at", "last_tag_at"):
        if (moment := getattr(report, name)) is not None:
            fields[name] = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = {
        "title": f"{report.name}: {report.verdict}",
        "doc_type": "oss-report",
        "name": report.name,
        **fields,
        "score": report.score,
        "points": [[p.name, p.points, p.most, p.evidence] for p in report.points],
    }
    return write_page("\n".join(_body(report)), fields)


def _written(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _body(report: OssReport) -> Iterator[str]:
    yield f"# {report.name}\n"
    yield f"{report.url}, commit {report.commit[:12]}, {day_of(report.verified_at)}.\n"
    yield f"Score {report.score} of 100: {report.verdict}. {report.usage_notes}\n"
    yield "| | points | of | evidence |"
    yield "|---|---|---|---|"
    for point in report.points:
        evidence = point.evidence.replace("|", "\\|")
        yield f"| {point.name} | {point.points} | {point.most} | {evidence} |"
    yield ""


def parse_report(data: bytes) -> OssReport | None:
    """Return the report of a document; None: it is none."""
    root = read_head(data, ()).root
    if root is None:
        return None
    fields = {key.value: node for key, node in root.pairs if key.kind == "scalar"}
    url, moment = _text(fields, "url"), parse_date(_text(fields, "verified_at"))
    if "points" not in fields or not url or moment is None:
        return None
    report = OssReport(
        url, _text(fields, "name"), _text(fields, "commit"), moment, tuple(_points(fields))
    )
    values: dict[str, Any] = {
        key: value
        for key, default in OssReport._field_defaults.items()
        if key in fields and (value := _value(fields, key, default)) is not None
    }
    report = report._replace(**values)
    is_result = report.build_result in get_args(BuildResult)
    return report if is_result and report.test_result in get_args(TestResult) else None


def _value(fields: Mapping[str, Node], key: str, default: object) -> object:
    """Return the value of a field of the type that its default has; None: it has another."""
    text = _text(fields, key)
    if isinstance(default, tuple):
        return tuple(item.text or "" for item in fields[key].items)
    if key.endswith("_at"):
        return parse_date(text)
    if isinstance(default, str):
        return text
    return int(text) if re.fullmatch(r"\d{1,12}", text) else None


def _text(fields: Mapping[str, Node], name: str) -> str:
    return (fields[name].text or "") if name in fields else ""


def _points(fields: Mapping[str, Node]) -> Iterator[ScorePoint]:
    for item in fields["points"].items:
        values = [part.text or "" for part in item.items]
        if (
            len(values) == len(ScorePoint._fields)
            and values[1].isdecimal()
            and values[2].isdecimal()
        ):
            yield ScorePoint(values[0], int(values[1][:3]), int(values[2][:3]), values[3])


class ReportFinder:
    """The reports that a session can read: those among its own documents, and those UBP wrote."""

    def __init__(self, session: Session) -> None:
        """Read nothing yet."""
        self._session = session

    def find(self, url: str) -> OssReport | None:
        """Return the report on the repository at an address; None: there is none.

        Raises:
            UsageError: it is not the address of a repository.
        """
        address = parse_repository(url)
        view = self._session.view()
        own = view.read([address.path]).get(address.path) if view.page(address.path) else None
        return (parse_report(own) if own else None) or self._find_saved(address)

    def _find_saved(self, address: RepositoryAddress) -> OssReport | None:
        environment = self._session.environment
        saved = Collection(REPORT_COLLECTION, "import", "")
        path = repository_path(collections_dir(environment), saved)
        if not os.path.isdir(path):
            return None
        environment = collection_environment(path, saved, environment)
        with open_repository(path, environment) as repository:
            blob = repository.rev_parse(f"HEAD:{address.path}")
            data = repository.read_blobs([blob])[blob] if blob else None
        return parse_report(data) if data else None
