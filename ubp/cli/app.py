"""Every command by cyclopts: the global options, usage errors."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Group, Parameter

from ubp import __version__
from ubp.cli.commands import ROWS
from ubp.cli.completion import make_installer
from ubp.cli.door import CLEAN
from ubp.cli.help import Help
from ubp.cli.quick import take_globals
from ubp.cli.terminal import Options, Terminal
from ubp.cli.welcome import welcome
from ubp.errors import UsageError

GLOBAL = Group("Global options", sort_key=9)


def run_tokens(tokens: Sequence[str], terminal: Terminal) -> int:
    """Understand a call, run its command, and return the exit status.

    Raises:
        UsageError: the call is wrong.
    """
    terminal.set(_foresee(tokens))
    app = build_app(terminal)
    plain = take_globals(tokens)
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
    manual = f"`ubp {command} --help`" if command else "`ubp --help`"
    hint = f"{manual} tells what can be said."
    return UsageError(
        message.rstrip(".") + ".", hint=f"Did you mean {guess} {hint}" if guess else hint
    )
