"""The service of one repository: its screen, and two workers that answer about it.

The first answers requests, of which none may block typing: what it cannot answer at once, because
pages must be read first or others wait, the second does, which also finds the diagnostics.
"""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TypeVar

from ubp.core.model import FilePath, Progress, ignore_progress
from ubp.index.view import View
from ubp.lsp.context import Addresses, EditorContext
from ubp.lsp.preliminary import view_alone
from ubp.lsp.screen import Screen, ScreenReader
from ubp.lsp.text import Encoding
from ubp.server.scheduler import MAX_QUICK_READS, CallTooLongError, Worker
from ubp.workspace import Workspace

T = TypeVar("T")
Answer = Callable[[EditorContext], T]


class Service:
    """A repository as an editor sees it; used by the thread of the event loop alone.

    `root` is the repository's folder, `shown_root` the same folder as the client spells it.
    """

    def __init__(
        self,
        root: str,
        shown_root: str,
        encoding: Encoding,
        environment: Mapping[str, str],
        progress: Progress,
    ) -> None:
        self.root = root
        self.shown_root = shown_root
        self.screen = Screen()
        self.opened: dict[FilePath, str] = {}
        self._encoding = encoding
        self._environment = environment
        self._progress = progress
        self._requests = Worker(self._open)
        self._background = Worker(self._open, quick=self._requests, is_kept=True)
        self._requests.start()
        self._background.start()

    def _open(self, progress: Progress) -> Workspace:
        workspace = Workspace.open(self.root, environment=self._environment, progress=progress)
        workspace.session.read_worktree = ScreenReader(self.screen)
        return workspace

    async def answer(self, work: Answer[T]) -> T:
        """Return what `work` makes of the screen.

        Raises:
            UbpError: the repository cannot be read.
        """
        call = partial(self._call, work)
        try:
            return await self._requests.run(call, _limit_reading)
        except CallTooLongError:
            return await self._background.run(call, self._progress)

    async def answer_later(
        self, work: Answer[T], *, is_refreshed: bool = False, is_saved: bool = False
    ) -> T:
        """Return the same for work that nobody waits for; `is_refreshed`: read the disk again.

        `is_saved`: what is not saved is left out; words of unsaved texts are not in the index.

        Raises:
            UbpError: the repository cannot be read.
        """

        def call(workspace: Workspace) -> T:
            session = workspace.session
            if is_refreshed:
                self.screen.refresh(session.repository)
            if not is_saved:
                return self._call(work, workspace)
            reader, session.read_worktree = session.read_worktree, self.screen.disk
            try:
                return self._call(work, workspace)
            finally:
                session.read_worktree = reader

        return await self._background.run(call, self._progress)

    async def answer_alone(self, paths: Collection[FilePath], work: Answer[T]) -> T | None:
        """Return what `work` makes of these files alone; None: requests have precedence.

        Raises:
            UbpError: the repository cannot be read.
        """

        def call(workspace: Workspace) -> T:
            view = view_alone(workspace.session, paths)
            try:
                return self._call(work, workspace, view)
            finally:
                view.context.store.close()

        try:
            return await self._requests.run(call, ignore_progress)
        except CallTooLongError:
            return None

    def close(self) -> None:
        """End the workers."""
        self._requests.close()
        self._background.close()

    def _call(self, work: Answer[T], workspace: Workspace, view: View | None = None) -> T:
        addresses = Addresses(self.shown_root, dict(self.opened))
        return work(EditorContext(workspace, addresses, self._encoding, self.screen.texts, view))


def _limit_reading(_: str, done: int, total: int) -> None:
    """Leave it to the background where many pages must be read first."""
    if total - done > MAX_QUICK_READS:
        raise CallTooLongError
