"""What links can lead to: a snapshot's pages and files by name, changed in place.

Where a link leads in a snapshot: every link falls into exactly one bucket. Pure.

A page answers to names (`names_of`), a link asks for names (`names_asked`). Where a snapshot
changes, only links that ask for a name of what came, went or was renamed can lead elsewhere; and
one that names an anchor must be looked at again when its target changes.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, Link
from ubp.core.paths import nfc, normalize_path
from ubp.core.text import fold, slug

Ranked = tuple[int, FilePath]
"""A path behind its depth: sorted, the shallowest come first, then the alphabet's first."""

_Index = dict[str, list[Ranked]]


class PageNameForms(NamedTuple):
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
        self._pages: dict[FilePath, PageNameForms] = {}
        self._paths: _Index = {}
        self._stems: _Index = {}
        self._aliases: _Index = {}
        self._titles: _Index = {}
        self._files: _Index = {}

    def add_page(self, page: PageNameForms) -> None:
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

    def _keys(self, page: PageNameForms) -> Iterator[tuple[_Index, str]]:
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


Bucket = Literal["resolved", "ambiguous", "missing", "within_page", "not_a_page", "out_of_scope"]

DOCS_FOLDERS = frozenset({"docs", "doc", "documentation", "content"})
MAX_CANDIDATES = 10


class Resolution(NamedTuple):
    """Where a link leads.

    `target` is a page, of an ambiguous link the first of `candidates`; those of a missing page are
    what the path names from the root, else the pages of the same file name. `has_anchor` is None
    where no anchor is asked for.
    """

    bucket: Bucket
    target: FilePath | None = None
    candidates: tuple[FilePath, ...] = ()
    has_anchor: bool | None = None


def resolve(
    source: FilePath, link: Link, targets: Targets, roots: Sequence[FilePath] = ()
) -> Resolution:
    """Tell where a page's link leads.

    A root-absolute one (`/a.md`, `~/a.md`) is sought from the repository's root, then from `roots`
    (folders), then from the nearest docs folder above the page.
    """
    if not link.target:
        found = Resolution("within_page", source)
    elif link.kind in _WIKILINKS:
        found = _resolve_wikilink(source, link.target, targets, roots)
    else:
        found = _resolve_path(source, link.target, targets, roots)
    if link.anchor is None or found.target is None:
        return found
    anchors = targets.anchors(found.target)
    return found._replace(has_anchor=_has_anchor(anchors, link.anchor))


def page_names(page: PageNameForms) -> frozenset[str]:
    """Return all names that a page answers to."""
    names = {stem(page.path), *map(fold, page.aliases)}
    if page.title:
        names.add(fold(page.title))
    if stem(page.path) in _FOLDER_PAGES:
        names |= {fold(page.path.rpartition("/")[0].rpartition("/")[2]), _FOLDER}
    return frozenset(names)


def requested_names(link: Link) -> frozenset[str]:
    """Return the names that a link asks for: all that it may lead to answer to one of them.

    A file that is no page answers to its `stem`.
    """
    if not link.target:
        return frozenset()
    path = link.target.rstrip("/")
    if link.kind in _WIKILINKS:
        return frozenset({stem(path), fold(link.target)})
    return frozenset({_FOLDER if _is_folder(path) else stem(path)})


_ROOTS = ("/", "~/")  # the second is DocFX's
_WIKILINKS = frozenset({"wikilink", "embed"})
_FOLDER = "."  # what links to "", "." and ".." ask for
_FOLDER_PAGES = ("readme", "index")


def _resolve_wikilink(
    source: FilePath, target: str, targets: Targets, roots: Sequence[FilePath]
) -> Resolution:
    folder = _folder(source)
    name = without_suffix(target.strip("/"))
    is_relative = name.startswith(("./", "../"))
    if target.startswith("/"):
        folders = _root_folders(source, roots)
    else:
        folders = [folder] if is_relative else [folder, FilePath("")]
    paths = [path for base in folders if (path := _join(base, name)) and not _is_folder(name)]
    ranked = [] if is_relative or target.startswith("/") else _by_stem(name, targets)
    spelt = [one for one in ranked if _is_spelt(one[1], name)]
    for path in paths:
        pages = targets.at(path)
        # `[[bookfusion]]` in People/BookFusion.md means Plugins/bookfusion.md, not itself.
        if pages and (not spelt or any(_is_spelt(page, name) for page in pages)):
            return _decide(pages, path)
    if not is_relative and not target.startswith("/"):
        if ranked:
            return _decide(_shallowest(spelt or ranked), name)
        if ranked := _by_name(target, folder, targets):
            return _decide(_shallowest(ranked), "")
    if is_relative and _join(folder, name) is None:
        return Resolution("out_of_scope")
    suffix = "/" + fold(name)
    for path in targets.files(name):
        folded = fold(without_suffix(path))
        if f"/{folded}".endswith(suffix) or folded in map(fold, paths):
            return _no_page(path)
    return Resolution("missing")


