"""A server with tools made for tests: an empty one, and some that behave badly."""

import ctypes
import os
import subprocess
import time
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import ubp.server.process
from ubp.core.errors import StoreError
from ubp.frame.arguments import between
from ubp.server.process import ServeOptions, serve_repositories
from ubp.server.tools.tool import Tool


class Version(NamedTuple):
    """A record with a text."""

    version: str = ""


@dataclass(frozen=True, slots=True)
class NoArguments:
    """A request for what needs no arguments."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A request for work in so many steps."""

    steps: Annotated[int, *between(1, 1000)] = 10


def empty(_, __):
    return Version()


def slow(workspace, request):
    """Take a while, in steps."""
    for step in range(request.steps):
        workspace.session.progress("Waiting", step, request.steps)
        time.sleep(0.05)
    return Version(str(request.steps))


def noisy(_, __):
    """Print wherever one can print, and leave something in buffers."""
    print("from Python")
    os.write(1, b"from the descriptor\n")
    subprocess.run(["echo", "from a program"], check=True)
    ctypes.CDLL(None).puts(b"from C")
    print("unfinished", end="")
    return Version(subprocess.run(["cat"], capture_output=True, check=True).stdout.decode())


def broken(_, __):
    raise ValueError("/home/ann/secret")


def locked(_, __):
    raise StoreError("The index /home/ann/project/.git/ubp/index-1.db is locked.")


def tool(run, request=NoArguments):
    return Tool(
        name=run.__name__,
        title=run.__name__,
        description="For tests.",
        request=request,
        record=Version,
        run=run,
        text=lambda record: record.get("version", ""),
    )


if __name__ == "__main__":
    if patience := os.environ.get("SECONDS_TO_FINISH"):
        ubp.server.process.SECONDS_TO_FINISH = float(patience)
    tools = [tool(run) for run in (empty, noisy, broken, locked)]
    tools.append(tool(slow, Steps))
    offer = ServeOptions(tools, is_structured=True)
    serve_repositories([], offer, environment=os.environ)
