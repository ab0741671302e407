"""`ubp --install-completion`: commands and options completed by the user's shell.

Help texts: two columns, plain, as wide as the terminal; the rich library only measures it.

Every command by cyclopts: the global options, usage errors.
"""

import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Group, Parameter
from cyclopts.help import HelpEntry, HelpPanel

from ubp import __version__
from ubp.cli.commands import ROWS
from ubp.cli.error_handler import CLEAN
from ubp.cli.fast_path import split_global_options
from ubp.cli.report import welcome
from ubp.cli.terminal import Options, Terminal
from ubp.core.errors import UsageError
from ubp.core.shell import ubp_command
from ubp.output.wording import printable

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


NARROWEST, WIDEST = 60, 100
LABEL_WIDTH = 26

# What an option's value is called; cyclopts would say STR.
VALUES = {
    "--base": "REV",
    "--ref": "REV",
    "--days": "N",
    "--limit": "N",
    "--depth": "N",
    "--center": "PAGE",
    "--doc-type": "TYPE",
    "--tag": "TAG",
    "--link-type": "TYPE",
    "--key": "NAME",
    "--rule": "NAME",
    "--fail-on": "LEVEL",
    "--reason": "TEXT",
    "--file": "PATH",
    "--format": "NAME",
    "--output-file": "FORMAT=PATH",
    "--html": "[FILE]",
    "--output": "FILE",
    "--commits": "N",
    "--weeks": "N",
    "--label": "TEXT",
    "--cwd": "PATH",
}


class Help:
    """Prints what cyclopts found out about a command."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def __call__(self, console: Any, options: Any, panel: HelpPanel) -> None:  # noqa: ARG002  # theirs
        """Print one group of commands, arguments or options."""
        width = min(max(console.width, NARROWEST), WIDEST)
        rows = [(_label(entry), _description(entry)) for entry in panel.entries]
        if not rows:
            return
        indent = min(max(len(label) for label, _ in rows), LABEL_WIDTH) + 4
        lines = [self._terminal.style.bold(f"{_plain(panel.title)}:")]
        for label, description in rows:
            text = textwrap.wrap(description, width - indent) or [""]
            if len(label) > indent - 4:
                lines.append(f"  {label}")
                label = ""  # noqa: PLW2901 - it stands on a line of its own
            lines.append(f"  {label:<{indent - 2}}{text[0]}".rstrip())
            lines += [" " * indent + line for line in text[1:]]
        self._terminal.write("\n".join(lines) + "\n\n")

    def render_usage(self, _console: Any, _options: Any, usage: Any) -> None:
        """Print how a command is called."""
        self._terminal.write(f"Usage: {_plain(usage)}\n\n")

    def render_description(self, console: Any, _options: Any, description: Any) -> None:
        """Print what a command does."""
        width = min(max(console.width, NARROWEST), WIDEST)
        paragraphs = _plain(description).split("\n\n")
        self._terminal.write("\n\n".join(textwrap.fill(p, width) for p in paragraphs) + "\n\n")


def _label(entry: HelpEntry) -> str:
    if entry.positional_label:
        return entry.positional_label
    value = VALUES.get(entry.positive_names[0], "") if entry.positive_names else ""
    names = [*entry.positive_shorts, *entry.positive_names]
    return ", ".join(names) + (f" {value}" if value else "")


def _description(entry: HelpEntry) -> str:
    text = _plain(entry.description)
    return f"{text} One of: {', '.join(entry.choices)}." if entry.choices else text


def _plain(text: Any) -> str:
    """The text of what cyclopts wraps for rich: its own InlineText, rich's Text, or a string."""
    whole = [getattr(text, "primary_renderable", text), *getattr(text, "texts", ())]
    words = (str(getattr(part, "plain", part) or "").strip() for part in whole)
    return " ".join(word for word in words if word)


GLOBAL = Group("Global options", sort_key=9)


def run_tokens(tokens: Sequence[str], terminal: Terminal) -> int:
    """Understand a call, run its command, and return the exit status.

    Raises:
        UsageError: the call is wrong.
    """
    terminal.set(_foresee(tokens))
    app = build_app(terminal)
    plain = split_global_options(tokens)
    try:
        status = _run_plainly(app, *plain, terminal) if plain else app.meta(list(tokens))
    except CycloptsError as error:
        terminal.set(_foresee(tokens))
        raise _usage_error(error, tokens) from error
    except SystemExit:  # rich ends so when the reader of a help text has left
        return CLEAN
    return status if isinstance(status, int) else CLEAN


