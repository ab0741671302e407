"""Read symbols in a child process, whose CPU time and memory the system limits.

A grammar cannot be interrupted, some take the square or the cube of the length of code that may
mean several things (16 kB of `<a` in C#: 12 s), and some end the process (300 nested lists in
YAML), so that all of them run in a child (`benchmarks/robustness/parsers.py` measures it). Where
this process has a single thread it is forked, which added 15 ms of CPU to the 180 of a first `ubp
stale` that parses two versions of 30 kB; elsewhere a Python is started, in 40 ms. What was found is
stored by blob, so that each version is parsed once.
"""

import marshal
import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from ubp.code.symbols import Symbols, read_symbols
from ubp.core.interruption import checkpoint
from ubp.core.source import Part

# For each file; the slowest that is read otherwise, with 20,000 definitions, takes 0.8 s.
MAX_CPU_SECONDS = 2
# More than this process has already; 2 MB of Python take 0.3 GB.
MAX_MEMORY = 1 << 30
READ_BYTES = 1 << 16
MILLISECONDS_BETWEEN_CHECKPOINTS = 50

_LENGTH = struct.Struct("<Q")
# The import path is the parent's, without the current folder: that is a repository.
_PROGRAM = """
import sys
sys.path[:] = {path!r}
from ubp.code.limited import main
main()
"""

Wanted = tuple[str, ...] | Literal["all", "spans"]
"""The names to find, or all definitions, or the name, first and last line of each."""


class SourceFile(NamedTuple):
    """The bytes of a source file, its language, and what is wanted of it."""

    data: bytes
    language: str
    wanted: Wanted


def find_in_files(files: Sequence[SourceFile]) -> list[dict[str, tuple[Part, ...]] | None]:
    """Return the definitions of the wanted names of each file; "all" has them below "".

    None: a file cannot be read, because it is too large, or takes too much time or memory.
    """
    return [
        None if answer is None else {name: _parts(rows) for name, rows in answer.items()}
        for answer in _ask(files)
    ]


def find_spans(data: bytes, language: str) -> tuple[tuple[str, int, int], ...]:
    """Return the qualified name, first and last line of each definition; none if unreadable."""
    (answer,) = _ask([SourceFile(data, language, "spans")])
    return tuple(answer[""]) if answer else ()


def main() -> None:
    """Read the files on standard input, and write an answer for each."""
    output = os.dup(1)
    _serve([SourceFile(*row) for row in marshal.loads(sys.stdin.buffer.read())], output)  # noqa: S302  # our parent


def _parts(rows: Sequence[Any]) -> tuple[Part, ...]:
    return tuple([Part(tuple(names), *others) for names, *others in rows])


def _read(file: SourceFile) -> dict[str, list[Any]] | None:
    symbols = read_symbols(file.data, file.language)
    if symbols is None:
        return None
    if file.wanted == "spans":
        return {"": list(symbols.spans())}
    return {name: [tuple(part) for part in parts] for name, parts in _found(symbols, file.wanted)}


def _found(symbols: Symbols, wanted: Wanted) -> Iterator[tuple[str, tuple[Part, ...]]]:
    if isinstance(wanted, str):
        yield "", symbols.all()
    else:
        for name in wanted:
            yield name, symbols.find(name)


def _ask(files: Sequence[SourceFile]) -> list[Any]:
    """Return the answer about each file; the child that fails at one is followed by another."""
    if os.name == "nt":  # without limits
        return [_read(file) for file in files]
    answers: list[Any] = []
    while len(answers) < len(files):
        rest = files[len(answers) :]
        found = list(_unpack(_run_forked(rest) if _is_single_threaded() else _run_python(rest)))
        answers += found
        if len(found) < len(rest):
            answers.append(None)
    return answers


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


def _run_forked(files: Sequence[SourceFile]) -> bytes:
    import ast_grep_py  # noqa: F401  # takes 6 to 20 ms, once instead of in each child

    source, sink = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.dup2(sink, 3)
            os.closerange(4, 1 << 16)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            _serve(files, 3)
        finally:
            os._exit(0)  # whatever happened, nothing of the parent's is flushed or closed
    os.close(sink)
    try:
        return _receive(source, lambda: os.kill(process, 9))
    finally:
        os.close(source)
        with suppress(ChildProcessError):  # our parent has set SIGCHLD to be ignored
            os.waitpid(process, 0)


def _run_python(files: Sequence[SourceFile]) -> bytes:
    import subprocess

    program = _PROGRAM.format(path=[os.path.abspath(path) for path in sys.path if path])
    with subprocess.Popen(  # noqa: S603  # our own Python
        [sys.executable, "-I", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None  # noqa: S101  # for the type checker
        assert process.stdout is not None  # noqa: S101  # the same
        with suppress(BrokenPipeError), process.stdin as stdin:  # it reads all before it answers
            stdin.write(marshal.dumps([tuple(file) for file in files]))
        return _receive(process.stdout.fileno(), process.kill)


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


def _serve(files: Sequence[SourceFile], sink: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # there is no /proc, or a lower limit
        with open("/proc/self/statm", encoding="ascii") as statm:
            pages = int(statm.read().split()[0])
        limit = pages * resource.getpagesize() + MAX_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    for file in files:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(usage.ru_utime + usage.ru_stime) + 1 + MAX_CPU_SECONDS
        with suppress(ValueError):  # the user's own limit is lower
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
        content = marshal.dumps(_read(file))
        remaining = memoryview(_LENGTH.pack(len(content)) + content)
        while remaining:
            remaining = remaining[os.write(sink, remaining) :]
