"""The edits that settle findings, as lines of pages and what to write in their place."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ubp.checks.finding import CheckReport, Finding
from ubp.core.errors import UbpError
from ubp.core.model import FilePath
from ubp.frame.wording import printable_line
from ubp.git.diff import changed_spans
from ubp.git.trees import shorten
from ubp.staleness.model import StalenessContext


class Suggestion(NamedTuple):
    """Lines of a page, from `line` on, what to write in their place, and the findings it settles.

    `is_pin`: it is right only if the page is still accurate.
    """

    path: FilePath
    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    findings: tuple[Finding, ...]
    is_pin: bool = False


def build_suggestions(
    report: CheckReport, context: StalenessContext, keys: Sequence[str]
) -> tuple[Suggestion, ...]:
    """Return the edits that would settle findings, page by page."""
    from ubp.checks.fix import edit_page  # hooks import every format; these load the parser
    from ubp.markdown.edit_pins import Pin, write_pins

    found: list[Suggestion] = []
    for path, group in groupby(report.findings, key=lambda finding: finding.filepath):
        findings = tuple(group)
        data = context.view.read([path]).get(path)
        if data is None:
            continue
        fixable = [finding for finding in findings if finding.fix]
        blobs = {
            drift.reference: drift.current_blob
            for finding in findings
            if (drift := finding.drift)
            and drift.baseline == "pin"
            and drift.verdict == "modified"
            and drift.current_blob
        }
        ids = shorten(set(blobs.values()), context.repository)
        pins = {reference: Pin(ids[blob]) for reference, blob in blobs.items()}
        try:
            fixed, _ = edit_page(data, fixable, keys, context)
            pinned = write_pins(data, keys, pins)
        except UbpError:  # `ubp check --fix` leaves such a page alone, too
            continue
        found += _blocks(path, data, fixed, fixable, is_pin=False)
        drifted = [finding for finding in findings if finding.drift]
        found += _blocks(path, data, pinned, drifted, is_pin=True)
    return tuple(found)


def _blocks(
    path: FilePath, old: bytes, new: bytes, findings: Sequence[Finding], *, is_pin: bool
) -> Iterator[Suggestion]:
    """Yield the lines that differ between two versions of a page."""
    try:
        before, after = (data.decode().split("\n") for data in (old, new))
    except UnicodeDecodeError:
        return
    for removed, added in changed_spans(before, after):
        lines = tuple(before[removed.start : removed.stop])
        written = tuple(after[added.start : added.stop])
        if not lines or any(line != printable_line(line) for line in (*lines, *written)):
            continue
        about = [
            finding
            for finding in findings
            if removed.start < finding.line <= removed.stop or is_pin
        ]
        yield Suggestion(path, removed.start + 1, lines, written, tuple(about), is_pin)