def _by_stem(name: str, targets: Targets) -> list[Ranked]:
    ranked = targets.by_stem(name)
    if "/" not in name:
        return ranked
    suffix = "/" + fold(name)
    return [one for one in ranked if fold(without_suffix(one[1])).endswith(suffix)]


def _is_spelt(page: FilePath, name: str) -> bool:
    """Tell whether a page's path ends as the link is written, capitals and all."""
    return f"/{nfc(without_suffix(page))}".endswith("/" + nfc(name))


def _by_name(target: str, folder: FilePath, targets: Targets) -> list[Ranked]:
    ranked = targets.by_alias(target) or targets.by_title(target)
    return [one for one in ranked if _folder(one[1]) == folder] or ranked


def _shallowest(ranked: Sequence[Ranked]) -> list[FilePath]:
    return [path for _, path in takewhile(lambda one: one[0] == ranked[0][0], ranked)]


def _resolve_path(
    source: FilePath, target: str, targets: Targets, roots: Sequence[FilePath]
) -> Resolution:
    is_rooted = target.startswith(_ROOTS)
    folders = [_folder(source)]
    if is_rooted:
        target, folders = target.removeprefix("~"), _root_folders(source, roots)
    paths = [path for base in folders if (path := _join(base, target)) is not None]
    for path in paths:
        if found := _at_path(path, _endings(target), targets):
            return found
    if not paths:
        return Resolution("out_of_scope")
    if _page_suffix(target):
        return Resolution("missing", None, _elsewhere(target, targets))
    if _FILE.search(target) and not is_rooted:
        return Resolution("missing")
    return Resolution("not_a_page")  # a route of a site generator, a folder


def _elsewhere(target: str, targets: Targets) -> tuple[FilePath, ...]:
    """Return the page that the path would name from the root, else those of its last name."""
    path = normalize_path(target.lstrip("/"))
    if path and targets.is_page(path):
        return (path,)
    return tuple(page for _, page in targets.by_stem(target)[:MAX_CANDIDATES])


def _endings(target: str) -> tuple[str, ...]:
    """Return what is tried behind a path without a page's suffix, and then that suffix."""
    inside = tuple(f"/{name}" for name in _FOLDER_PAGES)
    if _is_folder(target):
        return inside
    return (*inside, "") if target.endswith("/") else ("", *inside)


def _at_path(path: FilePath, endings: Sequence[str], targets: Targets) -> Resolution | None:
    if targets.is_page(path):
        return Resolution("resolved", path)
    if targets.is_file(path):
        return _no_page(path)
    if suffix := _page_suffix(path):
        pages = [page for page in targets.at(without_suffix(path)) if _page_suffix(page) == suffix]
        return _decide(pages, without_suffix(path)) if pages else None
    for ending in endings:
        tried = f"{path}{ending}".lstrip("/")
        if pages := targets.at(tried):
            return _decide(pages, tried)
    return None


def _decide(pages: Sequence[FilePath], written: str) -> Resolution:
    """Take the only page, or the one spelt exactly so; else the alphabet's first."""
    if len(pages) > 1:
        exact = [page for page in pages if without_suffix(page).endswith(written)]
        pages = exact if len(exact) == 1 else pages
    if len(pages) == 1:
        return Resolution("resolved", pages[0])
    return Resolution("ambiguous", pages[0], tuple(pages[:MAX_CANDIDATES]))


def _no_page(path: FilePath) -> Resolution:
    return Resolution("out_of_scope" if _page_suffix(path) else "not_a_page")


def _root_folders(source: FilePath, roots: Sequence[FilePath]) -> list[FilePath]:
    folders = [FilePath(""), *roots]
    folder = _folder(source)
    while folder and fold(folder.rpartition("/")[2]) not in DOCS_FOLDERS:
        folder = _folder(folder)
    return [*folders, folder] if folder else folders


def _is_folder(target: str) -> bool:
    """Tell whether a link names a folder, as "/", "." and ".." do."""
    return target.rstrip("/").rpartition("/")[2] in {"", ".", ".."}


def _folder(path: FilePath) -> FilePath:
    return FilePath(path.rpartition("/")[0])


def _join(folder: FilePath, path: str) -> FilePath | None:
    return normalize_path(f"{folder}/{path.lstrip('/')}" if folder else path.lstrip("/"))


def _page_suffix(path: str) -> str:
    return path[len(without_suffix(path)) :].lower()


def _has_anchor(anchors: Collection[str], anchor: str) -> bool:
    name = fold(anchor)
    if name in anchors or name in {"", "top"} or _IN_BROWSER.match(name):
        return True
    # As Obsidian writes them: the heading's own words, below those of headings above.
    return slug(fold(anchor.rpartition("#")[2].strip())) in anchors


# What a relative link ends in that means a file, not a page that a site generator makes.
_FILE = re.compile(r"\.(?!x?html?$|php$|aspx?$)[a-z][a-z0-9]{0,4}$", re.IGNORECASE)
# Text fragments, and GitHub's lines of a file.
_IN_BROWSER = re.compile(r":~:|l\d+(?:c\d+)?(?:-l?\d+(?:c\d+)?)?$")
