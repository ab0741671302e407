"""Who answers a call: the quick desk what takes milliseconds, the slow one what takes long.

What takes long is a snapshot that nobody has read yet: a new clone, a branch that was never here.
The slow desk reads it while the quick one goes on answering what needs none of it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from ubp.errors import UbpError
from ubp.seams import Progress
from ubp.server.desk import Desk
from ubp.workspace import Workspace

T = TypeVar("T")

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
    """More is to be read than a call shall keep the others waiting for; `step` says what."""

    def __init__(self, step: str) -> None:
        super().__init__(step)
        self.step = step


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
        self._quick = Desk(open_workspace, _refuse_much)
        self._slow = Desk(open_workspace, self._take_step)
        self._step = Step()
        self._seconds_of_patience = seconds_of_patience
        self._started: set[asyncio.Task[object]] = set()

    def start(self) -> None:
        """Begin to work."""
        self._quick.start()
        self._slow.start()

    def warm_up(self) -> None:
        """Have the work tree's pages read before anybody asks."""
        self._begin(_read_everything)

    async def answer(self, work: Callable[[Workspace], T], report: Report) -> T:
        """What `work` answers; `report` is told the progress of a long wait.

        Raises:
            IndexNotReadyError: it would take still longer. It goes on; ask again later.
        """
        try:
            return await self._quick.ask(work)
        except TooMuchError:
            return await self._wait(self._begin(work), report)

    def close(self) -> None:
        """Give up what is being done; what was saved stays."""
        self._quick.close()
        self._slow.close()

    def _begin(self, work: Callable[[Workspace], T]) -> "asyncio.Task[T]":
        task = asyncio.create_task(self._slow.ask(work))
        self._started.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: "asyncio.Task[object]") -> None:
        self._started.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits has it; nobody may have to

    async def _wait(self, task: "asyncio.Task[T]", report: Report) -> T:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._seconds_of_patience
        told = 0
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
        raise _not_ready(self._step)

    def _take_step(self, name: str, done: int, total: int) -> None:
        last = self._step
        before = last.before if name == last.name else last.before + last.total
        self._step = Step(name, done, total, before)


def _refuse_much(name: str, done: int, total: int) -> None:
    if total - done > MOST_AT_ONCE:
        raise TooMuchError(name)


def _read_everything(workspace: Workspace) -> None:
    workspace.view().learn_graph()


def _not_ready(step: Step) -> IndexNotReadyError:
    return IndexNotReadyError(
        f"The index is not ready: {step.name or 'reading'}, {step.done} of {step.total}.",
        hint="Call again in half a minute.",
    )
