"""Scheduling of calls: a worker for quick ones and another one for those that take long.

Indexing takes long for a snapshot that is new: a fresh clone, a branch that was never checked out
here. So do some questions about 100,000 pages. The slow worker does both while the quick one
answers the rest: a call that keeps others waiting there ends at its next checkpoint, and begins
again at the slow worker. Each worker has a thread and a workspace of its own: SQLite connections
and libgit2 handles belong to the thread that opened them. What was read is shared: vectors, and the
documents of the current commit.
"""

import asyncio
import gc
import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar, cast

from ubp.core.errors import UbpError, ask_again_if_damaged
from ubp.core.interruption import interruptible
from ubp.core.model import EMBEDDING, Progress
from ubp.index.tree import SharedCache
from ubp.search.dates import read_dates
from ubp.server.memory import return_free_memory
from ubp.workspace import Workspace

T = TypeVar("T")
ReportProgress = Callable[[float, float, str], Awaitable[None]]

LOG = logging.getLogger(__name__)

# Git may hang (on an unreachable file system); the process ends anyway.
SECONDS_TO_CLOSE = 5.0
# So many pages or passages are read at once, in 0.2 to 0.4 s. For more of them worker processes are
# started, too (`ubp.index.ingest`).
MAX_QUICK_READS = 300
SECONDS_BETWEEN_REPORTS = 0.25
# A call may keep others waiting for so long; until its next checkpoint it takes 0.1 s more at most.
SECONDS_TO_HOLD_UP = 0.1
# Threads of Python share one lock: beside a worker that computes, a search over 26,000 pages takes
# seconds instead of 0.1. So the slow worker lets a job of the quick one finish, but no longer than
# this and once per job, which may itself be waiting for the slow one to write to the index.
SECONDS_TO_GIVE_WAY = 0.25
# A full garbage collection stops all threads, over 100,000 pages for 0.3 s. It is made where no
# call came for so long, after so many of the cheap ones (700,000 new objects).
YOUNG_COLLECTIONS, QUIET_SECONDS = 100, 1.0
# Clients that do not know progress give up after 60 s; 26,000 pages are read in 20 to 40 s.
SECONDS_TO_WAIT = 45.0


class CallAbandonedError(BaseException):
    """Nobody waits for the answer any more; no error handler may catch this."""


class CallTooLongError(BaseException):
    """A call would keep others waiting for too long."""


class Job:
    """A task and who follows its progress; `is_abandoned` ends it at its next checkpoint."""

    def __init__(self, work: Callable[[Workspace], Any], progress: Progress) -> None:
        self.work = work
        self.progress = progress
        self.answer: Future[Any] = Future()
        self.is_abandoned = False
        self.started = 0.0


