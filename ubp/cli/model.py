"""`ubp model`: which embedding model is in use; `ubp model fetch ID`: bring another one."""

from typing import Literal

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.records import fetched_record, model_record
from ubp.render.text.status import fetched_text, model_text


def model(
    action: Literal["fetch"] | None = None, name: str | None = None, /, *, terminal: Terminal
) -> int:
    """Tell which model is in use, or fetch another one.

    Args:
        action: Bring a model from the hub; nothing else that UBP does uses a network.
        name: The model's id there, an owner and a name.
        terminal: Where the answer goes.
    """
    if action == "fetch":
        return _fetch(name, terminal)
    with open_workspace(terminal) as workspace:
        found = workspace.model_status(workspace.view())
    if terminal.options.json:
        terminal.record(model_record(found))
    elif not terminal.options.quiet:
        terminal.write(model_text(found))
    return CLEAN


def _fetch(name: str | None, terminal: Terminal) -> int:
    from ubp.models import fetch_model

    if name is None:
        raise UsageError(
            "Which model is to be fetched?",
            hint="Say its id: ubp model fetch minishlab/potion-multilingual-128M",
        )
    fetched = fetch_model(name, terminal.environment, terminal.progress)
    if terminal.options.json:
        terminal.record(fetched_record(fetched))
    elif not terminal.options.quiet:
        terminal.write(fetched_text(fetched))
    return CLEAN
