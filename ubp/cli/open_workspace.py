"""How commands open the repository that they are asked about."""

from collections.abc import Sequence

from ubp.cli.terminal import Terminal
from ubp.workspace import Workspace


def open_workspace(
    terminal: Terminal, *, keys: Sequence[str] = (), days: float | None = None
) -> Workspace:
    """Open the workspace around the terminal's directory; warnings and progress go there."""
    return Workspace.open(
        terminal.directory,
        environment=terminal.environment,
        keys=keys,
        days=days,
        warn=terminal.warn,
        progress=terminal.progress,
        clock=terminal.clock,
    )
