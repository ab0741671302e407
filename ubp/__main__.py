"""Where the process starts: the hot calls straight to their function, all others by cyclopts."""

import atexit
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from ubp.cli.error_handler import INTERRUPTED, run_command
from ubp.cli.fast_path import Call, parse_fast_call
from ubp.cli.terminal import Options, Terminal, open_streams

# What a run reads lives until it ends: looking through it for garbage every 700 objects, as Python
# does, costs a tenth of a warm `ubp stale`. A long run still gets rid of its cycles.
OBJECTS_BEFORE_COLLECTING = 50_000


def run() -> NoReturn:
    """Run the command that the process was started with."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTING)
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:  # before a command began, or after it ended
        status = INTERRUPTED
    # Everything is flushed and closed. Taking the interpreter down object by object costs 5 ms more
    # than leaving at once, so that is done only where somebody else (coverage) waits for the end.
    if not atexit._ncallbacks():  # noqa: SLF001  # nothing public tells
        os._exit(status)
    sys.exit(status)


def main(tokens: Sequence[str]) -> int:
    """Run a command and return its exit status."""
    call = parse_fast_call(tokens)
    terminal = Terminal(call.options if call else Options(), *open_streams(), os.environ)
    if call is not None:
        return run_command(_directly(call), terminal)
    from ubp.cli.app import run_tokens

    return run_command(lambda terminal: run_tokens(tokens, terminal), terminal)


def _directly(call: Call) -> Callable[[Terminal], int]:
    return lambda terminal: call.load()(*call.paths, **call.arguments, terminal=terminal)


if __name__ == "__main__":
    run()
