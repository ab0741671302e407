"""The error handler of all commands, and their exit statuses.

The status is 0 when clean, 1 for findings, 2 for errors and usage errors, 130 when interrupted. An
error is printed in three lines; with `--json` it is an object on stdout,
`{"error": {"message", "cause", "hint"}}`.
"""

from collections.abc import Callable

from ubp.cli.terminal import Terminal
from ubp.core.errors import StoreError, UbpError, ask_again_if_damaged

CLEAN, FINDINGS, FAILED, INTERRUPTED = 0, 1, 2, 130


def run_command(command: Callable[[Terminal], int], terminal: Terminal) -> int:
    """Run a command and return the process's exit status; all exceptions are handled."""
    try:
        status = ask_again_if_damaged(
            lambda: command(terminal), lambda: _check_nothing_printed(terminal)
        )
        terminal.flush()
    except UbpError as error:
        return _fail(error, terminal)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        path = f"{error.filename}: " if error.filename else ""
        system_error = UbpError(
            f"{path}{error.strerror or error}.",
            cause="The operating system reported an error.",
            hint="Check file permissions and free disk space;"
            " run with --verbose for a stack trace.",
        )
        return _fail(system_error, terminal)
    except Exception as error:  # noqa: BLE001  # a bug must not print a stack trace
        bug = UbpError(
            f"UBP failed: {type(error).__name__}: {error}",
            cause="This is a bug in UBP, not in your repository.",
            hint="Run the command again with --verbose, and report its output"
            " together with that of `ubp version`.",
        )
        return _fail(bug, terminal)
    return status


def _check_nothing_printed(terminal: Terminal) -> None:
    """Raise StoreError where a part of the answer is printed already."""
    if terminal.has_printed:
        raise StoreError("The index was damaged, and has been replaced.", hint="Try again.")


def _fail(error: UbpError, terminal: Terminal) -> int:
    if terminal.options.verbose:
        import traceback

        terminal.trace(traceback.format_exc())
    try:
        terminal.report(error)
        terminal.flush()
    except OSError:  # the reader has gone, or the disk is full; the status still shows the error
        pass
    return error.exit_code
