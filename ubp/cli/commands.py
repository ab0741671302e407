"""The table of commands: names, functions and summaries.

Summaries are here, not in the functions' docstrings, so that `ubp --help` imports no command.
"""

from typing import NamedTuple

from cyclopts import Group

from ubp.frame.wording import PAGE_ORDER
from ubp.table import KITS, Kit, row_of_command, subcommands
from ubp.table import ROWS as TABLE

EVERYDAY = Group("Everyday", sort_key=0)
QUERY = Group("Query", sort_key=1)
MAINTAIN = Group("Maintain", sort_key=2)
SETUP = Group("Setup", sort_key=3)
GROUPS = {"query": QUERY, "maintain": MAINTAIN, "setup": SETUP}


class CommandRow(NamedTuple):
    """A command: its name, its function as `module:function`, its help, an example that works.

    One that `is_group` has commands of its own: it is an app, whose help has its own example.
    """

    name: str
    target: str
    group: Group
    help: str
    example: str
    is_group: bool = False


def answer_row(command: str) -> CommandRow:
    """Return the row of a command that is made from the table of answers."""
    row = row_of_command(command)
    target, is_group = f"ubp.cli.answers:{command}", any(subcommands(command))
    return CommandRow(command, target, GROUPS[row.group], row.help, row.example, is_group)


def example_text(command: str) -> str:
    """Return what the help of a command ends with."""
    return f"Example:\n  {command}"


def kit_row(kit: Kit) -> CommandRow:
    """Return the row of a command whose own commands are made from the table of answers."""
    target = f"ubp.cli.answers:{kit.name}"
    return CommandRow(kit.name, target, GROUPS[kit.group], kit.help, kit.example, is_group=True)


# What `ubp --help` shows first, in this order.
EVERYDAY_NAMES = ("init", "review", "check", "stale", "bind", "ack", "search", "serve")

# What is not an answer, or is on the path of hooks.
_BY_HAND = (
    CommandRow(
        "stale",
        "ubp.cli.stale_command:stale",
        QUERY,
        "List stale pages, with the commits and authors that outdated them.\n\n"
        f"{PAGE_ORDER}\n\n"
        "Exit status: 1 if a change (--staged, --base) makes a page stale, or as requested by "
        "--exit-code or --fail-on; 2 if a shallow clone lacks the history to verify a page; "
        "otherwise 0.",
        "ubp stale --base origin/main",
    ),
    CommandRow(
        "serve",
        "ubp.cli.serve:serve",
        SETUP,
        "Run the MCP server for AI agents, on stdin and stdout.\n\n"
        "The agent's client starts it (`ubp init` prints the configuration), and it exits when the "
        "client disconnects. Several servers can run for the same repository. Given several "
        "directories, it serves the repositories around them, and every answer says which it is "
        "about. With --http it serves any number of clients on this machine until it is stopped.",
        "ubp serve --toolsets docs --exclude-tools ubp_get_graph",
    ),
    CommandRow(
        "hub",
        "ubp.cli.hub:hub",
        SETUP,
        "Run an organisation's hub: freshness, impact and owners over all repositories.\n\n"
        "CI sends to it with `ubp push`. Needs the extras `hub` and `full`.",
        "ubp hub up --embedded --data hub-data",
        is_group=True,
    ),
    CommandRow(
        "lsp",
        "ubp.cli.serve:lsp",
        SETUP,
        "Run the language server for editors, on stdin and stdout.\n\n"
        "The editor starts it. Its answers are about the text on the screen, saved or not: "
        "findings of `ubp check`, stale pages, links, completions, renames. Needs the extra "
        "`lsp`.",
        "ubp lsp",
    ),
)

_NAMES = dict.fromkeys(row.command.split(" ")[0] for row in TABLE if row.command)
_KITS = {kit.name: kit_row(kit) for kit in KITS if kit.help}
_ROWS = {
    **{row.name: row for row in _BY_HAND},
    **{name: answer_row(name) for name in _NAMES if name not in _KITS},
    **_KITS,
}
_EVERYDAY = [_ROWS[name]._replace(group=EVERYDAY) for name in EVERYDAY_NAMES if name in _ROWS]
_OTHERS = [row for name, row in _ROWS.items() if name not in EVERYDAY_NAMES]
# Sorted as help shows them.
ROWS = (*_EVERYDAY, *sorted(_OTHERS, key=lambda row: list(GROUPS.values()).index(row.group)))
