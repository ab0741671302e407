"""A pool of processes that parse pages."""

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
PageRowsByBlob = dict[ObjectId, PageRows]

# A process takes 35 to 50 MB; four and this one together stay below 250 MB.
MAX_PROCESSES = 4
# Batches in flight for each process: one being parsed, one waiting.
BATCHES_PER_PROCESS = 2

# The import path is the parent's, without the current folder: that is a repository.
PROGRAM = """
import sys
sys.path[:] = {path!r}
from ubp.index.worker import main
main()
"""


def count_processes() -> int:
    """Return how many processes are worth starting on this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MAX_PROCESSES)


def read_in_parallel(batches: Iterable[Blobs], processes: int) -> Iterator[PageRowsByBlob]:
    """Yield the rows of these pages by blob, batch by batch, in the order of completion."""
    with _Processes() as pool, ThreadPoolExecutor(processes) as threads:
        in_flight: set[Future[PageRowsByBlob]] = set()
        for batch in batches:
            in_flight.add(threads.submit(pool.read, batch))
            if len(in_flight) >= processes * BATCHES_PER_PROCESS:
                done, in_flight = wait(in_flight, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while in_flight:
            done, in_flight = wait(in_flight, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


class _Processes:
    """One process per thread that reads pages; a context manager that kills them at the end."""

    def __init__(self) -> None:
        self._thread = threading.local()
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
            process.communicate()

    def read(self, blobs: Blobs) -> PageRowsByBlob:
        """Return the rows of pages, read by this thread's process, or here if that has failed."""
        if not hasattr(self._thread, "process"):
            self._thread.process = _start()
            if self._thread.process:
                self._started.append(self._thread.process)
        process = cast("subprocess.Popen[bytes] | None", self._thread.process)
        rows = _request(process, blobs) if process else None
        return read_pages(blobs) if rows is None else rows


def _start() -> subprocess.Popen[bytes] | None:
    program = PROGRAM.format(path=[os.path.abspath(path or os.curdir) for path in sys.path if path])
    try:
        return subprocess.Popen(  # noqa: S603  # our own Python
            [sys.executable, "-I", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    except OSError:
        return None


def _request(process: subprocess.Popen[bytes], blobs: Blobs) -> PageRowsByBlob | None:
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
