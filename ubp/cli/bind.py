"""`ubp bind`: what each page describes, proposed, and written where somebody wants it."""

from typing import Annotated, NamedTuple

from cyclopts import Parameter

from ubp.binding.choosing import WORTH_A_LOOK, choose_bindings
from ubp.binding.suggestion import MIN_CONFIDENCE, BindingSuggestions
from ubp.binding.writing import Bound
from ubp.cli.binding_session import Pinning, hold_session
from ubp.cli.door import CLEAN, FINDINGS
from ubp.cli.opening import open_workspace
from ubp.cli.ranges import check_range
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.proposing import MOST_PROPOSED
from ubp.render.bind_records import bind_record
from ubp.render.text.bind import Telling, bind_text
from ubp.workspace import Workspace

# A screen or two; who wants more asks about a folder.
MOST_SHOWN = 20


def bind(  # noqa: PLR0913  # the command's options
    *pages: str,
    write: bool = False,
    interactive: Annotated[bool, Parameter(name=["--interactive", "-i"])] = False,
    dry_run: bool = False,
    min_confidence: float | None = None,
    limit: int | None = None,
    pin: bool = False,
    history: bool = False,
    explain: bool = False,
    review: bool = False,
    commits: int | None = None,
    all_: bool = False,
    key: list[str] | None = None,
    terminal: Terminal,
) -> int:
    """Propose, for each page, the files and folders that it describes; write them into it.

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
    limit = MOST_PROPOSED if asked.limit is None else asked.limit
    check_range("--limit", limit)
    sure = MIN_CONFIDENCE if asked.min_confidence is None else asked.min_confidence
    with open_workspace(terminal, keys=asked.keys) as workspace:
        found = workspace.suggest_bindings(asked.pages, limit=limit, all_pages=asked.is_whole)
        telling = _telling(asked, way, workspace, terminal)
        if way.is_asking:
            least = WORTH_A_LOOK if asked.min_confidence is None else asked.min_confidence
            telling = telling._replace(sure=MIN_CONFIDENCE, least=least)
            return hold_session(found, telling, workspace, way.pinning, terminal)
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
    from ubp.cli.binding_review import Reviewing, tell_review

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
    reviewing = Reviewing(asked.pages, commits, asked.limit, asked.keys, asked.is_whole)
    return tell_review(reviewing, others, terminal, is_asked=is_asked)


def _telling(asked: _Asked, way: _Way, workspace: Workspace, terminal: Terminal) -> Telling:
    sure = MIN_CONFIDENCE if asked.min_confidence is None else asked.min_confidence
    return Telling(
        style=terminal.style,
        sure=sure,
        least=WORTH_A_LOOK if asked.pages and asked.min_confidence is None else sure,
        is_quiet=terminal.options.quiet,
        is_explained=asked.is_explained,
        is_dry=way.is_dry,
        is_pinned=any(way.pinning),
        arguments=_arguments(asked),
        prefix=workspace.repository.prefix,
        most=None if asked.pages else MOST_SHOWN,
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
        raise UsageError(
            f"{option} says how references are written.",
            hint=f"Write them: ubp bind --write {option}, or look first: --dry-run {option}",
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
) -> tuple[Bound, ...] | None:
    if not (way.is_writing or way.is_dry):
        return None
    return workspace.bind(choose_bindings(found, sure), is_dry=way.is_dry, **way.pinning._asdict())


def _arguments(asked: _Asked) -> tuple[str, ...]:
    """What a next command has to repeat of this one."""
    keys = [word for one in asked.keys for word in ("--key", one)]
    least = asked.min_confidence
    sure = [] if least is None else ["--min-confidence", f"{least:g}"]
    return (*asked.pages, *keys, *sure, *(["--all"] if asked.is_whole else []))
