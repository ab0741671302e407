"""`ubp_check_staleness`: the pages that no longer match their sources, and what changed there."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.bindings.features import Suggestion
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, confident_suggestions
from ubp.checks.run import find_removed_mentions
from ubp.core.errors import BadArgumentError
from ubp.core.model import QUIET_LEVELS, Assessment
from ubp.frame.arguments import MaxTokens, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.staleness import staleness_text
from ubp.output.records.check_staleness import CheckedRecord, Diffs, PageForUpdate, checked_record
from ubp.search.graph import open_graph
from ubp.search.list_pages import read_page
from ubp.server.tools.tool import Tool
from ubp.staleness.evidence import names_in_code
from ubp.staleness.model import StaleReport, worst_first
from ubp.staleness.state import join_translations
from ubp.workspace import Workspace

DEFAULT_SIZE, MIN_SIZE, MAX_SIZE = 20_000, 2_000, 200_000
# A page with a diff takes more characters than this: further ones would be cut off again.
MIN_PAGE_SIZE = 500
# The newest commits explain most.
MIN_COMMITS = 3
# The sentence below a diff that is cut, in characters (in tokens it takes fewer).
CUT_LINE_SIZE = 60
# Names of changed lines that are left out: of all diffs together, and of each at least.
MAX_NAMES, MIN_NAMES = 100, 8
MAX_READ = 5_000  # lines, in 0.2 s
_FILES = frozenset({"---", "+++"})
_WORDS = re.compile(r"[\w.-]+")
# Of the proposed sources the first are right most often, and the strongest evidence suffices.
MAX_SUGGESTED, MAX_EVIDENCE = 5, 3


@dataclass(frozen=True, slots=True)
class StalenessRequest:
    """Which pages to check, and how much of what changed to return."""

    filepath: Annotated[str, "page, folder or glob; default: all that are not fresh"] | None = None
    include_diff: Annotated[bool, "include the diff of each changed source"] = False
    for_update: Annotated[bool, "all of one page: text, diffs, pins"] = False
    max_size: Annotated[int, *between(MIN_SIZE, MAX_SIZE), "in characters"] = DEFAULT_SIZE
    max_tokens: MaxTokens | None = None


def run(workspace: Workspace, request: StalenessRequest) -> CheckedRecord:
    """Return the record of a page's sources, or of those of all pages that are not fresh."""
    path, max_size = request.filepath, request.max_size
    report = workspace.stale([path] if path else [], every=path is not None)
    if path is None:
        # With what the debt file accepts: it is no less stale, and marked as accepted.
        report = report._replace(pages=tuple(page for page in report.pages if _is_shown(page)))
    elif report.translations:
        pages = join_translations(report.pages, report.translations)
        report = report._replace(pages=worst_first(pages))
    shown = max_size // MIN_PAGE_SIZE
    with_evidence = workspace.with_evidence(report.pages[:shown])
    report = report._replace(pages=(*with_evidence, *report.pages[shown:]))
    update = _read_for_update(workspace, report, max_size) if request.for_update else None
    return checked_record(
        report,
        diffs=_diffs(workspace, report, max_size) if request.include_diff or update else {},
        suggestions=_suggest(workspace, report, path),
        key=workspace.session.config.keys[0],
        removed_names=find_removed_mentions(workspace.session, [path] if path else []),
        update=update,
        languages=workspace.count_languages(report) if path is None else (),
    )


