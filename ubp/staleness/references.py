"""Locate the sources that references name in a snapshot, and find the pages that name a source."""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ubp.core.model import Assessment, Entry, FilePath, ObjectId, SourceReference
from ubp.core.paths import is_glob
from ubp.core.source import (
    GlobSource,
    PartSource,
    PathSource,
    Source,
    SourceMap,
    file_of,
    glob_source,
    possible_sources,
)
from ubp.git.trees import glob_tree_id
from ubp.index.view import View
from ubp.staleness.model import Affected

AssessPages = Callable[[Collection[FilePath]], Mapping[FilePath, Assessment]]
"""Assesses the pages at these paths."""


class LocatedSource(NamedTuple):
    """A source and its id in a snapshot; None: it does not exist there."""

    source: Source
    id: ObjectId | None


def locate(
    view: View, references: Collection[SourceReference]
) -> dict[SourceReference, LocatedSource]:
    """Find the source of each reference in the snapshot.

    It is the first of `candidates` that exists; if none does, it is the last, with the id None.
    """
    # There are thousands of references: only globs whose literal path is missing are compiled.
    literals = {reference.literal for reference in references}
    entries = view.entries(literals | {reference.source_path for reference in references})
    existing = {
        path: LocatedSource(PathSource(_git_spelling(view, path)), entry.id)
        for path, entry in entries.items()
        if entry
    }
    globs: dict[FilePath, LocatedSource] = {}
    list_files = cache(lambda folder: list(view.files(folder)))  # many globs search one folder
    located_sources = {}
    for reference in references:
        path = reference.source_path
        located = existing.get(reference.literal) or existing.get(path)
        if located is None and is_glob(path):
            located = globs.get(path) or globs.setdefault(path, _locate_glob(path, list_files))
        located = located or LocatedSource(PathSource(path), None)
        if reference.fragment and reference.literal not in existing:
            located = _locate_part(located, entries[path], reference.fragment)
        located_sources[reference] = located
    return located_sources


def _locate_part(located: LocatedSource, entry: Entry | None, fragment: str) -> LocatedSource:
    """Return the part of a located file; a directory, a glob and a symlink have no parts."""
    if isinstance(located.source, GlobSource) or (entry and not entry.is_file):
        return located
    return LocatedSource(possible_sources(located.source.path, fragment)[0], located.id)


def candidates(reference: SourceReference) -> tuple[Source, ...]:
    """Return the sources that a reference may mean, the preferred one first.

    The path with its fragment comes first (`notes#1.md` is a real name), then that without it.
    """
    sources = possible_sources(reference.source_path, reference.fragment)
    if reference.literal == reference.source_path:
        return sources
    return (PathSource(reference.literal), *sources)


def collection_of(path: str, collections: Container[str]) -> str:
    """Return which of these collections a source is in, `go` for `go:spec.md`; "": in none."""
    name, separator, _ = path.partition(":")
    return name if separator and name in collections else ""


def _git_spelling(view: View, path: FilePath) -> FilePath:
    """Return a path as Git has it: file names on macOS are decomposed, typed names composed."""
    return path if path.isascii() else view.true_path(path) or path


def _locate_glob(
    pattern: FilePath, list_files: Callable[[FilePath], Iterable[tuple[FilePath, Entry]]]
) -> LocatedSource:
    source = glob_source(pattern)
    return LocatedSource(source, glob_tree_id(list_files(source.path), source.glob))


def find_affected(view: View, paths: Sequence[FilePath]) -> tuple[Affected, ...]:
    """Return the pages with a source that matches one of these paths (see `overlaps_with`).

    The paths need not exist: a deleted file affects its pages most of all.
    """
    pages = view.bound_pages()
    located = locate(view, {reference for page in pages for reference in page.facts.references})
    tests = [overlaps_with(view, path) for path in paths]
    matching = {
        reference
        for reference, found in located.items()
        if any(overlaps(found.source) for overlaps in tests)
    }
    affected = (
        Affected(page, tuple(ref for ref in page.facts.references if ref in matching))
        for page in pages
    )
    return tuple(page for page in affected if page.references)


def overlaps_with(view: View, path: FilePath) -> Callable[[Source], bool]:
    """Return what tells whether a source has anything in common with a path (`Source.overlaps`).

    `src/auth.py#login` has something in common with the file, and with the parts of it that are in
    the same lines: that symbol, written in any way, what it is in, and what is in it.
    """
    if "#" not in path:
        return lambda source: source.overlaps(path)
    from ubp.index.parts import part_at, part_lines

    part = part_at(view, path)
    if part is None:
        return lambda source: source.overlaps(path)
    lines = part_lines(view, [part])[part]

    def overlaps(source: Source) -> bool:
        if not source.overlaps(part.path) or not isinstance(source, PartSource):
            return source.overlaps(part.path)
        others = part_lines(view, [source])[source]
        if not lines or not others:  # it does not exist, or there is no parser
            return _is_named_alike(source, part)
        return any(a <= d and c <= b for a, b in lines for c, d in others)

    return overlaps


def _is_named_alike(source: PartSource, part: PartSource) -> bool:
    """Return whether two parts are the same by their names, or one is in the other."""
    names = [re.split(r"::|[.#]", name) for name in (source.fragment, part.fragment)]
    return all(one == other for one, other in zip(*names, strict=False))


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
        self._by_source = SourceMap(
            (PathSource(use.moved_to) if use.moved_to else use.source, use) for use in self._uses
        )

    def matching(self, overlaps: Callable[[Source], bool]) -> list[SourceUse]:
        """Return the uses of sources for which this is true (see `overlaps_with`).

        A source that moved matches by its old and by its new path.
        """
        return [
            use
            for use in self._uses
            if overlaps(use.source) or (use.moved_to and overlaps(PathSource(use.moved_to)))
        ]

    def covering(self, path: FilePath) -> Iterator[SourceUse]:
        """Return the uses of a file, of a directory above it, and of globs that match it."""
        return self._by_source.matching(path)

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
            if not is_hidden(file_of(located[reference].source).name)
        ]
    )
