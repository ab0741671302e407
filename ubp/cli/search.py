"""`ubp search`: the answer about this repository and collections, or a hub's about all of them."""

from collections.abc import Collection, Sequence
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.search.search import SEARCH, SearchRequest
from ubp.cli.answers import option_name, options_of
from ubp.cli.print_answer import print_answer, print_record
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.frame.fields import Option

WITH_HUB = frozenset(
    {"query", "limit", "mode", "doc_type", "tags", "hub", "token_file", "repository"}
)


def search(  # noqa: PLR0913  # what the frame and the command line give
    request: SearchRequest,
    *,
    hub: Annotated[
        str | None,
        Parameter(metavar="URL", help="Search all repositories of this hub that you may read."),
    ] = None,
    token_file: Annotated[
        str | None,
        Parameter(metavar="FILE", help="With --hub: a file with the token ($UBP_HUB_TOKEN)."),
    ] = None,
    repository: Annotated[
        str | None, Parameter(metavar="NAME", help="With --hub: search only this repository.")
    ] = None,
    given: Collection[str],
    keys: Sequence[str],
    collection: str | None,
    terminal: Terminal,
) -> int:
    """Print the pages that match best."""
    if hub is None:
        given_for_hub = {"--token-file": token_file, "--repository": repository}
        if names := [name for name, value in given_for_hub.items() if value is not None]:
            verb = "requires" if len(names) == 1 else "require"
            raise UsageError(
                f"{' and '.join(names)} {verb} --hub.", hint="Add the hub's address: --hub URL"
            )
        return print_answer(SEARCH, request, terminal, collection=collection, keys=keys)
    refused = sorted(given - WITH_HUB) if isinstance(given, frozenset) else []
    if refused or collection is not None:
        option = options_of(SEARCH).get(refused[0], Option("")) if refused else Option("")
        name = "--in" if collection is not None else option_name(refused[0], option)
        raise UsageError(
            f"--hub cannot be combined with {name}.",
            cause="The hub searches the tips of repositories.",
        )
    from ubp.answers.hub.ask import ask_search
    from ubp.answers.hub.search import HubSearchRequest, search_text

    question = HubSearchRequest(
        query=request.query,
        repository=repository,
        mode=request.mode,
        doc_type=request.doc_type,
        tags=request.tags,
        limit=request.limit,
    )
    answer = ask_search(hub, token_file, question, terminal.environment, terminal.directory)
    return print_record(answer, search_text, terminal)
