"""The one door that every command leaves by: errors become three lines, statuses exit codes.

0 clean, 1 findings, 2 could not do the job (a wrong call too), 130 interrupted. With `--json` an
error is one object on stdout, `{"error": {"message", "cause", "hint"}}`, and the status still 2.
"""

from collections.abc import Callable

from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError

CLEAN, FINDINGS, FAILED, INTERRUPTED = 0, 1, 2, 130


def run_command(work: Callable[[Terminal], int], terminal: Terminal) -> int:
    """Do the work and return the process's exit status; no exception passes."""
    try:
        status = work(terminal)
        terminal.flush()
    except UbpError as error:
        return _fail(error, terminal)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return _fail(_system_error(error), terminal)
    except Exception as error:  # noqa: BLE001 - this is the last door
        return _fail(_defect(error), terminal)
    return status


def _fail(error: UbpError, terminal: Terminal) -> int:
    if terminal.options.verbose:
        import traceback

        terminal.trace(traceback.format_exc())
    try:
        terminal.report(error)
        terminal.flush()
    except OSError:  # the answer's reader is gone, or its disk is full; the status still tells
        pass
    return error.exit_code


def _system_error(error: OSError) -> UbpError:
    where = f"{error.filename}: " if error.filename else ""
    return UbpError(
        f"{where}{error.strerror or error}.",
        cause="The operating system refused it.",
        hint="Look at the file's permissions and at the free space; --verbose tells where it was.",
    )


def _defect(error: Exception) -> UbpError:
    return UbpError(
        f"UBP failed: {type(error).__name__}: {error}",
        cause="This is a defect of UBP, not of your repository.",
        hint="Run the command again with --verbose and report what it prints, with `ubp version`, "
        "where you got UBP from.",
    )
