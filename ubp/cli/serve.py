"""`ubp serve`: the server for agents, on this process's stdin and stdout."""

from collections.abc import Sequence
from importlib.util import find_spec

from ubp.cli.door import CLEAN
from ubp.cli.origin import find_install, find_origin
from ubp.cli.terminal import Options, Terminal
from ubp.errors import UsageError

EXTRA = "full"
DEBUG, INFO, ERROR = 10, 20, 40  # as in `logging`, which takes 10 ms to import


def serve(  # noqa: PLR0913  # the command's options
    *,
    toolsets: str | None = None,
    tools: str | None = None,
    exclude_tools: str | None = None,
    read_only: bool = False,
    no_output_schema: bool = False,
    terminal: Terminal,
) -> int:
    """Answer agents over the Model Context Protocol until the client leaves.

    Args:
        toolsets: Offer these sets of tools only, separated by commas.
        tools: Offer these tools too, separated by commas; without --toolsets only these.
        exclude_tools: Offer none of these, whatever else is said.
        read_only: Offer nothing that writes, whatever else is said.
        no_output_schema: Answer in text alone, without records and their schemas: clients that get
            both (Claude Code, VS Code) show a model the record, 2.5 times as many tokens.
        terminal: Where the command was given.
    """
    if find_spec("mcp") is None:
        raise UsageError(
            f"ubp serve needs the extra `{EXTRA}`.",
            cause="The library for the Model Context Protocol is not installed.",
            hint=f"This installs it: {find_install(find_origin(), EXTRA)}",
        )
    from ubp.server.serving import Offer, serve_repository
    from ubp.tools.registry import select_tools

    chosen = select_tools(
        _names(toolsets), _names(tools), _names(exclude_tools), read_only=read_only
    )
    serve_repository(
        terminal.directory,
        Offer(chosen, is_structured=not no_output_schema),
        environment=terminal.environment,
        level=_level(terminal.options),
    )
    return CLEAN


def _names(told: str | None) -> Sequence[str]:
    return [name.strip() for name in (told or "").split(",") if name.strip()]


def _level(options: Options) -> int:
    if options.verbose:
        return DEBUG
    return ERROR if options.quiet else INFO