def _read_for_update(workspace: Workspace, report: StaleReport, max_size: int) -> PageForUpdate:
    """Return the text of the page; of a page too long for half of the answer, what is concerned.

    That are the sections with names of changed lines, if there are any.
    """
    if len(report.pages) != 1:
        raise BadArgumentError(
            "filepath",
            "`for_update` requires the `filepath` of one page.",
            cause=f"It matches {len(report.pages)} pages.",
        )
    (assessment,) = report.pages
    page = read_page(open_graph(workspace.session.view()), assessment.page.filepath)
    lines = [evidence.line for ref in assessment.references for evidence in ref.evidence]
    concerned = [
        part.content
        for part in page.parts
        if any(part.section.line_start <= line <= part.section.line_end for line in lines)
    ]
    is_partial = bool(concerned) and len(page.content) > max_size // 2
    return PageForUpdate("\n\n".join(concerned) if is_partial else page.content, is_partial)


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop suggestions, then commits, then ends of diffs, then removed names, then pages."""
    if limit.drop(record, _drop_suggestions(record)) or limit.drop(
        record, _drop_old_commits(record)
    ):
        return
    references = reversed(list(_references(record)))
    diffs = [reference["diff"] for reference in references if reference.get("diff")]
    words = " ".join(document.get("content") or "" for document in record["documents"])
    max_names = max(MIN_NAMES, MAX_NAMES // max(1, len(diffs))) if words else 0
    for diff in diffs:
        excess = limit.excess(record)
        if excess <= 0:
            return
        _shorten(diff, excess, limit, words, max_names)
    if limit.drop(record, _drop_removed_names(record)):
        return
    documents = record["documents"]
    record["truncated_count"] = 0
    if limit.drop(record, _drop_last_documents(record, documents)):
        return
    for document in documents:
        if content := document.get("content"):
            limit.truncate(record, document, "content")
            document["is_partial"] = document["content"] != content
    if not limit.drop(record, _drop_names(record)):
        limit.drop(record, _drop_references(documents))


def _drop_names(record: Json) -> Iterator[Any]:
    for reference in reversed(list(_references(record))):
        if names := reference.get("diff", {}).pop("left_out_names", None):
            yield names


def _drop_references(documents: list[Json]) -> Iterator[Any]:
    for document in documents:
        while len(document["references"]) > 1:
            document["hidden_references"] = document.get("hidden_references", 0) + 1
            yield document["references"].pop()


def _is_shown(assessment: Assessment) -> bool:
    has_problems = bool(assessment.page.facts.problems)
    return has_problems or assessment.level not in QUIET_LEVELS


def _diffs(workspace: Workspace, report: StaleReport, max_size: int) -> Diffs:
    pages = report.pages[: max_size // MIN_PAGE_SIZE]
    diffs = workspace.diffs(report._replace(pages=pages))
    return {(assessment.page.filepath, reference): diff for assessment, reference, diff in diffs}


def _suggest(workspace: Workspace, report: StaleReport, path: str | None) -> Iterator[Suggestion]:
    """Yield proposed sources for a page without any that is requested by its path."""
    if path is None or [page.level for page in report.pages] != ["untracked"]:
        return
    (suggestions,) = workspace.suggest_bindings([path], limit=MAX_SUGGESTED).pages
    for suggestion in confident_suggestions(suggestions, MIN_REVIEW_CONFIDENCE):
        yield suggestion._replace(evidence=suggestion.evidence[:MAX_EVIDENCE])


def _references(record: Json) -> Iterator[Json]:
    for document in record["documents"]:
        yield from document["references"]


def _drop_suggestions(record: Json) -> Iterator[Any]:
    for document in record["documents"]:
        while document.get("suggested_refs"):
            yield document["suggested_refs"].pop()


def _drop_old_commits(record: Json) -> Iterator[Any]:
    for reference in reversed(list(_references(record))):
        commits = reference.get("commits", [])
        if len(commits) > MIN_COMMITS:
            reference["commit_count"] = len(commits)
            reference["commits"] = commits[:MIN_COMMITS]
            yield commits[MIN_COMMITS:]


def _drop_removed_names(record: Json) -> Iterator[Any]:
    while record.get("removed_names"):
        yield record["removed_names"].pop()


def _shorten(diff: Json, excess: int, limit: TokenLimit, page: str, max_names: int) -> None:
    """Cut lines off the end of a diff, and list names that they change: first those of the page."""
    lines = diff["text"].split("\n")
    names = _changed_names(diff, lines, page)[:max_names]
    size = limit.measure(diff["text"]) - excess - CUT_LINE_SIZE - limit.measure(", ".join(names))

    def size_of(number: int) -> int:
        return limit.measure("\n".join(lines[:number]))

    kept_lines = max(0, bisect_right(range(len(lines) + 1), size, key=size_of) - 1)
    diff["text"] = "\n".join(lines[:kept_lines])
    diff["left_out_lines"] = diff.get("left_out_lines", 0) + len(lines) - kept_lines
    shown = names_in_code(lines[:kept_lines])
    left_out = _changed_names(diff, lines[kept_lines:], page)
    diff["left_out_names"] = [name for name in left_out if name not in shown][:max_names]


def _changed_names(diff: Json, lines: Sequence[str], page: str) -> list[str]:
    """Return the names that lines of a diff change, and those that were left out before."""
    changed = [line[1:] for line in lines if line[:1] in {"+", "-"} and line[:3] not in _FILES]
    counts = Counter(name for line in changed[:MAX_READ] for name in names_in_code([line]))
    counts.update(diff.get("left_out_names", ()))
    words = set(_WORDS.findall(page))
    return sorted(counts, key=lambda name: (name not in words, -counts[name], name))


def _drop_last_documents(record: Json, documents: list[Json]) -> Iterator[Any]:
    while len(documents) > 1:
        record["truncated_count"] += 1
        yield documents.pop()


CHECK_STALENESS = Tool(
    name="ubp_check_staleness",
    title="Check pages for stale content",
    description=(
        "Find documentation pages that no longer match the code. Returns each source that changed "
        "since its page was written, its commits and, with include_diff, its diff; also names in "
        "pages that the code lost. Use it before relying on a page, to update one (for_update), "
        "and after changing code."
    ),
    request=StalenessRequest,
    record=CheckedRecord,
    run=run,
    text=staleness_text,
    fit=fit,
    budgets=("max_size", "max_tokens"),
)
