"""Markdown for a job's summary, a comment on a pull request, and release notes.

An outcome is a sentence, a line for each page that drifted, which opens to the sentences, the hunks
and the command that decide, and the rest folded: it fits the width of a comment. The text is cut at
the length that a comment may have, and says so.

What comes from a repository is written as code, in which GitHub makes no mention, reference or
link. Renderers disagree about a bar in backticks within a table, so a text with one is written in
`<code>` tags, with character references for all signs that could mean something.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ubp.answers.staleness.since import (
    TITLES,
    comparison_headline,
    describe_counts,
    describe_level_change,
    group_changes,
)
from ubp.checks.finding import Finding
from ubp.checks.places import by_place
from ubp.checks.registry import NAMES, find_rules
from ubp.core.model import DEBT_FILE, Commit, FilePath, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.core.text import shorten
from ubp.frame.records import judge_sentences
from ubp.frame.wording import (
    MAX_COMMITS,
    NOW_STALE,
    SHORT_ID,
    count,
    day,
    printable,
    printable_line,
)
from ubp.output.ci.outcome import Outcome, commit_text, headline, resolving_commands, result_uri
from ubp.report.compare import Comparison, LevelChange
from ubp.staleness.model import SEVERITY, SourceDiff, worst_level
from ubp.staleness.wording import (
    LEVEL_WORDS,
    describe_drift_time,
    describe_reference,
    group_evidence,
    judgement_sentence,
)

# A path may have 4,096 bytes and a commit's subject any number: a table has room for less.
MAX_TEXT_CHARACTERS = 160
MAX_COMMIT_CHARACTERS = 90
MAX_MESSAGE_CHARACTERS = 300

# More sources of one page, and more commits, are counted.
MAX_SOURCES = 3
# GitHub takes 65,536 characters in a comment; the rest is for a marker and a heading.
MAX_CHARACTERS = 65_000
# A list of 112 pages in every pull request is what readers learn to skip; these fit on a screen.
MAX_ROWS = 20
# More of one kind would take the room of all the others.
MAX_ITEMS = 200
MAX_PLACES = 20  # of one finding
# Longer diffs are for `ubp stale --diff`.
MAX_DIFF_LINES = 60

RESOLVING = (
    "\nOpen a page to see what it says, and what changed. Edit it if it is no longer accurate;"
    " otherwise run the command below it.\n"
)

_SIGN = re.compile(r"[^\w /-]|_")


def markdown_text(outcome: Outcome) -> str:
    """Return the whole text of an outcome."""
    report = outcome.report
    text = _Text(MAX_CHARACTERS)
    text.add(f"### UBP: {headline(outcome, code)}\n")
    if report.noted:
        text.add(f"\n{noted(outcome)}\n")
    for page in report.denied:
        place = location(page.filepath, page.line, outcome)
        text.add(f"\n{place} judged accurate: {code(page.why, MAX_MESSAGE_CHARACTERS)}\n")
    for sentence in judge_sentences(outcome.judge, str):
        text.add(f"\n{code(sentence, MAX_MESSAGE_CHARACTERS)}\n")
    if report.already_stale:
        text.add(f"\n{mention(outcome)}\n")
    _add_pages(text, outcome)
    for rule, findings in _by_rule(finding for finding in report.findings if finding.drift is None):
        pages = count(len({finding.filepath for finding in findings}), "page")
        text.fold(f"{rule}: {len(findings)} in {pages}", _rule_items(rule, findings, outcome))
    if outcome.diffs:
        text.fold("What changed in the sources", _diffs(outcome))
    for title, group in (
        ("could not be verified", report.unknown),
        ("already present", report.debts),
        (
            f"accepted in {DEBT_FILE}",
            [finding for finding in report.ignored if finding.is_accepted],
        ),
        ("ignored", [finding for finding in report.ignored if not finding.is_accepted]),
    ):
        if group:
            text.fold(f"{len(group)} {title}", _items(group, outcome))
    return text.whole()


def mention(outcome: Outcome) -> str:
    """Return the line on pages that were stale before the change."""
    pages = len(outcome.report.already_stale)
    sentence, _, command = outcome.change.already_stale(pages, outcome.keys).rpartition(": ")
    return f"{sentence}: {code(command, MAX_MESSAGE_CHARACTERS)}"


def noted(outcome: Outcome) -> str:
    """Return the line on pages that drift by the change without an alarm."""
    report = outcome.report
    failing = {finding.filepath for finding in report.findings if finding.drift}
    sentence = outcome.change.noted(report.noted, len(failing), outcome.keys)
    title, _, pages = sentence.partition(": ")
    return f"{title}: {code(pages, MAX_MESSAGE_CHARACTERS)}"


def _add_pages(text: "_Text", outcome: Outcome) -> None:
    pages = _by_page(finding for finding in outcome.report.findings if finding.drift)
    if not pages:
        return
    if outcome.is_answerable:
        text.add(RESOLVING)
    text.add("\n")
    for findings in pages[:MAX_ROWS]:
        text.add(page_section(findings, outcome))
    if len(pages) > MAX_ROWS:
        more = [page_section(findings, outcome) for findings in pages[MAX_ROWS:]]
        text.fold(count(len(more), "more page"), more)


def _by_page(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """Return the findings page by page: worst level, then evidence, then most commits first."""
    groups = (tuple(group) for _, group in groupby(findings, key=lambda finding: finding.filepath))
    return sorted(groups, key=_rank)


def _rank(group: Sequence[Finding]) -> tuple[int, bool, int, str]:
    drifts = [finding.drift for finding in group if finding.drift]
    level = min(SEVERITY.index(drift.level) for drift in drifts)
    commits = {commit.id for drift in drifts for commit in drift.commits}
    has_evidence = any(drift.evidence for drift in drifts)
    return level, not has_evidence, -len(commits), group[0].filepath


def _by_rule(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.rule, []).append(finding)
    return sorted(groups.items(), key=lambda group: NAMES.index(group[0]))


def _rule_items(rule: str, findings: Sequence[Finding], outcome: Outcome) -> Iterator[str]:
    (manual,) = find_rules([rule])
    fixable = sum(1 for finding in findings if finding.fix)
    fix = f" `ubp check --fix` fixes {fixable} of them." if fixable else ""
    yield f"{manual.summary} More: `{ubp_command('explain', rule)}`.{fix}\n\n"
    yield from _items(findings, outcome)


def _items(findings: Sequence[Finding], outcome: Outcome) -> Iterator[str]:
    groups = list(by_place(findings))
    yield from (_item(finding, others, outcome) for finding, others in groups[:MAX_ITEMS])
    if len(groups) > MAX_ITEMS:
        yield f"- and {sum(1 + len(others) for _, others in groups[MAX_ITEMS:])} more\n"


def _item(finding: Finding, others: Sequence[Finding], outcome: Outcome) -> str:
    place = location(finding.filepath, finding.line, outcome)
    text = " ".join(filter(None, [finding.message, finding.hint]))
    places = [location(other.filepath, other.line, outcome) for other in others[:MAX_PLACES]]
    if len(others) > MAX_PLACES:
        places.append(f"and {count(len(others) - MAX_PLACES, 'more place')}")
    also = f" Also in {', '.join(places)}." if places else ""
    return f"- {place} {code(text, MAX_MESSAGE_CHARACTERS)}{also}\n"


def _diffs(outcome: Outcome) -> Iterator[str]:
    """Yield each diff once, with the pages that describe its source."""
    pages: dict[tuple[FilePath, SourceDiff], list[str]] = {}
    for (path, reference), diff in outcome.diffs.items():
        locations = pages.setdefault((reference.source_path, diff), [])
        locations.append(location(path, reference.reference.line, outcome))
    for (source, diff), locations in pages.items():
        yield f"{code(source)}, described in {', '.join(locations)}:\n\n"
        yield fenced(_diff(diff), "diff")


def _diff(diff: SourceDiff) -> str:
    lines = [printable_line(line) for line in diff.text.splitlines()]
    if len(lines) > MAX_DIFF_LINES:
        more = count(len(lines) - MAX_DIFF_LINES, "more line")
        lines = [*lines[:MAX_DIFF_LINES], f"… and {more}"]
    return "\n".join(lines)


class _Text:
    """A text of limited length; after the first piece that does not fit nothing is added."""

    def __init__(self, room: int) -> None:
        self._room = room - len(_cut_note(room))
        self._pieces: list[str] = []
        self._cut_pieces = 0

    def add(self, piece: str, *, reserve: int = 0) -> bool:
        """Add a piece if it fits and leaves `reserve` characters; return whether it did."""
        if self._cut_pieces or len(piece) + reserve > self._room:
            self._cut_pieces += 1
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
        """Return everything that fitted, and how much did not."""
        return "".join(
            [*self._pieces, *([_cut_note(self._cut_pieces)] if self._cut_pieces else [])]
        )


def _cut_note(pieces: int) -> str:
    return f"\n**Truncated: {count(pieces, 'more line')} not shown.**\n"


def comparison_markdown(comparison: Comparison, since: str) -> str:
    """Return a heading, a sentence, and a list for each outcome."""
    name = code(since)
    lines = [f"### Documentation since {name} ({day(comparison.date)})", ""]
    lines.append(
        comparison_headline(comparison, name) if comparison.changes else "No page lists sources."
    )
    for outcome, changes in group_changes(comparison.changes):
        lines += [
            "",
            f"**{TITLES[outcome].capitalize()}** ({len(changes)})",
            "",
            *map(_comparison_item, changes),
        ]
    if comparison.counts.get("still_fresh"):
        lines += ["", f"Total: {describe_counts(comparison)}."]
    return "\n".join(lines) + "\n"


def _comparison_item(change: LevelChange) -> str:
    return f"- {code(change.page.filepath)}{''.join(_change_details(change))}"


def _change_details(change: LevelChange) -> Iterator[str]:
    if change.was_at:
        yield f" (was {code(change.was_at)})"
    description = describe_level_change(change)
    drifts = [_drift(reference) for reference in change.drifted]
    if description or drifts:
        yield f": {'; '.join([*([description] if description else []), *drifts])}"


def code(text: str, max_characters: int = MAX_TEXT_CHARACTERS, *, is_in_html: bool = False) -> str:
    """Return a text as code, on one line, cut where it is too long.

    Between tags (`is_in_html`), where backticks mean nothing, it is HTML.
    """
    shown = shorten(printable(text), max_characters)
    if is_in_html or "|" in shown or not shown.strip():
        return f"<code>{_SIGN.sub(lambda match: f'&#{ord(match[0])};', shown)}</code>"
    fence = _fence(shown, minimum=1)
    space = " " if len(fence) > 1 or shown != shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def location(path: FilePath, line: int | None, outcome: Outcome) -> str:
    """Return a page, or a line of it, as a link if the repository's address is known."""
    shown = code(f"{path}:{line}" if line else path)
    provenance = outcome.provenance
    if provenance is None or provenance.pages is None:
        return shown
    return f"[{shown}]({provenance.pages}{result_uri(path)}{f'#L{line}' if line else ''})"


