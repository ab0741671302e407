"""A thread with a workspace of its own: what it is asked it does in turn.

SQLite's connections and libgit2's handles belong to the thread that opened them.

Who answers a call: the quick desk what takes milliseconds, the slow one what takes long.

What takes long is a snapshot that nobody has read yet: a new clone, a branch that was never here.
The slow desk reads it while the quick one goes on answering what needs none of it.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar, cast

from ubp.core.errors import UbpError
from ubp.core.model import EMBEDDING, Progress
from ubp.workspace import Workspace

T = TypeVar("T")

# Git may hang (a file system that is gone); the process leaves all the same.
SECONDS_TO_CLOSE = 5.0


class CallAbandonedError(BaseException):
    """Nobody waits for the answer any more; no handler of errors shall hold it up."""


class Job:
    """Something to do, and who is told its steps; `is_given_up` ends it at the next one."""

    def __init__(self, work: Callable[[Workspace], Any], progress: Progress) -> None:
        self.work = work
        self.progress = progress
        self.answer: Future[Any] = Future()
        self.is_given_up = False


class Worker:
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
        if self._workspace is not None and self._workspace.session.is_outdated():
            self._close()
        if self._workspace is None:
            self._workspace = self._open_workspace(self._step)
        return self._workspace

    def _close_what_lasts(self) -> None:
        # What is in memory only would have to be read again.
        if self._workspace is not None and self._workspace.session.store.path is not None:
            self._close()

    def _close(self) -> None:
        workspace, self._workspace = self._workspace, None
        if workspace is not None:
            workspace.close()

    def _step(self, name: str, done: int, total: int) -> None:
        if self._job is None:
            return
        if self._job.is_given_up:
            raise CallAbandonedError
        self._job.progress(name, done, total)


LOG = logging.getLogger(__name__)

# So many pages or passages are read at once, in 0.2 to 0.4 s. For more than these several processes
# are started, too (`ubp.index.ingest`).
MAX_WAITING = 300

SECONDS_BETWEEN_REPORTS = 0.25
# Clients that know nothing of progress give up after 60 s; 26,000 pages are read in 20 to 40.
SECONDS_TO_WAIT = 45.0

Report = Callable[[float, float, str], Awaitable[None]]


class IndexNotReadyError(UbpError):
    """The index is being built, and there is nothing to answer from yet."""


class TooManyCallsError(BaseException):
    """More is to be read than a call shall keep the others waiting for."""


class VectorsNotReadyError(UbpError):
    """The same of vectors: a search that is told so finds words meanwhile."""


class Step(NamedTuple):
    """How far the slow desk is: the steps before this one count too, so that it only grows."""

    name: str = ""
    done: int = 0
    total: int = 0
    before: int = 0


class Scheduler:
    """Two desks, and the way that a call takes between them."""

    def __init__(
        self,
        open_workspace: Callable[[Progress], Workspace],
        seconds_of_patience: float = SECONDS_TO_WAIT,
    ) -> None:
        self._quick = Worker(open_workspace)
        self._slow = Worker(open_workspace, is_kept=False)
        self._step = Step()
        self._seconds_of_patience = seconds_of_patience
        self._has_more_to_read = asyncio.Event()
        self._left: set[asyncio.Task[Any]] = set()
        # Held, it is shared with the quick desk, and outlives workspaces that are opened anew: what
        # one thread gives back, another one's allocations do not use, and a model takes 100 MB.
        self._model: object = None

    def start(self) -> None:
        """Begin to work, for the event loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._quick.start()
        self._slow.start()

    async def keep_ready(self) -> None:
        """Read the work tree's pages before anybody asks, and what a call has refused to read."""
        while True:
            self._has_more_to_read.clear()
            try:
                await self._read_ahead()
            except (UbpError, TooManyCallsError):
                pass  # whoever asks is told
            except Exception:
                LOG.exception("reading ahead failed")
            await self._has_more_to_read.wait()

    async def answer(self, work: Callable[[Workspace], T], report: Report) -> T:
        """What `work` answers; `report` is told the progress of a long wait.

        Raises:
            IndexNotReadyError: it would take still longer. It goes on; ask again later.
        """
        deadline = asyncio.get_running_loop().time() + self._seconds_of_patience
        try:
            return await self._quick.ask(work, self._refuse_much)
        except VectorsNotReadyError:
            return await self._wait(work, self._take_step, deadline, report)
        except TooManyCallsError:
            pass
        try:
            return await self._wait(work, self._take_words, deadline, report)
        except VectorsNotReadyError:
            return await self._wait(work, self._take_step, deadline, report)

    def close(self) -> None:
        """Give up what is being done; what was saved stays."""
        self._quick.close()
        self._slow.close()

    async def _read_ahead(self) -> None:
        await self._slow.ask(_read_words, self._take_step)
        self._model = await self._slow.ask(_read_vectors, self._take_step)
        if self._model is not None:
            await self._quick.ask(_read_vectors, self._refuse_much)
        await self._slow.ask(Workspace.learn_dates, self._take_step)

    async def _wait(
        self, work: Callable[[Workspace], T], progress: Progress, deadline: float, report: Report
    ) -> T:
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(self._slow.ask(work, progress))
        told, step = 0, self._step
        try:
            while not task.done() and loop.time() < deadline:
                await asyncio.wait([task], timeout=SECONDS_BETWEEN_REPORTS)
                step = self._step
                if told < step.before + step.done:
                    told = step.before + step.done
                    await report(told, step.before + step.total, step.name)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        self._leave(task)
        raise IndexNotReadyError(
            f"The index is not ready: {step.name or 'reading'}, {step.done} of {step.total}.",
            hint="Call again in half a minute.",
        )

    def _leave(self, task: "asyncio.Task[Any]") -> None:
        """Let a task go on that nobody waits for."""
        self._left.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._left.discard(task)
        if not task.cancelled():
            task.exception()

    def _refuse_much(self, name: str, done: int, total: int) -> None:
        if total - done <= MAX_WAITING:
            return
        if name != EMBEDDING:
            raise TooManyCallsError
        self._loop.call_soon_threadsafe(self._has_more_to_read.set)
        raise VectorsNotReadyError(
            f"{total - done} passages have no vector yet.",
            cause="The index is being built.",
            hint="Call again in half a minute.",
        )

    def _take_words(self, name: str, done: int, total: int) -> None:
        if name == EMBEDDING:
            self._refuse_much(name, done, total)
        self._take_step(name, done, total)

    def _take_step(self, name: str, done: int, total: int) -> None:
        last = self._step
        before = last.before if name == last.name else last.before + last.total
        self._step = Step(name, done, max(done, total), before)


def _read_words(workspace: Workspace) -> None:
    workspace.session.view().full_text()


def _read_vectors(workspace: Workspace) -> object:
    """The model by which vectors were made; None: there is none."""
    model = workspace.session.model()
    if model is not None:
        workspace.session.view().semantic_index(model)
    return model
