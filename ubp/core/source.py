"""Sources: what a reference of a page names, and which paths match it.

A symbol, a section and a range of lines are parts of a file: Git watches the file, and matching
paths is the same as for the file; whether the part changed is decided from two versions of it.

Named tuples, because the hook imports this module (docs/decisions/0005-named-tuples.md).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Generic, Literal, NamedTuple, TypeVar

from ubp.core.model import FilePath
from ubp.core.paths import PAGE_SUFFIXES, Glob, ancestors, compile_glob, is_glob, is_within

Value = TypeVar("Value")


class Part(NamedTuple):
    """A part of a file that a reference can name: a definition, or a section.

    Two versions of it are the same if their `digest` is; `nameless` is the digest without the name,
    by which a renamed part is recognized. Lines count from 1, both ends included.
    """

    names: tuple[str, ...]
    digest: str
    nameless: str
    line_start: int
    line_end: int


def digest(tokens: Iterable[str]) -> str:
    """Return a digest of texts, in which none of them contains NUL."""
    from hashlib import blake2b

    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=DIGEST_BYTES).hexdigest()


DIGEST_BYTES = 10


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


PartKind = Literal["symbol", "section", "lines"]


class PartSource(NamedTuple):
    """A part of a file: the definitions of a symbol, a section of a page, or a range of lines.

    `fragment` is what a reference has after "#": `Session.login`, `Token life`, `L3-L9`.
    """

    path: FilePath
    kind: PartKind
    fragment: str

    @property
    def name(self) -> FilePath:
        """The text that a reference contains."""
        return FilePath(f"{self.path}#{self.fragment}")

    @property
    def watched(self) -> tuple[FilePath, str | None]:
        """The path that Git watches, and the pattern of the files below it; None: all of them."""
        return self.path, None

    @property
    def file(self) -> PathSource:
        """The whole file."""
        return PathSource(self.path)

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of a range, as its baseline numbers them, from 1."""
        match = LINES.fullmatch(self.fragment)
        first = int(match[1]) if match else 1
        last = int(match[2] or first) if match else first
        return max(1, min(first, last)), max(1, first, last)

    def matches(self, path: str) -> bool:
        """Return whether a path is the file."""
        return path == self.path

    def overlaps(self, path: str) -> bool:
        """Return whether a path is the file, a directory above it, or a glob that matches it."""
        return self.file.overlaps(path)


LINES = re.compile(r"L(\d{1,7})(?:-L?(\d{1,7}))?")

Source = PathSource | GlobSource | PartSource


def glob_source(pattern: FilePath) -> GlobSource:
    """Return the source that a pattern names."""
    return GlobSource(compile_glob(pattern).prefix, pattern)


def possible_sources(path: FilePath, fragment: str | None = None) -> tuple[Source, ...]:
    """Return what a written path may name, the preferred source first.

    A literal path comes before a glob, because `pages/[id].ts` is a real file name. Only a fragment
    that begins with "#" names a part of a file, and a glob has no parts.
    """
    literal = _part(path, fragment[1:]) if fragment and fragment[0] == "#" else PathSource(path)
    return (literal, glob_source(path)) if is_glob(path) else (literal,)


def file_of(source: Source) -> PathSource | GlobSource:
    """Return the source without its part: the whole file of a symbol, a section, or lines."""
    return source.file if isinstance(source, PartSource) else source


def _part(path: FilePath, fragment: str) -> Source:
    if not fragment:
        return PathSource(path)
    if LINES.fullmatch(fragment):
        return PartSource(path, "lines", fragment)
    is_page = path.lower().endswith(PAGE_SUFFIXES)
    return PartSource(path, "section" if is_page else "symbol", fragment)


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
