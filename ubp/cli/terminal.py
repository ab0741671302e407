"""The process's streams, environment and clock: answers on stdout, everything else on stderr.

`NO_COLOR` (any value) and `TERM=dumb` disable colors, `FORCE_COLOR` enables them where stdout is
not a terminal; `NO_COLOR` and `--no-color` take precedence. `UBP_NOW` (seconds since the epoch)
replaces the clock when ages are counted, for a report as of another day and for reproducible tests.
It is not `SOURCE_DATE_EPOCH`, which build environments set to 1980: every page would look young.
"""

import os
import sys
import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TextIO

from ubp.core.errors import UbpError, UsageError
from ubp.frame.wording import Style, printable

# Ten updates a second look smooth and cost nothing.
SECONDS_BETWEEN_UPDATES = 0.1
BAR_WIDTH = 20  # with its label it fits on a line of 80
# Shorter work shows no progress.
SECONDS_BEFORE_PROGRESS = 0.3

# The formats of `check` and `stale`; `ubp.output.formats` has the table.
Format = Literal[
    "text", "json", "github", "sarif", "rdjson", "gitlab", "markdown", "suggestions", "html"
]


class Options(NamedTuple):
    """The global options, which every command takes, before or after its name."""

    json: bool = False
    no_color: bool = False
    verbose: bool = False
    quiet: bool = False
    cwd: str | None = None


