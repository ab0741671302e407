"""The workspace of a command, opened at the terminal's directory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ubp.cli.terminal import Terminal
from ubp.core.model import Alarms
from ubp.workspace import Workspace

if TYPE_CHECKING:
    from ubp.index.collections import CollectionReference


def open_workspace(
    terminal: Terminal,
    *,
    keys: Sequence[str] = (),
    days: float | None = None,
    alarms: Alarms | None = None,
    collection: "CollectionReference | None" = None,
) -> Workspace:
    """Open the workspace of the terminal's directory; its warnings and progress go to stderr.

    With `collection`, that collection is opened, as the project around the directory knows it.
    """
    if collection is not None:
        return Workspace.open_collection(
            collection.name,
            collection.version,
            directory=terminal.directory,
            environment=terminal.environment,
            warn=terminal.warn,
            progress=terminal.progress,
            clock=terminal.clock,
        )
    return Workspace.open(
        terminal.directory,
        environment=terminal.environment,
        keys=keys,
        days=days,
        alarms=alarms,
        warn=terminal.warn,
        progress=terminal.progress,
        clock=terminal.clock,
    )
