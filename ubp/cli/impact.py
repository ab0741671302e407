"""`ubp impact`: the answer about this repository, or a hub's about all of them."""

from typing import Annotated

from cyclopts import Parameter

from ubp.answers.pages.impact import IMPACT, ImpactRequest
from ubp.cli.print_answer import print_answer, print_record
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError


def impact(
    request: ImpactRequest,
    *,
    hub: Annotated[
        str | None,
        Parameter(
            metavar="URL",
            help="Ask this hub: the argument is HOST/OWNER/NAME:PATH#SYMBOL.",
        ),
    ] = None,
    token_file: Annotated[
        str | None,
        Parameter(metavar="FILE", help="With --hub: a file with the token ($UBP_HUB_TOKEN)."),
    ] = None,
    terminal: Terminal,
) -> int:
    """Print the pages that depend on a page or source."""
    if hub is None:
        if token_file is not None:
            raise UsageError(
                "--token-file requires --hub.", hint="Add the hub's address: --hub URL"
            )
        return print_answer(IMPACT, request, terminal)
    if request.ref is not None:
        raise UsageError(
            "--hub cannot be combined with --ref.",
            cause="The hub answers about the tips of repositories.",
        )
    from ubp.answers.hub.ask import ask_impact
    from ubp.answers.hub.impact import HubImpactRequest, text

    question = HubImpactRequest(request.path, request.limit)
    answer = ask_impact(hub, token_file, question, terminal.environment, terminal.directory)
    return print_record(answer, text, terminal)
