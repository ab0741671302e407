"""The process's standard streams, kept for the protocol alone, whatever a library prints."""

import os
import sys
from typing import NamedTuple


class Streams(NamedTuple):
    """Descriptors of the client's end: what it says and what it hears."""

    source: int
    sink: int


def take_streams() -> Streams:
    """Take stdin and stdout away from everybody else in this process and below it.

    From here on prints go to stderr, from Python, from C and from programs that are started, and
    who reads stdin finds nothing. They are never given back: what is still in a buffer when the
    process ends must not reach the client.
    """
    streams = Streams(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before: to stderr, too
    sys.stdout = sys.stderr
    return streams
