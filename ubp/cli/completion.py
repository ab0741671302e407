"""`ubp --install-completion`: commands and options completed by the user's shell."""

from collections.abc import Callable
from typing import Literal

from cyclopts import App

from ubp.cli.door import CLEAN
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.wording import printable

Shell = Literal["bash", "zsh", "fish", "powershell"]


def make_installer(app: App) -> Callable[..., int]:
    """The command, for an app whose commands are all registered."""

    def install_completion(*, shell: Shell | None = None, terminal: Terminal) -> int:
        """Complete commands and options in your shell: write a script and load it at start.

        Args:
            shell: The shell; the running one where none is named.
            terminal: Where the answer goes.
        """
        chosen = shell or _running_shell()
        path = str(app.install_completion(shell=chosen, add_to_startup=True))
        if terminal.options.json:
            terminal.record({"shell": chosen, "path": path})
        else:
            terminal.write(
                f"Wrote {printable(path)}\nNext: start a new {chosen}, type `ubp ` and press Tab.\n"
            )
        return CLEAN

    return install_completion


def _running_shell() -> Shell:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        return detect_shell()
    except ShellDetectionError as error:
        raise UsageError(
            "Which shell?",
            cause="Nothing here tells which one is running.",
            hint="Name it: ubp --install-completion --shell bash (or zsh, fish, powershell)",
        ) from error
