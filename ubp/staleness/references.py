"""Locate the sources that references name in a snapshot, and find the pages that name a source."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import Assessment, FilePath, ObjectId, SourceReference
from ubp.core.paths import Glob, is_glob
from ubp.git.trees import tree_id
from ubp.index.view import View
from ubp.staleness.model import Affected

AssessPages = Callable[[Collection[FilePath]], Mapping[FilePath, Assessment]]
"""Assesses the pages at these paths."""


class Source(NamedTuple):
    """A path, or the files below `path` that `pattern` matches."""

    path: FilePath
    pattern: str | None = None

    @property
    def name(self) -> FilePath:
        """The path or the glob."""
        return FilePath(self.pattern) if self.pattern else self.path


class LocatedSource(NamedTuple):
    """A source and its id in a snapshot; None: it does not exist there."""

    source: Source
    id: ObjectId | None


def locate(
    view: View, references: Collection[SourceReference]
) -> dict[SourceReference, LocatedSource]:
    """Find the source of each reference in the snapshot.

    The literal path comes first (`pages/[id].ts` and `notes#1.md` are real names), then the path
    without its fragment, then the glob. A source that does not exist has the id None and its path.
    """
    entries = view.entries({path for reference in references for path in candidates(reference)})
    existing = {
        path: LocatedSource(Source(_git_spelling(view, path)), entry.id)
        for path, entry in entries.items()
        if entry
    }
    globs: dict[FilePath, LocatedSource] = {}
    located_sources = {}
    for reference in references:
        path = reference.source_path
        located = existing.get(reference.literal) or existing.get(path)
        if located is None and is_glob(path):
            located = globs.get(path) or globs.setdefault(path, _locate_glob(view, path))
        located_sources[reference] = located or LocatedSource(Source(path), None)
    return located_sources


def candidates(reference: SourceReference) -> tuple[FilePath, ...]:
    """Return the paths that the reference may mean literally, the preferred one first."""
    literal, path = reference.literal, reference.source_path
    return (literal,) if literal == path else (literal, path)


def _git_spelling(view: View, path: FilePath) -> FilePath:
    """Return a path as Git has it: file names on macOS are decomposed, typed names composed."""
    return path if path.isascii() else view.true_path(path) or path


def _locate_glob(view: View, pattern: FilePath) -> LocatedSource:
    glob = Glob(pattern)
    matched = [(path, entry) for path, entry in view.files(glob.prefix) if glob.matches(path)]
    return LocatedSource(Source(glob.prefix, pattern), tree_id(matched) if matched else None)


def covers(source: Source, paths: Iterable[FilePath]) -> bool:
    """Return whether one of these files is the source, is below it, or matches its glob."""
    if source.pattern:
        glob = Glob(source.pattern)
        return any(glob.matches(path) for path in paths)
    below = source.path + "/"
    return any(path == source.path or path.startswith(below) for path in paths)


def source_matches(source: Source, path: FilePath) -> bool:
    """Return whether a source covers a path (a file, a directory or a glob) or is covered by it."""
    if covers(source, [path]):
        return True
    if is_glob(path) and not source.pattern:
        return Glob(path).matches(source.path)
    is_glob_directory = source.path == path and bool(source.pattern)
    return not path or is_glob_directory or source.path.startswith(path + "/")


def find_affected(view: View, paths: Sequence[FilePath]) -> tuple[Affected, ...]:
    """Return the pages with a source that matches one of these paths (see `source_matches`).

    The paths need not exist: a deleted file affects its pages most of all.
    """
    pages = view.bound_pages()
    located = locate(view, {reference for page in pages for reference in page.facts.references})
    matching = {
        reference
        for reference, found in located.items()
        if any(source_matches(found.source, path) for path in paths)
    }
    affected = (
        Affected(page, tuple(ref for ref in page.facts.references if ref in matching))
        for page in pages
    )
    return tuple(page for page in affected if page.references)


class SourceUse(NamedTuple):
    """A reference of a page and its source; `moved_to` is the source's new path if it has moved."""

    page: FilePath
    reference: SourceReference
    source: Source
    moved_to: FilePath | None = None


class SourceIndex:
    """The references of a snapshot's pages by their source, without hidden sources."""

    def __init__(self, uses: Collection[SourceUse]) -> None:
        self._uses = tuple(uses)
        self._by_path: dict[FilePath, list[SourceUse]] = {}
        self._globs: list[tuple[Glob, SourceUse]] = []
        for use in self._uses:
            if use.source.pattern:
                self._globs.append((Glob(use.source.pattern), use))
            else:
                self._by_path.setdefault(use.moved_to or use.source.path, []).append(use)

    def matching(self, path: FilePath) -> list[SourceUse]:
        """Return the uses of sources that match a path (see `source_matches`).

        The path need not exist: a source that moved matches its old and its new path.
        """
        return [
            use
            for use in self._uses
            if source_matches(use.source, path)
            or (use.moved_to and source_matches(Source(use.moved_to), path))
        ]

    def covering(self, path: FilePath) -> Iterator[SourceUse]:
        """Yield the uses of a file, of a directory above it, and of globs that match it."""
        ancestor = path
        while ancestor:
            yield from self._by_path.get(ancestor, ())
            ancestor = FilePath(ancestor.rpartition("/")[0])
        yield from (use for glob, use in self._globs if glob.matches(path))

    def is_described(self, path: FilePath) -> bool:
        """Return whether a page names a file, a directory above it, or a glob that matches it."""
        return next(self.covering(path), None) is not None


def build_source_index(
    view: View, is_hidden: Callable[[FilePath], bool], assess_pages: AssessPages
) -> SourceIndex:
    """Index what the pages name; `assess_pages` is called for pages with missing sources."""
    pages = [page for page in view.bound_pages() if page.facts.references]
    located = locate(view, {reference for page in pages for reference in page.facts.references})
    with_missing_sources = [
        page.filepath
        for page in pages
        if any(located[reference].id is None for reference in page.facts.references)
    ]
    assessments = assess_pages(with_missing_sources) if with_missing_sources else {}
    moved = {
        (path, verdict.reference): verdict.moved_to
        for path, assessment in assessments.items()
        for verdict in assessment.references
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
