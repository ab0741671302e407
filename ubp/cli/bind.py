"""`ubp bind`: what each page describes, proposed, and written where somebody wants it.

`ubp bind --review`: the bindings that exist, held against history.

`ubp coverage`: which sources no page describes.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from ubp.bindings.features import MIN_CONFIDENCE, BindingSuggestions
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, choose_bindings
from ubp.bindings.write import WriteResult
from ubp.cli.bind_session import Pinning, run_session
from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.pages import check_range
from ubp.cli.parameters import Keys, OptionalDecimal, OptionalNumber, Revision
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.shell import path_argument, ubp_command
from ubp.output.records.bindings import bind_record, review_record
from ubp.output.text.bind import BindTextOptions, bind_text
from ubp.output.text.review import ReviewTextOptions, coverage_text, review_text
from ubp.workspace import MAX_PROPOSED, Workspace

# A screen or two; who wants more asks about a folder.
MAX_SHOWN = 20


def bind(  # noqa: PLR0913  # the command's options
    *pages: str,
    write: bool = False,
    interactive: Annotated[bool, Parameter(name=["--interactive", "-i"])] = False,
    dry_run: bool = False,
    min_confidence: OptionalDecimal = None,
    limit: OptionalNumber = None,
    pin: bool = False,
    history: bool = False,
    explain: bool = False,
    review: bool = False,
    commits: OptionalNumber = None,
    all_: bool = False,
    key: Keys = None,
    terminal: Terminal,
) -> int:
    """Run `ubp bind`.

    Args:
        pages: Pages, folders or globs; all pages that name no source where none is given.
        write: Write what is proposed with enough confidence into the pages' front matter.
        interactive: Ask about each proposal; what you refuse is remembered in .ubp/config.json.
        dry_run: Show what --write would write, as a diff, and write nothing.
        min_confidence: How sure, from 0 to 1 (0.7); of those at 0.75 three in four are right.
        limit: Propose so many sources for a page at most (10); of --review so many lines (20).
        pin: Pin what is written: the pages were read and are true today.
        history: Pin the sources as they were when each page last changed, so that drift shows.
        explain: Tell everything that speaks for a proposal.
        review: Judge the bindings that exist, by history: which fire and are never answered.
        commits: Of --review: hold them against so many commits (500).
        all_: Look at pages too that name sources already; of --review at all bindings.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    asked = _Asked(pages, min_confidence, limit, tuple(key or ()), explain, all_)
    way = _Way(write, dry_run, interactive, Pinning(pin, history))
    if review or commits is not None:
        return _review(asked, way, commits, terminal, is_asked=review)
    return _propose(asked, way, terminal)


class _Asked(NamedTuple):
    """What is asked about, and how it is told."""

    pages: tuple[str, ...]
    min_confidence: float | None
    limit: int | None
    keys: tuple[str, ...]
    is_explained: bool
    is_whole: bool


class _Way(NamedTuple):
    """What becomes of the proposals."""

    is_writing: bool
    is_dry: bool
    is_asking: bool
    pinning: Pinning


def _propose(asked: _Asked, way: _Way, terminal: Terminal) -> int:
    """Propose what pages describe; ask about it, or write it."""
    _check(way, asked.min_confidence, terminal)
    limit = MAX_PROPOSED if asked.limit is None else asked.limit
    check_range("--limit", limit)
    sure = MIN_CONFIDENCE if asked.min_confidence is None else asked.min_confidence
    with open_workspace(terminal, keys=asked.keys) as workspace:
        found = workspace.suggest_bindings(asked.pages, limit=limit, all_pages=asked.is_whole)
        telling = _telling(asked, way, workspace, terminal)
        if way.is_asking:
            least = MIN_REVIEW_CONFIDENCE if asked.min_confidence is None else asked.min_confidence
            telling = telling._replace(sure=MIN_CONFIDENCE, least=least)
            return run_session(found, telling, workspace, way.pinning, terminal)
        done = _write(workspace, found, sure, way)
        if terminal.options.json:
            terminal.record(bind_record(found, sure, done))
        else:
            is_begun = bool(found.bound or done or asked.keys)
            example = None if is_begun else workspace.example(workspace.stale())
            telling = telling._replace(other_key=example and example.other_key)
            terminal.write(bind_text(found, done, telling))
    return FINDINGS if done and any(one.why_left for one in done) else CLEAN


def _review(
    asked: _Asked, way: _Way, commits: int | None, terminal: Terminal, *, is_asked: bool
) -> int:

    given = {
        "--write": way.is_writing,
        "--interactive": way.is_asking,
        "--dry-run": way.is_dry,
        "--min-confidence": asked.min_confidence is not None,
        "--pin": way.pinning.pin,
        "--history": way.pinning.from_history,
        "--explain": asked.is_explained,
    }
    others = [option for option, is_given in given.items() if is_given]
    reviewing = ReviewOptions(asked.pages, commits, asked.limit, asked.keys, asked.is_whole)
    return print_review(reviewing, others, terminal, is_asked=is_asked)


