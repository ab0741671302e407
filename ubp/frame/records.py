"""Records that several answers contain.

They are NamedTuples because `ubp stale --json` is as lean as the hook: importing `dataclasses`
takes 6.5 ms of CPU and each class another 0.63 ms, a NamedTuple 0.10 ms.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, NamedTuple

from ubp.core.errors import UbpError
from ubp.core.model import (
    Affected,
    Assessment,
    Commit,
    Page,
    Problem,
    ReferenceVerdict,
    Snapshot,
    SnapshotKind,
    Verdict,
)
from ubp.frame.fields import Count, Fraction, GitId, Line, Moment, PagePath
from ubp.frame.wording import count, file_stem, moment, printable

DAY = len("2026-11-08")


class SnapshotRecord(NamedTuple):
    """The snapshot that was read."""

    kind: Annotated[SnapshotKind, "the work tree, the index or a commit"]
    commit: Annotated[GitId | None, "the revision, or HEAD; null if there are no commits yet"]


class CommitRecord(NamedTuple):
    """A commit."""

    id: Annotated[GitId, "commit id"]
    date: Annotated[Moment, "committer date"]
    author: Annotated[str, "the author's name"]
    subject: Annotated[str, "first line of its message"]


class ProblemRecord(NamedTuple):
    """A problem in a page's front matter."""

    line: Annotated[Line, "line of the page, from 1"]
    message: Annotated[str, "description of the problem"]


class SkippedPageRecord(NamedTuple):
    """A page that was not edited."""

    filepath: PagePath
    reason: Annotated[str, "why not"]


class JudgementRecord(NamedTuple):
    """What the judge says of a case: advice, from what it was shown."""

    affected: Annotated[Affected, "whether the change affects the page"]
    probability: Annotated[
        Fraction | None, "the judge's own, that the page must be edited; null: it gave none"
    ]
    line: Annotated[str, "line of the page that is affected, quoted; may be empty"]
    why: Annotated[str, "its reason, or why its answer could not be used"]
    is_cached: Annotated[bool, "whether it was asked before, and not now"]


class JudgeRecord(NamedTuple):
    """Who judged the cases, and what that cost."""

    model: Annotated[str, "the language model; empty: none could be asked"]
    asked: Annotated[Count, "number of cases that it was asked about"]
    cached: Annotated[Count, "number of cases with an earlier verdict"]
    unjudged: Annotated[Count, "number of cases beyond --max-cases"]
    prompt_tokens: Annotated[Count, "tokens that were sent, as its server counted them"]
    completion_tokens: Annotated[Count, "tokens that it wrote"]
    cost: Annotated[float | None, "what they cost by UBP_REVIEW_PRICE; null without it"]
    problems: Annotated[tuple[str, ...], "cases that it gave no verdict on, and why"]


class DeniedRecord(NamedTuple):
    """A page that names what a change changes, and that the judge finds accurate."""

    filepath: PagePath
    line: Annotated[Line, "line of the page that it was asked about, from 1"]
    why: Annotated[str, "its reason"]


class MessageRecord(NamedTuple):
    """The three parts of an error message."""

    message: Annotated[str, "error message"]
    cause: Annotated[str, "cause; may be empty"]
    hint: Annotated[str, "hint; may be empty"]


class ErrorRecord(NamedTuple):
    """The error of a command that failed; exit code 2."""

    error: MessageRecord


def error_record(error: UbpError) -> ErrorRecord:
    """Return the record of a failed command."""
    return ErrorRecord(MessageRecord(error.message, error.cause, error.hint))


def snapshot_record(snapshot: Snapshot) -> SnapshotRecord:
    """Return the record of a snapshot."""
    return SnapshotRecord(snapshot.kind, snapshot.commit)


def commit_record(commit: Commit) -> CommitRecord:
    """Return the record of a commit."""
    return CommitRecord(commit.id, moment(commit.date), commit.author, commit.subject)


def problem_record(problem: Problem) -> ProblemRecord:
    """Return the record of a problem in front matter."""
    return ProblemRecord(problem.line, problem.message)


def moment_or_none(seconds: int | None) -> str | None:
    """Return a time in ISO 8601; None where it is unknown."""
    return None if seconds is None else moment(seconds)


def dates(created_at: str | None, updated_at: str | None) -> Iterator[str]:
    """Yield when a page was created and changed, as far as a record says: `changed 2026-11-08`."""
    if created_at:
        yield f"created {created_at[:DAY]}"
    if updated_at:
        yield f"changed {updated_at[:DAY]}"


def title_of(page: Page) -> str:
    """Return a page's title, or the name of its file without the suffix."""
    return page.facts.title or file_stem(page.filepath)


LinkContext = Annotated[str, "the text around the link, up to 50 characters on both sides"]


UpdatedAt = Annotated[
    Moment | None,
    "committer date of the last commit that changed the page; null if never committed or before"
    " the start of a shallow clone",
]


class StaleRefRecord(NamedTuple):
    """A reference that is not fresh."""

    source_path: Annotated[str, "path or glob from the root, as it was assessed"]
    verdict: Annotated[Verdict, "verdict on the reference; never fresh"]
    since: Annotated[
        Moment | None,
        "committer date of the first commit that drifted; null if not committed yet or unknown",
    ] = None


def stale_refs(assessment: Assessment) -> tuple[StaleRefRecord, ...]:
    """Return the references that are not fresh."""
    return tuple(
        stale_ref(reference) for reference in assessment.references if reference.verdict != "fresh"
    )


def stale_ref(reference: ReferenceVerdict) -> StaleRefRecord:
    """Return a source, its verdict, and since when."""
    return StaleRefRecord(
        source_path=reference.name,
        verdict=reference.verdict,
        since=moment_or_none(reference.since),
    )


def judge_sentences(
    judge: JudgeRecord | None, quote: Callable[[str], str] = printable
) -> Iterator[str]:
    """Yield what the judge gave no verdict on, and what its verdicts cost."""
    if judge is None:
        return
    yield from map(quote, judge.problems)
    if not judge.model:
        return
    tokens = judge.prompt_tokens + judge.completion_tokens
    price = f", {judge.cost:.4f} by UBP_REVIEW_PRICE" if judge.cost is not None else ""
    beyond = f", {judge.unjudged} beyond --max-cases" if judge.unjudged else ""
    parts = []
    if judge.asked or not judge.cached:
        parts.append(f"judged {count(judge.asked, 'case')} ({tokens:,} tokens{price})")
    if judge.cached:
        parts.append(f"had judged {count(judge.cached, 'case')} before")
    yield f"{quote(judge.model)} {', '.join(parts)}{beyond}."
