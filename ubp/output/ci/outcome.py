r"""The outcome of `ubp check` or `ubp stale`, and what several formats for it share.

A file's name may hold bytes that are not UTF-8. JSON cannot: readers in Go and Ruby refuse half a
surrogate, and with it the whole report. In texts and paths such a byte is written as `\xff`; in
URIs (`result_uri`) it is percent-encoded, and nothing is lost.
"""

import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from ubp.checks.finding import CheckReport, Finding
from ubp.checks.forms import unconfirmed_sentences
from ubp.core.model import Commit, FilePath, ObjectId, ReferenceVerdict
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.records import JudgeRecord
from ubp.frame.wording import (
    MAX_COMMITS,
    SHORT_ID,
    ChangeWords,
    acknowledge_command,
    count,
    day,
    not_checked_sentences,
    printable,
    printable_json,
    severity_counts,
    stale_change_sentence,
    suppression_note,
    unread_sentences,
)
from ubp.output.ci.excerpts import Excerpts
from ubp.output.ci.suggested_edits import Suggestion
from ubp.staleness.model import SourceDiff, Summary

_SURROGATE = re.compile("[\ud800-\udfff]")


class Provenance(NamedTuple):
    """Where the repository can be seen: `url`, and `pages`, to which a page's path is appended.

    `revision` is the commit that was checked, None where files differed from it.
    """

    url: str
    revision: ObjectId | None = None
    branch: str | None = None
    pages: str | None = None


class Outcome(NamedTuple):
    """One run, computed once and written in every format that was requested.

    `summary` counts the levels of pages, which only `stale` does. `change` says how the
    change is named, `keys` the front matter keys given on the command line; `diffs` the
    changes of the sources, where they were requested. `judge` says who judged the alarms.
    `excerpts` have the sentences and hunks that decide, for formats that are read, `suggestions`
    the edits that would settle findings.
    """

    command: Literal["check", "stale"]
    report: CheckReport
    exit_status: int
    version: str
    summary: Summary | None = None
    change: ChangeWords = ChangeWords()
    keys: tuple[str, ...] = ()
    provenance: Provenance | None = None
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] = {}
    judge: JudgeRecord | None = None
    excerpts: Excerpts = MappingProxyType({})
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def is_staged(self) -> bool:
        """Return whether the staged changes were checked."""
        return self.report.is_change and self.report.snapshot.kind == "staged"

    @property
    def is_answerable(self) -> bool:
        """Return whether commands would change what was checked: not an old revision."""
        return self.report.is_change or self.report.snapshot.kind == "worktree"


def resolving_commands(findings: tuple[Finding, ...], outcome: Outcome) -> tuple[str, ...]:
    """Return the commands, typed at the repository's root, that resolve findings of one page.

    Empty where the page must be edited by hand, and for an old revision.
    """
    if not findings or not outcome.is_answerable:
        return ()
    page, keys = path_argument(findings[0].filepath), outcome.keys
    commands = []
    if any(finding.fix for finding in findings):
        commands.append(ubp_command("check", "--fix", page, keys=keys))
    if any(_can_be_acknowledged(finding) for finding in findings):
        path, is_change = findings[0].filepath, outcome.report.is_change
        has_older = path in outcome.report.behind
        commands.append(
            acknowledge_command(
                [path], outcome.change._replace(ref=None), keys=keys, has_older=has_older
            )
            if is_change
            else ubp_command("ack", page, keys=keys)
        )
    return tuple(commands)


def _can_be_acknowledged(finding: Finding) -> bool:
    """Return whether there is something to pin: not a missing or hidden source."""
    drift = finding.drift
    return drift is not None and drift.current_blob is not None and drift.verdict != "fresh"


def headline(outcome: Outcome, quote: Callable[[str], str] = printable) -> str:
    """Return the outcome in a sentence that never claims more than was verified.

    `quote` writes the name of a revision.
    """
    sentence = (
        _check_sentence(outcome, quote)
        if outcome.summary is None
        else _stale_sentence(outcome, quote)
    )
    unverified = outcome.report.unverified
    note = f" {count(unverified, 'source')} could not be verified: {outcome.report.unknown_cause}."
    sentence += note if unverified else ""
    report = outcome.report
    notes = unconfirmed_sentences(report.unconfirmed, lacks_history=report.lacks_history)
    return " ".join(
        [
            sentence,
            *unread_sentences(report.unread),
            *not_checked_sentences(report.not_checked),
            *map(quote, notes),
        ]
    )


def _check_sentence(outcome: Outcome, quote: Callable[[str], str]) -> str:
    report = outcome.report
    pages = count(report.documents, "page")
    ignored = suppression_note(len(report.ignored) - report.accepted, report.accepted)
    if not report.findings:
        if not report.documents:
            return "No pages found; nothing to check."
        result = "No new findings" if report.is_change else "No findings"
        return f"{result} in {pages}{ignored}."
    counts = " and ".join(severity_counts(report.count("error"), report.count("warning")))
    affected = len({finding.filepath for finding in report.findings})
    subject = f"{outcome.change.subject(quote)} introduces " if report.is_change else ""
    return f"{subject}{counts} in {affected} of {pages}{ignored}."


def _stale_sentence(outcome: Outcome, quote: Callable[[str], str]) -> str:
    summary = outcome.summary
    if summary is None or not summary.bound:
        return "No page lists sources; nothing to verify."
    if outcome.report.is_change:
        stale = len({finding.filepath for finding in outcome.report.findings})
        return stale_change_sentence(
            outcome.change.subject(quote),
            stale,
            summary.verified,
            noted=0 if outcome.report.denied else len(outcome.report.noted),
        )
    bound = f"{count(summary.bound, 'page')} with sources"
    if summary.fresh == summary.bound:
        return f"{bound}: {'all ' if summary.fresh > 1 else ''}fresh."
    levels = ((summary.stale, "stale"), (summary.possibly_stale, "possibly stale"))
    counted = " and ".join(f"{number} {words}" for number, words in levels if number)
    return f"{bound}: {counted or 'none known to be stale'}."


def commit_lines(drift: ReferenceVerdict | None) -> list[str]:
    """Return a line for each commit, oldest first: the first one outdated the page."""
    commits = drift.commits[::-1] if drift else ()
    lines = [f"{commit.id[:SHORT_ID]} {commit_text(commit)}" for commit in commits[:MAX_COMMITS]]
    if len(commits) > MAX_COMMITS:
        lines.append(f"and {count(len(commits) - MAX_COMMITS, 'more commit')}")
    return lines


def commit_text(commit: Commit) -> str:
    """Return a commit as `2026-11-09 Bob Baker: Shorten sessions`."""
    return f"{day(commit.date)} {printable(commit.author)}: {printable(commit.subject)}"


def machine_json(value: Any) -> str:
    """Return a value as indented JSON without half surrogates, ending with a newline."""
    import json

    return printable_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def is_text(text: str) -> bool:
    """Return whether JSON can hold a text as it is."""
    return not _SURROGATE.search(text)


def result_path(path: FilePath) -> str:
    """Return a path in which bytes that are not UTF-8 are escaped."""
    return _SURROGATE.sub(lambda match: printable(match[0]), path)


def result_uri(path: FilePath) -> str:
    """Return a path as a relative URI, percent-encoded byte for byte."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError:  # not a path from Git: half a surrogate
        data = path.encode("utf-8", "surrogatepass")
    return quote(data, safe="/")
