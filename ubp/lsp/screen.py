"""The state of a repository on the screen: an editor's unsaved texts over the files of the disk."""

from collections.abc import Mapping

from ubp.core.errors import RepositoryError
from ubp.core.model import FilePath, Snapshot
from ubp.git.files import is_ignored, read_file
from ubp.git.repository import Repository
from ubp.git.snapshot import read_worktree, with_buffers
from ubp.markdown.source_text import BOM


class Screen:
    """The open texts of a repository, and what `git status` last said of its work tree.

    The server's thread changes the texts, workers read them: a change replaces the whole mapping.
    """

    def __init__(self) -> None:
        self.texts: Mapping[FilePath, str] = {}
        self._disk: Snapshot | None = None

    def put(self, path: FilePath, text: str) -> None:
        """Show another text of a file."""
        self.texts = {**self.texts, path: text}

    def drop(self, path: FilePath) -> None:
        """Show a file as it is on the disk: it is no longer open."""
        self.texts = {other: text for other, text in self.texts.items() if other != path}

    def refresh(self, repository: Repository) -> None:
        """Read the work tree again."""
        self._disk = read_worktree(repository)

    def disk(self, repository: Repository) -> Snapshot:
        """Return the work tree as it was last read; the first call reads it."""
        if self._disk is None:
            self.refresh(repository)
        return self._disk or read_worktree(repository)


class ScreenReader:
    """Reads the snapshots of a screen for one workspace; an unchanged one is the same object."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._texts: Mapping[FilePath, str] = {}
        self._disk: Snapshot | None = None
        self._snapshot: Snapshot | None = None
        self._is_ignored: dict[FilePath, bool] = {}

    def __call__(self, repository: Repository) -> Snapshot:
        """Return the work tree with the texts that are not saved."""
        disk, texts = self._screen.disk(repository), self._screen.texts
        if self._snapshot is None or disk is not self._disk or texts is not self._texts:
            if disk is not self._disk:
                self._is_ignored = {}
            self._disk, self._texts = disk, texts
            unsaved = {
                path: data
                for path, text in texts.items()
                if (data := _unsaved_bytes(repository, path, text)) is not None
                and not self._ignores(repository, path)
            }
            self._snapshot = with_buffers(repository, disk, unsaved) if unsaved else disk
        return self._snapshot

    def _ignores(self, repository: Repository, path: FilePath) -> bool:
        """Return whether Git ignores an untracked file: then it is not part of the work tree."""
        if path not in self._is_ignored:
            self._is_ignored[path] = is_ignored(repository, path)
        return self._is_ignored[path]


def _unsaved_bytes(repository: Repository, path: FilePath, text: str) -> bytes | None:
    """Return the bytes of a text, None if the file on the disk has the same text."""
    try:
        saved = read_file(repository, path)
    except (RepositoryError, OSError, ValueError):
        return text.encode("utf-8", "surrogatepass")
    if saved.removeprefix(BOM).decode("utf-8", "replace") == text:
        return None
    mark = BOM if saved.startswith(BOM) else b""  # editors do not show it
    return mark + text.encode("utf-8", "surrogatepass")
