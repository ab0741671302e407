"""Pages read by several processes at a time, in batches, as they are done."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Self, cast

from ubp.core.model import ObjectId
from ubp.index.store.codec import PageRows
from ubp.index.worker import read_pages, receive, send

Blobs = Mapping[ObjectId, bytes]
Answers = dict[ObjectId, PageRows]

# A process takes 35 to 50 MB; with four, and this one, all together stay below 250 MB.
MOST_PROCESSES = 4
# Batches under way for each process: one at work, one that waits.
BATCHES_AHEAD = 2

# The module's path is the parent's: the current folder (a repository) is never looked into.
PROGRAM = """
import sys
sys.path[:] = {path!r}
from ubp.index.worker import main
main()
"""


def count_processes() -> int:
    """How many processes are worth starting here."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MOST_PROCESSES)


def read_in_parallel(batches: Iterable[Blobs], processes: int) -> Iterator[Answers]:
    """Read these pages, the batches in the order in which they are done."""
    with _Crew() as crew, ThreadPoolExecutor(processes) as threads:
        under_way: set[Future[Answers]] = set()
        for batch in batches:
            under_way.add(threads.submit(crew.read, batch))
            if len(under_way) >= processes * BATCHES_AHEAD:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                yield from (one.result() for one in done)
        while under_way:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)


class _Crew:
    """A process for each thread that asks for one; all are ended when it is left."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
            process.communicate()

    def read(self, blobs: Blobs) -> Answers:
        """Have pages read by this thread's process, or here where it is gone."""
        process = self._process()
        answer = _ask(process, blobs) if process else None
        if answer is None:
            return read_pages(blobs)
        return answer

    def _process(self) -> subprocess.Popen[bytes] | None:
        if not hasattr(self._own, "process"):
            self._own.process = _start()
            if self._own.process:
                self._started.append(self._own.process)
        return cast("subprocess.Popen[bytes] | None", self._own.process)


def _start() -> subprocess.Popen[bytes] | None:
    program = PROGRAM.format(path=[os.path.abspath(path or os.curdir) for path in sys.path if path])
    try:
        return subprocess.Popen(  # noqa: S603  # our own Python
            [sys.executable, "-I", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    except OSError:
        return None


def _ask(process: subprocess.Popen[bytes], blobs: Blobs) -> Answers | None:
    if process.stdin is None or process.stdout is None:
        return None
    try:
        send(process.stdin, dict(blobs))
        answer = receive(process.stdout)
    except OSError:
        return None
    if not isinstance(answer, dict):
        return None
    return {blob: PageRows(*rows) for blob, rows in answer.items()}
