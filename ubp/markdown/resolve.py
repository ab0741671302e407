"""Resolve links in a snapshot: every link falls into exactly one bucket. Pure.

A page answers to names (`page_names`), and a link requests names (`requested_names`). After a
change of the snapshot, only links that request a name of an added, removed or renamed page or file
can resolve differently, and links with an anchor whose target changed.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, Link
from ubp.core.paths import nfc, normalize_path
from ubp.core.text import fold, slug

DOCS_FOLDERS = frozenset({"docs", "doc", "documentation", "content"})
MAX_CANDIDATES = 10

_ROOT_PREFIXES = ("/", "~/")  # the second is DocFX's
_WIKILINKS = frozenset({"wikilink", "embed"})
_FOLDER = "."  # the name that links to "", "." and ".." request
_FOLDER_PAGES = ("readme", "index")
# The suffix of a relative link to a file, not to a page of a site generator.
_FILE_SUFFIX = re.compile(r"\.(?!x?html?$|php$|aspx?$)[a-z][a-z0-9]{0,4}$", re.IGNORECASE)
# Text fragments, and the line anchors of files on GitHub.
_BROWSER_ANCHOR = re.compile(r":~:|l\d+(?:c\d+)?(?:-l?\d+(?:c\d+)?)?$")

Ranked = tuple[int, FilePath]
"""A path after its depth, to sort paths by depth, then alphabetically."""

_Index = dict[str, list[Ranked]]

Bucket = Literal["resolved", "ambiguous", "missing", "within_page", "not_a_page", "out_of_scope"]


class PageNameForms(NamedTuple):
    """The path, title and aliases of a page, by which links may name it."""

    path: FilePath
    title: str | None
    aliases: tuple[str, ...]


class Resolution(NamedTuple):
    """The result for a link.

    `target` is a page, or the first of `candidates` for an ambiguous link. The `candidates` of a
    missing page are the page at the path from the root, else those of the same file name.
    `has_anchor` is None if the link has no anchor.
    """

    bucket: Bucket
    target: FilePath | None = None
    candidates: tuple[FilePath, ...] = ()
    has_anchor: bool | None = None


class Targets:
    """The pages and files of a snapshot by name; the cost of a change is that of its names.

    `anchors` returns a page's anchors, folded; it is called only for links with an anchor. To
    resolve a few links, it is enough to add the pages and files with the names that they request.
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
        """Add a page, replacing the page or file at its path."""
        self.remove(page.path)
        self._pages[page.path] = page
        for index, key in self._keys(page):
            insort(index.setdefault(key, []), _ranked(page.path))

    def add_file(self, path: FilePath) -> None:
        """Add a file that is not a page: of another type, or excluded."""
        self.remove(path)
        insort(self._files.setdefault(stem(path), []), _ranked(path))

    def remove(self, path: FilePath) -> None:
        """Remove the page or file at a path, if there is one."""
        page = self._pages.pop(path, None)
        for index, key in self._keys(page) if page else [(self._files, stem(path))]:
            _remove(index, key, path)

    def is_page(self, path: FilePath) -> bool:
        """Return whether there is a page at exactly this path."""
        return path in self._pages

    def is_file(self, path: FilePath) -> bool:
        """Return whether there is a file that is not a page at exactly this path."""
        return _position(self._files.get(stem(path), []), path) is not None

    def at(self, path: str) -> list[FilePath]:
        """Return the pages at a path without suffix, ignoring case and Unicode form."""
        return [page for _, page in self._paths.get(fold(path), [])]

    def by_stem(self, path: str) -> list[Ranked]:
        """Return the pages with the last name of a path."""
        return self._stems.get(stem(path), [])

    def by_alias(self, name: str) -> list[Ranked]:
        """Return the pages with this alias."""
        return self._aliases.get(fold(name), [])

    def by_title(self, name: str) -> list[Ranked]:
        """Return the pages with this title."""
        return self._titles.get(fold(name), [])

    def files(self, path: str) -> list[FilePath]:
        """Return the files with the last name of a path that are not pages."""
        return [file for _, file in self._files.get(stem(path), [])]

    def _keys(self, page: PageNameForms) -> Iterator[tuple[_Index, str]]:
        yield self._paths, fold(without_suffix(page.path))
        yield self._stems, stem(page.path)
        if page.title:
            yield self._titles, fold(page.title)
        for alias in {fold(alias) for alias in page.aliases}:
            yield self._aliases, alias


