"""The files that a change touches: their contents, hunks and words, each read when it is needed."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ubp.bindings.path_words import is_test
from ubp.bindings.sources import is_source_path
from ubp.checks.removed_names import describes_present
from ubp.checks.renames import Renames
from ubp.core.model import Entry, FilePath
from ubp.git.diff import diff_blobs
from ubp.git.snapshot import read_documents
from ubp.index.session import Session
from ubp.review.model import Hunk
from ubp.staleness.model import Change

# Files that are read; a change of more was made by a machine.
MAX_FILES = 1_000
MAX_BYTES = 1_000_000  # of a version of a file
MAX_LINE = 400  # longer lines were made by machines

_HUNK = r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@"


class Versions(NamedTuple):
    """The bytes of a file before and after a change; None: there is no such file."""

    before: bytes | None
    after: bytes | None


class ChangedFiles:
    """The visible files of a change, no folders.

    `renames` has where files went; `paths` are in the order in which they are worth reading:
    sources before tests and documents.
    """

    def __init__(self, change: Change, is_hidden: Callable[[FilePath], bool]) -> None:
        self._change = change
        view = change.after.view
        repository = change.after.repository
        before = change.before[0].view.entries if change.before else view.base_entries
        self.renames = Renames(repository, view, before, change.changes)
        visible = [path for path in change.changes if not is_hidden(path)]
        self._before = before(visible)
        self._after = view.entries(visible)
        documents = frozenset(view.document_paths())
        self.documents = frozenset(path for path in visible if path in documents)
        order = sorted(visible, key=lambda path: (path in documents, is_test(path), path))
        self.paths = tuple(path for path in order if self._is_changed_file(path))
        self._versions: dict[FilePath, Versions] = {}
        self._hunks: dict[FilePath, tuple[Hunk, ...]] = {}

    def __len__(self) -> int:
        """Return the number of files as Git counts them: one that moved is one."""
        return len(self.paths) - sum(map(self._is_moved_away, self.paths))

    def _is_changed_file(self, path: FilePath) -> bool:
        versions = self._before[path], self._after[path]
        is_file = any(entry and not entry.is_directory for entry in versions)
        return is_file and versions[0] != versions[1]

    def _is_moved_away(self, path: FilePath) -> bool:
        return self._after[path] is None and self.renames.new_path(path) is not None

    def status(self, path: FilePath) -> str:
        """Return what became of a file: deleted, renamed to …, added, or "" where it was edited."""
        if self._after[path] is None:
            new = self.renames.new_path(path)
            return f"renamed to {new}" if new else "deleted"
        if self._before[path] is None:
            old = self.renames.origin(path)
            return f"renamed from {old}" if old else "added"
        return ""

    @cached_property
    def sources(self) -> tuple[FilePath, ...]:
        """The files that may be sources of a page: no documents, lock files or binary files."""
        sources = (p for p in self.paths if p not in self.documents and is_source_path(p))
        return tuple(sources)[:MAX_FILES]

    def existed(self, path: FilePath) -> bool:
        """Return whether a file was there before the change."""
        return self._before[path] is not None

    def versions(self, path: FilePath) -> Versions:
        """Return both versions of a file; a renamed one is compared with what it was."""
        if path not in self._versions:
            self.read([path])
        return self._versions[path]

    def read(self, paths: Collection[FilePath]) -> None:
        """Read these files at once."""
        new = [path for path in paths if path not in self._versions]
        old_names = {path: self._old_name(path) for path in new}
        blobs = {
            entry.id for path in new if (entry := self._old_entry(old_names[path])) is not None
        }
        change = self._change
        contents = change.after.repository.read_blobs(blobs)
        entries = {path: entry for path in new if (entry := self._after[path]) and entry.is_file}
        current = read_documents(change.after.repository, change.after.view.snapshot, entries)
        for path in new:
            old = self._old_entry(old_names[path])
            self._versions[path] = Versions(
                _text(contents.get(old.id)) if old else None, _text(current.get(path))
            )

    def hunks(self, path: FilePath) -> tuple[Hunk, ...]:
        """Return the hunks of a file; none of one that was renamed away, or that is not text."""
        if path not in self._hunks:
            if self._is_moved_away(path):
                self._hunks[path] = ()
            else:
                text = diff_blobs(path, *self.versions(path)).text
                self._hunks[path] = tuple(read_hunks(text, path))
        return self._hunks[path]

    def _old_name(self, path: FilePath) -> FilePath:
        is_new = self._before[path] is None and self._after[path] is not None
        return (self.renames.origin(path) if is_new else None) or path

    def _old_entry(self, path: FilePath) -> Entry | None:
        entry = self._before.get(path)
        return entry if entry and entry.is_file else None


def unedited_pages(
    session: Session, change: Change, selected: Collection[FilePath] | None
) -> list[FilePath]:
    """Return the pages (of the selected ones) that describe the sources as they were before.

    Pages that the change edits describe the state after it, and records of the past describe the
    past: both are left out.
    """
    return [
        path
        for path in change.after.view.document_paths()
        if path not in change.changes
        and describes_present(path)
        and not session.is_hidden(path)
        and (selected is None or path in selected)
    ]


def read_hunks(diff: str, path: FilePath) -> Iterator[Hunk]:
    """Yield the hunks of a unified diff; `path` is the file's where the diff does not name it."""
    lines = iter(diff.split("\n"))
    for line in lines:
        if line.startswith("+++ b/"):
            path = FilePath(line[6:])
        elif head := re.match(_HUNK, line):
            old, new = (
                1 if head[2] is None else int(head[2]),
                1 if head[4] is None else int(head[4]),
            )
            body: list[str] = []
            while (old > 0 or new > 0) and (text := next(lines, None)) is not None:
                if text[:1] != "\\":
                    body.append(text[: MAX_LINE + 1])
                    old -= text[:1] != "+"
                    new -= text[:1] != "-"
            yield Hunk(path, int(head[1]), int(head[3]), tuple(body))


def changed_lines(hunks: Iterable[Hunk], sign: str) -> Iterator[str]:
    """Yield the lines of hunks with a sign, without it."""
    return (line[1:] for hunk in hunks for line in hunk.lines if line[:1] == sign)


def _text(data: bytes | None) -> bytes | None:
    """Return the bytes of a text; of anything else none."""
    if data is None:
        return None
    return b"" if len(data) > MAX_BYTES or b"\0" in data[:8_000] else data
