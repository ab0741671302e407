"""`ubp review --interactive`: the cases one by one, and a question about each."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace

from ubp.answers.review.review import REVIEW, CaseRecord, ReviewRecord, ReviewRequest, with_range
from ubp.answers.staleness.ack import ACK, AcknowledgeRequest
from ubp.bindings.write import Refusal, add_refusals, bind_pages
from ubp.cli.bind_session import ask, choose
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.core.setup_files import read_config, write_config
from ubp.frame.wording import count, joined, printable
from ubp.frame.writer import Writer
from ubp.workspace import Workspace

ACCURATE, WRONG, EDIT, BIND, LATER, QUIT = (
    *("accurate", "wrong alarm", "edit", "bind"),
    *("later", "quit"),
)
WRONG_ALARM = "wrong alarm"
PINNED = frozenset({"bound", "collection", "translation"})


def run_session(request: ReviewRequest, terminal: Terminal) -> int:
    """Show each case and ask what to do; Enter leaves it for later.

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
        record = REVIEW.run(workspace.session, request)
        session = _Session(workspace, request, record, terminal)
        settled = 0
        for number, case in enumerate(record.cases, 1):
            answer = session.ask_about(case, f"{number} of {len(record.cases)}")
            if answer == QUIT:
                break
            settled += answer != LATER
    left = count(len(record.cases) - settled, "case")
    terminal.write(f"{count(settled, 'case')} settled, {left} left for later.\n")
    return CLEAN


class _Session:
    """The questions about all cases."""

    def __init__(
        self,
        workspace: Workspace,
        request: ReviewRequest,
        record: ReviewRecord,
        terminal: Terminal,
    ) -> None:
        self._workspace, self._request = workspace, request
        self._record, self._terminal = record, terminal

    def ask_about(self, case: CaseRecord, position: str) -> str:
        """Show a case, ask until an answer settles it or leaves it, and return that answer."""
        terminal = self._terminal
        prefix = self._workspace.session.repository.prefix
        shown = replace(self._record, cases=(case,), truncated_count=0, unlikely=0, not_checked=())
        *lines, _, _ = REVIEW.text(shown, Writer(terminal.style, prefix=prefix))
        terminal.write(joined([*lines, ""]))
        while True:
            choices = tuple(_choices(case))
            answer = choose(terminal, f"Case {position}?", choices, LATER)
            if answer == EDIT:
                if self._edit(case):
                    return answer
            elif answer in {LATER, QUIT} or self._settle(case, answer):
                return answer

    def _settle(self, case: CaseRecord, answer: str) -> bool:
        """Do what an answer means, and return whether that settles the case."""
        if answer == BIND:
            return self._bind(case)
        if answer == WRONG and case.kind == "proposed":
            self._refuse(case)
            return True
        reason = ask(self._terminal, "Reason", WRONG_ALARM if answer == WRONG else "")
        request = AcknowledgeRequest(
            (case.filepath,),
            staged=self._request.staged,
            base=self._request.base,
            reason=reason or None,
        )
        record = ACK.run(self._workspace.session, request)
        self._terminal.write(joined(ACK.text(record, Writer(self._terminal.style))))
        return record.summary.pinned > 0

    def _bind(self, case: CaseRecord) -> bool:
        sources = list(_proposed(case))
        results = bind_pages(
            self._workspace.session,
            {FilePath(case.filepath): sources},
            pin=False,
            from_history=False,
            is_dry=False,
        )
        for result in results:
            if result.skip_reason:
                self._terminal.write(f"  skipped: {printable(result.skip_reason)}\n")
            else:
                written = ", ".join(printable(written.source_path) for written in result.written)
                self._terminal.write(f"{printable(case.filepath)} lists {written} now.\n")
        return any(result.written for result in results)

    def _refuse(self, case: CaseRecord) -> None:
        """Save that the page does not describe these sources, so that neither is proposed again."""
        refused: list[Refusal] = [(FilePath(case.filepath), source) for source in _proposed(case)]
        config_dir = self._workspace.session.repository.config_dir
        write_config(config_dir, add_refusals(read_config(config_dir), refused))
        self._terminal.write("The refusal is saved in .ubp/config.json: commit it to share it.\n")

    def _edit(self, case: CaseRecord) -> bool:
        """Open the page in the user's editor, and return whether it was changed."""
        repository = self._workspace.session.repository
        file = os.path.join(repository.root or "", case.filepath)
        editor = os.fsdecode(repository.run("var", "GIT_EDITOR")).strip()
        before = _read(file)
        command = ["sh", "-c", f'{editor} "$@"', editor, file]
        done = subprocess.run(command, env=dict(repository.environment), check=False)  # noqa: S603  # the user's own
        if done.returncode:
            raise UsageError(f"The editor failed: {editor}.", hint="Set core.editor or $EDITOR.")
        return _read(file) != before


def _choices(case: CaseRecord) -> Iterator[str]:
    """Yield what can be done about a case."""
    kinds = {reason.kind for reason in case.reasons}
    if kinds & PINNED:
        yield from (ACCURATE, WRONG)
    elif case.kind == "proposed":
        yield WRONG
    yield EDIT
    if any(_proposed(case)):
        yield BIND
    yield from (LATER, QUIT)


def _proposed(case: CaseRecord) -> Iterator[FilePath]:
    """Yield the source that a page is proposed to list: the likeliest."""
    yield from (FilePath(action.source) for action in case.actions if action.source)


def _read(file: str) -> bytes:
    with open(file, "rb") as page:
        return page.read()
