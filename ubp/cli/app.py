"""The command line as cyclopts understands it: commands, global options, help, usage errors."""

import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import (
    App,
    CycloptsError,
    Group,
    Parameter,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from cyclopts.help import HelpEntry, HelpPanel

from ubp.cli.commands import EVERYDAY_NAMES, ROWS, example_text
from ubp.cli.error_handler import CLEAN
from ubp.cli.fast_path import split_global_options
from ubp.cli.terminal import Options, Terminal
from ubp.core.errors import UsageError
from ubp.core.shell import quote, ubp_command
from ubp.core.text import closest_name
from ubp.core.version import __version__
from ubp.frame.wording import printable

Shell = Literal["bash", "zsh", "fish", "powershell"]
STARTUP_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "powershell": "$PROFILE"}

GLOBAL = Group("Global options", sort_key=9)

# Help is as wide as the terminal within these bounds; a longer label has a line of its own.
MIN_WIDTH, MAX_WIDTH = 60, 100
MAX_LABEL_WIDTH = 26


def run_tokens(tokens: Sequence[str], terminal: Terminal) -> int:
    """Parse a call, run its command and return the exit status.

    Raises:
        UsageError: the call is wrong.
    """
    terminal.set(_peek_global_options(tokens))
    app = build_app(terminal)
    split = split_global_options(tokens)
    try:
        if split:
            options, command_tokens = split
            terminal.set(options)
            status = _run_command(app, command_tokens, terminal)
        else:
            status = app.meta(list(tokens))
    except CycloptsError as error:
        terminal.set(_peek_global_options(tokens))
        raise _usage_error(error) from error
    except SystemExit:  # rich exits like this when the reader of a help text has gone
        return CLEAN
    return status if isinstance(status, int) else CLEAN


