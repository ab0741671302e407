"""`ubp list-pages`: the answer, and the list as `llms.txt`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.answers.pages.list_pages import LIST_PAGES, ListPagesRequest
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.print_answer import print_answer, read_collection
from ubp.cli.terminal import Terminal


def list_pages(
    request: ListPagesRequest,
    *,
    format_: Annotated[
        Literal["text", "json", "llms"],
        Parameter(
            name=["--format", "-f"],
            metavar="FORMAT",
            help="Output format; llms is llms.txt with all pages, for agents without MCP.",
        ),
    ] = "text",
    collection: str | None,
    terminal: Terminal,
) -> int:
    """Print the pages."""
    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    if format_ != "llms":
        return print_answer(LIST_PAGES, request, terminal, collection=collection)
    from ubp.answers.pages.llms import llms_text

    reference = read_collection(collection, request.ref)
    with open_workspace(terminal, collection=reference) as workspace:
        terminal.write(llms_text(workspace.session, request))
    return CLEAN
