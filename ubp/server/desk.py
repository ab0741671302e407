"""A thread with a workspace of its own: what it is asked it does in turn.

SQLite's connections and libgit2's handles belong to the thread that opened them.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar, cast

from ubp.seams import Progress
from ubp.workspace import Workspace

T = TypeVar("T")

# Git may hang (a file system that is gone); the process leaves all the same.
SECONDS_TO_CLOSE = 5.0


class GivenUpError(BaseException):
    """Nobody waits for the answer any more; no handler of errors shall hold it up."""


class Job:
    """Something to do, and who is told its steps; `is_given_up` ends it at the next one."""

    def __init__(self, work: Callable[[Workspace], Any], progress: Progress) -> None:
        self.work = work
        self.progress = progress
        self.answer: Future[Any] = Future()
        self.is_given_up = False


class Desk:
    """Does one job at a time, in a workspace that is opened anew where what it is made of changes.

    A workspace that is not kept is closed when there is nothing to do, and gives back its memory.
    """

    def __init__(
        self, open_workspace: Callable[[Progress], Workspace], *, is_kept: bool = True
    ) -> None:
        self._open_workspace = open_workspace
        self._is_kept = is_kept
        self._workspace: Workspace | None = None
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._job: Job | None = None
        self._thread = threading.Thread(target=self._run, name="desk", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    async def ask(self, work: Callable[[Workspace], T], progress: Progress) -> T:
        """What `work` answers, done in the desk's thread; given up where the asker is cancelled.

        `progress` is told the steps, in that thread; what it raises ends the work.
        """
        job = Job(work, progress)
        self._jobs.put(job)
        try:
            return cast("T", await asyncio.wrap_future(job.answer))
        except asyncio.CancelledError:
            job.is_given_up = True
            raise

    def close(self) -> None:
        """Give up what is being done, and close the workspace."""
        job = self._job
        if job:
            job.is_given_up = True
        self._jobs.put(None)
        self._thread.join(SECONDS_TO_CLOSE)

    def _run(self) -> None:
        while job := self._jobs.get():
            if not job.answer.set_running_or_notify_cancel():
                continue
            self._job = job
            try:
                job.answer.set_result(job.work(self._open()))
            except BaseException as error:  # noqa: BLE001  # the asker gets it
                job.answer.set_exception(error)
            self._job = None
            if not (self._is_kept or self._jobs.qsize()):
                self._close_what_lasts()
        self._close()

    def _open(self) -> Workspace:
        if self._workspace is not None and self._workspace.is_outdated():
            self._close()
        if self._workspace is None:
            self._workspace = self._open_workspace(self._step)
        return self._workspace

    def _close_what_lasts(self) -> None:
        # What is in memory only would have to be read again.
        if self._workspace is not None and self._workspace.store.path is not None:
            self._close()

    def _close(self) -> None:
        workspace, self._workspace = self._workspace, None
        if workspace is not None:
            workspace.close()

    def _step(self, name: str, done: int, total: int) -> None:
        if self._job is None:
            return
        if self._job.is_given_up:
            raise GivenUpError
        self._job.progress(name, done, total)
