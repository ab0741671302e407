"""The text of `ubp status`."""

import os
from collections.abc import Iterator

from ubp import __version__
from ubp.answers.setup.model import ModelRecord, model_text
from ubp.frame.wording import Style, clock, count, printable, size
from ubp.frame.writer import Writer
from ubp.staleness.model import Summary
from ubp.staleness.status import Status
from ubp.staleness.wording import counted_levels

BUCKET_WORDS = {
    "resolved": "to pages",
    "ambiguous": "ambiguous",
    "missing": "to missing targets",
    "within_page": "within a page",
    "not_a_page": "to files that are not pages",
    "out_of_scope": "out of scope",
}


def status_text(status: Status, style: Style) -> str:
    """Return the state of the index on one screen."""
    place = status.root or "a bare repository"
    lines = [f"UBP {__version__} | {printable(place)}", ""]
    lines += [f"{name + ':':<15}{text}" for name, text in _rows(status, style)]
    problems = [
        f"{style.bold(printable(f'{document.filepath}:{problem.line}'))}"
        f"  {printable(problem.message)}"
        for document in status.unparsed
        for problem in document.problems
    ]
    if problems:
        lines += ["", *problems]
    summary = status.summary
    if summary.stale or summary.possibly_stale or summary.unknown:
        lines += ["", f"Next: {style.cyan('ubp stale')}"]
    elif summary.documents and not summary.bound:
        lines += ["", f"Next: {style.cyan('ubp bind')} proposes sources for each page"]
    return "\n".join(lines) + "\n"


def _rows(status: Status, style: Style) -> Iterator[tuple[str, str]]:
    summary, index = status.summary, status.statistics
    unparsed = len(status.unparsed)
    warning = style.yellow(f" ({unparsed} with front matter problems)") if unparsed else ""
    yield "Documents", count(summary.documents, "page") + warning
    verified = f", {summary.verified} verified" if summary.bound else ""
    others = style.dim(" (run `ubp bind` for the others)") if _is_partly_bound(summary) else ""
    yield "With sources", f"{summary.bound} of {count(summary.documents, 'page')}{verified}{others}"
    yield "Keys", printable(", ".join(status.keys))
    if summary.bound:
        yield "Staleness", f"{counted_levels(summary)} (stale after {status.threshold_days:g} days)"
    else:
        yield "Staleness", style.yellow("nothing to verify: no page lists sources")
    yield "Links", _links(status, style)
    yield "Model", model_text(ModelRecord(**status.model._asdict()), Writer())
    yield "Database", _database(status)
    if index.written_at is not None:
        yield "Last indexed", f"{clock(int(index.written_at))} UTC"
    for server in status.servers:
        yield "Server", f"running (PID {server.pid}, since {clock(int(server.since))} UTC)"


def _is_partly_bound(summary: Summary) -> bool:
    """Return whether some pages name sources, and most do not."""
    return 0 < summary.bound < summary.documents - summary.bound


def _database(status: Status) -> str:
    index = status.statistics
    if index.path is None:
        return f"in memory: {printable(index.why_in_memory)}"
    path = os.path.relpath(index.path, status.root) if status.root else index.path
    return f"{printable(path.replace(os.sep, '/'))} ({size(index.size_bytes)})"


def _links(status: Status, style: Style) -> str:
    links = status.links
    total = sum(links.buckets.values())
    counts = [(links.buckets.get(bucket, 0), words) for bucket, words in BUCKET_WORDS.items()]
    details = ", ".join(f"{number} {words}" for number, words in counts if number)
    broken = ""
    if links.broken:
        verb = "is" if links.broken == 1 else "are"
        broken = style.red(f" ({links.broken} {verb} broken: ubp check --rule broken-link)")
    return f"{total}: {details}{broken}" if total else "none"
