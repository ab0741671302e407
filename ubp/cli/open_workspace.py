"""The workspace of a command, opened at the terminal's directory."""

from collections.abc import Sequence

from ubp.cli.terminal import Terminal
from ubp.workspace import Workspace


def open_workspace(
    terminal: Terminal, *, keys: Sequence[str] = (), days: float | None = None
) -> Workspace:
    """Open the workspace of the terminal's directory; its warnings and progress go to stderr."""
    return Workspace.open(
        terminal.directory,
        environment=terminal.environment,
        keys=keys,
        days=days,
        warn=terminal.warn,
        progress=terminal.progress,
        clock=terminal.clock,
    )