class Terminal:
    """Where a command's output goes. A reader that closes the pipe (`| head`) causes no error."""

    def __init__(
        self, options: Options, stdout: TextIO, stderr: TextIO, environment: Mapping[str, str]
    ) -> None:
        self.environment = environment
        self.stdin = sys.stdin
        self._stdout, self._stderr = stdout, stderr
        self.has_printed = False
        self._is_closed = False
        self._started = self._last_update = time.monotonic()
        self._progress_width = 0
        self.set(options)

    def set(self, options: Options) -> None:
        """Apply the global options."""
        self.options = options
        self.style = Style(is_on=self._has_color(self._stdout))
        self._error_style = Style(is_on=self._has_color(self._stderr))
        _escape_unencodable(self._stdout, "utf-8" if options.json else None)
        _escape_unencodable(self._stderr, None)

    def use_utf8(self) -> None:
        """Print in UTF-8 for programs, whatever the locale is."""
        _escape_unencodable(self._stdout, "utf-8")

    @property
    def directory(self) -> str:
        """The directory of the command: `--cwd`, else the working directory."""
        return self.options.cwd or "."

    def clock(self) -> float:
        """Return the time in seconds since the epoch.

        Raises:
            UsageError: `UBP_NOW` is not a number.
        """
        fixed = self.environment.get("UBP_NOW")
        if not fixed:
            return time.time()
        if not fixed.isdecimal():
            raise UsageError(
                f'Invalid UBP_NOW: "{fixed}".',
                cause="Expected a Unix timestamp, as printed by `date +%s`.",
                hint="Correct or unset the environment variable.",
            )
        return float(fixed)

    def write(self, text: str) -> None:
        """Print text, which ends with a newline, on stdout."""
        self._clear_progress()
        if self._is_closed or not text:
            return
        self.has_printed = True
        try:
            self._stdout.write(text)
        except OSError as error:
            self._close(error)

    def show(self, text: str) -> None:
        """Print a text for people: on a terminal wrapped, with links, and in a pager if it is long.

        In a hook, and where something else reads it, it is printed as it is.
        """
        if not self.is_read_by_a_person():
            self.write(text)
            return
        from shutil import get_terminal_size

        from ubp.cli.display import show_in_pager, show_links, wrap

        self._clear_progress()
        shown = show_links(text, self.directory) if self.style.is_on else text
        shown = wrap(shown, get_terminal_size().columns)
        if not show_in_pager(shown, self.environment, self.directory):
            self.write(shown)

    def is_read_by_a_person(self) -> bool:
        """Whether a text is read on a terminal that can show it, and not in a hook's output."""
        if not self.is_interactive() or self.environment.get("TERM") == "dumb":
            return False
        from ubp.cli.hooks import is_run_by_git

        return not is_run_by_git(self.environment)

    def record(self, record: object, *, is_versioned: bool = True) -> None:
        """Print a record as a JSON object with all of its keys."""
        from ubp.frame.encoding import to_object

        self.json(to_object(record, is_versioned=is_versioned))

    def json(self, json_object: Mapping[str, Any]) -> None:
        """Print a JSON object: indented for a terminal, else on one line."""
        from ubp.frame.encoding import to_json

        self.write(to_json(json_object, is_indented=self._stdout.isatty()) + "\n")

    def warn(self, sentence: str) -> None:
        """Print a warning, unless `--quiet` was given."""
        if not self.options.quiet:
            self._write_error(f"{self._error_style.yellow('Warning:')} {printable(sentence)}\n")

    def progress(self, step: str, done: int, total: int) -> None:
        """Update the progress line of a terminal, at most ten times a second."""
        now = time.monotonic()
        is_early = now - self._started < SECONDS_BEFORE_PROGRESS
        if is_early or now - self._last_update < SECONDS_BETWEEN_UPDATES:
            return
        if self.options.quiet or not self._stderr.isatty():
            return
        self._last_update = now
        filled = BAR_WIDTH * min(done, total) // total if total > 0 else 0
        bar = f"[{'#' * filled}{'-' * (BAR_WIDTH - filled)}] {done}/{total}"
        line = f"{step}: {bar if total else done}"
        padding = " " * (self._progress_width - len(line))
        self._progress_width = len(line)
        self._write_error(f"\r{line}{padding}")

    def is_interactive(self) -> bool:
        """Whether a user can answer questions."""
        return bool(
            self.stdin
            and self.stdin.isatty()
            and self._stdout.isatty()
            and not (self.options.json or self.options.quiet)
        )

    def report(self, error: UbpError) -> None:
        """Print an error with its cause and hint; with `--json` as an object on stdout."""
        self._clear_progress()
        if self.options.json:
            from ubp.frame.records import error_record

            self.record(error_record(error))
            return
        style = self._error_style
        self._write_error(f"{style.red('Error:')} {_lines(error.message)}\n")
        if error.cause:
            self._write_error(f"  Cause: {_lines(error.cause)}\n")
        if error.hint:
            self._write_error(f"  {style.cyan('Hint:')} {_lines(error.hint)}\n")

    def trace(self, text: str) -> None:
        """Print a stack trace."""
        self._write_error("".join(f"{printable(line)}\n" for line in text.splitlines()))

    def flush(self) -> None:
        """Write what is buffered.

        Raises:
            OSError: it could not be written, for example to a full disk; not for a closed pipe.
        """
        try:
            self._stdout.flush()
        except OSError as error:
            self._close(error)

    def _has_color(self, stream: TextIO) -> bool:
        environment = self.environment
        if self.options.no_color or environment.get("NO_COLOR"):
            return False
        if environment.get("FORCE_COLOR"):
            return True
        # An old Windows console prints the escape codes; newer ones set one of these variables.
        supports_color = os.name != "nt" or bool(
            {"WT_SESSION", "ANSICON", "TERM"} & environment.keys()
        )
        return supports_color and environment.get("TERM") != "dumb" and stream.isatty()

    def _clear_progress(self) -> None:
        if self._progress_width:
            self._write_error("\r" + " " * self._progress_width + "\r")
            self._progress_width = 0

    def _write_error(self, text: str) -> None:
        try:
            self._stderr.write(text)
            self._stderr.flush()
        except OSError:  # stderr is closed, and there is no other place to print it
            return

    def _close(self, error: OSError) -> None:
        # Python would try again to write what is buffered, and complain at exit.
        self._is_closed = True
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._stdout.fileno())
        os.close(null)
        if not _is_broken_pipe(error):
            raise error


def open_streams() -> tuple[TextIO, TextIO]:
    """Return stdout and stderr; a closed one (`>&-`) is replaced by the null device.

    Otherwise the next opened file would get its descriptor, and the output.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # They are None if their descriptor was closed, although typeshed does not say so.
    streams: list[TextIO | None] = [sys.stdout, sys.stderr]
    out, err = (stream or open(os.devnull, "w", encoding="utf-8") for stream in streams)  # noqa: SIM115
    return out, err


def _escape_unencodable(stream: TextIO, encoding: str | None) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="backslashreplace", **({"encoding": encoding} if encoding else {}))


def _is_broken_pipe(error: OSError) -> bool:
    # Windows reports EINVAL for a pipe without a reader.
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == 22)  # noqa: PLR2004


def _lines(text: str) -> str:
    return "\n    ".join(printable(line) for line in text.splitlines())