def build_app(terminal: Terminal) -> App:
    """The commands and the global options, which `terminal` is told."""
    app = App(
        name="ubp",
        help="UBP tells which Markdown pages no longer describe the code, by Git's own memory.",
        version=f"ubp {__version__}",
        version_flags=["--version", "-V"],
        # A parameter named `terminal` is no option: the launcher gives it.
        default_parameter=Parameter(
            negative="", parse=re.compile("^(?!terminal$)"), show_default=False
        ),
        help_format="plaintext",
        help_formatter=Help(terminal),
        help_epilogue="Example:\n  ubp stale",
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    _register(app)
    _add_launcher(app, terminal)
    return app


def _register(app: App) -> None:
    """The commands, and in their own group the flags that are commands to cyclopts."""
    for index, row in enumerate(ROWS):
        app.command(
            row.target,
            name=row.name,
            help=row.help,
            group=row.group,
            sort_key=index,
            help_epilogue=f"Example:\n  {row.example}",
        )
    app.command(
        make_installer(app),
        name="--install-completion",
        help="Complete commands and options in your shell, and exit.",
        group=GLOBAL,
        help_epilogue="Example:\n  ubp --install-completion --shell zsh",
    )
    for flag, help_text in (
        ("--help", "Explain a command, and exit."),
        ("--version", "Print the version, and exit."),
    ):
        app[flag].group = GLOBAL
        app[flag].help = help_text


def _add_launcher(app: App, terminal: Terminal) -> None:
    """The meta app: it takes the global options, which may stand before or after the command."""
    app.meta.suppress_keyboard_interrupt = False

    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        json: Annotated[bool, Parameter(group=GLOBAL)] = False,
        no_color: Annotated[bool, Parameter(group=GLOBAL)] = False,
        verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], group=GLOBAL)] = False,
        quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], group=GLOBAL)] = False,
        cwd: Annotated[
            str | None, Parameter(name=["--cwd", "-C"], group=GLOBAL, metavar="PATH")
        ] = None,
    ) -> Any:
        """Take the global options out and run the command.

        Args:
            tokens: The command and its options.
            json: Answer with one JSON object, errors too.
            no_color: Use no colours (as the environment variable NO_COLOR does).
            verbose: Show stack traces.
            quiet: Print errors and findings only, a line each.
            cwd: Run as if started in this folder.
        """
        terminal.set(Options(json, no_color, verbose, quiet, cwd))
        if not tokens:
            if not json:
                app.help_print([])
            return welcome(terminal)
        return _run_command(app, tokens, terminal)


def _run_plainly(app: App, options: Options, tokens: Sequence[str], terminal: Terminal) -> Any:
    """Do what the launcher does, for a call whose global options are told already."""
    terminal.set(options)
    return _run_command(app, tokens, terminal)


def _run_command(app: App, tokens: Sequence[str], terminal: Terminal) -> Any:
    command, bound, ignored = app.parse_args(list(tokens))
    if "terminal" in ignored:
        return command(*bound.args, **bound.kwargs, terminal=terminal)
    return command(*bound.args, **bound.kwargs)


def _foresee(tokens: Sequence[str]) -> Options:
    """The options that matter to an error, found in a call that may not be understood."""
    told = tokens[: tokens.index("--")] if "--" in tokens else tokens
    asks_json = "--format=json" in told or ("--format", "json") in pairwise(told)
    return Options(
        json="--json" in told or asks_json,
        no_color="--no-color" in told,
        verbose="--verbose" in told or "-v" in told,
    )


def _usage_error(error: CycloptsError, tokens: Sequence[str]) -> UsageError:
    message, _, guess = str(error).partition(" Did you mean ")
    command = next((row.name for row in ROWS if row.name in tokens), "")
    manual = f"`{ubp_command(*([command] if command else []), '--help')}`"
    hint = f"{manual} tells what can be said."
    return UsageError(
        message.rstrip(".") + ".", hint=f"Did you mean {guess} {hint}" if guess else hint
    )