def resolve(
    source: FilePath, link: Link, targets: Targets, roots: Sequence[FilePath] = ()
) -> Resolution:
    """Resolve a link of the page `source`.

    A root-absolute target (`/a.md`, `~/a.md`) is looked up in the repository's root, then in the
    folders `roots`, then in the nearest docs folder above the page.
    """
    if not link.target:
        resolution = Resolution("within_page", source)
    elif link.kind in _WIKILINKS:
        resolution = _resolve_wikilink(source, link.target, targets, roots)
    else:
        resolution = _resolve_path(source, link.target, targets, roots)
    if link.anchor is None or resolution.target is None:
        return resolution
    anchors = targets.anchors(resolution.target)
    return resolution._replace(has_anchor=_has_anchor(anchors, link.anchor))


def page_names(page: PageNameForms) -> frozenset[str]:
    """Return the names that a page answers to."""
    names = {stem(page.path), *map(fold, page.aliases)}
    if page.title:
        names.add(fold(page.title))
    if stem(page.path) in _FOLDER_PAGES:
        names |= {fold(page.path.rpartition("/")[0].rpartition("/")[2]), _FOLDER}
    return frozenset(names)


def requested_names(link: Link) -> frozenset[str]:
    """Return the names that a link requests: each of its possible targets answers to one of them.

    A file that is not a page answers to its `stem`.
    """
    if not link.target:
        return frozenset()
    path = link.target.rstrip("/")
    if link.kind in _WIKILINKS:
        return frozenset({stem(path), fold(link.target)})
    return frozenset({_FOLDER if _is_folder(path) else stem(path)})


def without_suffix(path: str) -> str:
    """Return a path without ".md" or ".markdown"."""
    lower = path[-9:].lower()
    if lower.endswith(".md"):
        return path[:-3]
    return path[:-9] if lower == ".markdown" else path


def stem(path: str) -> str:
    """Return the last name of a path, folded, without the suffix of a page."""
    return fold(without_suffix(path.rpartition("/")[2]))


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
    same_case = [entry for entry in ranked if _has_same_case(entry[1], name)]
    for path in paths:
        pages = targets.at(path)
        # `[[bookfusion]]` in People/BookFusion.md means Plugins/bookfusion.md, not itself.
        if pages and (not same_case or any(_has_same_case(page, name) for page in pages)):
            return _choose(pages, path)
    if not is_relative and not target.startswith("/"):
        if ranked:
            return _choose(_shallowest(same_case or ranked), name)
        if ranked := _by_alias_or_title(target, folder, targets):
            return _choose(_shallowest(ranked), "")
    if is_relative and _join(folder, name) is None:
        return Resolution("out_of_scope")
    suffix = "/" + fold(name)
    for path in targets.files(name):
        folded = fold(without_suffix(path))
        if f"/{folded}".endswith(suffix) or folded in map(fold, paths):
            return _not_a_page(path)
    return Resolution("missing")


def _by_stem(name: str, targets: Targets) -> list[Ranked]:
    ranked = targets.by_stem(name)
    if "/" not in name:
        return ranked
    suffix = "/" + fold(name)
    return [entry for entry in ranked if fold(without_suffix(entry[1])).endswith(suffix)]


def _has_same_case(page: FilePath, name: str) -> bool:
    """Return whether the path of a page ends with a name, in the same case."""
    return f"/{nfc(without_suffix(page))}".endswith("/" + nfc(name))


def _by_alias_or_title(target: str, folder: FilePath, targets: Targets) -> list[Ranked]:
    ranked = targets.by_alias(target) or targets.by_title(target)
    return [entry for entry in ranked if _folder(entry[1]) == folder] or ranked


