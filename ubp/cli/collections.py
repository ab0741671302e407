"""`ubp collections add`: what would be fetched is shown, and confirmed."""

from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.collections.add import ADD, AddCollectionRequest, Policy, fetch, plan, plan_text
from ubp.cli.error_handler import CLEAN
from ubp.cli.parameters import Revision
from ubp.cli.print_answer import print_answer
from ubp.cli.prompts import choose
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.index.collections import AddedKind

YES, NO = "yes", "no"

Globs = Annotated[list[str] | None, Parameter(metavar="GLOB")]


def add(  # noqa: PLR0913  # the options of a command
    name: str,
    source: str,
    /,
    *,
    kind: Annotated[AddedKind | None, Parameter(metavar="KIND")] = None,
    include: Globs = None,
    at: Revision = None,
    language: Annotated[str | None, Parameter(metavar="NAME")] = None,
    policy: Annotated[Policy | None, Parameter(metavar="POLICY")] = None,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    terminal: Terminal,
) -> int:
    """Run `ubp collections add`.

    Args:
        name: The name of the collection.
        source: An address, a path, an export of bookmarks, or the name of a known specification.
        kind: What to make of the source.
        include: The files to fetch, as globs; by default every document, or a single web page.
        at: A version of a mirror to fetch and pin.
        language: The language or format that the collection specifies.
        policy: Whether the licence allows more than excerpts.
        yes: Fetch without asking.
        terminal: Where the answer goes.
    """
    request = AddCollectionRequest(name, source, kind, tuple(include or ()), at, language, policy)
    collection = plan(terminal, request)
    if not terminal.options.json:
        terminal.write(joined(plan_text(collection, at, Writer(terminal.style))))
    if not yes:
        if not terminal.is_interactive():
            raise UsageError(
                f"Nothing was fetched from {collection.address}.",
                cause="Fetching needs a confirmation, and there is no terminal to ask.",
                hint="Confirm it with --yes.",
            )
        if choose(terminal, "Fetch it?", (YES, NO)) == NO:
            terminal.write("Nothing changed.\n")
            return CLEAN
    planned = replace(ADD, run_anywhere=lambda place, wanted: fetch(place, wanted, collection))
    return print_answer(planned, request, terminal)
