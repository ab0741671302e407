"""Markdown for a job's summary and for a comment on a pull request.

A sentence, a table with a row for each page that drifted, everything else folded. The text has at
most as many characters as a comment may have, some left for whoever adds a line to it; where it is
cut, it says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ubp.check.finding import Finding
from ubp.check.table import NAMES, find_rules
from ubp.model import DEBT_FILE, FilePath
from ubp.render.headline import headline
from ubp.render.markdown_rows import HEADER, row
from ubp.render.markdown_words import LONGEST_MESSAGE, code, fenced, place
from ubp.render.outcome import Outcome
from ubp.render.wording import count, printable_line
from ubp.staleness.report import SourceDiff
from ubp.staleness.verdict import SEVERITY

# GitHub takes 65,536 characters in a comment; the rest is for a marker and a heading.
MOST_CHARACTERS = 65_000
# A list of 112 pages in every pull request is what readers learn to skip; these fit on a screen.
MOST_ROWS = 20
# More of one kind would take the room of all the others.
MOST_ITEMS = 200
# Longer diffs are for `ubp stale --diff`.
MOST_DIFF_LINES = 60

TO_DO = (
    "\nRead each page beside `ubp stale --diff PAGE`. Edit it where it is no longer true;"
    " where it still is, run the command of its row.\n"
)


def markdown_text(outcome: Outcome) -> str:
    """The whole text."""
    report = outcome.report
    text = _Text(MOST_CHARACTERS)
    text.add(f"### UBP: {headline(outcome, code)}\n")
    _add_drift(text, outcome)
    for rule, found in _by_rule(one for one in report.findings if one.drift is None):
        pages = count(len({one.filepath for one in found}), "page")
        text.fold(f"{rule}: {len(found)} in {pages}", _told_by_rule(rule, found, outcome))
    if outcome.diffs:
        text.fold("What changed in the sources", _diffs(outcome))
    for title, group in (
        ("could not be verified", report.unknown),
        ("there before", report.debts),
        (f"accepted in {DEBT_FILE}", [one for one in report.ignored if one.is_accepted]),
        ("ignored", [one for one in report.ignored if not one.is_accepted]),
    ):
        if group:
            text.fold(f"{len(group)} {title}", _items(group, outcome))
    return text.whole()


def _add_drift(text: "_Text", outcome: Outcome) -> None:
    pages = _by_page(one for one in outcome.report.findings if one.drift)
    if not pages:
        return
    text.add("\n" + HEADER)
    for findings in pages[:MOST_ROWS]:
        text.add(row(findings, outcome))
    if outcome.is_answerable:
        text.add(TO_DO)
    if len(pages) > MOST_ROWS:
        rest = [row(findings, outcome) for findings in pages[MOST_ROWS:]]
        text.fold(count(len(rest), "more page"), [HEADER, *rest])


def _by_page(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """The findings page by page: the worst level first, then the most commits."""
    groups = (tuple(group) for _, group in groupby(findings, key=lambda one: one.filepath))
    return sorted(groups, key=_rank)


def _rank(group: Sequence[Finding]) -> tuple[int, int, str]:
    drifts = [one.drift for one in group if one.drift]
    level = min(SEVERITY.index(drift.level) for drift in drifts)
    commits = {commit.id for drift in drifts for commit in drift.commits}
    return level, -len(commits), group[0].filepath


def _by_rule(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        groups.setdefault(one.rule, []).append(one)
    return sorted(groups.items(), key=lambda group: NAMES.index(group[0]))


def _told_by_rule(rule: str, findings: Sequence[Finding], outcome: Outcome) -> Iterator[str]:
    (manual,) = find_rules([rule])
    fixable = sum(1 for one in findings if one.fix)
    fix = f" `ubp check --fix` puts {fixable} of them right." if fixable else ""
    yield f"{manual.summary} More: `ubp explain {rule}`.{fix}\n\n"
    yield from _items(findings, outcome)


def _items(findings: Sequence[Finding], outcome: Outcome) -> Iterator[str]:
    yield from (_item(one, outcome) for one in findings[:MOST_ITEMS])
    if len(findings) > MOST_ITEMS:
        yield f"- and {len(findings) - MOST_ITEMS} more\n"


def _item(one: Finding, outcome: Outcome) -> str:
    told = " ".join(filter(None, [one.message, one.hint]))
    return f"- {place(one.filepath, one.line, outcome)} {code(told, LONGEST_MESSAGE)}\n"


def _diffs(outcome: Outcome) -> Iterator[str]:
    """Each diff once, with the pages that describe its source."""
    pages: dict[tuple[FilePath, SourceDiff], list[str]] = {}
    for (path, answer), diff in outcome.diffs.items():
        described = pages.setdefault((answer.source_path, diff), [])
        described.append(place(path, answer.reference.line, outcome))
    for (source, diff), described in pages.items():
        yield f"{code(source)}, described in {', '.join(described)}:\n\n"
        yield fenced(_diff(diff), "diff")


def _diff(diff: SourceDiff) -> str:
    lines = [printable_line(line) for line in diff.text.splitlines()]
    if len(lines) > MOST_DIFF_LINES:
        more = count(len(lines) - MOST_DIFF_LINES, "more line")
        lines = [*lines[:MOST_DIFF_LINES], f"… and {more}"]
    return "\n".join(lines)


class _Text:
    """Pieces of a text that has room for so many characters; after the first cut nothing more."""

    def __init__(self, room: int) -> None:
        self._room = room - len(_cut_note(room))
        self._pieces: list[str] = []
        self._lost = 0

    def add(self, piece: str, *, reserve: int = 0) -> bool:
        """Add a piece if it fits and leaves so much room; tell whether it did."""
        if self._lost or len(piece) + reserve > self._room:
            self._lost += 1
            return False
        self._room -= len(piece) + reserve
        self._pieces.append(piece)
        return True

    def fold(self, title: str, items: Iterable[str]) -> None:
        """Add items that are shown on a click."""
        closing = "\n</details>\n"
        is_open = self.add(f"\n<details><summary>{title}</summary>\n\n", reserve=len(closing))
        for item in items:
            self.add(item)
        if is_open:
            self._pieces.append(closing)

    def whole(self) -> str:
        """Everything that fitted, and how much did not."""
        return "".join([*self._pieces, *([_cut_note(self._lost)] if self._lost else [])])


def _cut_note(lost: int) -> str:
    return f"\n**Cut here: {count(lost, 'more line')} would be too long for a comment.**\n"
