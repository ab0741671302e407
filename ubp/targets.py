"""What links can lead to: a snapshot's pages and files by name, changed in place."""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from ubp.model import FilePath
from ubp.slugs import fold

Ranked = tuple[int, FilePath]
"""A path behind its depth: sorted, the shallowest come first, then the alphabet's first."""

_Index = dict[str, list[Ranked]]


class PageNames(NamedTuple):
    """What a link may call a page: its path, its title, its aliases."""

    path: FilePath
    title: str | None
    aliases: tuple[str, ...]


def without_suffix(path: str) -> str:
    """Cut off ".md" or ".markdown"."""
    lower = path[-9:].lower()
    if lower.endswith(".md"):
        return path[:-3]
    return path[:-9] if lower == ".markdown" else path


def stem(path: str) -> str:
    """Return a path's last name, without a page's suffix, folded."""
    return fold(without_suffix(path.rpartition("/")[2]))


class Targets:
    """The pages and files of a snapshot; adding or removing one costs what its names cost.

    `anchors` returns a page's anchors, folded; it is asked only about links that name one. For a
    few links it is enough to add what answers to the names that they ask for.
    """

    __slots__ = ("_aliases", "_files", "_pages", "_paths", "_stems", "_titles", "anchors")

    def __init__(self, anchors: Callable[[FilePath], Collection[str]]) -> None:
        self.anchors = anchors
        self._pages: dict[FilePath, PageNames] = {}
        self._paths: _Index = {}
        self._stems: _Index = {}
        self._aliases: _Index = {}
        self._titles: _Index = {}
        self._files: _Index = {}

    def add_page(self, page: PageNames) -> None:
        """Add a page, in place of what stood at its path."""
        self.remove(page.path)
        self._pages[page.path] = page
        for index, key in self._keys(page):
            insort(index.setdefault(key, []), _ranked(page.path))

    def add_file(self, path: FilePath) -> None:
        """Add a file that exists and is no page here: of another kind, or excluded."""
        self.remove(path)
        insort(self._files.setdefault(stem(path), []), _ranked(path))

    def remove(self, path: FilePath) -> None:
        """Remove a page or a file, if it is there."""
        page = self._pages.pop(path, None)
        for index, key in self._keys(page) if page else [(self._files, stem(path))]:
            _remove(index, key, path)

    def is_page(self, path: FilePath) -> bool:
        """Tell whether a page stands at exactly this path."""
        return path in self._pages

    def is_file(self, path: FilePath) -> bool:
        """Tell whether what is no page stands at exactly this path."""
        return _position(self._files.get(stem(path), []), path) is not None

    def at(self, path: str) -> list[FilePath]:
        """Return the pages at a path without its suffix; case and Unicode form do not count."""
        return [page for _, page in self._paths.get(fold(path), [])]

    def by_stem(self, path: str) -> list[Ranked]:
        """Return the pages of a path's last name."""
        return self._stems.get(stem(path), [])

    def by_alias(self, name: str) -> list[Ranked]:
        """Return the pages with this alias."""
        return self._aliases.get(fold(name), [])

    def by_title(self, name: str) -> list[Ranked]:
        """Return the pages with this title."""
        return self._titles.get(fold(name), [])

    def files(self, path: str) -> list[FilePath]:
        """Return the files of a path's last name that are no pages."""
        return [file for _, file in self._files.get(stem(path), [])]

    def _keys(self, page: PageNames) -> Iterator[tuple[_Index, str]]:
        yield self._paths, fold(without_suffix(page.path))
        yield self._stems, stem(page.path)
        if page.title:
            yield self._titles, fold(page.title)
        for alias in {fold(alias) for alias in page.aliases}:
            yield self._aliases, alias


def _ranked(path: FilePath) -> Ranked:
    return path.count("/"), path


def _position(ranked: list[Ranked], path: FilePath) -> int | None:
    position = bisect_left(ranked, _ranked(path))
    return position if position < len(ranked) and ranked[position][1] == path else None


def _remove(index: _Index, key: str, path: FilePath) -> None:
    ranked = index.get(key, [])
    position = _position(ranked, path)
    if position is not None:
        del ranked[position]
        if not ranked:
            del index[key]