def fenced(text: str, language: str) -> str:
    """Return lines of a file as a block of code, whatever fences they contain."""
    fence = _fence(text, minimum=3)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _fence(text: str, *, minimum: int) -> str:
    """Return more backticks than the text contains in a row."""
    longest_run = max(map(len, re.findall("`*", text)))
    return "`" * max(minimum, longest_run + 1)


def page_section(findings: Sequence[Finding], outcome: Outcome) -> str:
    """Return a page in one line, which opens to what decides whether it is still accurate."""
    drifts = [finding.drift for finding in findings if finding.drift]
    path = findings[0].filepath
    level = (
        NOW_STALE
        if outcome.report.is_change
        else LEVEL_WORDS[worst_level(drift.level for drift in drifts)]
    )
    title = f"<b>{level}</b> {code(path, is_in_html=True)}: {_summary(drifts)}"
    parts = [f"{location(path, None, outcome)}\n"]
    sources = [f"- {_drift(drift, is_staged=outcome.is_staged)}" for drift in drifts]
    commits = [f"- {_commit(commit)}" for commit in _commits(drifts)]
    parts.append(
        _limited(sources, MAX_SOURCES, "source") + _limited(commits, MAX_COMMITS, "commit")
    )
    parts += _excerpts(path, drifts, outcome)
    commands = resolving_commands(tuple(findings), outcome)
    if commands:
        parts.append(f"If the page is still accurate:\n\n{fenced(_lines(commands), 'sh')}")
    else:
        parts.append("Edit the page.\n")
    body = "\n".join(parts)
    return f"<details><summary>{title}</summary>\n\n{body}\n</details>\n\n"


