"""`ubp init`: its questions."""

from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.setup.init import INIT, InitRequest, propose_plan, require_root
from ubp.cli.answers import print_answer
from ubp.cli.bind_session import ask, ask_list, choose
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.setup_files import is_configured
from ubp.frame.wording import count
from ubp.index.session import Session

KEEP, REWRITE, CANCEL = "keep", "rewrite", "cancel"


def init(
    request: InitRequest,
    *,
    yes: Annotated[
        bool, Parameter(name=["--yes", "-y"], help="Use the defaults without asking.")
    ] = False,
    terminal: Terminal,
) -> int:
    """Ask for what the defaults do not know, then set up."""
    if terminal.is_interactive() and not yes:
        with open_workspace(terminal) as workspace:
            asked = _ask(workspace.session, request, terminal)
        if asked is None:
            terminal.write("Nothing changed.\n")
            return CLEAN
        request = asked
    return print_answer(INIT, request, terminal)


def _ask(session: Session, request: InitRequest, terminal: Terminal) -> InitRequest | None:
    """Return the request with what the user answers; None: the user cancels."""
    require_root(session)
    if is_configured(session.repository.config_dir):
        question = "A configuration already exists. Keep it, rewrite it, or cancel?"
        decision = choose(terminal, question, (KEEP, REWRITE, CANCEL))
        if decision != REWRITE:
            return request if decision == KEEP else None
    files = count(session.view().count_documents(), "Markdown file")
    terminal.write(f"Found {files}. Press Enter to accept the default in parentheses.\n")
    proposed = propose_plan(session, request)
    folder = ask(terminal, "Docs directory", proposed.docs_dir or ".")
    request = replace(request, docs_dir=folder, rewrite=True)
    plan = propose_plan(session, request)
    include = ask_list(terminal, "Include patterns", plan.include)
    exclude = ask_list(terminal, "Exclude patterns", ())
    return replace(request, include=tuple(include), exclude=tuple(exclude))
