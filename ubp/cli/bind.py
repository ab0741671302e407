"""`ubp bind`: what each page describes, proposed, and written where somebody wants it."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from ubp.binding.choosing import choose_bindings
from ubp.binding.suggestion import MIN_CONFIDENCE, BindingSuggestions
from ubp.binding.writing import Bound
from ubp.cli.binding_session import Pinning, hold_session
from ubp.cli.door import CLEAN, FINDINGS
from ubp.cli.opening import open_workspace
from ubp.cli.ranges import check_range
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.model import FilePath
from ubp.proposing import MOST_PROPOSED
from ubp.render.bind_records import bind_record
from ubp.render.text.bind import Telling, bind_text
from ubp.workspace import Workspace

# Of proposals that are less sure hardly one in three is right: to ask about them takes more time
# than they are worth.
ASKED_FROM = 0.3


def bind(  # noqa: PLR0913  # the command's options
    *pages: str,
    write: bool = False,
    interactive: Annotated[bool, Parameter(name=["--interactive", "-i"])] = False,
    dry_run: bool = False,
    min_confidence: float | None = None,
    limit: int = MOST_PROPOSED,
    pin: bool = False,
    history: bool = False,
    explain: bool = False,
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
        min_confidence: How sure, from 0 to 1; of proposals at 0.9 nine in ten are right.
        limit: Propose so many sources for a page at most (10).
        pin: Pin what is written: the pages were read and are true today.
        history: Pin the sources as they were when each page last changed, so that drift shows.
        explain: Tell everything that speaks for a proposal.
        all_: Look at pages too that name sources already.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    way = _Way(write, dry_run, interactive, Pinning(pin, history))
    _check(way, min_confidence, terminal)
    check_range("--limit", limit)
    with open_workspace(terminal, keys=key or ()) as workspace:
        found = workspace.suggest_bindings(pages, limit=limit, all_pages=all_)
        if interactive:
            floor = ASKED_FROM if min_confidence is None else min_confidence
            return hold_session(found, floor, workspace, way.pinning, terminal)
        sure = MIN_CONFIDENCE if min_confidence is None else min_confidence
        done = _write(workspace, found, sure, way)
        telling = Telling(
            style=terminal.style,
            sure=sure,
            least=0.0 if pages and min_confidence is None else sure,
            is_quiet=terminal.options.quiet,
            is_explained=explain,
            is_dry=dry_run,
            arguments=_arguments(pages, key, min_confidence, all_=all_),
            prefix=workspace.repository.prefix,
        )
    if terminal.options.json:
        terminal.record(bind_record(found, sure, done))
    else:
        terminal.write(bind_text(found, done, telling))
    return FINDINGS if done and any(one.why_left for one in done) else CLEAN


class _Way(NamedTuple):
    """What becomes of the proposals."""

    is_writing: bool
    is_dry: bool
    is_asking: bool
    pinning: Pinning


def _check(way: _Way, min_confidence: float | None, terminal: Terminal) -> None:
    if min_confidence is not None and not 0 <= min_confidence <= 1:
        raise UsageError(
            f"--min-confidence is {min_confidence:g}.",
            cause="0.9 says that nine in ten are right.",
            hint="Take a number from 0 to 1.",
        )
    if way.is_asking and (way.is_writing or way.is_dry):
        raise UsageError(
            "--interactive cannot be combined with --write or --dry-run.",
            cause="It writes what you accept, page by page.",
            hint="Take the other option away.",
        )
    if (any(way.pinning)) and not (way.is_writing or way.is_dry or way.is_asking):
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


def _arguments(
    pages: Sequence[str], key: Sequence[str] | None, min_confidence: float | None, *, all_: bool
) -> tuple[str, ...]:
    """What a next command has to repeat of this one."""
    words = [FilePath(one) for one in pages]
    keys = [word for one in key or () for word in ("--key", one)]
    sure = [] if min_confidence is None else ["--min-confidence", f"{min_confidence:g}"]
    return (*words, *keys, *sure, *(["--all"] if all_ else []))
