"""What a source reference means in a snapshot (file, directory, glob) and what stands there."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ubp.git.trees import tree_id
from ubp.index import View
from ubp.model import FilePath, ObjectId, SourceReference
from ubp.paths import Glob, is_glob


class Source(NamedTuple):
    """Where to look: a path, or the files that `pattern` matches below `path`."""

    path: FilePath
    pattern: str | None = None

    @property
    def name(self) -> FilePath:
        """The path, or the glob, as answers name it."""
        return FilePath(self.pattern) if self.pattern else self.path


class Located(NamedTuple):
    """A source and the id that a snapshot has for it; None: nothing stands there."""

    source: Source
    id: ObjectId | None


def locate(view: View, references: Collection[SourceReference]) -> dict[SourceReference, Located]:
    """Find what each reference names in the snapshot.

    The literal path wins (`pages/[id].ts` and `notes#1.md` are real names), then the path without
    its fragment, then the glob. What stands nowhere is located at its path with id None.
    """
    entries = view.entries({path for one in references for path in candidates(one)})
    standing = {
        path: Located(Source(_true_name(view, path)), entry.id)
        for path, entry in entries.items()
        if entry
    }
    globs: dict[FilePath, Located] = {}
    located = {}
    for reference in references:
        path = reference.source_path
        found = standing.get(reference.literal) or standing.get(path)
        if found is None and is_glob(path):
            found = globs.get(path) or globs.setdefault(path, _match(view, path))
        located[reference] = found or Located(Source(path), None)
    return located


def candidates(reference: SourceReference) -> tuple[FilePath, ...]:
    """The paths, in order, that the reference may mean literally."""
    literal, path = reference.literal, reference.source_path
    return (literal,) if literal == path else (literal, path)


def covers(source: Source, paths: Iterable[FilePath]) -> bool:
    """Whether one of these files is the source, or lies in its directory, or matches its glob."""
    if source.pattern:
        glob = Glob(source.pattern)
        return any(glob.matches(path) for path in paths)
    below = source.path + "/"
    return any(path == source.path or path.startswith(below) for path in paths)


def _true_name(view: View, path: FilePath) -> FilePath:
    """The name in Git's own spelling: macOS writes names decomposed, people type them composed."""
    return path if path.isascii() else view.true_path(path) or path


def _match(view: View, pattern: FilePath) -> Located:
    glob = Glob(pattern)
    matched = [(path, entry) for path, entry in view.files(glob.prefix) if glob.matches(path)]
    return Located(Source(glob.prefix, pattern), tree_id(matched) if matched else None)
