"""What comes from a repository, written so that no reader of Markdown takes it for markup.

It stands in code, where GitHub makes no mention, reference or link of it. Code between backticks
in a table can hold no bar that every reader understands alike; a text with one stands between
`<code>` tags, every sign that could mean something written as a character reference.

The table of pages that drifted, one row each.

Markdown for a job's summary and for a comment on a pull request.

A sentence, a table with a row for each page that drifted, everything else folded. The text has at
most as many characters as a comment may have, some left for whoever adds a line to it; where it is
cut, it says so.

`ubp stale --since` as Markdown, to be pasted into release notes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ubp.checks.finding import Finding
from ubp.checks.registry import NAMES, find_rules
from ubp.core.model import DEBT_FILE, Commit, FilePath, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.output.ci.outcome import Outcome, commit_text, headline, resolving_commands, result_uri
from ubp.output.text.report import (
    TITLES,
    comparison_headline,
    describe_counts,
    describe_level_change,
    groups,
)
from ubp.output.wording import (
    MAX_COMMITS,
    NOW_STALE,
    SHORT_ID,
    count,
    day,
    printable,
    printable_line,
)
from ubp.report.compare import Comparison, LevelChange
from ubp.staleness.model import SEVERITY, SourceDiff, worst_level
from ubp.staleness.wording import LEVEL_WORDS, describe_drift_time, describe_verdict

# A path may have 4,096 bytes and a commit's subject any number: nobody reads more in a table.
MAX_TEXT_CHARACTERS = 160
MAX_COMMIT_CHARACTERS = 90
MAX_MESSAGE_CHARACTERS = 300

_SIGN = re.compile(r"[^\w /-]|_")


def code(text: str, longest: int = MAX_TEXT_CHARACTERS) -> str:
    """A text as code, on one line, cut where it is too long."""
    shown = printable(text)
    if len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    if "|" in shown or not shown.strip():
        return f"<code>{_SIGN.sub(lambda match: f'&#{ord(match[0])};', shown)}</code>"
    fence = _fence(shown, least=1)
    space = " " if len(fence) > 1 or shown != shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def location(path: FilePath, line: int | None, outcome: Outcome) -> str:
    """A page, or a line of it, and where it can be seen, if that is known."""
    shown = code(f"{path}:{line}" if line else path)
    seen = outcome.provenance
    if seen is None or seen.pages is None:
        return shown
    return f"[{shown}]({seen.pages}{result_uri(path)}{f'#L{line}' if line else ''})"


def fenced(text: str, language: str) -> str:
    """Lines of a file as a block of code, whatever fences they hold themselves."""
    fence = _fence(text, least=3)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _fence(text: str, *, least: int) -> str:
    """Backticks, more than stand together anywhere in the text."""
    longest = max(map(len, re.findall("`*", text)))
    return "`" * max(least, longest + 1)


HEADER = "| Page | Level | What drifted | In commits | Resolve |\n|---|---|---|---|---|\n"
# More sources of one page, and more commits, are counted.
MAX_SOURCES = 3


def row(findings: Sequence[Finding], outcome: Outcome) -> str:
    """The row of one page, made from its findings, which all know what became of a source."""
    drifts = [one.drift for one in findings if one.drift]
    commands = resolving_commands(tuple(findings), outcome)
    cells = (
        location(findings[0].filepath, None, outcome),
        NOW_STALE
        if outcome.report.is_change
        else LEVEL_WORDS[worst_level(d.level for d in drifts)],
        _capped(
            [_drift(drift, is_staged=outcome.is_staged) for drift in drifts], MAX_SOURCES, "source"
        ),
        _capped([_commit(one) for one in _commits(drifts)], MAX_COMMITS, "commit"),
        "<br>".join(code(one, len(one)) for one in commands) or "edit the page",
    )
    return f"| {' | '.join(cells)} |\n"


def _drift(reference: ReferenceVerdict, *, is_staged: bool = False) -> str:
    """Return a source and what happened to it: `src/a.py` modified 12 days ago."""
    when = describe_drift_time(reference, is_staged=is_staged)
    moved_to = code(reference.moved_to) if reference.moved_to else None
    verdict = describe_verdict(reference.verdict, when, moved_to)
    return f"{code(reference.source_path or '.')} {verdict}"


def _commits(drifts: Sequence[ReferenceVerdict]) -> list[Commit]:
    """The commits of all these drifts, oldest first."""
    unique = {one.id: one for drift in drifts for one in reversed(drift.commits)}
    return sorted(unique.values(), key=lambda one: one.date)


def _commit(one: Commit) -> str:
    # GitHub makes a link of the id, which it would not do in code.
    return f"{one.id[:SHORT_ID]} {code(commit_text(one), MAX_COMMIT_CHARACTERS)}"


def _capped(items: Sequence[str], most: int, noun: str) -> str:
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"and {count(len(items) - most, f'more {noun}')}")
    return "<br>".join(shown)


# GitHub takes 65,536 characters in a comment; the rest is for a marker and a heading.
MAX_CHARACTERS = 65_000
# A list of 112 pages in every pull request is what readers learn to skip; these fit on a screen.
MAX_ROWS = 20
# More of one kind would take the room of all the others.
MAX_ITEMS = 200
# Longer diffs are for `ubp stale --diff`.
MAX_DIFF_LINES = 60

RESOLVING = (
    "\nRead each page beside `ubp stale --diff PAGE`. Edit it where it is no longer true;"
    " where it still is, run the command of its row.\n"
)


def markdown_text(outcome: Outcome) -> str:
    """The whole text."""
    report = outcome.report
    text = _Text(MAX_CHARACTERS)
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
    for findings in pages[:MAX_ROWS]:
        text.add(row(findings, outcome))
    if outcome.is_answerable:
        text.add(RESOLVING)
    if len(pages) > MAX_ROWS:
        rest = [row(findings, outcome) for findings in pages[MAX_ROWS:]]
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
    yield f"{manual.summary} More: `{ubp_command('explain', rule)}`.{fix}\n\n"
    yield from _items(findings, outcome)


def _items(findings: Sequence[Finding], outcome: Outcome) -> Iterator[str]:
    yield from (_item(one, outcome) for one in findings[:MAX_ITEMS])
    if len(findings) > MAX_ITEMS:
        yield f"- and {len(findings) - MAX_ITEMS} more\n"


def _item(one: Finding, outcome: Outcome) -> str:
    told = " ".join(filter(None, [one.message, one.hint]))
    return f"- {location(one.filepath, one.line, outcome)} {code(told, MAX_MESSAGE_CHARACTERS)}\n"


def _diffs(outcome: Outcome) -> Iterator[str]:
    """Each diff once, with the pages that describe its source."""
    pages: dict[tuple[FilePath, SourceDiff], list[str]] = {}
    for (path, answer), diff in outcome.diffs.items():
        described = pages.setdefault((answer.source_path, diff), [])
        described.append(location(path, answer.reference.line, outcome))
    for (source, diff), described in pages.items():
        yield f"{code(source)}, described in {', '.join(described)}:\n\n"
        yield fenced(_diff(diff), "diff")


def _diff(diff: SourceDiff) -> str:
    lines = [printable_line(line) for line in diff.text.splitlines()]
    if len(lines) > MAX_DIFF_LINES:
        more = count(len(lines) - MAX_DIFF_LINES, "more line")
        lines = [*lines[:MAX_DIFF_LINES], f"… and {more}"]
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


def comparison_markdown(comparison: Comparison, since: str) -> str:
    """A heading, a sentence, a list for each way that pages took."""
    name = code(since)
    lines = [f"### Documentation since {name} ({day(comparison.date)})", ""]
    lines.append(
        comparison_headline(comparison, name) if comparison.passages else "No page names sources."
    )
    for kind, found in groups(comparison.passages):
        lines += [
            "",
            f"**{TITLES[kind].capitalize()}** ({len(found)})",
            "",
            *map(_comparison_item, found),
        ]
    if comparison.counts.get("still_fresh"):
        lines += ["", f"In all: {describe_counts(comparison)}."]
    return "\n".join(lines) + "\n"


def _comparison_item(one: LevelChange) -> str:
    return f"- {code(one.page.filepath)}{''.join(_more(one))}"


def _more(one: LevelChange) -> Iterator[str]:
    if one.was_at:
        yield f" (was {code(one.was_at)})"
    said = describe_level_change(one)
    told = [_drift(reference) for reference in one.drifted]
    if said or told:
        yield f": {'; '.join([*([said] if said else []), *told])}"