def _summary(drifts: Sequence[ReferenceVerdict]) -> str:
    """Return the first source and what happened to it, and how many others there are."""
    first = drifts[0]
    names = list(dict.fromkeys(found.name for found in first.evidence))[:2]
    named = f" ({', '.join(code(name, is_in_html=True) for name in names)})" if names else ""
    others = f", and {count(len(drifts) - 1, 'more source')}" if len(drifts) > 1 else ""
    return f"{code(first.name or '.', is_in_html=True)} {first.verdict}{named}{others}"


def _excerpts(
    path: FilePath, drifts: Sequence[ReferenceVerdict], outcome: Outcome
) -> Iterator[str]:
    """Yield the sentences of a page and the hunks of its sources."""
    found = [outcome.excerpts[path, drift] for drift in drifts if (path, drift) in outcome.excerpts]
    sentences = dict(sentence for excerpt in found for sentence in excerpt.sentences)
    if sentences:
        lines = [f"{number}: {printable_line(line)}" for number, line in sorted(sentences.items())]
        yield f"The page says:\n\n{fenced(_lines(lines), 'text')}"
    for excerpt in found[:MAX_SOURCES]:
        if excerpt.hunk:
            yield fenced(_lines(map(printable_line, excerpt.hunk)), "diff")


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _drift(reference: ReferenceVerdict, *, is_staged: bool = False) -> str:
    """Return a source and what happened to it: `src/a.py` modified 12 days ago."""
    when = describe_drift_time(reference, is_staged=is_staged)
    moved_to = code(reference.new_name) if reference.new_name else None
    verdict = describe_reference(reference, when, moved_to)
    groups = [
        f"{change} {', '.join(f'{code(found.name)} (line {found.line})' for found in names)}"
        for change, names in group_evidence(reference.evidence)
    ]
    named = f"; named by the page: {'; '.join(groups)}" if groups else ""
    unread = "; the changed lines could not be read" if reference.is_unread else ""
    judged = ""
    if reference.judgement:
        judged = code(judgement_sentence(reference.judgement), MAX_MESSAGE_CHARACTERS)
        judged = f": {judged}"
    return f"{code(reference.name or '.')} {verdict}{named}{judged}{unread}"


def _commits(drifts: Sequence[ReferenceVerdict]) -> list[Commit]:
    """Return the commits of all these drifts, oldest first."""
    unique = {commit.id: commit for drift in drifts for commit in reversed(drift.commits)}
    return sorted(unique.values(), key=lambda commit: commit.date)


def _commit(commit: Commit) -> str:
    # GitHub makes a link of the id, which it would not do in code.
    return f"{commit.id[:SHORT_ID]} {code(commit_text(commit), MAX_COMMIT_CHARACTERS)}"


def _limited(items: Sequence[str], limit: int, noun: str) -> str:
    shown = list(items[:limit])
    if len(items) > limit:
        shown.append(f"- and {count(len(items) - limit, f'more {noun}')}")
    return "".join(f"{item}\n" for item in shown)
