"""Texts about collections for people."""

from collections.abc import Iterator, Sequence

from ubp.core.model import FilePath
from ubp.core.shell import ubp_command
from ubp.frame.wording import SHORT_ID, Style, count, day, joined, printable, revision, size
from ubp.index.collections import Collection, CollectionStatus, SyncResult

MAX_PROBLEMS = 20
SHOWN_VERSIONS = 3


def collections_text(folder: str, statuses: Sequence[CollectionStatus], style: Style) -> str:
    """Return the collections, a paragraph each."""
    if not statuses:
        add = style.cyan(ubp_command("collections", "add", "NAME", "SOURCE"))
        return f"No collections in {printable(folder)}.\nAdd one: {add}\n"
    return joined(line for status in statuses for line in _status_lines(status, style))


def _status_lines(status: CollectionStatus, style: Style) -> Iterator[str]:
    language = f", {printable(status.language)}" if status.language else ""
    address = f": {printable(status.address)}" if status.address else ""
    yield f"{style.bold(status.name)}  {status.kind}{language}{address}"
    if status.problem:
        yield f"  {style.yellow(printable(status.problem))}"
    parts = []
    if status.at:
        parts.append(f"pinned at {revision(status.at)[:SHORT_ID]}")
    elif status.is_configured:
        parts.append("not pinned")
    if status.versions:
        named = ", ".join(printable(name) for name in status.versions[:SHOWN_VERSIONS])
        more = len(status.versions) - SHOWN_VERSIONS
        parts.append(f"versions: {named}" + (f" and {more} more" if more > 0 else ""))
    if status.size_bytes:
        parts.append(size(status.size_bytes))
    if status.synced_at:
        parts.append(f"synchronized {day(status.synced_at)}")
    licence = f" ({printable(status.licence)})" if status.licence else ""
    parts.append(f"{status.policy}{licence}")
    yield f"  {style.dim('; '.join(parts))}"


def plan_text(collection: Collection, version: str) -> str:
    """Return what `ubp collections add` is about to fetch."""
    what = {
        "local": "Use the repository",
        "mirror": "Mirror the Git repository",
        "import": "Import the pages of",
    }[collection.kind]
    if collection.kind == "import" and "://" not in collection.address:
        what = "Import the documents in"
    lines = [f"{what} {printable(collection.address)} as {collection.name}"]
    if collection.include:
        lines.append(f"  files: {', '.join(printable(glob) for glob in collection.include)}")
    if version:
        lines.append(f"  version: {printable(version)}")
    if collection.language:
        lines.append(f"  a specification of {printable(collection.language)}")
    licence = f", licence: {printable(collection.licence)}" if collection.licence else ""
    lines.append(f"  policy: {collection.policy}{licence}")
    return joined(lines)


def sync_text(results: Sequence[SyncResult], outdated: Sequence[FilePath], style: Style) -> str:
    """Return what became of each collection, what could not be fetched, and the stale pages."""
    if not results:
        return "No collections to synchronize.\n"
    lines = [line for result in results for line in _result_lines(result, style)]
    if outdated:
        verb = "has" if len(outdated) == 1 else "have"
        stale = style.cyan(ubp_command("stale"))
        lines.append(f"{count(len(outdated), 'page')} {verb} stale sources in collections: {stale}")
    return joined(lines)


def _result_lines(result: SyncResult, style: Style) -> Iterator[str]:
    name = style.bold(result.name)
    counts = [
        f"{number} {word}"
        for number, word in (
            (result.added, "added"),
            (result.changed, "changed"),
            (result.removed, "removed"),
        )
        if number
    ]
    changes = f": {', '.join(counts)}" if counts else ""
    at = f", at {revision(result.at)[:SHORT_ID]}" if result.at else ""
    word = "has " if result.kind == "mirror" else ""
    version = f" ({word}{printable(result.version)})" if result.version else ""
    if result.outcome == "failed":
        yield f"{name}  {style.red('failed')}"
    elif result.outcome == "planned":
        is_new = result.before != result.after or counts
        yield f"{name}  {'would change' + changes if is_new else 'is up to date'}"
    elif result.outcome == "unchanged":
        yield f"{name}  unchanged{at}{version}"
    elif result.kind == "local":
        yield f"{name}  {style.green('added')}"
    else:
        word = style.yellow("partly fetched") if result.problems else style.green("updated")
        files = count(result.files, "file")
        yield f"{name}  {word}{at}{version}, {files}{changes}"
    for problem in result.problems[:MAX_PROBLEMS]:
        yield f"  {printable(problem.address)}: {printable(problem.reason)}"
    if len(result.problems) > MAX_PROBLEMS:
        yield f"  and {count(len(result.problems) - MAX_PROBLEMS, 'more problem')}"
    if result.absent:
        links = count(len(result.absent), "link")
        yield style.dim(f"  {links} to pages that do not exist: {printable(result.absent[0])}")
