"""Where a link leads in a snapshot: every link falls into exactly one bucket. Pure.

A page answers to names (`names_of`), a link asks for names (`names_asked`). Where a snapshot
changes, only links that ask for a name of what came, went or was renamed can lead elsewhere; and
one that names an anchor must be looked at again when its target changes.
"""

import re
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from ubp.model import FilePath, Link
from ubp.paths import nfc, normalise
from ubp.slugs import fold, slug
from ubp.targets import PageNames, Ranked, Targets, stem, without_suffix

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


def names_of(page: PageNames) -> frozenset[str]:
    """Return all names that a page answers to."""
    names = {stem(page.path), *map(fold, page.aliases)}
    if page.title:
        names.add(fold(page.title))
    if stem(page.path) in _FOLDER_PAGES:
        names |= {fold(page.path.rpartition("/")[0].rpartition("/")[2]), _FOLDER}
    return frozenset(names)


def names_asked(link: Link) -> frozenset[str]:
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
    path = normalise(target.lstrip("/"))
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
    return normalise(f"{folder}/{path.lstrip('/')}" if folder else path.lstrip("/"))


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