def build_app(terminal: Terminal) -> App:
    """Return the app with all commands; its launcher sets the global options of `terminal`."""
    app = App(
        name="ubp",
        help="Find Markdown pages that no longer match the code, using Git history.",
        version=f"ubp {__version__}",
        version_flags=["--version", "-V"],
        # A parameter named `terminal` is not an option: `_run_command` passes it.
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
    for index, row in enumerate(ROWS):
        app.command(
            row.target,
            name=row.name,
            help=row.help,
            group=row.group,
            sort_key=index,
            # cyclopts refuses options for an App, which has its own.
            **({} if row.is_group else {"help_epilogue": example_text(row.example)}),
        )
    # Flags that are commands to cyclopts.
    app.command(
        _completion_installer(app),
        name="--install-completion",
        help="Install shell completion and exit.",
        group=GLOBAL,
        help_epilogue="Example:\n  ubp --install-completion --shell zsh",
    )
    for flag, help_text in (
        ("--help", "Show help and exit."),
        ("--version", "Print the version and exit."),
    ):
        app[flag].group = GLOBAL
        app[flag].help = help_text
    _add_launcher(app, terminal)
    return app


class Help:
    """A help formatter that prints plain columns; of rich only the terminal's width is used.

    cyclopts calls `render_usage`, `render_description`, then the object itself for each panel.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._usage = ""
        self._description = ""

    def render_usage(self, _console: Any, _options: Any, usage: Any) -> None:
        """Keep the usage line until the first panel, which may name the arguments."""
        self._usage = _plain(usage)

    def render_description(self, console: Any, _options: Any, description: Any) -> None:
        """Keep the description, wrapped, until the usage line is printed."""
        paragraphs = _plain(description).split("\n\n")
        width = _width(console)
        self._description = "\n\n".join(textwrap.fill(text, width) for text in paragraphs)

    def __call__(self, console: Any, options: Any, panel: HelpPanel) -> None:  # noqa: ARG002  # protocol
        """Print a group of commands, arguments or options."""
        if not panel.entries:
            return
        if self._usage:
            # cyclopts writes ARGS for all optional arguments.
            arguments = " ".join(
                _usage_of(entry)
                for entry in panel.entries
                if entry.positional_label and not entry.required
            )
            usage = re.sub(r"\[ARGS(\.\.\.)?\]", lambda _: arguments, self._usage)
            self._terminal.write(f"Usage: {usage}\n\n{self._description}\n")
            self._usage = ""
        rows = [(_label(entry), _description(entry)) for entry in panel.entries]
        indent = min(max(len(label) for label, _ in rows), MAX_LABEL_WIDTH) + 4
        lines = ["", self._terminal.style.bold(f"{_plain(panel.title)}:")]
        for label, description in rows:
            text = textwrap.wrap(description, _width(console) - indent) or [""]
            if len(label) > indent - 4:
                lines += [f"  {label}", " " * indent + text[0]]
            else:
                lines.append(f"  {label:<{indent - 2}}{text[0]}".rstrip())
            lines += [" " * indent + line for line in text[1:]]
        self._terminal.write("\n".join(lines) + "\n")


def _width(console: Any) -> int:
    width: int = console.width
    return min(max(width, MIN_WIDTH), MAX_WIDTH)


def _usage_of(argument: HelpEntry) -> str:
    dots = "..." if argument.metavar and argument.metavar.endswith("...") else ""
    return f"[{argument.positional_label}{dots}]"


def _label(entry: HelpEntry) -> str:
    if entry.positional_label:
        return entry.positional_label
    names = ", ".join([*entry.positive_shorts, *entry.positive_names])
    return f"{names} {entry.metavar}" if entry.metavar else names


def _description(entry: HelpEntry) -> str:
    text = _plain(entry.description)
    return f"{text} One of: {', '.join(entry.choices)}." if entry.choices else text


def _plain(text: Any) -> str:
    """Return the text of what cyclopts wraps for rich: an InlineText, a rich Text, or a string."""
    parts = [getattr(text, "primary_renderable", text), *getattr(text, "texts", ())]
    words = (str(getattr(part, "plain", part) or "").strip() for part in parts)
    return " ".join(word for word in words if word)


def _completion_installer(app: App) -> Callable[..., int]:
    def install_completion(
        *, shell: Annotated[Shell | None, Parameter(metavar="SHELL")] = None, terminal: Terminal
    ) -> int:
        """Write a completion script, and offer to load it at shell startup.

        Args:
            shell: The shell; by default the current one.
            terminal: Where the answer goes.
        """
        chosen = shell or _running_shell()
        path = app.install_completion(shell=chosen, add_to_startup=False)
        path.write_text(completion_script(app, chosen), encoding="utf-8", newline="\n")
        if terminal.options.json:
            from ubp.answers.setup.completion import CompletionRecord

            terminal.record(CompletionRecord(shell=chosen, path=str(path)))
            return CLEAN
        terminal.write(f"Wrote {printable(str(path))}\n")
        line = _startup_line(path, chosen)
        if chosen != "fish" and terminal.is_interactive() and _may_edit(terminal, chosen):
            from cyclopts.completion.install import add_to_rc_file

            add_to_rc_file(path, "ubp", chosen)
            line = ""
        if line:
            terminal.write(f"If completion does not work, add this to {STARTUP_FILES[chosen]}:\n")
            terminal.write(f"  {printable(line)}\n")
        terminal.write(f"Next: start a new {chosen}, type `ubp ` and press Tab.\n")
        return CLEAN

    return install_completion


def completion_script(app: App, shell: Shell) -> str:
    """Return a shell's completion script, which completes files where the command has no names."""
    script = app.generate_completion(prog_name="ubp", shell=shell)
    if shell == "bash":
        return script.replace("\ncomplete -F ", "\ncomplete -o default -F ")
    if shell == "zsh":
        # A positional argument without an action: zsh completes nothing there.
        return re.sub(
            r"^( +'(?:\*|\d+):[^:\n]*)'(?= \\$|$)", r"\1:_files'", script, flags=re.MULTILINE
        )
    return script  # the others complete files by default


def _startup_line(path: Path, shell: Shell) -> str:
    """Return the line that loads the script at startup, "" if the shell finds it by itself."""
    if shell == "zsh":
        return f"fpath=({quote(str(path.parent))} $fpath)"
    return "" if shell == "fish" else f". {quote(str(path))}"


def _may_edit(terminal: Terminal, shell: Shell) -> bool:
    from ubp.cli.prompts import choose

    question = f"Load it at startup, by a line in {STARTUP_FILES[shell]}?"
    return choose(terminal, question, ("yes", "no")) == "yes"


def _running_shell() -> Shell:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        return detect_shell()
    except ShellDetectionError as error:
        raise UsageError(
            "Cannot detect the current shell.",
            hint="Specify it: ubp --install-completion --shell bash (or zsh, fish, powershell)",
        ) from error


def _add_launcher(app: App, terminal: Terminal) -> None:
    """Add the meta app, which takes the global options before or after the command."""
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
        """Apply the global options and run the command.

        Args:
            tokens: The command and its options.
            json: Print a single JSON object, also for errors.
            no_color: Disable colors (like the environment variable NO_COLOR).
            verbose: Show stack traces.
            quiet: Print only errors and findings, one per line.
            cwd: Run as if started in this directory.
        """
        terminal.set(Options(json, no_color, verbose, quiet, cwd))
        if not tokens:
            from ubp.cli.welcome import welcome

            return welcome(terminal, lambda: app.help_print([]))
        return _run_command(app, tokens, terminal)


def _run_command(app: App, tokens: Sequence[str], terminal: Terminal) -> Any:
    command, bound, ignored = app.parse_args(list(tokens))
    if "terminal" in ignored:
        return command(*bound.args, **bound.kwargs, terminal=terminal)
    return command(*bound.args, **bound.kwargs)


def _peek_global_options(tokens: Sequence[str]) -> Options:
    """Return the options that an error message needs, from a call that may not be valid."""
    before = tokens[: tokens.index("--")] if "--" in tokens else tokens
    has_json_format = "--format=json" in before or ("--format", "json") in pairwise(before)
    return Options(
        json="--json" in before or has_json_format,
        no_color="--no-color" in before,
        verbose="--verbose" in before or "-v" in before,
    )


# What cyclopts says about a call, and the same in our words.
_REWORDED = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r'^(?:Command ".*?" p|P)arameter (-\S*) requires an argument', r"\1 requires a value"),
        (r'^Command ".*?" parameter (\S+) requires an argument', r"Missing argument: \1"),
        (r"^Parameter (\S+) specified multiple times", r"\1 was given more than once"),
        (r'unable to convert (".*") into int', r"\1 is not a whole number"),
        (r'unable to convert (".*") into float', r"\1 is not a number"),
    )
)


