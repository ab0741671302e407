"""`ubp bind`, which proposes, writes and reviews sources of pages, and `ubp coverage`."""

from typing import Annotated, NamedTuple

from cyclopts import Parameter

from ubp.bindings.features import MIN_CONFIDENCE
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, choose_bindings
from ubp.cli.bind_session import Pinning, run_session
from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Keys, OptionalDecimal, OptionalNumber, Revision, check_range
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.shell import path_argument, ubp_command
from ubp.output.records.bindings import bind_record, review_record
from ubp.output.text.bind import BindTextOptions, bind_text
from ubp.output.text.review import ReviewTextOptions, coverage_text, review_text
from ubp.workspace import MAX_PROPOSED

# Pages or lines shown by default, a screen or two.
MAX_PAGES_SHOWN = 20
MAX_REVIEWED_SHOWN = 20
MAX_GAPS_SHOWN = 20
MAX_DAYS = 100_000  # nearly four times as long as there have been dates in commits


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
    options = _BindOptions(
        pages=pages,
        write=write,
        interactive=interactive,
        dry_run=dry_run,
        min_confidence=min_confidence,
        limit=limit,
        pinning=Pinning(pin, history),
        explain=explain,
        commits=commits,
        all_pages=all_,
        keys=tuple(key or ()),
    )
    if review or commits is not None:
        if not review:
            raise UsageError("--commits says how far a review looks back.", hint="Add --review.")
        return _review(options, terminal)
    return _propose(options, terminal)


def coverage(
    *paths: str,
    days: OptionalDecimal = None,
    limit: Annotated[int, Parameter(name=["--limit", "-n"], metavar="N")] = MAX_GAPS_SHOWN,
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
        result = workspace.coverage(paths, days=days, ref=ref)
    if terminal.options.json:
        from ubp.output.records.bindings import coverage_record

        terminal.record(coverage_record(result, limit))
    else:
        is_quiet = terminal.options.quiet
        terminal.write(coverage_text(result, terminal.style, limit=limit, is_quiet=is_quiet))
    return CLEAN


class _BindOptions(NamedTuple):
    pages: tuple[str, ...]
    write: bool
    interactive: bool
    dry_run: bool
    min_confidence: float | None
    limit: int | None
    pinning: Pinning
    explain: bool
    commits: int | None
    all_pages: bool
    keys: tuple[str, ...]


def _propose(options: _BindOptions, terminal: Terminal) -> int:
    """Print proposals, write them, or ask about each."""
    _check_options(options, terminal)
    limit = MAX_PROPOSED if options.limit is None else options.limit
    check_range("--limit", limit)
    confidence = MIN_CONFIDENCE if options.min_confidence is None else options.min_confidence
    min_shown = confidence
    if options.min_confidence is None and (options.pages or options.interactive):
        min_shown = MIN_REVIEW_CONFIDENCE
    with open_workspace(terminal, keys=options.keys) as workspace:
        suggestions = workspace.suggest_bindings(
            options.pages, limit=limit, all_pages=options.all_pages
        )
        text_options = BindTextOptions(
            style=terminal.style,
            min_confidence=MIN_CONFIDENCE if options.interactive else confidence,
            min_shown=min_shown,
            is_quiet=terminal.options.quiet,
            is_explained=options.explain,
            is_dry=options.dry_run,
            is_pinned=any(options.pinning),
            arguments=_repeated_arguments(options),
            keys=options.keys,
            prefix=workspace.session.repository.prefix,
            max_pages=None if options.pages else MAX_PAGES_SHOWN,
        )
        if options.interactive:
            return run_session(suggestions, text_options, workspace, options.pinning, terminal)
        results = None
        if options.write or options.dry_run:
            chosen = choose_bindings(suggestions, confidence)
            results = workspace.bind(chosen, is_dry=options.dry_run, **options.pinning._asdict())
        if terminal.options.json:
            terminal.record(bind_record(suggestions, confidence, results))
        else:
            # A repository without any binding may name sources under another key.
            has_bindings = bool(suggestions.bound or results or options.keys)
            example = None if has_bindings else workspace.example(workspace.stale())
            text_options = text_options._replace(other_key=example and example.other_key)
            terminal.write(bind_text(suggestions, results, text_options))
    return FINDINGS if results and any(result.skip_reason for result in results) else CLEAN


def _check_options(options: _BindOptions, terminal: Terminal) -> None:
    pinning, confidence = options.pinning, options.min_confidence
    if confidence is not None and not 0 <= confidence <= 1:
        raise UsageError(
            f"--min-confidence is {confidence:g}.",
            cause="0.75 says that three in four are right.",
            hint="Take a number from 0 to 1.",
        )
    if options.interactive and (options.write or options.dry_run):
        raise UsageError(
            "--interactive cannot be combined with --write or --dry-run.",
            cause="It writes what you accept, page by page.",
            hint="Take the other option away.",
        )
    if any(pinning) and not (options.write or options.dry_run or options.interactive):
        option = "--pin" if pinning.pin else "--history"
        command = ubp_command("bind", "--write", option)
        raise UsageError(
            f"{option} says how references are written.",
            hint=f"Write them: {command}, or look first: --dry-run {option}",
        )
    if all(pinning):
        raise UsageError(
            "--pin and --history contradict each other.",
            hint="--pin: the pages are true today; --history: as true as when they last changed.",
        )
    if options.interactive and not terminal.is_interactive():
        raise UsageError(
            "--interactive needs a terminal, and somebody who answers.",
            hint="Write what is sure without asking: ubp bind --write",
        )


def _repeated_arguments(options: _BindOptions) -> tuple[str, ...]:
    """Return the arguments, apart from keys, that a proposed next command has to repeat."""
    arguments = [path_argument(page) for page in options.pages]
    if options.min_confidence is not None:
        arguments += ["--min-confidence", f"{options.min_confidence:g}"]
    if options.all_pages:
        arguments.append("--all")
    return tuple(arguments)


def _review(options: _BindOptions, terminal: Terminal) -> int:
    """Print how well existing bindings match history."""
    excluded = {
        "--write": options.write,
        "--interactive": options.interactive,
        "--dry-run": options.dry_run,
        "--min-confidence": options.min_confidence is not None,
        "--pin": options.pinning.pin,
        "--history": options.pinning.from_history,
        "--explain": options.explain,
    }
    given = [option for option, is_given in excluded.items() if is_given]
    if given:
        raise UsageError(
            f"--review cannot be combined with {given[0]}.",
            cause="It judges the bindings that exist, and changes nothing.",
            hint="Take the other option away.",
        )
    limit = MAX_REVIEWED_SHOWN if options.limit is None else options.limit
    check_range("--limit", limit)
    check_range("--commits", 1 if options.commits is None else options.commits)
    with open_workspace(terminal, keys=options.keys) as workspace:
        review = workspace.review_bindings(options.pages, commits=options.commits)
        prefix = workspace.session.repository.prefix
    if terminal.options.json:
        terminal.record(review_record(review, options.limit))
        return CLEAN
    text_options = ReviewTextOptions(
        style=terminal.style,
        limit=limit,
        is_whole=options.all_pages or bool(options.pages),
        is_quiet=terminal.options.quiet,
        prefix=prefix,
        keys=options.keys,
    )
    terminal.write(review_text(review, text_options))
    return CLEAN
