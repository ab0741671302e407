"""The commands that start servers: serve and lsp.

Agents and editors wait for them: nothing is imported here that only another command needs.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.parameters import OptionalNumber
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.installation import install_command

EXTRA = "full"  # what `ubp serve` needs
EDITOR_EXTRA = "lsp"  # what `ubp lsp` needs
# As in `logging`, which takes 10 ms to import.
DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
LEVELS = {"DEBUG": DEBUG, "INFO": INFO, "WARNING": WARNING, "ERROR": ERROR}
LEVEL_VARIABLE = "RAG_LOG_LEVEL"

Names = Annotated[str | None, Parameter(metavar="NAMES")]


def serve(  # noqa: PLR0913  # the command's options
    *directories: Annotated[str, Parameter(name="DIR")],
    toolsets: Names = None,
    tools: Names = None,
    exclude_tools: Names = None,
    prefix: Annotated[str | None, Parameter(metavar="TEXT")] = None,
    read_only: bool = False,
    output_schema: Annotated[bool, Parameter(negative="--no-output-schema")] = False,
    notes: Annotated[str | None, Parameter(metavar="NAME[@REV]")] = None,
    allow_network: bool = False,
    http: bool = False,
    port: OptionalNumber = None,
    token_file: Annotated[str | None, Parameter(metavar="FILE")] = None,
    terminal: Terminal,
) -> int:
    """Run `ubp serve`.

    Args:
        directories: Serve the repositories around these directories instead of the current one.
        toolsets: Comma-separated tool sets to offer, instead of the default; after a plus
            (+edit,rag) in addition to it.
        tools: Comma-separated tools to offer in addition to --toolsets, or on their own.
        exclude_tools: Comma-separated tools not to offer; overrides the other options.
        prefix: Text before names such as `search`, which do not begin with that of their set. By
            default the set's name, as in notes_search, if other sets are offered, too.
        read_only: Offer only read-only tools; overrides the other options.
        output_schema: For programs: answer with JSON, as structured content and as the text, and
            list its schemas. A model reads fewer tokens without it.
        notes: The collection that the tool set `notes` reads, instead of the repository.
        allow_network: Let `oss_report` read repositories of the forges that it knows.
        http: Serve any number of clients over Streamable HTTP, at http://127.0.0.1:PORT/mcp.
        port: With --http: the port, by default 8231; 0 for any that is free.
        token_file: With --http: a file with the token that clients must send, created if it does
            not exist. By default it is in $UBP_SERVE_TOKEN, else a new one is shown on stderr.
        terminal: Where the command was given.
    """
    if not http and (port is not None or token_file is not None):
        raise UsageError(f"--{'token-file' if port is None else 'port'} requires --http.")
    if find_spec("mcp") is None:
        raise UsageError(
            f"`ubp serve` requires the extra `{EXTRA}`.",
            cause="The Model Context Protocol library is not installed.",
            hint=f"Install it: {install_command(EXTRA)}",
        )
    from ubp.server.loopback import DEFAULT_PORT, http_options
    from ubp.server.process import ServeOptions, serve_repositories
    from ubp.server.tools import registry
    from ubp.table import offered_kits

    for directory in directories:
        if not os.path.isdir(os.path.join(terminal.directory, directory)):
            raise UsageError(f"There is no directory {directory}.")
    sets = _split_names(toolsets)
    chosen = registry.select_tools(
        sets,
        _split_names(tools),
        _split_names(exclude_tools),
        read_only=read_only,
    )
    if replacing := ",".join(registry.without_defaults(sets)):
        defaults = " and ".join(registry.TOOLSETS)
        terminal.warn(
            f"{replacing} replaces the default sets {defaults}; +{replacing} adds to them."
        )
    if notes:
        from ubp.index.collections import parse_reference

        parse_reference(notes)  # a name that cannot be one is refused now
        chosen = registry.read_notes_of(chosen, notes)
    if allow_network and not read_only:
        chosen = registry.allow_network(chosen)
    chosen = registry.with_prefix(chosen, prefix)
    options = None
    if http:
        port = DEFAULT_PORT if port is None else port
        options = http_options(
            port, token_file, terminal.environment, terminal.directory, terminal.warn
        )
    level = DEBUG if terminal.options.verbose else ERROR if terminal.options.quiet else INFO
    if level == INFO and offered_kits(tool.name for tool in chosen):
        level = _log_level(terminal.environment)
    serve_repositories(
        [os.path.join(terminal.directory, directory) for directory in directories],
        ServeOptions(chosen, is_structured=output_schema, http=options),
        default_directory=terminal.directory,
        environment=terminal.environment,
        level=level,
    )
    return CLEAN


def lsp(*, terminal: Terminal) -> int:
    """Run `ubp lsp`.

    Args:
        terminal: Where the command was given.
    """
    if find_spec("pygls") is None:
        raise UsageError(
            f"`ubp lsp` requires the extra `{EDITOR_EXTRA}`.",
            cause="pygls, a library for language servers, is not installed.",
            hint=f"Install it: {install_command(EDITOR_EXTRA)}",
        )
    from ubp.lsp.server import serve_editor

    serve_editor(terminal.environment, DEBUG if terminal.options.verbose else WARNING)
    return CLEAN


def _log_level(environment: Mapping[str, str]) -> int:
    """Return the level that clients of the tools about projects choose."""
    name = environment.get(LEVEL_VARIABLE, "").strip().upper() or "INFO"
    if name not in LEVELS:
        raise UsageError(
            f"Unknown {LEVEL_VARIABLE}: {name}.", hint=f"Use one of {', '.join(LEVELS)}."
        )
    return LEVELS[name]


def _split_names(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]
