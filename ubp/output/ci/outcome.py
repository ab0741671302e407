r"""The commits that made a page stale, for readers.

What a run of `ubp check` or `ubp stale` answers, with all that a format needs to tell it.

An outcome in one sentence, for those who read no further; never greener than the truth.

JSON for other programs: nothing that their parsers refuse, nothing that a terminal obeys.

A file's name may hold bytes that are not UTF-8. JSON cannot: readers in Go and Ruby refuse half a
surrogate, and with it the whole report. In texts and paths such a byte is written as `\xff`; in
addresses (`uri_of`) it is percent-encoded, and nothing is lost.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from ubp.checks.finding import CheckReport, Finding
from ubp.core.model import Commit, FilePath, ObjectId, ReferenceVerdict
from ubp.core.shell import path_argument, ubp_command
from ubp.output.wording import (
    MAX_COMMITS,
    SHORT_ID,
    change_name,
    count,
    day,
    left_out,
    printable,
    stale_change_sentence,
)
from ubp.staleness.model import SourceDiff, Summary


def commit_lines(drift: ReferenceVerdict | None) -> list[str]:
    """A line for each commit, oldest first: the first is the one since which the page is behind."""
    commits = drift.commits[::-1] if drift else ()
    lines = [f"{one.id[:SHORT_ID]} {commit_text(one)}" for one in commits[:MAX_COMMITS]]
    if len(commits) > MAX_COMMITS:
        lines.append(f"and {count(len(commits) - MAX_COMMITS, 'more commit')}")
    return lines


def commit_text(one: Commit) -> str:
    """What a commit says of itself: 2026-11-09 Bob Baker: Shorten sessions."""
    return f"{day(one.date)} {printable(one.author)}: {printable(one.subject)}"


class Provenance(NamedTuple):
    """Where the repository can be seen: `url`, and `pages`, which a page's path is added to.

    `revision` is the commit that was looked at, None where files differed from it.
    """

    url: str
    revision: ObjectId | None = None
    branch: str | None = None
    pages: str | None = None


class Outcome(NamedTuple):
    """One run, computed once and told in every format that was asked for.

    `summary` counts the levels of pages, which only `stale` does. `base` is the revision that a
    branch is compared with, `keys` the front matter keys that were named on the command line;
    `diffs` what changed in the sources, where that was asked for.
    """

    command: Literal["check", "stale"]
    report: CheckReport
    exit_status: int
    version: str
    summary: Summary | None = None
    base: str | None = None
    keys: tuple[str, ...] = ()
    provenance: Provenance | None = None
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] = {}

    @property
    def is_staged(self) -> bool:
        """Whether a commit in the making was judged."""
        return self.report.is_change and self.report.snapshot.kind == "staged"

    @property
    def is_answerable(self) -> bool:
        """Whether what was judged is what commands would change: not an old revision."""
        return self.report.is_change or self.report.snapshot.kind == "worktree"


def resolving_commands(findings: tuple[Finding, ...], outcome: Outcome) -> tuple[str, ...]:
    """The commands, typed at the repository's root, that put findings of one page right.

    Empty where the page must be edited by hand, and for a revision that nobody can change.
    """
    if not findings or not outcome.is_answerable:
        return ()
    page, keys = path_argument(findings[0].filepath), outcome.keys
    commands = []
    if any(one.fix for one in findings):
        commands.append(ubp_command("check", "--fix", page, keys=keys))
    if any(_can_be_acknowledged(one) for one in findings):
        options = ["--staged"] if outcome.is_staged else []
        commands.append(ubp_command("ack", *options, page, keys=keys))
    return tuple(commands)


def _can_be_acknowledged(one: Finding) -> bool:
    """Whether there is something to pin: not where a source is gone, or hidden."""
    drift = one.drift
    return drift is not None and drift.current_blob is not None and drift.verdict != "fresh"


def headline(outcome: Outcome, quote: Callable[[str], str] = printable) -> str:
    """What was found; `quote` writes the name of a revision."""
    told = _checked(outcome, quote) if outcome.summary is None else _stale(outcome, quote)
    doubts = outcome.report.unverified
    doubt = f" {count(doubts, 'source')} could not be verified: this clone is shallow."
    return told + (doubt if doubts else "")


def _checked(outcome: Outcome, quote: Callable[[str], str]) -> str:
    report = outcome.report
    pages = count(report.documents, "page")
    ignored = left_out(len(report.ignored) - report.accepted, report.accepted)
    if not report.findings:
        if not report.documents:
            return "There are no pages: nothing was checked."
        found = "Nothing found"
        if report.is_change:
            found = f"{change_name(outcome.base, quote)} brings nothing to find"
        return f"{found} in {pages}{ignored}."
    kinds = Counter(one.severity for one in report.findings)
    counts = " and ".join(count(kinds[kind], kind) for kind in ("error", "warning") if kinds[kind])
    where = len({one.filepath for one in report.findings})
    brings = f"{change_name(outcome.base, quote)} brings " if report.is_change else ""
    return f"{brings}{counts} in {where} of {pages}{ignored}."


def _stale(outcome: Outcome, quote: Callable[[str], str]) -> str:
    summary = outcome.summary
    if summary is None or not summary.bound:
        return "No page names a source: nothing was verified."
    if outcome.report.is_change:
        stale = len({finding.filepath for finding in outcome.report.findings})
        return stale_change_sentence(change_name(outcome.base, quote), stale, summary.verified)
    pages = count(summary.bound, "page")
    named = f"{pages} that {'names' if summary.bound == 1 else 'name'} sources"
    if summary.fresh == summary.bound:
        return f"Fresh: {named}."
    levels = ((summary.stale, "stale"), (summary.possibly_stale, "possibly stale"))
    told = " and ".join(f"{number} {words}" for number, words in levels if number)
    return f"Of {named}, {told or 'none is known to be stale'}."


# Legal in JSON, but better seen than obeyed; `json` has escaped what is below U+0020.
_OBEYED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def machine_json(value: Any) -> str:
    """A value as indented JSON, ending with a newline; it holds no half of a surrogate."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def is_text(text: str) -> bool:
    """Whether JSON can hold it as it is."""
    return not _SURROGATE.search(text)


def result_path(path: FilePath) -> str:
    """A path as it is, but for bytes that are no UTF-8."""
    return _SURROGATE.sub(lambda match: printable(match[0]), path)


def result_uri(path: FilePath) -> str:
    """A path as a relative address, percent-encoded byte for byte."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError:  # no path of Git's: half a surrogate
        data = path.encode("utf-8", "surrogatepass")
    return quote(data, safe="/")
