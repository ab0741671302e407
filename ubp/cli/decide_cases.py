"""`ubp review --interactive`: the cases of a change as items, and what was decided about them."""

from collections.abc import Iterator
from dataclasses import replace

from ubp.answers.review.review import (
    REVIEW,
    CaseRecord,
    ReviewRequest,
    case_text,
    change_text,
    with_range,
)
from ubp.answers.staleness.ack import ACK, AcknowledgeRequest
from ubp.bindings.write import Refusal, add_refusals, bind_pages
from ubp.cli.decide import decide
from ubp.cli.decisions import Choice, Decision, Item, Panes
from ubp.cli.error_handler import CLEAN, FAILED
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError, UsageError
from ubp.core.model import FilePath
from ubp.core.setup_files import read_config, write_config
from ubp.frame.wording import Style, count, joined, printable
from ubp.frame.writer import Writer
from ubp.git.files import read_file, replace_file
from ubp.index.session import Session
from ubp.markdown.text_edits import as_diff

RIGHT, WRONG_ALARM = "page is right", "wrong alarm"
ACCURATE = Choice("a", RIGHT, RIGHT, has_reason=True, help="the page is accurate: pin its sources")
WRONG = Choice(
    "r",
    WRONG_ALARM,
    WRONG_ALARM,
    text=WRONG_ALARM,
    has_reason=True,
    help="the same, with the reason that the alarm was wrong",
)
REFUSED = Choice("r", WRONG_ALARM, "refused", help="never propose this source for the page again")
BIND = Choice("b", "bind", "bound", help="list the source in the page")
PINNED = frozenset({"bound", "collection", "translation"})


def decide_cases(request: ReviewRequest, terminal: Terminal) -> int:
    """Let the user decide about each case of a change, then apply that.

    Raises:
        UsageError: the change ends in the past, so that nothing can be settled.
    """
    request = with_range(request)
    if request.ref not in {None, "HEAD"}:
        raise UsageError(
            f"--interactive settles cases in the work tree, and the change ends at {request.ref}.",
            hint="Run it with --base alone, or without --interactive.",
        )
    request = replace(request, ref=None)
    with open_workspace(terminal) as workspace:
        session = workspace.session
        record = REVIEW.run(session, request)
        if not record.cases:
            terminal.write(joined(REVIEW.text(record, Writer(terminal.style))))
            return CLEAN
        items = [case_item(case, session) for case in record.cases]
        decided = decide("Cases of the change", items, session.repository, terminal)
        status, settled = CLEAN, 0
        for number, decision in decided.items():
            case, files = record.cases[number], items[number].files
            try:
                for path, text in decision.edited.items():
                    _write(path, files[path], text, session, terminal)
                settled += _apply(case, decision, request, session, terminal)
            except UbpError as error:
                terminal.report(error)
                status = FAILED
    left = count(len(record.cases) - settled, "case")
    terminal.write(f"{count(settled, 'case')} settled, {left} left for later.\n")
    return status


def case_item(case: CaseRecord, session: Session) -> Item:
    """Return the item of a case; a page that is not a file of the work tree has nothing to edit."""
    path = FilePath(case.filepath)
    try:
        files = {path: read_file(session.repository, path)}
    except UbpError:
        files = {}
    return Item(
        printable(f"{case.filepath}:{case.line}"),
        f"{case.probability:.0%}  {case.kind}",
        tuple(_choices(case)),
        lambda decision: _panes(case, files, decision),
        files,
    )


def _choices(case: CaseRecord) -> Iterator[Choice]:
    """Yield what can be decided about a case, beside editing its page."""
    if {reason.kind for reason in case.reasons} & PINNED:
        yield from (ACCURATE, WRONG)
    elif case.kind == "proposed":
        yield REFUSED
    if any(_proposed(case)):
        yield BIND


def _panes(case: CaseRecord, files: dict[FilePath, bytes], decision: Decision) -> Panes:
    write = Writer(Style(is_on=True))
    page: list[str] = []
    for path, text in decision.edited.items():
        page += [*write.diff(as_diff(path, files[path], text), ""), ""]
    page += list(case_text(case, write))[1:]  # the first line is what the list has
    return Panes(
        printable(case.filepath),
        joined(page),
        "The change",
        joined(change_text(case, write)).rstrip("\n"),
    )


def _apply(
    case: CaseRecord,
    decision: Decision,
    request: ReviewRequest,
    session: Session,
    terminal: Terminal,
) -> bool:
    """Do what was decided, and return whether that settles the case."""
    if decision.choice == BIND:
        return _bind(case, session, terminal)
    if decision.choice == REFUSED:
        _refuse(case, session, terminal)
    elif decision.choice in {ACCURATE, WRONG}:
        acknowledged = AcknowledgeRequest(
            (case.filepath,),
            staged=request.staged,
            base=request.base,
            reason=decision.text or None,
        )
        record = ACK.run(session, acknowledged)
        terminal.write(joined(ACK.text(record, Writer(terminal.style))))
        return bool(record.summary.pinned or decision.edited)
    return True


def _write(
    path: FilePath, before: bytes, after: bytes, session: Session, terminal: Terminal
) -> None:
    """Write an edited page.

    Raises:
        UsageError: it has changed since it was shown.
    """
    if read_file(session.repository, path) != before:
        raise UsageError(
            f"{path} has changed meanwhile; your edit was not written.",
            hint="Review it again: ubp review -i",
        )
    replace_file(session.repository, path, after)
    terminal.write(f"{printable(path)} edited.\n")


def _bind(case: CaseRecord, session: Session, terminal: Terminal) -> bool:
    results = bind_pages(
        session,
        {FilePath(case.filepath): list(_proposed(case))},
        pin=False,
        from_history=False,
        is_dry=False,
    )
    for result in results:
        if result.skip_reason:
            terminal.write(f"  skipped: {printable(result.skip_reason)}\n")
        else:
            written = ", ".join(printable(written.source_path) for written in result.written)
            terminal.write(f"{printable(case.filepath)} lists {written} now.\n")
    return any(result.written for result in results)


def _refuse(case: CaseRecord, session: Session, terminal: Terminal) -> None:
    """Save that the page does not describe these sources, so that neither is proposed again."""
    refused: list[Refusal] = [(FilePath(case.filepath), source) for source in _proposed(case)]
    config_dir = session.repository.config_dir
    write_config(config_dir, add_refusals(read_config(config_dir), refused))
    terminal.write("The refusal is saved in .ubp/config.json: commit it to share it.\n")


def _proposed(case: CaseRecord) -> Iterator[FilePath]:
    """Yield the source that a page is proposed to list: the likeliest."""
    yield from (FilePath(action.source) for action in case.actions if action.source)
