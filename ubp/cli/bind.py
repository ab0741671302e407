"""`ubp bind`, which proposes, writes and reviews sources of pages."""

from typing import Annotated, NamedTuple

from cyclopts import Parameter

from ubp.answers.staleness.stale import find_example, report_stale
from ubp.answers.staleness.translations import propose_missing_rules, proposed_rules_text
from ubp.bindings.features import MIN_CONFIDENCE
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, choose_bindings
from ubp.cli.bind_session import Pinning, run_session
from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Keys, OptionalDecimal, OptionalNumber, check_range
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.shell import path_argument, ubp_command
from ubp.index.session import Session, Target
from ubp.output.text.bind import BindTextOptions, bind_text
from ubp.output.text.review import ReviewTextOptions, review_text
from ubp.staleness.first_reference import FirstReference
from ubp.workspace import MAX_PROPOSED

# Pages or lines shown by default, a screen or two.
MAX_PAGES_SHOWN = 20
MAX_REVIEWED_SHOWN = 20


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
        pages: Pages, directories or globs; by default all pages that list no sources.
        write: Write the proposals with enough confidence to the pages' front matter.
        interactive: Ask about each proposal; refusals are saved in .ubp/config.json.
        dry_run: Show the changes that --write would make as a diff; write nothing.
        min_confidence: Minimum confidence, from 0 to 1 (0.7); at 0.75, three in four are correct.
        limit: Maximum number of sources per page (10); with --review, of lines (20).
        pin: Pin the sources as of now: the pages were reviewed and are accurate.
        history: Pin the sources as of the last change of each page's text, so that existing drift
            shows.
        explain: List all the evidence for each proposal.
        review: Compare existing bindings with history, to find sources that are too broad.
        commits: With --review: number of commits to compare with (500).
        all_: Include pages that already list sources; with --review, list all bindings.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
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
            raise UsageError("--commits requires --review.", hint="Add --review.")
        return _review(options, terminal)
    return _propose(options, terminal)


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
            from ubp.output.records.bindings import bind_record

            terminal.record(bind_record(suggestions, confidence, results))
        else:
            # A repository without any binding may name sources under another key.
            has_bindings = bool(suggestions.bound or results or options.keys)
            example = None if has_bindings else _find_example(workspace.session)
            text_options = text_options._replace(other_key=example and example.other_key)
            terminal.write(bind_text(suggestions, results, text_options))
            if not (options.pages or terminal.options.quiet):
                terminal.write(proposed_rules_text(propose_missing_rules(workspace.session)))
    return FINDINGS if results and any(result.skip_reason for result in results) else CLEAN


def _find_example(session: Session) -> FirstReference | None:
    return find_example(session, report_stale(session, Target()))


def _check_options(options: _BindOptions, terminal: Terminal) -> None:
    pinning, confidence = options.pinning, options.min_confidence
    if confidence is not None and not 0 <= confidence <= 1:
        raise UsageError(f"Invalid --min-confidence: {confidence:g}.", hint="Must be from 0 to 1.")
    if options.interactive and (options.write or options.dry_run):
        raise UsageError(
            "--interactive cannot be combined with --write or --dry-run.",
            cause="It writes the proposals that you accept, page by page.",
            hint="Remove one of the two options.",
        )
    if any(pinning) and not (options.write or options.dry_run or options.interactive):
        option = "--pin" if pinning.pin else "--history"
        command = ubp_command("bind", "--write", option)
        raise UsageError(
            f"{option} requires --write, --interactive or --dry-run.",
            hint=f"Write the references: {command}; or preview them: --dry-run {option}",
        )
    if all(pinning):
        raise UsageError(
            "--pin cannot be combined with --history.",
            hint="Use --pin if the pages are accurate now,"
            " --history to keep the drift since their last change.",
        )
    if options.interactive and not terminal.is_interactive():
        raise UsageError(
            "--interactive requires a terminal.",
            hint="Write the confident proposals without asking: ubp bind --write",
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
            cause="It reviews existing bindings, and changes nothing.",
            hint="Remove one of the two options.",
        )
    limit = MAX_REVIEWED_SHOWN if options.limit is None else options.limit
    check_range("--limit", limit)
    check_range("--commits", 1 if options.commits is None else options.commits)
    with open_workspace(terminal, keys=options.keys) as workspace:
        review = workspace.review_bindings(options.pages, commits=options.commits)
        prefix = workspace.session.repository.prefix
    if terminal.options.json:
        from ubp.answers.bindings.review import review_record

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
