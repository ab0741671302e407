"""`ubp ack`, and the call of the prepare-commit-msg hook."""

from typing import Annotated

from cyclopts import Parameter

from ubp.answers.staleness.ack import ACK, AcknowledgeRequest
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.print_answer import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError


def ack(
    request: AcknowledgeRequest,
    *,
    keys: tuple[str, ...] = (),
    commit_message: Annotated[
        bool,
        Parameter(
            help="Be git's prepare-commit-msg hook: the arguments are its own, and the reasons of "
            "the acknowledged pages are added to the message.",
        ),
    ] = False,
    terminal: Terminal,
) -> int:
    """Acknowledge pages, or add the reasons to a commit message; that never stops the commit."""
    if not commit_message:
        return print_answer(ACK, request, terminal, keys=keys)
    from ubp.answers.staleness.reviewed import add_trailers

    file, source, *_ = (*request.paths, "", "")
    source = source or terminal.environment.get("PRE_COMMIT_COMMIT_MSG_SOURCE", "")
    try:
        with open_workspace(terminal) as workspace:
            add_trailers(workspace.session.repository, file, source)
    except (UbpError, OSError) as error:
        terminal.warn(f"The commit message got no reasons: {error}")
    return CLEAN
