"""`--interactive`: the full-screen view for whoever sits at a terminal that can show it."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec

from ubp.cli.decisions import Decision, Item
from ubp.cli.editor import edit_files
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.installation import install_command
from ubp.git.repository import Repository

EXTRA = "tui"


def require_screen(terminal: Terminal, otherwise: str) -> None:
    """Check that the view can be shown; `otherwise` is a command for whoever cannot see it.

    Raises:
        UsageError: there is no terminal, it cannot move its cursor, or textual is not installed.
    """
    hint = f"Without it: {otherwise}"
    if not terminal.is_interactive():
        raise UsageError("--interactive requires a terminal.", hint=hint)
    if terminal.environment.get("TERM") == "dumb":
        raise UsageError(
            "--interactive requires a terminal that can move its cursor.",
            cause="TERM is dumb.",
            hint=hint,
        )
    if find_spec("textual") is None:
        raise UsageError(
            f"--interactive requires the extra `{EXTRA}`.",
            cause="textual, a library for views in terminals, is not installed.",
            hint=f"Install it: {install_command(EXTRA)}",
        )


def decide(
    title: str, items: Sequence[Item], repository: Repository, terminal: Terminal
) -> Mapping[int, Decision]:
    """Show the items one by one, and return what was decided, by number of the item.

    Raises:
        KeyboardInterrupt: the user left with Ctrl-C.
    """
    from ubp.cli.review_screen import run_screen

    terminal.flush()
    return run_screen(title, items, partial(edit_files, repository), has_color=terminal.style.is_on)
