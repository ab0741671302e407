"""What became of the alarms about pages, by month, from the commits of the main line alone.

An alarm about a page is settled where a commit moves a pin in it: with an edit of the page, or
without one, which makes it a wrong alarm. Alarms that nobody settled, and those about references
without a pin, leave no trace in history, and are not counted.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ubp.core.interruption import with_checkpoints
from ubp.core.model import FilePath, ObjectId
from ubp.git.output import MAX_DIGITS_OF_TIME, decode_path
from ubp.report.values import MonthOfAlarms, SettledAlarms
from ubp.staleness.model import StalenessContext
from ubp.staleness.repeated import MANY, Outcome, find_outcome

MAX_VERSIONS = 10_000
"""Page versions that are compared, the newest first. Reading and comparing the 452 of this
repository's pages takes 0.14 s of CPU beside one `git log`."""
VERSIONS_PER_READ = 500
_COMMIT = b"\x01"  # begins a commit in the log


class _Version(NamedTuple):
    """A page that a commit of the main line changed; `is_reasoned`: by a trailer."""

    month: str
    page: FilePath
    old: ObjectId
    new: ObjectId
    is_reasoned: bool


def find_settled(
    pages: Collection[FilePath], context: StalenessContext, keys: Sequence[str]
) -> SettledAlarms | None:
    """Return how the alarms about these pages were settled; None: there are no commits.

    Raises:
        RepositoryError: history cannot be read.
    """
    head = context.view.snapshot.commit
    if head is None or not pages:
        return None
    repository = context.repository
    versions = _read_versions(context, head, pages)
    is_cut = len(versions) > MAX_VERSIONS
    versions = versions[:MAX_VERSIONS]
    counts: dict[str, Counter[str]] = {}
    rows: dict[FilePath, list[Outcome | None]] = {}
    unread = 0
    for start in range(0, len(versions), VERSIONS_PER_READ):
        batch = versions[start : start + VERSIONS_PER_READ]
        contents = repository.read_blobs({blob for row in batch for blob in (row.old, row.new)})
        for version in with_checkpoints(batch):
            old, new = contents[version.old], contents[version.new]
            if old is None or new is None:
                unread += 1
                continue
            outcome = find_outcome(old, new, keys)
            rows.setdefault(version.page, []).append(outcome)
            if outcome:
                month = counts.setdefault(version.month, Counter())
                month[outcome] += 1
                month["reasoned"] += outcome == "acknowledged" and version.is_reasoned
    return SettledAlarms(
        tuple(
            MonthOfAlarms(name, month["edited"], month["acknowledged"], month["reasoned"])
            for name, month in sorted(counts.items())
        ),
        tuple(
            page
            for page, outcomes in sorted(rows.items())
            if outcomes[:MANY] == ["acknowledged"] * MANY
        ),
        len(versions),
        unread,
        is_cut,
    )


def _read_versions(
    context: StalenessContext, head: ObjectId, pages: Collection[FilePath]
) -> list[_Version]:
    """Return the changes of pages on the main line, newest first, by one `git log`."""
    paths = "".join(f"{page}\n" for page in sorted(pages) if "\n" not in page)
    output = context.repository.run(
        *("log", "--first-parent", "--diff-merges=first-parent", "--raw", "-z", "--no-renames"),
        *("--no-abbrev", "--diff-filter=M", f"--max-count={MAX_VERSIONS + 1}"),
        "--format=%x01%ct %(trailers:key=UBP-Reviewed,valueonly=true,separator=%x02)",
        *("--stdin",),
        stdin=f"{head}\n--\n{paths}".encode("utf-8", "surrogateescape"),
    )
    return list(_parse(iter(output.split(b"\0"))))


def _parse(tokens: Iterator[bytes]) -> Iterator[_Version]:
    month, reasons = "", ""
    for token in tokens:
        if token.startswith(_COMMIT):
            date, _, trailers = token[1:].decode("utf-8", "replace").partition(" ")
            # Git leaves out a date that it cannot read; years of ten digits are nobody's.
            seconds = int(date) if date.isdecimal() and len(date) <= MAX_DIGITS_OF_TIME else None
            month = "" if seconds is None else time.strftime("%Y-%m", time.gmtime(seconds))
            reasons = f"\x02{trailers}"
        elif token.lstrip(b"\n").startswith(b":"):
            _, _, old, new, _ = token.decode("ascii").split()
            page = decode_path(next(tokens))
            if not month:
                continue
            is_reasoned = f"\x02{page}: " in reasons
            yield _Version(month, page, ObjectId(old), ObjectId(new), is_reasoned)