class Worker:
    """A thread that runs one job at a time in its workspace, reopened when it is outdated.

    A quick worker keeps its workspace, and ends jobs that keep others waiting. The other one, which
    is slower while `quick` runs a job, closes its workspace when there is nothing to do, which
    frees its memory, unless `is_kept`. It shares what `quick` has read.
    """

    def __init__(
        self,
        open_workspace: Callable[[Progress], Workspace],
        *,
        quick: "Worker | None" = None,
        is_kept: bool = False,
    ) -> None:
        self._open_workspace = open_workspace
        self.cache: SharedCache = quick.cache if quick else SharedCache()
        self._quick = quick
        self._is_quick = quick is None
        self._is_kept = is_kept or self._is_quick
        self._is_idle = threading.Event()
        self._is_idle.set()
        self._job_count = 0
        self._gave_way_to = 0
        self._workspace: Workspace | None = None
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._job: Job | None = None
        self._thread = threading.Thread(target=self._run_jobs, name="worker", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    async def run(self, work: Callable[[Workspace], T], progress: Progress) -> T:
        """Run `work` in the worker's thread and return its result; cancelling abandons it.

        `progress` is called in that thread; an exception from it ends the work.

        Raises:
            CallTooLongError: it kept others waiting.
        """
        job = Job(work, progress)
        self._jobs.put(job)
        try:
            return cast("T", await asyncio.wrap_future(job.answer))
        except asyncio.CancelledError:
            job.is_abandoned = True
            raise

    def wait_for_job(self, last: int) -> int:
        """Wait for the current job unless it is the `last` one, and return its number."""
        number = self._job_count
        if number != last:
            self._is_idle.wait(SECONDS_TO_GIVE_WAY)
        return number

    def close(self) -> None:
        """Abandon the current job and close the workspace."""
        job = self._job
        if job:
            job.is_abandoned = True
        self._jobs.put(None)
        self._thread.join(SECONDS_TO_CLOSE)

    def _run_jobs(self) -> None:
        while job := self._next_job():
            if not job.answer.set_running_or_notify_cancel():
                continue
            self._job = job
            self._is_idle.clear()
            self._job_count += 1
            job.started = time.monotonic()
            try:
                with interruptible(self._check):
                    answer = ask_again_if_damaged(partial(self._work, job), self._close)
                job.answer.set_result(answer)
            except (Exception, CallAbandonedError, CallTooLongError) as error:  # noqa: BLE001  # the caller gets it
                job.answer.set_exception(error)
            except BaseException as error:  # noqa: BLE001  # of a library: it must end no more than the call
                job.answer.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
            self._job = None
            self._is_idle.set()
            if not (self._is_kept or self._jobs.qsize()):
                self._close_if_on_disk()
        self._close()

    def _next_job(self) -> Job | None:
        """Wait for a job; the worker at which calls begin collects garbage if none comes soon."""
        if self._is_quick and gc.get_count()[2] >= YOUNG_COLLECTIONS:
            try:
                return self._jobs.get(timeout=QUIET_SECONDS)
            except Empty:
                gc.collect()
                return_free_memory()
        return self._jobs.get()

    def _work(self, job: Job) -> Any:
        return job.work(self._open())

    def _open(self) -> Workspace:
        if self._workspace is not None and self._workspace.session.is_outdated():
            self._close()
        if self._workspace is None:
            self._workspace = self._open_workspace(self._step)
            self._workspace.session.share_cache(self.cache)
            self._workspace.session.store.database.save_memory()
        return self._workspace

    def _close_if_on_disk(self) -> None:
        # An index in memory would have to be built again.
        if self._workspace is not None and self._workspace.session.store.path is not None:
            self._close()
            return_free_memory()

    def _close(self) -> None:
        workspace, self._workspace = self._workspace, None
        if workspace is not None:
            workspace.close()

    def _step(self, name: str, done: int, total: int) -> None:
        if self._job is None:
            return
        self._check()
        self._job.progress(name, done, total)

    def _check(self) -> None:
        """Raise an exception if the current job must end, at each of its checkpoints."""
        job = self._job
        if job is None:
            return
        if self._quick is not None:
            self._gave_way_to = self._quick.wait_for_job(self._gave_way_to)
        if job.is_abandoned:
            raise CallAbandonedError
        is_long = time.monotonic() - job.started > SECONDS_TO_HOLD_UP
        if self._is_quick and is_long and self._jobs.qsize():
            raise CallTooLongError


class IndexNotReadyError(UbpError):
    """The index is being built, and there is nothing to answer from yet."""


class VectorsNotReadyError(UbpError):
    """Vectors are being made; a search falls back to words meanwhile."""


class Step(NamedTuple):
    """A step of the slow worker; `before` sums the steps before it, so that progress only grows."""

    name: str = ""
    done: int = 0
    total: int = 0
    before: int = 0


class Scheduler:
    """Two workers, and the route of a call between them."""

    def __init__(
        self,
        open_workspace: Callable[[Progress], Workspace],
        seconds_to_wait: float = SECONDS_TO_WAIT,
    ) -> None:
        self._quick = Worker(open_workspace)
        self._slow = Worker(open_workspace, quick=self._quick)
        self._step = Step()
        self._seconds_to_wait = seconds_to_wait
        self._reading_wanted = asyncio.Event()
        self._abandoned: set[asyncio.Task[Any]] = set()
        # Held so that both workers share it and it outlives reopened workspaces: memory that one
        # thread frees is not reused by another one's allocations, and a model takes 100 MB.
        self._model: object = None

    def start(self) -> None:
        """Start the workers for the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._quick.start()
        self._slow.start()

    async def keep_ready(self) -> None:
        """Index the work tree before it is needed, and what a call refused to read."""
        while True:
            self._reading_wanted.clear()
            try:
                await self._read_ahead()
            except (UbpError, CallTooLongError):
                pass  # the next call reports it
            except Exception:
                LOG.exception("indexing in the background failed")
            await self._reading_wanted.wait()

    async def answer(
        self, work: Callable[[Workspace], T], report: ReportProgress, *, writes: bool = False
    ) -> T:
        """Run `work` and return its result; `report` gets the progress of a long wait.

        Work that only reads may be ended and begun again. What `writes` is begun once, and waited
        for until it ends.

        Raises:
            IndexNotReadyError: it takes longer still. It goes on; call again later.
        """
        deadline = asyncio.get_running_loop().time() + self._seconds_to_wait
        work = partial(_about_one_state, work)
        if writes:
            return await self._wait(work, self._follow_step, math.inf, report)
        try:
            return await self._quick.run(work, self._limit_reading)
        except VectorsNotReadyError:
            return await self._wait(work, self._follow_step, deadline, report)
        except CallTooLongError:
            pass
        try:
            return await self._wait(work, self._follow_words, deadline, report)
        except VectorsNotReadyError:
            return await self._wait(work, self._follow_step, deadline, report)

    def close(self) -> None:
        """Abandon the current jobs; what they saved stays."""
        self._quick.close()
        self._slow.close()

    async def _read_ahead(self) -> None:
        await self._slow.run(_read_words, self._follow_step)
        self._model = await self._slow.run(_read_vectors, self._follow_step)
        if self._model is not None:
            await self._quick.run(_read_vectors, self._limit_reading)
        await self._slow.run(_read_dates, self._follow_step)

    async def _wait(
        self,
        work: Callable[[Workspace], T],
        progress: Progress,
        deadline: float,
        report: ReportProgress,
    ) -> T:
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(self._slow.run(work, progress))
        reported, step = 0, self._step
        try:
            while not task.done() and loop.time() < deadline:
                await asyncio.wait([task], timeout=SECONDS_BETWEEN_REPORTS)
                step = self._step
                if reported < step.before + step.done:
                    reported = step.before + step.done
                    await report(reported, step.before + step.total, step.name)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        self._let_finish(task)
        raise IndexNotReadyError(
            f"The index is not ready: {step.name or 'Reading'}, {step.done} of {step.total}.",
            hint="Try again in 30 seconds.",
        )

    def _let_finish(self, task: "asyncio.Task[Any]") -> None:
        """Let a task finish for which nobody waits."""
        self._abandoned.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()

    def _limit_reading(self, name: str, done: int, total: int) -> None:
        if total - done <= MAX_QUICK_READS:
            return
        if name != EMBEDDING:
            raise CallTooLongError
        self._loop.call_soon_threadsafe(self._reading_wanted.set)
        raise VectorsNotReadyError(
            f"{total - done} passages have not been embedded yet.",
            cause="The index is being built.",
            hint="Try again in 30 seconds.",
        )

    def _follow_words(self, name: str, done: int, total: int) -> None:
        if name == EMBEDDING:
            self._limit_reading(name, done, total)
        self._follow_step(name, done, total)

    def _follow_step(self, name: str, done: int, total: int) -> None:
        last = self._step
        before = last.before if name == last.name else last.before + last.total
        self._step = Step(name, done, max(done, total), before)


def _about_one_state(work: Callable[[Workspace], T], workspace: Workspace) -> T:
    """Run `work`; Git is asked for the state of the work tree once, not for each question."""
    with workspace.session.one_state():
        return work(workspace)


def _read_words(workspace: Workspace) -> None:
    workspace.session.view().full_text()


def _read_vectors(workspace: Workspace) -> object:
    """Read the vectors and return their model; None if there is none."""
    model = workspace.session.model()
    if model is not None:
        workspace.session.view().semantic_index(model)
    return model


def _read_dates(workspace: Workspace) -> None:
    read_dates(workspace.session)
