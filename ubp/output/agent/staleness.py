"""Pages and their drifted sources for agents: a line a source, diffs enclosed by a marker."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.output.agent.pages import (
    cut_line,
    day,
    fenced,
    name,
    new_marker,
    notice,
    page_line,
    quoted,
    stale_ref,
)
from ubp.output.wording import SHORT_ID, count, printable, printable_line

Record = Mapping[str, Any]

LEVELS = ("stale", "possibly_stale", "unknown", "fresh")


def staleness_text(record: Record) -> str:
    """The pages, worst first, each with what became of its sources and what to do."""
    diffs = [diff for document in record["documents"] for diff in _long_diffs(document)]
    marker = new_marker(*diffs)
    lines = [f"{_summary(record)} {notice(record, marker if diffs else '')}"]
    for document in record["documents"]:
        lines += _document(document, marker)
    lines += cut_line(record.get("truncated_count", 0), "page", "ask with a larger max_size")
    return "\n".join(lines) + "\n"


def _summary(record: Record) -> str:
    summary = record["summary"]
    levels = [f"{summary[one]} {one}" for one in LEVELS if summary.get(one)]
    named = f"{count(summary['bound'], 'page')} of {summary['documents']} name sources"
    return f"{named}: {', '.join(levels)}." if levels else f"{named}."


def _long_diffs(document: Record) -> Iterator[str]:
    for one in document["references"]:
        text = (one.get("diff") or {}).get("text", "")
        if _is_long(text):
            yield text


def _is_long(diff: str) -> bool:
    """Whether it is not a sentence in place of a diff, which a document has no part in."""
    return len(diff.splitlines()) > 1


def _document(document: Record, marker: str) -> Iterator[str]:
    yield ""
    yield f"{page_line(document)} ({document['staleness']})"
    for problem in document.get("problems", []):
        yield f"  line {problem['line']}: {printable(problem['message'])}"
    fresh = [one for one in document["references"] if one["verdict"] == "fresh"]
    for reference in document["references"]:
        if reference not in fresh:
            yield from _reference(reference, marker)
    if fresh:
        yield f"  fresh: {', '.join(name(one['source_path']) for one in fresh)}"
    for one in document.get("suggested_refs", []):
        yield _suggestion(one)
    if document.get("resolve"):
        yield f"  Next: {printable(document['resolve'])}"


def _suggestion(one: Record) -> str:
    reasons = "; ".join(printable(reason["detail"]) for reason in one["evidence"])
    return f"  perhaps {name(one['source_path'])} ({one['confidence']:.2f}: {reasons})"


def _reference(one: Record, marker: str) -> Iterator[str]:
    debt = " (accepted as a debt)" if one.get("is_debt") else ""
    yield f"  {stale_ref(one)}{debt}"
    commits = one.get("commits", [])
    for commit in commits:
        who = f"{day(commit['date'])} {name(commit['author'])}"
        yield f"    {commit['id'][:SHORT_ID]} {who}: {quoted(commit['subject'])}"
    if one.get("commit_count", 0) > len(commits):
        yield f"    and {count(one['commit_count'] - len(commits), 'older commit')}"
    yield from _diff(one.get("diff"), marker)


def _diff(diff: Record | None, marker: str) -> Iterator[str]:
    if diff is None:
        return
    text = diff.get("text", "")
    if _is_long(text):
        yield from fenced(text, marker)
    else:
        yield from (f"    {printable_line(line)}" for line in text.splitlines())
    yield from cut_line(diff.get("left_out_lines", 0), "line", "ask for this page alone")
    if diff.get("missing_blobs"):
        yield f"    {count(len(diff['missing_blobs']), 'blob')} of it are not in this clone."
