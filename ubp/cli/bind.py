"""`ubp bind`: the answer or the dialogue, and hints on settings that the project may lack."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.bindings.bind import (
    BindRecord,
    BindRequest,
    WrittenPageRecord,
    propose,
    status,
    text,
    write_proposals,
)
from ubp.answers.bindings.review_bindings import REVIEW_BINDINGS, ReviewBindingsRequest
from ubp.answers.bindings.review_bindings import text as review_text
from ubp.answers.staleness.stale import find_example, report_stale
from ubp.answers.staleness.translations import propose_missing_rules, proposed_rules_text
from ubp.cli.decide import require_screen
from ubp.cli.decide_bindings import decide_bindings
from ubp.cli.open_workspace import open_workspace
from ubp.cli.print_answer import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.wording import MAX_PAGES, count, joined
from ubp.frame.writer import Writer
from ubp.index.select import shorten_selection
from ubp.index.session import Session, Target


def bind(
    request: BindRequest,
    *,
    interactive: Annotated[
        bool,
        Parameter(
            name=["--interactive", "-i"],
            help="Decide about each proposal on the whole screen, by keys; refusals are saved in "
            ".ubp/config.json.",
        ),
    ] = False,
    keys: Sequence[str],
    terminal: Terminal,
) -> int:
    """Print proposals, write them, or let the user decide about each."""
    if interactive:
        _check_dialogue(request, terminal)
        request = replace(request, write=True)
    with open_workspace(terminal, keys=keys) as workspace:
        session = workspace.session
        suggestions = propose(session, request)
        writer = Writer(
            terminal.style,
            is_quiet=terminal.options.quiet,
            prefix=session.repository.prefix,
            keys=tuple(keys),
        )
        if interactive:
            return decide_bindings(suggestions, request, session, writer, terminal)
        record = write_proposals(session, request, suggestions)
        if terminal.options.json:
            terminal.record(record)
        else:
            if len(request.pages) > MAX_PAGES:  # the next commands repeat them
                pages = shorten_selection(request.pages, session.view(), session.repository)
                request = replace(request, pages=pages)
            terminal.show(joined(text(record, writer, request, suggestions.left_out)))
            if not writer.is_quiet:
                terminal.write("".join(_hints(session, record, request, writer)))
    return status(record)


def review(request: ReviewBindingsRequest, *, keys: Sequence[str], terminal: Terminal) -> int:
    """Print how well existing bindings match history."""
    answer = replace(REVIEW_BINDINGS, text=partial(review_text, request=request))
    return print_answer(answer, request, terminal, keys=keys)


def _shallow_hint(
    unpinned: Sequence[WrittenPageRecord], session: Session, write: Writer
) -> Iterator[str]:
    style = write.style
    pages = [path_argument(FilePath(page.filepath), write.prefix) for page in unpinned]
    which: Sequence[str] = pages
    if len(pages) > MAX_PAGES:
        which = shorten_selection(pages, session.view(), session.repository)
    pin = style.cyan(ubp_command("ack", "--history", *which, keys=write.keys))
    shallow = f"This clone is shallow, so sources of {count(len(pages), 'page')} have no pin:"
    yield f"{style.yellow(shallow)} what changed in them before does not show.\n"
    fetch = style.cyan("git fetch --unshallow")
    yield f"Fetch the history, then pin them: {fetch}, then {pin}\n"


def _check_dialogue(request: BindRequest, terminal: Terminal) -> None:
    if request.is_written:
        raise UsageError(
            "--interactive cannot be combined with --write or --dry-run.",
            cause="It writes the proposals that you accept, page by page.",
            hint="Remove one of the two options.",
        )
    require_screen(terminal, "ubp bind --write")


def _hints(
    session: Session, record: BindRecord, request: BindRequest, write: Writer
) -> Iterator[str]:
    """Yield what to do next that the record does not say.

    That is for pins that a shallow clone cannot find, the key under which a repository without
    bindings lists sources, and translations.
    """
    unpinned = [
        page for page in record.written if any(source.pin is None for source in page.sources)
    ]
    if request.history and not request.dry_run and unpinned and session.repository.is_shallow:
        yield from _shallow_hint(unpinned, session, write)
    is_unbound = not (request.is_written or record.summary.bound or write.keys)
    if is_unbound and record.summary.proposed:
        example = find_example(session, report_stale(session, Target()))
        if example.other_key:
            command = write.style.cyan(ubp_command("stale", keys=[example.other_key]))
            yield f"If pages already list them under `{example.other_key}`: {command}\n"
    if not request.pages:
        yield proposed_rules_text(propose_missing_rules(session))
