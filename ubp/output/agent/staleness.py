"""Text of drifted sources for agents: a line a source; diffs are enclosed by a marker."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.frame.quoting import fenced, name, new_marker, quoted
from ubp.frame.wording import SHORT_ID, count, printable, printable_line
from ubp.output.agent.pages import cut_line, day, notice, page_line, stale_ref

Record = Mapping[str, Any]

LEVELS = ("stale", "possibly_stale", "unknown", "fresh")


def staleness_text(record: Record) -> str:
    """Return the pages, worst first, each with its sources and the next step."""
    enclosed = [diff for document in record["documents"] for diff in _long_diffs(document)]
    enclosed += [page["content"] for page in record["documents"] if page.get("content")]
    marker = new_marker(*enclosed)
    lines = [f"{_summary(record)} {notice(record, marker if enclosed else '')}"]
    for document in record["documents"]:
        lines += _document(document, marker)
    if languages := record.get("translations"):
        lines += ["", "Translations (give a filepath to see one):"]
        lines += [f"  {_language(language)}" for language in languages]
    if removed := record.get("removed_names"):
        lines += ["", "Names in pages that the code no longer has; update the pages:"]
        lines += [f"  {n['filepath']}:{n['line']}: {printable(n['message'])}" for n in removed]
    lines += cut_line(record.get("truncated_count", 0), "page", "use a larger max_size")
    return "\n".join(lines) + "\n"


def _language(language: Record) -> str:
    names = ("fresh", "stale", "orphaned", "unknown", "missing")
    counts = ", ".join(f"{language[name]} {name}" for name in names if language.get(name))
    return f"{printable(language['language'])}: {counts}"


def _summary(record: Record) -> str:
    summary = record["summary"]
    levels = [f"{summary[level]} {level}" for level in LEVELS if summary.get(level)]
    verb = "lists" if summary["documents"] == 1 else "list"
    bound = f"{summary['bound']} of {count(summary['documents'], 'page')} {verb} sources"
    return f"{bound}: {', '.join(levels)}." if levels else f"{bound}."


def _long_diffs(document: Record) -> Iterator[str]:
    for reference in document["references"]:
        text = (reference.get("diff") or {}).get("text", "")
        if _is_long(text):
            yield text


def _is_long(diff: str) -> bool:
    """Return whether it is a diff and not a sentence in place of one, which is ours."""
    return len(diff.splitlines()) > 1


def _document(document: Record, marker: str) -> Iterator[str]:
    yield ""
    yield f"{page_line(document)} ({document['staleness']})"
    for problem in document.get("problems", []):
        yield f"  line {problem['line']}: {printable(problem['message'])}"
    fresh = [ref for ref in document["references"] if ref["verdict"] == "fresh"]
    for reference in document["references"]:
        if reference not in fresh:
            yield from _reference(reference, marker)
    if fresh:
        yield f"  fresh: {', '.join(name(ref['source_path']) for ref in fresh)}"
    for suggestion in document.get("suggested_refs", []):
        yield _suggestion(suggestion)
    yield from cut_line(document.get("hidden_references", 0), "source", "use a larger max_tokens")
    if content := document.get("content"):
        part = ", in part (ubp_get_page has all)" if document.get("is_partial") else ""
        yield f"  The page, blob {document['blob'][:SHORT_ID]}{part}:"
        yield from fenced(content, marker)
    if document.get("resolve"):
        yield f"  Next: {printable(document['resolve'])}"


def _suggestion(suggestion: Record) -> str:
    reasons = "; ".join(printable(reason["detail"]) for reason in suggestion["evidence"])
    confidence = f"{suggestion['confidence']:.2f}"
    return f"  suggested: {name(suggestion['source_path'])} ({confidence}: {reasons})"


def _reference(reference: Record, marker: str) -> Iterator[str]:
    debt = " (accepted debt)" if reference.get("is_debt") else ""
    yield f"  {stale_ref(reference)}{debt}"
    for evidence in reference.get("evidence", ()):
        place = f"line {evidence['line']}"
        yield f"    the page names {quoted(evidence['name'])} ({place}), which is changed"
    if reference.get("proposed_pin"):
        yield f"    pin after the update: {reference['proposed_pin']}"
    if reference.get("is_unread"):
        yield "    the changed lines could not be read: this partial clone lacks them"
    commits = reference.get("commits", [])
    for commit in commits:
        origin = f"{day(commit['date'])} {name(commit['author'])}"
        yield f"    {commit['id'][:SHORT_ID]} {origin}: {quoted(commit['subject'])}"
    if reference.get("commit_count", 0) > len(commits):
        yield f"    and {count(reference['commit_count'] - len(commits), 'older commit')}"
    yield from _diff(reference.get("diff"), marker)


def _diff(diff: Record | None, marker: str) -> Iterator[str]:
    if diff is None:
        return
    text = diff.get("text", "")
    if _is_long(text):
        yield from fenced(text, marker)
    else:
        yield from (f"    {printable_line(line)}" for line in text.splitlines())
    yield from cut_line(diff.get("left_out_lines", 0), "line", "check this page alone")
    if names := diff.get("left_out_names"):
        yield f"    they change {', '.join(map(name, names))}"
    if diff.get("missing_blobs"):
        yield f"    {count(len(diff['missing_blobs']), 'blob')} missing from this clone."
