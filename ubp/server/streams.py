"""The standard streams, reserved for the protocol whatever a library prints.

A module of its own, since they must be claimed before the MCP library is imported.
"""

import os
import sys
from typing import NamedTuple


class Streams(NamedTuple):
    """The descriptors from which messages are read and to which they are written."""

    source: int
    sink: int


def claim_streams() -> Streams:
    """Reserve stdin and stdout for the protocol, in this process and its children.

    From now on prints go to stderr, from Python, from C and from child processes, and stdin is
    empty for them. The streams are never given back: what a buffer still holds when the process
    ends must not reach the client.
    """
    streams = Streams(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before goes to stderr, too
    sys.stdout = sys.stderr
    return streams
