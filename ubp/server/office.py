"""Who answers a call: the quick desk what takes milliseconds, the slow one what takes long.

What takes long is a snapshot that nobody has read yet: a new clone, a branch that was never here.
The slow desk reads it while the quick one goes on answering what needs none of it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from ubp.errors import UbpError
from ubp.seams import EMBEDDING, Progress
from ubp.server.desk import Desk
from ubp.workspace import Workspace

T = TypeVar("T")

LOG = logging.getLogger(__name__)

# So many pages or passages are read at once, in 0.2 to 0.4 s. For more than these several processes
# are started, too (`ubp.indexing.learning`).
MOST_AT_ONCE = 300

SECONDS_BETWEEN_REPORTS = 0.25
# Clients that know nothing of progress give up after 60 s; 26,000 pages are read in 20 to 40.
SECONDS_OF_PATIENCE = 45.0

Report = Callable[[float, float, str], Awaitable[None]]


class IndexNotReadyError(UbpError):
    """The index is being built, and there is nothing to answer from yet."""


class TooMuchError(BaseException):
    """More is to be read than a call shall keep the others waiting for."""


class VectorsNotReadyError(UbpError):
    """The same of vectors: a search that is told so finds words meanwhile."""


class Step(NamedTuple):
    """How far the slow desk is: the steps before this one count too, so that it only grows."""

    name: str = ""
    done: int = 0
    total: int = 0
    before: int = 0


class Office:
    """Two desks, and the way that a call takes between them."""

    def __init__(
        self,
        open_workspace: Callable[[Progress], Workspace],
        seconds_of_patience: float = SECONDS_OF_PATIENCE,
    ) -> None:
        self._quick = Desk(open_workspace)
        self._slow = Desk(open_workspace, is_kept=False)
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
            except (UbpError, TooMuchError):
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
        except TooMuchError:
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
        if total - done <= MOST_AT_ONCE:
            return
        if name != EMBEDDING:
            raise TooMuchError
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
    workspace.view().full_text()


def _read_vectors(workspace: Workspace) -> object:
    """The model by which vectors were made; None: there is none."""
    model = workspace.model()
    if model is not None:
        workspace.view().meaning(model)
    return model