def _usage_error(error: CycloptsError) -> UsageError:
    message, _, guess = str(error).partition(" Did you mean ")
    chain = tuple(error.command_chain or ())
    commands = [name for name in error.app or () if not name.startswith("-")]
    hint = f"See `{ubp_command(*chain, '--help')}`."
    if isinstance(error, UnknownOptionError):
        message = message.partition(". ")[0]  # then follow the letters that no option has
        if chain == ("search",) and not guess:
            search = ubp_command("search", "--", error.token.value or error.token.keyword or "")
            hint = f"To search for words with a leading hyphen: {search}"
    elif isinstance(error, UnknownCommandError | UnusedCliTokensError):
        words = error.unused_tokens or [""]
        message, guess = _unexpected(words, commands), ""
        if commands and not words[0].startswith("-"):
            closest = closest_name(words[0], commands)
            guess = f'"{closest}"?' if closest else ""
            shown = (
                f"{', '.join(sorted(commands))}." if chain else f"{', '.join(EVERYDAY_NAMES)}, ..."
            )
            hint = f"Available commands: {shown} {hint}"
    for pattern, text in _REWORDED:
        message = pattern.sub(text, message)
    return UsageError(
        message.rstrip(".") + ".", hint=f"Did you mean {guess} {hint}" if guess else hint
    )


def _unexpected(tokens: Sequence[str], commands: Sequence[str]) -> str:
    """Return the message about words that a command, or a group with commands, does not take."""
    if tokens[0].startswith("-"):
        return f"Unknown option: {tokens[0]}"
    if commands:
        return f'Unknown command "{tokens[0]}"'
    noun = "argument" if len(tokens) == 1 else "arguments"
    return f"Unexpected {noun}: {' '.join(map(quote, tokens))}"
