"""The process's streams: answers go to stdout, everything else to stderr, in colour where seen.

Environment: `NO_COLOR` (any value) and `TERM=dumb` switch colours off, `FORCE_COLOR` switches them
on where no terminal listens, `NO_COLOR` and `--no-color` win. `UBP_NOW` (seconds since the epoch)
stands in for the clock when ages are counted: a report as of another day, and steady tests. It is
not `SOURCE_DATE_EPOCH`, which build environments set to 1980: every page would look young there.
"""

import os
import sys
import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TextIO

from ubp.core.errors import UbpError, UsageError
from ubp.output.wording import Style, printable

# A line of progress is drawn ten times a second: often enough to live, too seldom to cost.
SECONDS_BETWEEN_STEPS = 0.1
BAR_WIDTH = 20  # with its words it fits on a line of 80
# Work that is done sooner needs no line.
SECONDS_BEFORE_PROGRESS = 0.3


# What `check` and `stale` can be told in: `ubp.output.formats` has the table.
Format = Literal["text", "json", "github", "sarif", "rdjson", "gitlab", "markdown", "html"]


class Options(NamedTuple):
    """The global options, which every command takes, before or after its name."""

    json: bool = False
    no_color: bool = False
    verbose: bool = False
    quiet: bool = False
    cwd: str | None = None


class Terminal:
    """Where a command's answer goes. A reader that has seen enough (`| head`) ends no command."""

    def __init__(
        self, options: Options, stdout: TextIO, stderr: TextIO, environment: Mapping[str, str]
    ) -> None:
        self.environment = environment
        self.stdin = sys.stdin
        self._stdout, self._stderr = stdout, stderr
        self._is_cut = False
        self._started = self._last_step = time.monotonic()
        self._progress_width = 0
        self.set(options)

    def set(self, options: Options) -> None:
        """Speak as these options want it."""
        self.options = options
        self.style = Style(is_on=self._has_colour(self._stdout))
        self._error_style = Style(is_on=self._has_colour(self._stderr))
        _escape_what_cannot_be_encoded(self._stdout, "utf-8" if options.json else None)
        _escape_what_cannot_be_encoded(self._stderr, None)

    def speak_utf8(self) -> None:
        """Print an answer that a program reads, whatever the locale says."""
        _escape_what_cannot_be_encoded(self._stdout, "utf-8")

    @property
    def directory(self) -> str:
        """Where the command runs: `--cwd`, else the working directory."""
        return self.options.cwd or "."

    def clock(self) -> float:
        """Now, in seconds since the epoch.

        Raises:
            UsageError: `UBP_NOW` is no number.
        """
        fixed = self.environment.get("UBP_NOW")
        if not fixed:
            return time.time()
        if not fixed.isdecimal():
            raise UsageError(
                f"UBP_NOW is {fixed}.",
                cause="Expected are seconds since 1970, as `date +%s` prints them.",
                hint="Correct it, or unset it.",
            )
        return float(fixed)

    def write(self, text: str) -> None:
        """Print the answer; it ends with a newline."""
        self._clear_progress()
        if self._is_cut or not text:
            return
        try:
            self._stdout.write(text)
        except OSError as error:
            self._cut(error)

    def record(self, record: Mapping[str, Any]) -> None:
        """Print the answer as one JSON object: indented for a terminal, else on one line."""
        from ubp.output.records.staleness import to_json

        self.write(to_json(record, is_indented=self._stdout.isatty()) + "\n")

    def warn(self, sentence: str) -> None:
        """Tell something that the user should know and that ends nothing."""
        if not self.options.quiet:
            self._tell(f"{self._error_style.yellow('Warning:')} {printable(sentence)}\n")

    def progress(self, step: str, done: int, total: int) -> None:
        """Keep one line up to date while the user waits at a terminal."""
        now = time.monotonic()
        is_early = now - self._started < SECONDS_BEFORE_PROGRESS
        if is_early or now - self._last_step < SECONDS_BETWEEN_STEPS or not self._is_watched():
            return
        self._last_step = now
        filled = BAR_WIDTH * min(done, total) // total if total > 0 else 0
        bar = f"[{'#' * filled}{'-' * (BAR_WIDTH - filled)}] {done}/{total}"
        line = f"{step}: {bar if total else done}"
        padding = " " * (self._progress_width - len(line))
        self._progress_width = len(line)
        self._tell(f"\r{line}{padding}")

    def is_interactive(self) -> bool:
        """Whether somebody is there to answer a question."""
        return bool(
            self.stdin
            and self.stdin.isatty()
            and self._stdout.isatty()
            and not (self.options.json or self.options.quiet)
        )

    def report(self, error: UbpError) -> None:
        """Print an error: what happened, why, what to do; as JSON on stdout where that is read."""
        self._clear_progress()
        if self.options.json:
            from ubp.output.records.staleness import error_record

            self.record(error_record(error))
            return
        style = self._error_style
        self._tell(f"{style.red('Error:')} {_lines(error.message)}\n")
        if error.cause:
            self._tell(f"  Cause: {_lines(error.cause)}\n")
        if error.hint:
            self._tell(f"  {style.cyan('Hint:')} {_lines(error.hint)}\n")

    def trace(self, text: str) -> None:
        """Print a stack trace."""
        self._tell("".join(f"{printable(line)}\n" for line in text.splitlines()))

    def flush(self) -> None:
        """Send what is still on its way.

        Raises:
            OSError: the answer could not be written (a full disk; not: a reader that went away).
        """
        try:
            self._stdout.flush()
        except OSError as error:
            self._cut(error)

    def _has_colour(self, stream: TextIO) -> bool:
        environment = self.environment
        if self.options.no_color or environment.get("NO_COLOR"):
            return False
        if environment.get("FORCE_COLOR"):
            return True
        # An old Windows console prints the codes themselves; the newer ones announce themselves.
        is_able = os.name != "nt" or bool({"WT_SESSION", "ANSICON", "TERM"} & environment.keys())
        return is_able and environment.get("TERM") != "dumb" and stream.isatty()

    def _is_watched(self) -> bool:
        return not self.options.quiet and self._stderr.isatty()

    def _clear_progress(self) -> None:
        if self._progress_width:
            self._tell("\r" + " " * self._progress_width + "\r")
            self._progress_width = 0

    def _tell(self, text: str) -> None:
        try:
            self._stderr.write(text)
            self._stderr.flush()
        except OSError:  # nobody listens, and there is no other place to say so
            return

    def _cut(self, error: OSError) -> None:
        # Whatever is still buffered goes nowhere, or Python complains when it exits.
        self._is_cut = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stdout.fileno())
        os.close(nowhere)
        if not _is_broken_pipe(error):
            raise error


def open_streams() -> tuple[TextIO, TextIO]:
    """Standard output and error; one that was closed (`>&-`) is replaced by nothing.

    A closed descriptor would be given to the next file that is opened, and written to.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Both are None where the descriptor was closed, whatever typeshed says.
    streams: list[TextIO | None] = [sys.stdout, sys.stderr]
    out, err = (stream or open(os.devnull, "w", encoding="utf-8") for stream in streams)  # noqa: SIM115
    return out, err


def _escape_what_cannot_be_encoded(stream: TextIO, encoding: str | None) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="backslashreplace", **({"encoding": encoding} if encoding else {}))


def _is_broken_pipe(error: OSError) -> bool:
    # Windows says EINVAL where a pipe has no reader.
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == 22)  # noqa: PLR2004


def _lines(text: str) -> str:
    return "\n    ".join(printable(line) for line in text.splitlines())
