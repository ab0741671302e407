"""The process's entry point: hooks' calls run directly, all others through cyclopts."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ubp.cli.error_handler import INTERRUPTED, run_command
from ubp.cli.fast_path import parse_fast_call
from ubp.cli.terminal import Options, Terminal, open_streams

# What a run reads stays in use until it ends: Python's default, a collection every 700 objects,
# takes a tenth of a warm `ubp stale`. A long run still collects its cycles.
GC_THRESHOLD = 50_000


def run() -> NoReturn:
    """Run the command line of this process and exit."""
    gc.set_threshold(GC_THRESHOLD)
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:  # before a command began, or after it ended
        status = INTERRUPTED
    # Everything is flushed and closed. The interpreter's own shutdown takes 5 ms more, so it is
    # skipped unless something (coverage) has registered an exit handler.
    if not atexit._ncallbacks():  # noqa: SLF001  # there is no public way to ask
        os._exit(status)
    sys.exit(status)


def main(tokens: Sequence[str]) -> int:
    """Run a command and return its exit status."""
    call = parse_fast_call(tokens)
    terminal = Terminal(call.options if call else Options(), *open_streams(), os.environ)
    if call is not None:
        return run_command(call.run, terminal)
    from ubp.cli.app import run_tokens

    return run_command(lambda terminal: run_tokens(tokens, terminal), terminal)


if __name__ == "__main__":
    run()
