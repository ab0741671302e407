"""Sources: what a reference of a page names, and which paths match it.

Named tuples, because the hook imports this module and importing `dataclasses` costs 10 ms of CPU.
"""

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from ubp.core.model import FilePath
from ubp.core.paths import Glob, ancestors, compile_glob, is_glob, is_within

Value = TypeVar("Value")


class PathSource(NamedTuple):
    """A file, or a directory with all files below it.

    These are not two kinds: a path may be a file in one commit and a directory in the next.
    """

    path: FilePath

    @property
    def name(self) -> FilePath:
        """The text that a reference contains."""
        return self.path

    @property
    def watched(self) -> tuple[FilePath, str | None]:
        """The path that Git watches, and the pattern of the files below it; None: all of them."""
        return self.path, None

    def matches(self, path: str) -> bool:
        """Return whether a path is the file, the directory, or below the directory."""
        return is_within(path, self.path)

    def overlaps(self, path: str) -> bool:
        """Return whether the source has files in common with a file, a directory or a glob."""
        if self.matches(path):
            return True
        if is_glob(path):
            return compile_glob(path).matches(self.path)
        return is_within(self.path, path)


class GlobSource(NamedTuple):
    """The files that match a pattern; `path` is the directory that contains all of them."""

    path: FilePath
    pattern: FilePath

    @property
    def name(self) -> FilePath:
        """The text that a reference contains."""
        return self.pattern

    @property
    def watched(self) -> tuple[FilePath, str | None]:
        """The path that Git watches, and the pattern of the files below it; None: all of them."""
        return self.path, self.pattern

    @property
    def glob(self) -> Glob:
        """The compiled pattern."""
        return compile_glob(self.pattern)

    def matches(self, path: str) -> bool:
        """Return whether a file matches the pattern."""
        return compile_glob(self.pattern).matches(path)

    def overlaps(self, path: str) -> bool:
        """Return whether a file matches, or all matches are in a directory."""
        return self.matches(path) or is_within(self.path, path)


Source = PathSource | GlobSource


def glob_source(pattern: FilePath) -> GlobSource:
    """Return the source that a pattern names."""
    return GlobSource(compile_glob(pattern).prefix, pattern)


def possible_sources(path: FilePath) -> tuple[Source, ...]:
    """Return what a written path may name, the preferred source first.

    A literal path comes before a glob, because `pages/[id].ts` is a real file name.
    """
    literal = PathSource(path)
    return (literal, glob_source(path)) if is_glob(path) else (literal,)


class SourceMap(Generic[Value]):
    """Values by source; finds those whose source matches a path without comparing all of them."""

    def __init__(self, items: Iterable[tuple[Source, Value]]) -> None:
        self._by_path: dict[str, list[Value]] = {}
        self._globs: dict[str, list[tuple[Glob, Value]]] = {}
        for source, value in items:
            if isinstance(source, GlobSource):
                self._globs.setdefault(source.path, []).append((source.glob, value))
            else:
                self._by_path.setdefault(source.path, []).append(value)

    def matching(self, path: FilePath) -> Iterator[Value]:
        """Yield the values of the sources that match: files, then directories, then globs."""
        names = (path, *ancestors(path))
        for name in names:
            yield from self._by_path.get(name, ())
        for name in names if self._globs else ():
            for glob, value in self._globs.get(name, ()):
                if glob.matches(path):
                    yield value
