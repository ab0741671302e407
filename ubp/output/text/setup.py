"""`ubp init` for people: what was written, what was found, what to paste.

`ubp status` and `ubp reindex` for people.
"""

import os
from collections.abc import Iterator

from ubp import __version__
from ubp.core.setup_files import InitResult
from ubp.core.snippets import Snippet
from ubp.index.embed.models import FetchedModel
from ubp.index.reindex import IndexRun, ModelStatus
from ubp.output.text.common import count_levels
from ubp.output.wording import Style, clock, count, printable, size
from ubp.staleness.model import Summary
from ubp.staleness.status import Status

RULE_WIDTH = 70
# Fewer are put right sooner than a file is reviewed that accepts them.
MANY_FINDINGS = 10


def initialized_text(done: InitResult, style: Style) -> str:
    """What was done and what to do next."""
    lines = [f"Wrote {printable(name)}" for name in done.written]
    if done.is_kept:
        lines.append("Kept the configuration that was there")
    named = f"{done.bound} of {count(done.documents, 'page')}"
    problems = f", {done.problems} with front matter problems" if done.problems else ""
    links = count(done.links, "link")
    sections = f", {count(done.embedded, 'section')} embedded" if done.embedded else ""
    lines += [
        style.green(f"Initialized UBP in {printable(done.root)}"),
        f"  {named} name sources{problems}; {links}{sections}; indexed in {done.seconds:.2f} s",
        *_preview(done),
        "",
        "Next:",
        *_first_step(done, style),
        f"  {style.cyan('ubp stale')}     tells which pages no longer describe their sources",
    ]
    if done.written:
        lines.append(f"  {style.cyan('git add .ubp')}  shares the configuration and nothing else")
    if done.acceptable >= MANY_FINDINGS:
        accepts = f"{style.cyan('ubp debt')} accepts them, so that only new ones fail"
        lines.append(f"  {count(done.acceptable, 'finding')} are there already: {accepts}")
    for snippet in done.snippets:
        lines += ["", *_snippet(snippet, style)]
    return "\n".join(lines) + "\n"


def _preview(done: InitResult) -> Iterator[str]:
    preview = done.preview
    if preview is not None and preview.proposed:
        bound = f"{done.bound} bound" if done.bound else "none bound"
        could = f"{preview.proposed} could be, {preview.confident} with confidence"
        yield f"  {count(done.documents, 'page')}, {bound}; {could}"
    elif done.is_large:
        yield "  What the pages describe was not looked for: there is too much to look at"


def _first_step(done: InitResult, style: Style) -> Iterator[str]:
    if done.is_large:
        yield f"  {style.cyan('ubp bind DIR')}  proposes what the pages of a folder describe"
    elif done.preview is not None and done.preview.proposed:
        yield f"  {style.cyan('ubp bind')}      proposes what each page describes"


def _snippet(snippet: Snippet, style: Style) -> list[str]:
    title = f"-- {printable(snippet.title)} --"
    text = (printable(line) for line in snippet.text.rstrip("\n").split("\n"))
    return [style.bold(title.ljust(RULE_WIDTH, "-")), *text]


BUCKET_WORDS = {
    "resolved": "to pages",
    "ambiguous": "ambiguous",
    "missing": "to nothing",
    "within_page": "within their page",
    "not_a_page": "to what is no page",
    "out_of_scope": "out of scope",
}


def status_text(status: Status, style: Style) -> str:
    """One screen."""
    place = status.root or "a bare repository"
    lines = [f"UBP {__version__} | {printable(place)}", ""]
    lines += [f"{name + ':':<15}{text}" for name, text in _rows(status, style)]
    problems = [
        f"{style.bold(printable(f'{one.filepath}:{problem.line}'))}  {printable(problem.message)}"
        for one in status.unparsed
        for problem in one.problems
    ]
    if problems:
        lines += ["", *problems]
    summary = status.summary
    if summary.stale or summary.possibly_stale or summary.unknown:
        lines += ["", f"Next: {style.cyan('ubp stale')}"]
    elif summary.documents and not summary.bound:
        lines += ["", f"Next: {style.cyan('ubp bind')} proposes what each page describes"]
    return "\n".join(lines) + "\n"


def reindexed_text(run: IndexRun) -> str:
    """What was read, what was forgotten, how large the index is now."""
    lines = [f"{count(run.parsed, 'page')} read; {run.documents} in the index."]
    if run.embedded:
        lines.append(f"{count(run.embedded, 'section')} embedded.")
    if run.pruned is not None:
        pruned = run.pruned
        lines.append(
            f"Forgotten: {count(pruned.pages, 'page')}, {count(pruned.listings, 'listing')};"
            f" {size(pruned.freed_bytes)} freed."
        )
    if run.statistics.path is None:
        lines.append(f"It was in memory: {printable(run.statistics.why_in_memory)}")
    return "\n".join(lines) + "\n"


def model_text(model: ModelStatus) -> str:
    """`ubp model`: what is used, where it lies."""
    rows = [("Model", _model(model))]
    if model.directory is not None:
        rows += [("Directory", printable(model.directory)), ("Fingerprint", str(model.fingerprint))]
    return "".join(f"{name + ':':<15}{text}\n" for name, text in rows)


def fetched_text(fetched: FetchedModel) -> str:
    """`ubp model fetch`: what came, and how to use it."""
    name = printable(fetched.name)
    return (
        f"{name} ({fetched.dimensions} dimensions) is in {printable(fetched.directory)}.\n"
        f'Use it: "search": {{"model": "{name}"}} in .ubp/config.json\n'
    )


def _rows(status: Status, style: Style) -> Iterator[tuple[str, str]]:
    summary, index = status.summary, status.statistics
    unparsed = len(status.unparsed)
    warning = style.yellow(f" ({unparsed} with front matter problems)") if unparsed else ""
    yield "Documents", count(summary.documents, "page") + warning
    verified = f", {summary.verified} verified" if summary.bound else ""
    others = style.dim(" (ubp bind proposes the others' sources)") if _is_begun(summary) else ""
    yield "With sources", f"{summary.bound} of {count(summary.documents, 'page')}{verified}{others}"
    yield "Keys", printable(", ".join(status.keys))
    if summary.bound:
        yield "Staleness", f"{count_levels(summary)} (stale after {status.threshold_days:g} days)"
    else:
        yield "Staleness", style.yellow("nothing was verified: no page names a source")
    yield "Links", _links(status, style)
    yield "Model", _model(status.model)
    yield "Database", _database(status)
    if index.written_at is not None:
        yield "Last indexed", f"{clock(int(index.written_at))} UTC"
    for server in status.servers:
        yield "Server", f"running (PID {server.pid}, since {clock(int(server.since))} UTC)"


def _is_begun(summary: Summary) -> bool:
    """Whether some pages name sources, and most do not."""
    return 0 < summary.bound < summary.documents - summary.bound


def _model(model: ModelStatus) -> str:
    if model.name is None:
        return f"none: {printable(model.why_none)}"
    pending = f", {model.pending} pending" if model.pending else ""
    return (
        f"{printable(model.name)} ({model.dimensions} dimensions);"
        f" {count(model.sections, 'section')}{pending}"
    )


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
    told = ", ".join(f"{number} {words}" for number, words in counts if number)
    broken = ""
    if links.broken:
        verb = "is" if links.broken == 1 else "are"
        broken = style.red(f" ({links.broken} {verb} broken: ubp check --rule broken-link)")
    return f"{total}: {told}{broken}" if total else "none"
