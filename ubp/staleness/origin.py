"""Where a page came from in the change that made it: a page that only moved is not edited."""

from collections.abc import Callable, Collection, Mapping

from ubp.index import View
from ubp.model import Entry, FilePath
from ubp.paths import closest

Lookup = Callable[[Collection[FilePath]], Mapping[FilePath, Entry | None]]


class Origins:
    """Maps pages after a change to their paths before it."""

    def __init__(
        self, after: View, before: Lookup, changes: Mapping[FilePath, Entry | None]
    ) -> None:
        """Take the view after the change, the entries before it, and the files that differ."""
        self._after = after
        self._before = before
        self._changes = changes
        self._found: dict[FilePath, FilePath | None] = {}

    @classmethod
    def uncommitted(cls, view: View) -> "Origins":
        """The change from a snapshot's commit to the snapshot."""
        return cls(view, view.base_entries, view.snapshot.changes)

    def of(self, path: FilePath) -> FilePath | None:
        """The path before the change whose bytes this page still has; None: edited or new.

        An equal blob under a path that the change removed is the origin of a page that was not
        there: of several the same file name, then the longest common prefix, then the alphabet.
        """
        if path not in self._changes:
            return path
        if path not in self._found:
            self._found[path] = self._find(path)
        return self._found[path]

    def is_edited(self, path: FilePath) -> bool:
        """Whether the change touched the page's bytes; a change of mode or name alone does not."""
        return self.of(path) is None

    def _find(self, path: FilePath) -> FilePath | None:
        entry = self._after.entry(path)
        before = self._before([path])[path]
        if entry is None:
            return None
        if before is not None:
            return path if before.id == entry.id else None
        removed = self._before([p for p, change in self._changes.items() if change is None])
        return closest(path, [p for p, old in removed.items() if old and old.id == entry.id])
