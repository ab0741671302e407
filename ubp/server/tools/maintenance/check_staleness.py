"""`ubp_check_staleness`: which pages no longer describe their sources, and what changed there.

Its record is that of `ubp stale --json` without the ids of Git's objects, which help nobody who
reads, and with the next step for each page; a single page without sources has proposals, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, confident_suggestions
from ubp.core.shell import path_argument, ubp_command
from ubp.output.agent.staleness import staleness_text
from ubp.output.records.bindings import suggestion_record
from ubp.output.records.staleness import stale_record
from ubp.output.text.common import visible_pages
from ubp.server.tools.arguments import flag, number, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.budget import TokenLimit
from ubp.server.tools.tool import Record, Tool
from ubp.staleness.model import StaleReport
from ubp.workspace import Workspace

SIZE, LEAST_SIZE, MOST_SIZE = 20_000, 2_000, 200_000
# A page with a diff takes more than so many characters: others would be cut off again.
MIN_TOKENS_A_PAGE = 500
IDS = frozenset({"baseline_commit", "baseline_blob", "current_blob"})
# The newest commits say what happened.
MIN_COMMITS = 3
# What a page seems to describe: the first are right most often, and the strongest reasons suffice.
MOST_SUGGESTED, MOST_EVIDENCE = 5, 3


def run(workspace: Workspace, given: Mapping[str, Any]) -> Record:
    """What became of the sources of a page, or of all pages that are not fresh."""
    path, most = given.get("filepath"), given["max_size"]
    every = path is not None
    report = workspace.stale([path] if path else [], every=every)
    diffs = _diffs(workspace, report, most, every=every) if given["include_diff"] else {}
    record = stale_record(report, every=every, diffs=diffs)
    _tell_once(record)
    _suggest(workspace, record, path)
    for document in record["documents"]:
        document["resolve"] = _resolve(document, workspace.session.config.keys[0])
        document["references"] = [
            {name: value for name, value in one.items() if name not in IDS}
            for one in document["references"]
        ]
    return record


def fit(record: Record, limit: TokenLimit) -> None:
    """Fewer suggestions, fewer commits, then shorter diffs, then fewer pages."""
    if limit.drop(record, _last_suggestions(record)) or limit.drop(record, _old_commits(record)):
        return
    diffs = [one["diff"] for one in reversed(list(_references(record))) if "diff" in one]
    for diff in diffs:
        excess = limit.excess(record)
        if excess <= 0:
            return
        _shorten(diff, excess)
    documents = record["documents"]
    record["truncated_count"] = 0
    limit.drop(record, _last_documents(record, documents))


def _diffs(workspace: Workspace, report: StaleReport, most: int, *, every: bool) -> dict[Any, Any]:
    pages = visible_pages(report, every=every)[: most // MIN_TOKENS_A_PAGE]
    found = workspace.diffs(report._replace(pages=pages))
    return {(one.page.filepath, answer): diff for one, answer, diff in found}


def _suggest(workspace: Workspace, record: Record, path: str | None) -> None:
    """A page that names no sources, asked for by itself, is told which it seems to describe."""
    documents = record["documents"]
    if path is None or len(documents) != 1 or documents[0]["staleness"] != "untracked":
        return
    (found,) = workspace.suggest_bindings([path], limit=MOST_SUGGESTED).pages
    documents[0]["suggested_refs"] = [
        suggestion_record(one._replace(evidence=one.evidence[:MOST_EVIDENCE]))
        for one in confident_suggestions(found, MIN_REVIEW_CONFIDENCE)
    ]


def _tell_once(record: Record) -> None:
    """Translations describe the same sources: what changed there is told for the first page."""
    told: dict[tuple[str, str], str] = {}
    for document in record["documents"]:
        for one in document["references"]:
            if one.get("diff", {}).get("text"):
                key = one["source_path"], one["diff"]["text"]
                if key in told:
                    one["diff"] = {"text": f"The same as for {told[key]}."}
                told.setdefault(key, document["filepath"])


def _resolve(document: Record, key: str) -> str:
    """What to do about a page, in a sentence with the command for it."""
    path = document["filepath"]
    drifted = [one for one in document["references"] if one["verdict"] != "fresh"]
    known = [one for one in drifted if one["verdict"] != "unknown"]
    gone = [str(one["line"]) for one in known if one["current_blob"] is None]
    steps = []
    if document["staleness"] == "untracked":
        known_ones = " (suggested_refs has proposals)" if document.get("suggested_refs") else ""
        steps.append(
            f"It names no sources: list what it describes{known_ones} under {key} in its front"
            " matter."
        )
    if gone:
        steps.append(f"Correct what its front matter names in line {', '.join(gone)}.")
    if len(gone) < len(known):
        command = ubp_command("ack", path_argument(path))
        steps.append(f"Update it; if it is still true: {command}")
    if len(known) < len(drifted):
        steps.append("This clone is too shallow to tell: git fetch --unshallow")
    return " ".join(steps)


def _references(record: Record) -> Iterator[Record]:
    for document in record["documents"]:
        yield from document["references"]


def _last_suggestions(record: Record) -> Iterator[Any]:
    for document in record["documents"]:
        while document.get("suggested_refs"):
            yield document["suggested_refs"].pop()


def _old_commits(record: Record) -> Iterator[Any]:
    for one in reversed(list(_references(record))):
        commits = one.get("commits", [])
        if len(commits) > MIN_COMMITS:
            one["commit_count"] = len(commits)
            one["commits"] = commits[:MIN_COMMITS]
            yield commits[MIN_COMMITS:]


def _shorten(diff: Record, excess: int) -> None:
    """Take lines off the end of a diff."""
    lines = diff["text"].split("\n")
    size, kept = len(diff["text"]) - excess, 0
    while kept < len(lines) and (size := size - len(lines[kept]) - 1) >= 0:
        kept += 1
    diff["text"] = "\n".join(lines[:kept])
    diff["left_out_lines"] = len(lines) - kept


def _last_documents(record: Record, documents: list[Record]) -> Iterator[Any]:
    while len(documents) > 1:
        record["truncated_count"] += 1
        yield documents.pop()


CHECK_STALENESS = Tool(
    name="ubp_check_staleness",
    title="Check whether pages are still true",
    description=(
        "Which documentation pages no longer describe the code: each source that changed since the "
        "page was written, by which commits, and with include_diff what changed, which is what "
        "you need to update the page. Use it before trusting a page and after changing code."
    ),
    input_schema=object_schema(
        filepath=string("a page, folder or glob; none: every page that is not fresh"),
        include_diff=flag("show the changes of each source", default=False),
        max_size=number(LEAST_SIZE, MOST_SIZE, SIZE, "characters; long diffs are cut"),
    ),
    shape="check-staleness",
    run=run,
    text=staleness_text,
    fit=fit,
    budget="max_size",
)
