"""What a reader of a comment needs to decide: the page's lines, and the hunk that concerns them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ubp.checks.finding import CheckReport
from ubp.core.model import FilePath, ReferenceVerdict
from ubp.core.text import shorten
from ubp.review.ordered_diff import rank_diffs
from ubp.staleness.diff import DRIFTED, diff_sources
from ubp.staleness.model import StalenessContext

# A comment with more pages is not read to its end, and all of them are read from Git.
MAX_PAGES = 20
MAX_SENTENCES = 3
MAX_HUNK_LINES = 14
MAX_CHARACTERS = 300  # of a line


class Excerpt(NamedTuple):
    """Lines of a page with their numbers, and the lines of the hunk that concerns it most."""

    sentences: tuple[tuple[int, str], ...]
    hunk: tuple[str, ...]


Excerpts = Mapping[tuple[FilePath, ReferenceVerdict], Excerpt]


def build_excerpts(report: CheckReport, context: StalenessContext) -> Excerpts:
    """Return the excerpts of the first pages that drifted, but not of hidden sources."""
    drifts = [
        (finding.filepath, finding.drift)
        for finding in report.findings
        if finding.drift is not None
        and finding.drift.verdict in DRIFTED
        and not context.rules.is_hidden(finding.drift.source_path)
    ]
    paths = list(dict.fromkeys(path for path, _ in drifts))[:MAX_PAGES]
    shown = [(path, drift) for path, drift in drifts if path in paths]
    texts = {
        path: (data or b"").decode("utf-8", "replace")
        for path, data in context.view.read(paths).items()
    }
    diffs = diff_sources([drift for _, drift in shown], context)
    return {
        (path, drift): _excerpt(texts.get(path, ""), drift, diff.text)
        for (path, drift), diff in zip(shown, diffs, strict=True)
    }


def _excerpt(text: str, drift: ReferenceVerdict, diff: str) -> Excerpt:
    lines = text.splitlines()
    numbers = sorted({found.line for found in drift.evidence if found.line <= len(lines)})
    sentences = tuple((number, _cut(lines[number - 1])) for number in numbers[:MAX_SENTENCES])
    names = [found.name for found in drift.evidence]
    (ranked,) = rank_diffs([diff], text, names)
    hunks = [item.part.text.splitlines() for item in ranked if item.part.text]
    naming = (hunk for hunk in hunks if any(map(_changed(names), hunk)))
    return Excerpt(sentences, _shorten_hunk(next(naming, hunks[0] if hunks else []), names))


def _changed(names: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a line of a diff was changed and has one of these names."""
    return lambda line: line[:1] in {"+", "-"} and any(name in line for name in names)


def _shorten_hunk(lines: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the first changed lines that have one of the names, with one line before them."""
    found = [number for number, line in enumerate(lines) if _changed(names)(line)]
    found = found or [number for number, line in enumerate(lines) if line[:1] in {"+", "-"}]
    changed = found[0] if found else 1
    start = max(1, changed - 1)
    shown = [*lines[:1], *lines[start : start + MAX_HUNK_LINES]]
    left = len(lines) - start - MAX_HUNK_LINES
    return (*map(_cut, shown), *([f"… and {left} more lines"] if left > 1 else []))


def _cut(line: str) -> str:
    return shorten(line.strip("\r\n"), MAX_CHARACTERS)