def _shallowest(ranked: Sequence[Ranked]) -> list[FilePath]:
    return [path for _, path in takewhile(lambda entry: entry[0] == ranked[0][0], ranked)]


def _resolve_path(
    source: FilePath, target: str, targets: Targets, roots: Sequence[FilePath]
) -> Resolution:
    is_rooted = target.startswith(_ROOT_PREFIXES)
    folders = [_folder(source)]
    if is_rooted:
        target, folders = target.removeprefix("~"), _root_folders(source, roots)
    paths = [path for base in folders if (path := _join(base, target)) is not None]
    for path in paths:
        if resolution := _at_path(path, _suffixes(target), targets):
            return resolution
    if not paths:
        return Resolution("out_of_scope")
    if _page_suffix(target):
        return Resolution("missing", None, _missing_candidates(target, targets))
    if _FILE_SUFFIX.search(target) and not is_rooted:
        return Resolution("missing")
    return Resolution("not_a_page")  # a route of a site generator, a folder


def _missing_candidates(target: str, targets: Targets) -> tuple[FilePath, ...]:
    """Return the page at the path from the root, else the pages with its last name."""
    path = normalize_path(target.lstrip("/"))
    if path and targets.is_page(path):
        return (path,)
    return tuple(page for _, page in targets.by_stem(target)[:MAX_CANDIDATES])


def _suffixes(target: str) -> tuple[str, ...]:
    """Return what to append to a path without a page's suffix, in the order of preference."""
    folder_pages = tuple(f"/{name}" for name in _FOLDER_PAGES)
    if _is_folder(target):
        return folder_pages
    return (*folder_pages, "") if target.endswith("/") else ("", *folder_pages)


def _at_path(path: FilePath, suffixes: Sequence[str], targets: Targets) -> Resolution | None:
    if targets.is_page(path):
        return Resolution("resolved", path)
    if targets.is_file(path):
        return _not_a_page(path)
    if suffix := _page_suffix(path):
        pages = [page for page in targets.at(without_suffix(path)) if _page_suffix(page) == suffix]
        return _choose(pages, without_suffix(path)) if pages else None
    for suffix in suffixes:
        candidate = f"{path}{suffix}".lstrip("/")
        if pages := targets.at(candidate):
            return _choose(pages, candidate)
    return None


def _choose(pages: Sequence[FilePath], written: str) -> Resolution:
    """Resolve to the only page, or to the only one written exactly so; else it is ambiguous."""
    if len(pages) > 1:
        exact = [page for page in pages if without_suffix(page).endswith(written)]
        pages = exact if len(exact) == 1 else pages
    if len(pages) == 1:
        return Resolution("resolved", pages[0])
    return Resolution("ambiguous", pages[0], tuple(pages[:MAX_CANDIDATES]))


def _not_a_page(path: FilePath) -> Resolution:
    return Resolution("out_of_scope" if _page_suffix(path) else "not_a_page")


def _root_folders(source: FilePath, roots: Sequence[FilePath]) -> list[FilePath]:
    folders = [FilePath(""), *roots]
    folder = _folder(source)
    while folder and fold(folder.rpartition("/")[2]) not in DOCS_FOLDERS:
        folder = _folder(folder)
    return [*folders, folder] if folder else folders


def _is_folder(target: str) -> bool:
    """Return whether a link names a folder, as "/", "." and ".." do."""
    return target.rstrip("/").rpartition("/")[2] in {"", ".", ".."}


def _folder(path: FilePath) -> FilePath:
    return FilePath(path.rpartition("/")[0])


def _join(folder: FilePath, path: str) -> FilePath | None:
    return normalize_path(f"{folder}/{path.lstrip('/')}" if folder else path.lstrip("/"))


def _page_suffix(path: str) -> str:
    return path[len(without_suffix(path)) :].lower()


def _has_anchor(anchors: Collection[str], anchor: str) -> bool:
    name = fold(anchor)
    if name in anchors or name in {"", "top"} or _BROWSER_ANCHOR.match(name):
        return True
    # Obsidian writes the headings above it, and the text of the heading, separated by "#".
    return slug(fold(anchor.rpartition("#")[2].strip())) in anchors
