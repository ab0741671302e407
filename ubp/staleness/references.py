"""What a source reference means in a snapshot (file, directory, glob) and what stands there.

The reverse question: which pages describe these files.

Which pages name which sources, for many questions about one snapshot.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import Assessment, FilePath, ObjectId, Page, SourceReference
from ubp.core.paths import Glob, is_glob
from ubp.git.trees import tree_id
from ubp.index.view import View
from ubp.staleness.model import Affected


class Source(NamedTuple):
    """Where to look: a path, or the files that `pattern` matches below `path`."""

    path: FilePath
    pattern: str | None = None

    @property
    def name(self) -> FilePath:
        """The path, or the glob, as answers name it."""
        return FilePath(self.pattern) if self.pattern else self.path


class LocatedSource(NamedTuple):
    """A source and the id that a snapshot has for it; None: nothing stands there."""

    source: Source
    id: ObjectId | None


def locate(
    view: View, references: Collection[SourceReference]
) -> dict[SourceReference, LocatedSource]:
    """Find what each reference names in the snapshot.

    The literal path wins (`pages/[id].ts` and `notes#1.md` are real names), then the path without
    its fragment, then the glob. What stands nowhere is located at its path with id None.
    """
    entries = view.entries({path for one in references for path in candidates(one)})
    standing = {
        path: LocatedSource(Source(_true_name(view, path)), entry.id)
        for path, entry in entries.items()
        if entry
    }
    globs: dict[FilePath, LocatedSource] = {}
    located = {}
    for reference in references:
        path = reference.source_path
        found = standing.get(reference.literal) or standing.get(path)
        if found is None and is_glob(path):
            found = globs.get(path) or globs.setdefault(path, _match(view, path))
        located[reference] = found or LocatedSource(Source(path), None)
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


def _match(view: View, pattern: FilePath) -> LocatedSource:
    glob = Glob(pattern)
    matched = [(path, entry) for path, entry in view.files(glob.prefix) if glob.matches(path)]
    return LocatedSource(Source(glob.prefix, pattern), tree_id(matched) if matched else None)


def find_affected(view: View, paths: Sequence[FilePath]) -> tuple[Affected, ...]:
    """The pages that name one of these files, a folder around it, a file below it, or a glob.

    The files need not exist: what was deleted affects its pages most of all.
    """
    pages = view.bound_pages()
    located = locate(view, {reference for page in pages for reference in page.facts.references})
    meeting = {
        reference
        for reference, here in located.items()
        if any(source_matches(here.source, path) for path in paths)
    }
    affected = (
        Affected(page, tuple(r for r in page.facts.references if r in meeting)) for page in pages
    )
    return tuple(one for one in affected if one.references)


def source_matches(source: Source, path: FilePath) -> bool:
    """Whether a source is a file, lies below it or around it, or has it in common with a glob."""
    if covers(source, [path]):
        return True
    if is_glob(path) and not source.pattern:
        return Glob(path).matches(source.path)
    is_around = source.path == path and bool(source.pattern)
    return not path or is_around or source.path.startswith(path + "/")


AssessPages = Callable[[Collection[FilePath]], Mapping[FilePath, Assessment]]


class SourceUse(NamedTuple):
    """A page names a source; `moved_to` is where that stands, if not where the page says."""

    page: FilePath
    reference: SourceReference
    source: Source
    moved_to: FilePath | None = None


class SourceIndex:
    """The references of a snapshot's pages, by what they name; those to hidden sources apart."""

    def __init__(self, namings: Collection[SourceUse]) -> None:
        self._all = tuple(namings)
        self._paths: dict[FilePath, list[SourceUse]] = {}
        self._globs: list[tuple[Glob, SourceUse]] = []
        for one in self._all:
            if one.source.pattern:
                self._globs.append((Glob(one.source.pattern), one))
            else:
                self._paths.setdefault(one.moved_to or one.source.path, []).append(one)

    def meeting(self, path: FilePath) -> list[SourceUse]:
        """Those that name a path, a folder around it, a file below it, or a glob for it.

        It need not exist: what moved away is named by where it stood and by where it stands.
        """
        return [
            one
            for one in self._all
            if source_matches(one.source, path)
            or (one.moved_to and source_matches(Source(one.moved_to), path))
        ]

    def covering(self, path: FilePath) -> Iterator[SourceUse]:
        """Those that name a file, a folder around it, or a glob for it."""
        at = path
        while at:
            yield from self._paths.get(at, ())
            at = FilePath(at.rpartition("/")[0])
        yield from (one for glob, one in self._globs if glob.matches(path))

    def is_described(self, path: FilePath) -> bool:
        """Whether a page names a file, a folder around it, or a glob for it."""
        return next(self.covering(path), None) is not None


def build_source_index(
    view: View, is_hidden: Callable[[FilePath], bool], judge: AssessPages
) -> SourceIndex:
    """Read what the pages name. `judge` is asked about pages whose sources do not stand there."""
    pages = [page for page in view.bound_pages() if page.facts.references]
    located = locate(view, {reference for page in pages for reference in page.facts.references})
    lost = [page.filepath for page in pages if _has_lost(page, located)]
    moved = {
        (path, answer.reference): answer.moved_to
        for path, one in (judge(lost) if lost else {}).items()
        for answer in one.references
    }
    return SourceIndex(
        [
            SourceUse(
                page.filepath,
                reference,
                located[reference].source,
                moved.get((page.filepath, reference)),
            )
            for page in pages
            for reference in page.facts.references
            if not is_hidden(located[reference].source.name)
        ]
    )


def _has_lost(page: Page, located: Mapping[SourceReference, LocatedSource]) -> bool:
    return any(located[reference].id is None for reference in page.facts.references)
