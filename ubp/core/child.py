"""Call a function in a child process, whose CPU time and memory the system limits.

It is for libraries that read what others wrote, cannot be interrupted, and may take hours or end
the process. Where this process has a single thread it is forked, which added 15 ms of CPU to the
180 of a first `ubp stale` that parses two versions of 30 kB; elsewhere a Python is started, in 40
ms.
"""

import marshal
import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ubp.core.interruption import checkpoint

READ_BYTES = 1 << 16
MILLISECONDS_BETWEEN_CHECKPOINTS = 50

Function = Callable[[Any], Any]
"""A function of a module: it takes and returns what `marshal` writes."""

_LENGTH = struct.Struct("<Q")
# The import path is the parent's, without the current folder: that is a repository.
_PROGRAM = """
import sys
sys.path[:] = {path!r}
from ubp.core.child import main
from {module} import {name}
main({name}, {limits!r})
"""


class Limits(NamedTuple):
    """What a call may take: whole seconds of CPU, and bytes beyond what this process has."""

    cpu_seconds: int
    memory: int


def call_limited(
    function: Function,
    items: Sequence[Any],
    limits: Limits,
    prepare: Callable[[], object] = lambda: None,
) -> list[Any]:
    """Return what a function returns for each item; None: the call exceeded a limit, or failed.

    `prepare` is called before this process is forked: it may import what each child needs.
    """
    if os.name == "nt":  # without limits
        return [function(item) for item in items]
    answers: list[Any] = []
    while len(answers) < len(items):
        rest = items[len(answers) :]
        if _is_single_threaded():
            prepare()
            output = _run_forked(function, rest, limits)
        else:
            output = _run_python(function, rest, limits)
        found = list(_unpack(output))
        answers += found
        if len(found) < len(rest):
            answers.append(None)
    return answers


def main(function: Function, limits: tuple[int, int]) -> None:
    """Read the items on standard input, and write an answer for each."""
    output = os.dup(1)
    _serve(function, marshal.loads(sys.stdin.buffer.read()), Limits(*limits), output)  # noqa: S302  # our parent


def _unpack(output: bytes) -> Iterator[Any]:
    start = 0
    while start + _LENGTH.size <= len(output):
        (length,) = _LENGTH.unpack_from(output, start)
        end = start + _LENGTH.size + length
        if end > len(output):
            return
        yield marshal.loads(output[start + _LENGTH.size : end])  # noqa: S302  # our own child
        start = end


def _is_single_threaded() -> bool:
    """Return whether forking is safe: no other thread can hold a lock. Only Linux knows it."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _run_forked(function: Function, items: Sequence[Any], limits: Limits) -> bytes:
    source, sink = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.dup2(sink, 3)
            os.closerange(4, 1 << 16)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            _serve(function, items, limits, 3)
        finally:
            os._exit(0)  # whatever happened, nothing of the parent's is flushed or closed
    os.close(sink)
    try:
        return _receive(source, lambda: os.kill(process, 9))
    finally:
        os.close(source)
        with suppress(ChildProcessError):  # our parent has set SIGCHLD to be ignored
            os.waitpid(process, 0)


def _run_python(function: Function, items: Sequence[Any], limits: Limits) -> bytes:
    import subprocess

    path = [os.path.abspath(path) for path in sys.path if path]
    program = _PROGRAM.format(
        path=path, module=function.__module__, name=function.__name__, limits=tuple(limits)
    )
    with subprocess.Popen(  # noqa: S603  # our own Python
        [sys.executable, "-I", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None  # noqa: S101  # for the type checker
        assert process.stdout is not None  # noqa: S101  # the same
        with suppress(BrokenPipeError), process.stdin as stdin:  # it reads all before it answers
            stdin.write(marshal.dumps([_plain(item) for item in items]))
        return _receive(process.stdout.fileno(), process.kill)


def _plain(item: Any) -> Any:
    """Return an item as `marshal` writes it: a named tuple is a tuple."""
    return tuple(item) if isinstance(item, tuple) else item


def _receive(source: int, stop: Callable[[], object]) -> bytes:
    import select

    output = bytearray()
    poll = select.poll()
    poll.register(source, select.POLLIN)
    try:
        while True:
            checkpoint()
            for descriptor, _ in poll.poll(MILLISECONDS_BETWEEN_CHECKPOINTS):
                piece = os.read(descriptor, READ_BYTES)
                if not piece:
                    return bytes(output)
                output += piece
    except BaseException:
        stop()
        raise


def _serve(function: Function, items: Sequence[Any], limits: Limits, sink: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # there is no /proc, or a lower limit
        with open("/proc/self/statm", encoding="ascii") as statm:
            pages = int(statm.read().split()[0])
        limit = pages * resource.getpagesize() + limits.memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    for item in items:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(usage.ru_utime + usage.ru_stime) + 1 + limits.cpu_seconds
        with suppress(ValueError):  # the user's own limit is lower
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
        content = marshal.dumps(function(item))
        remaining = memoryview(_LENGTH.pack(len(content)) + content)
        while remaining:
            remaining = remaining[os.write(sink, remaining) :]
