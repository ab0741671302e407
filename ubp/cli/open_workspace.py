"""The workspace of a command, opened at the terminal's directory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.model import Alarms
from ubp.index.session import Session, Target
from ubp.workspace import Workspace

if TYPE_CHECKING:
    from ubp.answers.review.alarms import AlarmJudge
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


def open_alarm_judge(
    session: Session, target: Target, max_cases: int | None = None
) -> "AlarmJudge | None":
    """Return the judge of a change whose alarms are `judged`, None for any other."""
    if session.config.alarms != "judged" or not target.is_change:
        return None
    from ubp.answers.review.alarms import DEFAULT_CASES, AlarmJudge  # nobody else asks anybody

    return AlarmJudge(session, DEFAULT_CASES if max_cases is None else max_cases)


def reject_unjudged(alarms: Alarms | None, max_cases: int | None, *, is_change: bool) -> None:
    """Refuse options of the judge that would have no effect.

    Raises:
        UsageError: they are given for a state, or the number is too small.
    """
    if max_cases is not None and max_cases < 1:
        raise UsageError("--max-cases must be at least 1.")
    if is_change or (alarms != "judged" and max_cases is None):
        return
    option = "--alarms judged" if alarms == "judged" else "--max-cases"
    raise UsageError(
        f"{option} requires a change.",
        cause="Only what a change makes stale is judged.",
        hint="Add --staged or --base REV.",
    )
