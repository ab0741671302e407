"""`ubp init`: its questions."""

from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.setup.init import (
    INIT,
    InitRequest,
    agent_files_text,
    commit_hook_text,
    prepare_agent_files,
    prepare_commit_hook,
    propose_plan,
    require_root,
)
from ubp.answers.setup.snippet_target import find_snippet_target
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.print_answer import print_answer
from ubp.cli.prompts import ask, ask_list, choose
from ubp.cli.terminal import Terminal
from ubp.core.setup_files import is_configured
from ubp.frame.wording import count
from ubp.frame.writer import Writer
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
        if request.agent:
            request = replace(request, write_agent_files=_agree(request, terminal))
        if request.commit_hook:
            request = replace(request, write_commit_hook=_agree_to_hook(terminal))
    elif yes:
        request = replace(
            request,
            write_agent_files=bool(request.agent),
            write_commit_hook=request.commit_hook,
        )
    return print_answer(INIT, request, terminal)


def _agree(request: InitRequest, terminal: Terminal) -> bool:
    """Show the files of agents, and return whether to write them."""
    with open_workspace(terminal) as workspace:
        session = workspace.session
        root = require_root(session)
        target = find_snippet_target(session.repository, root)
        files = tuple(prepare_agent_files(root, target.launch, request.agent, write=False))
        writer = Writer(terminal.style, prefix=session.repository.prefix)
    missing = [file for file in files if file.state == "proposed"]
    for line in agent_files_text(files, writer):
        terminal.write(f"{line}\n")
    question = f"Write {count(len(missing), 'file')}?"
    return bool(missing) and choose(terminal, question, ("no", "yes")) == "yes"


def _agree_to_hook(terminal: Terminal) -> bool:
    """Show the hook of commit messages, and return whether to write it."""
    with open_workspace(terminal) as workspace:
        repository = workspace.session.repository
        target = find_snippet_target(repository, require_root(workspace.session))
        hook = prepare_commit_hook(repository, target, write=False)
        writer = Writer(terminal.style, prefix=repository.prefix)
    if hook.state != "proposed":
        return False
    for line in commit_hook_text(hook, writer):
        terminal.write(f"{line}\n")
    return choose(terminal, "Write this hook?", ("no", "yes")) == "yes"


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
    folder = ask(terminal, "Docs directory", request.docs_dir or ".")
    request = replace(request, docs_dir=folder, rewrite=True)
    plan = propose_plan(session, request)
    include = ask_list(terminal, "Include patterns", plan.include)
    exclude = ask_list(terminal, "Exclude patterns", ())
    return replace(request, include=tuple(include), exclude=tuple(exclude))