def _telling(asked: _Asked, way: _Way, workspace: Workspace, terminal: Terminal) -> BindTextOptions:
    sure = MIN_CONFIDENCE if asked.min_confidence is None else asked.min_confidence
    return BindTextOptions(
        style=terminal.style,
        sure=sure,
        least=MIN_REVIEW_CONFIDENCE if asked.pages and asked.min_confidence is None else sure,
        is_quiet=terminal.options.quiet,
        is_explained=asked.is_explained,
        is_dry=way.is_dry,
        is_pinned=any(way.pinning),
        arguments=_arguments(asked),
        keys=asked.keys,
        prefix=workspace.session.repository.prefix,
        most=None if asked.pages else MAX_SHOWN,
    )


def _check(way: _Way, min_confidence: float | None, terminal: Terminal) -> None:
    if min_confidence is not None and not 0 <= min_confidence <= 1:
        raise UsageError(
            f"--min-confidence is {min_confidence:g}.",
            cause="0.75 says that three in four are right.",
            hint="Take a number from 0 to 1.",
        )
    if way.is_asking and (way.is_writing or way.is_dry):
        raise UsageError(
            "--interactive cannot be combined with --write or --dry-run.",
            cause="It writes what you accept, page by page.",
            hint="Take the other option away.",
        )
    if any(way.pinning) and not (way.is_writing or way.is_dry or way.is_asking):
        option = "--pin" if way.pinning.pin else "--history"
        command = ubp_command("bind", "--write", option)
        raise UsageError(
            f"{option} says how references are written.",
            hint=f"Write them: {command}, or look first: --dry-run {option}",
        )
    if all(way.pinning):
        raise UsageError(
            "--pin and --history contradict each other.",
            hint="--pin: the pages are true today; --history: as true as when they last changed.",
        )
    if way.is_asking and not terminal.is_interactive():
        raise UsageError(
            "--interactive needs a terminal, and somebody who answers.",
            hint="Write what is sure without asking: ubp bind --write",
        )


def _write(
    workspace: Workspace, found: BindingSuggestions, sure: float, way: _Way
) -> tuple[WriteResult, ...] | None:
    if not (way.is_writing or way.is_dry):
        return None
    return workspace.bind(choose_bindings(found, sure), is_dry=way.is_dry, **way.pinning._asdict())


def _arguments(asked: _Asked) -> tuple[str, ...]:
    """Return what a next command has to repeat of this one, apart from its keys."""
    pages = (path_argument(page) for page in asked.pages)
    least = asked.min_confidence
    sure = [] if least is None else ["--min-confidence", f"{least:g}"]
    return (*pages, *sure, *(["--all"] if asked.is_whole else []))


MAX_REPORTED = 20


class ReviewOptions(NamedTuple):
    """What to review: of these pages, by so many commits; `is_whole` tells the good ones, too."""

    pages: Sequence[str]
    commits: int | None
    limit: int | None
    keys: Sequence[str]
    is_whole: bool


def print_review(
    asked: ReviewOptions, others: Sequence[str], terminal: Terminal, *, is_asked: bool
) -> int:
    """Judge bindings and tell; `others` are the options given that a review cannot take."""
    if not is_asked:
        raise UsageError("--commits says how far a review looks back.", hint="Add --review.")
    if others:
        raise UsageError(
            f"--review cannot be combined with {others[0]}.",
            cause="It judges the bindings that exist, and changes nothing.",
            hint="Take the other option away.",
        )
    limit = MAX_REPORTED if asked.limit is None else asked.limit
    check_range("--limit", limit)
    check_range("--commits", 1 if asked.commits is None else asked.commits)
    with open_workspace(terminal, keys=asked.keys) as workspace:
        found = workspace.review_bindings(asked.pages, commits=asked.commits)
        prefix = workspace.session.repository.prefix
    if terminal.options.json:
        terminal.record(review_record(found, asked.limit))
        return CLEAN
    telling = ReviewTextOptions(
        style=terminal.style,
        limit=limit,
        is_whole=asked.is_whole or bool(asked.pages),
        is_quiet=terminal.options.quiet,
        prefix=prefix,
        keys=tuple(asked.keys),
    )
    terminal.write(review_text(found, telling))
    return CLEAN


MAX_GAPS = 20
MAX_DAYS = 100_000  # nearly four times as long as there have been dates in commits


def coverage(
    *paths: str,
    days: OptionalDecimal = None,
    limit: Annotated[int, Parameter(name=["--limit", "-n"], metavar="N")] = MAX_GAPS,
    ref: Revision = None,
    key: Keys = None,
    terminal: Terminal,
) -> int:
    """Run `ubp coverage`.

    Args:
        paths: Only these files, folders or globs; all where none is named.
        days: Count the changes of so many days before the last commit (365).
        limit: Show so many lines at most (20).
        ref: This revision instead of the work tree.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    check_range("--limit", limit)
    if days is not None and not 0 < days <= MAX_DAYS:
        raise UsageError(f"--days is {days:g}.", hint="Take a number above 0, up to 100000.")
    with open_workspace(terminal, keys=key or ()) as workspace:
        found = workspace.coverage(paths, days=days, ref=ref)
    if terminal.options.json:
        from ubp.output.records.bindings import coverage_record

        terminal.record(coverage_record(found, limit))
    else:
        is_quiet = terminal.options.quiet
        terminal.write(coverage_text(found, terminal.style, limit=limit, is_quiet=is_quiet))
    return CLEAN
