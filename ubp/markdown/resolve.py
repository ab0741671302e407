"""Resolve links in a snapshot: every link falls into exactly one bucket. Pure.

A page answers to names (`page_names`), and a link requests names (`requested_names`). After a
change of the snapshot, only links that request a name of an added, removed or renamed page or file
can resolve differently, and links with an anchor whose target changed.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, takewhile
from types import MappingProxyType
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, Link
from ubp.core.paths import PAGE_SUFFIXES, nfc, normalize_path, without_page_suffix
from ubp.core.text import fold, slug
from ubp.markdown.includes import (
    HUGO_REF,
    JEKYLL_LINK,
    SPHINX_LABEL,
    SPHINX_REFERENCES,
    SPHINX_TOCTREE,
)
from ubp.markdown.sites.anchors import NO_ANCHORS, HeadingName, IncludedPage, PageAnchors
from ubp.markdown.sites.detect import site_anchors
from ubp.markdown.sites.site import (
    NO_SITES,
    OTHER_LABELS,
    OWN_ANCHORS,
    SLUGS_LINKS,
    Site,
    Sites,
    addresses,
    join,
    linked_address,
    locate,
    old_addresses,
    without_numbers,
)

DOCS_FOLDERS = frozenset({"docs", "doc", "documentation", "content"})
MAX_CANDIDATES = 10
# Of a page, with those that its included pages include; pages of people have a few.
MAX_INCLUDED = 200
MAX_INCLUDE_DEPTH = 8
MAX_HEADINGS = 20_000
MAX_HEADING_WORDS = 30  # of a heading that stands last in an anchor of several

_ROOT_PREFIXES = ("/", "~/")  # the second is DocFX's
_WIKILINKS = frozenset({"wikilink", "embed"})
_LENIENT = frozenset({"obsidian", "github"})  # they ignore case, and more
_UNVERIFIED_INCLUDES = frozenset({"mkdocs", "hugo"})  # whose options or layouts set the folder
_VERIFY_FILES = frozenset({"files", "rooted"})  # an address may be that of any file
INCLUDES = "<include>"  # the name that the inclusion of a page requests, besides the page's
_FOLDER = "."  # the name that links to "", "." and ".." request
_FOLDER_PAGES = ("readme", "index", "_index")
_FOLDER_PAGE = re.compile(r"/(?:readme|_?index)$", re.IGNORECASE)
_REF_ENDS = ("", "/_index", "/index")  # of what Hugo's `ref` names
# Suffixes of Sphinx's pages that are none of ours, and what it makes itself.
SPHINX_SUFFIXES = (".rst", ".txt", ".ipynb", ".myst", ".py")
_SPHINX_MADE = frozenset({"genindex", "modindex", "py-modindex", "search"})
_OWN_LANGUAGE = re.compile(r"\.[a-z]{2}(?:[-_][a-z]{2,4}){0,2}$", re.IGNORECASE)
# The suffix of a relative link to a file, not to a page of a site generator.
FILE_SUFFIX = re.compile(r"\.(?!x?html?$|php$|aspx?$)[a-z][a-z0-9]{0,4}$", re.IGNORECASE)
_PACKAGE = re.compile(r"@[\w-]+/")
# What no page is called: routes (`[[...slug]]`) and classes of characters (`[[:alpha:]]`).
_NO_NAME = re.compile(r"\.\.\.\w+|:\w+:")
_CITATION = re.compile(r"\d{1,3}(?:[,;-]\s*\d{1,3})*")
_HTML = re.compile(r"\.html?$", re.IGNORECASE)
# Text fragments, and the line anchors of files on GitHub.
_BROWSER_ANCHOR = re.compile(r":~:|l\d+(?:c\d+)?(?:-l?\d+(?:c\d+)?)?$")
_MADE_ANCHORS = (":~:", "fn:", "fnref:")  # of text fragments, and of footnotes
_MKDOCS_TAG = "tag:"  # Material's list of tags has an anchor for each
_DENDRON_VAULT = re.compile(r"^dendron://[^/]+/")
_DENDRON_RANGE = re.compile(r"[,:].*|\*|\^(?:begin|end)\Z")
_PLAIN_ANCHOR = re.compile(r"[a-z]+(?:-[a-z]+)*")
_SIGNS = re.compile(r"[\W_]")
_PLAIN_HEADING = re.compile(r"[\w\s.,:;!?'\"()\[\]/`-]*", re.ASCII)

Ranked = tuple[int, FilePath]
"""A path after its depth, to sort paths by depth, then alphabetically."""

_Index = dict[str, list[Ranked]]

Bucket = Literal["resolved", "ambiguous", "missing", "within_page", "not_a_page", "out_of_scope"]
# What generators make beside the pages: search, indexes, feeds.
_GENERATED_PAGES = frozenset({"404", "genindex", "modindex", "print", "search", "toc", "index"})
_TAXONOMIES = frozenset({"tags", "categories", "series", "authors", "page"})


class PageNameForms(NamedTuple):
    """The path, title and aliases of a page, by which links may name it.

    `addresses` are those that the front matter sets, with their keys (`slug`, `permalink`, …), and
    under `target` MyST's targets.
    """

    path: FilePath
    title: str | None
    aliases: tuple[str, ...]
    addresses: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Resolution(NamedTuple):
    """The result for a link.

    `target` is a page, or the first of `candidates` for an ambiguous link. The `candidates` of a
    missing page are the page at the path from the root, else those of the same file name.
    `embedded` are images and included files that exist, or cannot be verified; they are not links.
    `has_anchor` is None if the link has no anchor.
    """

    bucket: Bucket | Literal["embedded"]
    target: FilePath | None = None
    candidates: tuple[FilePath, ...] = ()
    has_anchor: bool | None = None


_EMBEDDED = Resolution("embedded")


class WikilinkPages(NamedTuple):
    """What a wikilink that is not relative resolves to, unless a page is at its path.

    `by_name`: in any folder, with a page in the case of the link (`has_same_case`) or not; else by
    alias or title, `by_folder` from pages of a folder that has such a page.
    """

    has_same_case: bool = False
    by_name: Resolution | None = None
    by_folder: Mapping[FilePath, Resolution] = MappingProxyType({})
    by_alias_or_title: Resolution | None = None


_NO_WIKILINK_PAGES = WikilinkPages()


class Targets:
    """The pages and files of a snapshot by name; the cost of a change is that of its names.

    `anchors` returns what a page says about its anchors; it is called only for links with an
    anchor. To resolve a few links, it is enough to add the pages and files with the names that they
    request, and those with names that `request` is called with.
    """

    __slots__ = (
        "_addresses",
        "_aliases",
        "_files",
        "_names_of_headings",
        "_old_addresses",
        "_pages",
        "_paths",
        "_request",
        "_stems",
        "_targets",
        "_titles",
        "_whole_anchors",
        "_wikilinks",
        "anchors",
        "sites",
    )

    def __init__(
        self,
        anchors: Callable[[FilePath], PageAnchors] = lambda _: NO_ANCHORS,
        sites: Sites = NO_SITES,
        request: Callable[[Collection[str]], None] = lambda _: None,
    ) -> None:
        self.anchors = anchors
        self.sites = sites
        self._request = request
        self._whole_anchors: dict[FilePath, PageAnchors] = {}
        self._names_of_headings: dict[FilePath, frozenset[str] | None] = {}
        self._addresses: _Index = {}
        self._old_addresses: _Index = {}
        self._targets: _Index = {}
        self._pages: dict[FilePath, PageNameForms] = {}
        self._paths: _Index = {}
        self._stems: _Index = {}
        self._aliases: _Index = {}
        self._titles: _Index = {}
        self._files: _Index = {}
        self._wikilinks: dict[str, WikilinkPages] = {}

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
        self._wikilinks.clear()
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

    def at_address(self, site: Site, address: str) -> list[FilePath]:
        """Return the pages that a site publishes at an address, ignoring case."""
        return [page for _, page in self._addresses.get(_address_key(site, address), [])]

    def redirected_from(self, site: Site, address: str) -> list[FilePath]:
        """Return the pages whose front matter redirects from an address, ignoring case."""
        return [page for _, page in self._old_addresses.get(_address_key(site, address), [])]

    def whole_anchors(self, path: FilePath) -> PageAnchors:
        """Return what a page, with all the pages that it includes, says about its anchors."""
        if path not in self._whole_anchors:
            site = self.sites.of(path)

            def find(source: FilePath, include: IncludedPage) -> FilePath | None:
                self._request(frozenset({stem(include.path)}))
                paths = _include_paths(source, include.path, site)
                found = next((p for p in paths if self.is_page(p) or self.is_file(p)), None)
                return found if found and self.is_page(found) else None

            self._whole_anchors[path] = whole_anchors(path, site, self.anchors, find)
        return self._whole_anchors[path]

    def names_of_headings(self, path: FilePath) -> frozenset[str] | None:
        """Return the letters of the headings of a page, found once; None: not all are plain."""
        if path not in self._names_of_headings:
            headings = self.whole_anchors(path).headings
            self._names_of_headings[path] = _names_of([heading.text for heading in headings])
        return self._names_of_headings[path]

    def wikilink_pages(self, target: str) -> WikilinkPages:
        """Return the pages that a wikilink may mean which is not relative; found once for all."""
        if target not in self._wikilinks:
            self._wikilinks[target] = _find_wikilink_pages(target, self)
        return self._wikilinks[target]

    def by_target(self, name: str) -> list[FilePath]:
        """Return the pages with the MyST target of a name."""
        return [page for _, page in self._targets.get(fold(name), [])]

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
        for target in {fold(target) for target in dict(page.addresses).get("target", ())}:
            yield self._targets, target
        if site := self.sites.of(page.path):
            for address in addresses(site, page.path, page.addresses):
                yield self._addresses, _address_key(site, address)
            for address in set(old_addresses(site, page.path, page.addresses)):
                yield self._old_addresses, _address_key(site, address)


def resolve(source: FilePath, link: Link, targets: Targets) -> Resolution:
    """Resolve a link of the page `source`.

    A root-absolute target (`/a.md`, `~/a.md`) is looked up in the roots of the page's site and in
    its folders of static files, then in the repository's root, in the configured folders, and in
    the nearest docs folder above the page.
    """
    if link.kind == "include":
        return _resolve_include(source, link, targets)
    if link.kind == "image":
        image = _resolve_path(source, link, targets)
        return image if image.bucket == "missing" else _EMBEDDED
    if not link.target:
        resolution = Resolution("within_page", source)
        is_named = link.kind == "markdown" and link.anchor
        if is_named and (pages := targets.by_target(link.anchor or "")):
            resolution = Resolution("resolved", source if source in pages else pages[0])
    elif _has_label_first(source, link, targets.sites):
        return _resolve_labelled(source, link, targets)
    elif link.kind in _WIKILINKS:
        resolution = _resolve_wikilink(source, link.target, targets)
        if resolution.bucket == "missing" and not _is_wikilink(source, link.target, targets.sites):
            resolution = Resolution("not_a_page")
    elif _is_home(link, targets.sites.of(source), targets):
        return Resolution("not_a_page")
    else:
        resolution = _resolve_path(source, link, targets)
    if link.anchor is None or resolution.target is None:
        return resolution
    return resolution._replace(has_anchor=_has_anchor(link, resolution.target, targets))


def differs_in_case(link: Link, target: FilePath, sites: Sites) -> bool:
    """Return whether a link to a page fails where the case of file names counts."""
    if link.kind in _WIKILINKS or not link.target or is_hugo_ref(link) or is_label(link):
        return False
    site, suffix = sites.of(target), _page_suffix(link.target)
    if site and site.style.is_wiki:
        return False
    if site and not suffix and site.style.ignores_case:
        # its addresses are in lower case, and only a template of its own finds the page of another
        return site.style.verifies == "sections" and link.target != link.target.lower()
    name = without_suffix(target)
    if suffix and not (link.target + "\n").endswith(target[len(name) :] + "\n"):
        return True
    written = _HTML.sub("", without_suffix(link.target)).strip("/").split("/")
    parts = name.split("/")
    if fold(written[-1]) != fold(parts[-1]):
        parts.pop()  # a folder's page
    for part, actual in zip(reversed(written), reversed(parts), strict=False):
        if nfc(part) != nfc(actual):
            return fold(part) == fold(actual)
    return False


def page_names(page: PageNameForms, sites: Sites = NO_SITES) -> frozenset[str]:
    """Return the names that a page answers to."""
    names = {stem(page.path), *map(fold, page.aliases)}
    if page.title:
        names.add(fold(page.title))
    if stem(page.path) in _FOLDER_PAGES:
        names |= {fold(page.path.rpartition("/")[0].rpartition("/")[2]), _FOLDER}
    names.update(f"#{fold(target)}" for target in dict(page.addresses).get("target", ()))
    if site := sites.of(page.path):
        for find in (addresses, old_addresses):
            for address in find(site, page.path, page.addresses):
                names.add(fold(address.rpartition("/")[2]) or _FOLDER)
        names.add(_FOLDER)  # `a.md` may be the page of the folder `a/`
    return frozenset(names)


def requested_names(link: Link) -> frozenset[str]:
    """Return the names that a link requests: each of its possible targets answers to one of them.

    A file that is not a page answers to its `stem`.
    """
    if not link.target:
        return frozenset({f"#{fold(link.anchor)}"} if link.anchor else ())
    if is_label(link):
        return frozenset({f"#{fold(label_name(link))}"})
    path = link.target.rstrip("/")
    if link.kind in _WIKILINKS:
        # a wiki writes a hyphen for a space
        names = {stem(path), stem(path).replace(" ", "-"), fold(link.target)}
        if page := _after_bar(link):  # where labels are first
            names |= {stem(page), stem(page).replace(" ", "-")}
        return frozenset(names)
    if _is_folder(path):
        return frozenset({_FOLDER})
    name = stem(_HTML.sub("", path))
    names = {stem(path), name}
    if link.label in SPHINX_REFERENCES and link.kind == "include":
        bare = stem(without_sphinx_suffix(FilePath(path)))
        return frozenset({name, bare, *(f"{bare}{suffix}" for suffix in SPHINX_SUFFIXES)})
    if link.kind == "include" and path.lower().endswith(PAGE_SUFFIXES):
        names.add(INCLUDES)
    if name == "index":  # the address of a folder
        folder = path.rpartition("/")[0]
        names.add(_FOLDER if _is_folder(folder) else stem(folder))
    return frozenset(names)


without_suffix = without_page_suffix


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


def _is_wikilink(source: FilePath, target: str, sites: Sites) -> bool:
    """Return whether double brackets around a name of no page are meant as a link."""
    if _CITATION.fullmatch(target) or _NO_NAME.fullmatch(target):
        return False
    site = sites.of(source)
    return (
        site is None
        or site.style.has_wikilinks
        or any(other.style.has_wikilinks and locate(other, source) for other in sites.sites)
    )


def _has_label_first(source: FilePath, link: Link, sites: Sites) -> bool:
    """Return whether what a wikilink has after its bar is the page."""
    site = sites.of(source) if link.kind in _WIKILINKS and link.label else None
    return site is not None and site.style.labels_first


def _resolve_labelled(source: FilePath, link: Link, targets: Targets) -> Resolution:
    """Resolve a wikilink by what it has after its bar; its heading is not looked for."""
    target = _after_bar(link)
    found = _resolve_wikilink(source, target, targets) if target else Resolution("missing")
    if found.bucket == "missing":
        return Resolution("not_a_page")
    return found._replace(has_anchor=None if link.anchor is None else True)


def _after_bar(link: Link) -> str:
    return _DENDRON_VAULT.sub("", link.label or "").partition("#")[0].strip()


def _resolve_wikilink(source: FilePath, target: str, targets: Targets) -> Resolution:
    folder = _folder(source)
    name = without_suffix(target.strip("/"))
    is_relative = name.startswith(("./", "../"))
    if target.startswith("/"):
        folders = _root_folders(source, targets.sites)
    else:
        folders = [folder] if is_relative else [folder, FilePath("")]
    paths = [path for base in folders if (path := join(base, name)) and not _is_folder(name)]
    is_named = not is_relative and not target.startswith("/")
    named = targets.wikilink_pages(target) if is_named else _NO_WIKILINK_PAGES
    for path in paths:
        pages = targets.at(path)
        # `[[bookfusion]]` in People/BookFusion.md means Plugins/bookfusion.md, not itself.
        if pages and (not named.has_same_case or any(_has_same_case(page, name) for page in pages)):
            return _choose(pages, path)
    if resolution := named.by_name or named.by_folder.get(folder) or named.by_alias_or_title:
        return resolution
    if is_relative and join(folder, name) is None:
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


def _in_wikis(ranked: Sequence[Ranked], targets: Targets) -> list[Ranked]:
    """Return those of these pages whose site writes a hyphen for a space in a link."""
    return [
        entry for entry in ranked if (site := targets.sites.of(entry[1])) and site.style.is_wiki
    ]


def _has_same_case(page: FilePath, name: str) -> bool:
    """Return whether the path of a page ends with a name, in the same case."""
    return f"/{nfc(without_suffix(page))}".endswith("/" + nfc(name))


def _find_wikilink_pages(target: str, targets: Targets) -> WikilinkPages:
    name = without_suffix(target.strip("/"))
    ranked = _by_stem(name, targets) or _in_wikis(
        _by_stem(name.replace(" ", "-"), targets), targets
    )
    if ranked:
        same_case = [entry for entry in ranked if _has_same_case(entry[1], name)]
        resolution = _choose(_shallowest(same_case or ranked), name)
        return WikilinkPages(has_same_case=bool(same_case), by_name=resolution)
    ranked = targets.by_alias(target) or targets.by_title(target)
    if not ranked:
        return _NO_WIKILINK_PAGES
    folders: dict[FilePath, list[FilePath]] = {}
    for _, page in ranked:
        folders.setdefault(_folder(page), []).append(page)
    by_folder = {folder: _choose(pages, "") for folder, pages in folders.items()}
    return WikilinkPages(by_folder=by_folder, by_alias_or_title=_choose(_shallowest(ranked), ""))


def _shallowest(ranked: Sequence[Ranked]) -> list[FilePath]:
    return [path for _, path in takewhile(lambda entry: entry[0] == ranked[0][0], ranked)]


def _resolve_path(source: FilePath, link: Link, targets: Targets) -> Resolution:
    target, site = link.target, targets.sites.of(source)
    is_rooted = target.startswith(_ROOT_PREFIXES)
    folders = [_folder(source)]
    if is_rooted:
        target, folders = target.removeprefix("~"), _root_folders(source, targets.sites)
    if site and (prefixed := _without_prefix(site, target)):
        target, folders = prefixed
    paths = [path for base in folders if (path := join(base, target)) is not None]
    if site is None:
        resolution = _first_at(paths, target, targets)
    else:
        resolution = _resolve_in_site(source, site, target, paths, targets)
    is_alias = site is not None and link.target.startswith("~/")  # of the site's bundler
    if resolution or is_alias:
        return resolution or Resolution("not_a_page")
    if not paths:
        return Resolution("out_of_scope")
    if _page_suffix(target) and link.kind != "image":
        return Resolution("missing", None, _missing_candidates(target, targets))
    if FILE_SUFFIX.search(target):
        if not is_rooted or (site and site.static and link.kind == "image"):
            return Resolution("missing", None, _same_but_for_case(paths, targets))
    elif site and link.kind != "image" and _is_verifiable(source, site, target):
        return Resolution("missing", None, _missing_candidates(_HTML.sub("", target), targets))
    return Resolution("not_a_page")  # a route of a site generator, a folder


def _without_prefix(site: Site, target: str) -> tuple[str, list[FilePath]] | None:
    """Return a target that begins with a prefix of the generator without it, and its folder."""
    style = site.style
    for prefix, folder in (
        (style.content_prefix, FilePath(site.roots[0].folder)),
        (style.site_prefix, site.folder),
    ):
        if prefix and target.startswith(prefix):
            return target.removeprefix(prefix), [folder]
    return None


def _is_home(link: Link, site: Site | None, targets: Targets) -> bool:
    """Return whether a link outside of the sites leads to the home of one.

    Where no site is known, a link without an anchor is that of the README.md.
    """
    is_root = link.target.startswith("/") and not link.target.strip("/")
    return is_root and site is None and bool(targets.sites.sites or link.anchor)


def _first_at(paths: Iterable[FilePath], target: str, targets: Targets) -> Resolution | None:
    suffixes = _suffixes(target)
    return next((found for path in paths if (found := _at_path(path, suffixes, targets))), None)


def _resolve_in_site(
    source: FilePath, site: Site, target: str, paths: Sequence[FilePath], targets: Targets
) -> Resolution | None:
    """Resolve a link as the site's generator, or a reader's browser, does."""
    names_file = is_file(target)
    published = partial(_where_published, source, site, target, paths)
    if names_file:
        found = _first_at(published(), target, targets)
        if not found and site.style.finds_names and _page_suffix(target):
            found = _by_file_name(site, target, targets)
        is_rewritten = site.rewrites or site.style.makes_addresses
        if found or not (is_rewritten and _page_suffix(target)):
            return found
        target = without_suffix(target)
        target = without_numbers(target) if site.style.drops_numbers else target
    for address in linked_address(site, source, target):
        own = targets.at_address(site, address)
        pages = own or targets.redirected_from(site, address)
        # it requests the page of a folder; where each page is one, `./` is the page itself
        if _is_folder(target) and address and not site.style.is_pretty:
            pages = [page for page in pages if stem(page) in _FOLDER_PAGES]
        pages = _preferred(pages, site, source)
        if pages:
            # of several pages that redirect from an address, the build decides
            return _choose(pages, address) if own else Resolution("resolved", pages[0])
    if site.style.verifies in _VERIFY_FILES:
        return _first_at(published(), target, targets)
    return next((_not_a_page(path) for path in published() if targets.is_file(path)), None)


def _by_file_name(site: Site, target: str, targets: Targets) -> Resolution | None:
    """Resolve a link to the page with its file name that a site publishes from any folder."""
    pages = [
        page
        for _, page in targets.by_stem(target)
        if targets.sites.of(page) == site and _page_suffix(page) == _page_suffix(target)
    ]
    return _choose(pages, without_suffix(target.rpartition("/")[2])) if pages else None


def is_file(target: str) -> bool:
    """Return whether a target has the suffix of a page or file."""
    return bool(_page_suffix(target) or FILE_SUFFIX.search(target))


def _where_published(
    source: FilePath, site: Site, target: str, paths: Sequence[FilePath]
) -> Iterator[FilePath]:
    """Yield where the file of a link may lie, `paths` and other places; the likely ones first."""
    place, style = locate(site, source), site.style
    is_rooted = target.startswith(_ROOT_PREFIXES)
    # a web address without a suffix is not a path from the root of the repository
    is_address = target.startswith("/") and not is_file(target) and style.name not in _LENIENT
    searches = style.searches_roots and (_page_suffix(target) or not is_rooted)
    folders = (
        [root.folder for root in site.roots if "{lang}" not in root.folder] if searches else []
    )
    near: list[Iterable[FilePath]] = [
        () if is_address else paths,
        _joined([f for f in folders if f and source.startswith(f"{f}/")], target),  # its version's
    ]
    known: list[FilePath] = []
    for path in chain(
        *(reversed(near) if is_rooted else near),
        _published_paths(source, site, target),
        _joined((*folders, site.folder) if searches else (), target),
    ):
        known.append(path)
        yield path
    if place and not place.is_default and style.falls_back:
        places = (locate(site, path) for path in known)
        yield from (other.in_default_language() for other in places if other)


def _joined(folders: Iterable[str], target: str) -> Iterator[FilePath]:
    """Yield a target in each of these folders, where it is in the repository."""
    return filter(None, (join(folder, target) for folder in folders))


def _published_paths(source: FilePath, site: Site, target: str) -> Iterator[FilePath]:
    """Yield where the file may lie that a browser would get for a link."""
    for address in linked_address(site, source, target):
        for folder in (*(root.folder for root in site.roots), *site.static):
            if "{lang}" not in folder and (path := join(folder, address)):
                yield path


def _preferred(pages: Sequence[FilePath], site: Site, source: FilePath) -> list[FilePath]:
    """Return the pages in the language of a page, if there are any, else all.

    Of `a.md` and `a/index.md` Hugo mostly publishes the second. A README is the page of its folder
    only if the folder has no other.
    """
    place = locate(site, source)
    same = [
        page
        for page in pages
        if place and (other := locate(site, page)) and other.language == place.language
    ]
    found = same or list(pages)
    indexed = {_folder(page) for page in found if stem(page) in {"index", "_index"}}
    found = [page for page in found if stem(page) != "readme" or _folder(page) not in indexed]
    folders = [page for page in found if stem(page) in _FOLDER_PAGES]
    return folders if folders and site.style.name == "hugo" else found


def _is_verifiable(source: FilePath, site: Site, target: str) -> bool:
    """Return whether the repository has a page for each such address of the site."""
    found = linked_address(site, source, target)
    if not found or site.style.verifies == "files":
        return False
    parts = found[0].split("/")
    if site.style.verifies == "rooted" and not target.startswith("/"):
        return False
    if parts[-1] in _GENERATED_PAGES or (target.startswith("/") and site.style.name == "mdbook"):
        return False
    return site.style.verifies == "all" or (len(parts) > 1 and parts[0] not in _TAXONOMIES)


def _resolve_include(source: FilePath, link: Link, targets: Targets) -> Resolution:
    """Resolve the inclusion of a file, which is relative to one of several folders."""
    site = targets.sites.of(source)
    name = (link.label or "").partition(" ")[0]
    if site is None or name != site.style.name:  # another generator's syntax, as an example
        return _EMBEDDED
    if is_ref(link):
        by_label = _resolve_label if is_label(link) else _resolve_doc
        return (_resolve_ref if is_hugo_ref(link) else by_label)(source, link, site, targets)
    # of a package, which is not in the repository, or computed
    if _PACKAGE.match(link.target) or "{{" in link.target:
        return _EMBEDDED
    paths = (
        list(_joined(source_folders(link.target, site), link.target))
        if is_from_source(link)
        else _include_paths(source, link.target, site)
    )
    for path in paths:
        if targets.is_page(path):
            return Resolution("resolved", path)
        if targets.is_file(path):
            return _EMBEDDED
    is_verifiable = paths and site.style.name not in _UNVERIFIED_INCLUDES
    return (
        Resolution("missing", None, _same_but_for_case(paths, targets))
        if is_verifiable
        else _EMBEDDED
    )


def is_from_source(link: Link) -> bool:
    """Return whether a link is Jekyll's `{% link %}`, a path from the folder of all pages."""
    return link.kind == "include" and link.label == JEKYLL_LINK


def is_ref(link: Link) -> bool:
    """Return whether a link is Hugo's `ref` or `relref`, or a reference of Sphinx."""
    return is_hugo_ref(link) or (link.kind == "include" and link.label in SPHINX_REFERENCES)


def is_hugo_ref(link: Link) -> bool:
    """Return whether a link is Hugo's `{{< ref >}}` or `{{< relref >}}`."""
    return link.kind == "include" and link.label == HUGO_REF


def is_label(link: Link) -> bool:
    """Return whether a link is Sphinx's `{ref}`, which names a label of any page."""
    return link.kind == "include" and link.label == SPHINX_LABEL


def keeps_suffix(link: Link) -> bool:
    """Return whether a reference of Sphinx has the suffix of a page, as toctrees may."""
    return link.label == SPHINX_TOCTREE and bool(_page_suffix(link.target))


def own_language(path: FilePath) -> str:
    """Return the language in a page's own name: `.de` of `a.de.md`; "": it has none."""
    found = _OWN_LANGUAGE.search(without_suffix(path))
    return found[0] if found else ""


def ref_folder(link: Link, source: FilePath) -> FilePath:
    """Return the folder in which the relative paths of a reference begin in a page.

    To Hugo the files of a page with a folder of its own (`a/index.md`) are not pages beside it.
    """
    folder = _folder(source)
    is_bundle = is_hugo_ref(link) and stem(source).partition(".")[0] == "index"
    return _folder(folder) if is_bundle else folder


def _resolve_ref(source: FilePath, link: Link, site: Site, targets: Targets) -> Resolution:
    """Resolve Hugo's `ref`: by a path from the page's folder or the site's, or by a name."""
    target = link.target
    place = locate(site, source)
    languages = (place.language, place.root.language) if place else ("",)
    roots = [root.folder.replace("{lang}", name) for root in site.roots for name in languages]
    folders = [] if target.startswith("/") else [ref_folder(link, source), _folder(source)]
    ends = [f"{end}{language}" for language in (own_language(source), "") for end in _REF_ENDS]
    paths = _joined((*folders, *roots), target)
    if found := next((at for path in paths if (at := _at_path(path, ends, targets))), None):
        return found
    name = fold(without_suffix(target.strip("/")))
    named = [
        page
        for end in _REF_ENDS
        for _, page in targets.by_stem(f"{name}{end}")
        if targets.sites.of(page) == site
        and f"/{fold(without_suffix(page))}".endswith(f"/{name}{end}")
    ]
    if not named or target.startswith((".", "/")):
        return Resolution("missing", None, _missing_candidates(target, targets))
    return Resolution("resolved", named[0]) if len(named) == 1 else Resolution("not_a_page")


def label_name(link: Link) -> str:
    """Return the name of a label, which may be written on several lines."""
    return " ".join(link.target.split())


def _resolve_label(source: FilePath, link: Link, site: Site, targets: Targets) -> Resolution:
    """Resolve Sphinx's `{ref}`: by a label of any page of the site.

    A label may be one of another project, or of a page in reStructuredText.
    """
    name = label_name(link)
    pages = [page for page in targets.by_target(name) if targets.sites.of(page) == site]
    if pages:
        return Resolution("resolved", source if source in pages else pages[0])
    if fold(name) in _SPHINX_MADE:
        return _EMBEDDED
    is_open = ":" in name or "{" in name or site.option(OTHER_LABELS)
    return Resolution("not_a_page" if is_open else "missing")


def _resolve_doc(source: FilePath, link: Link, site: Site, targets: Targets) -> Resolution:
    """Resolve a path of Sphinx, from the page's folder or that of all pages, without a suffix."""
    path = path_of(link, source, site)
    bare = path and (without_sphinx_suffix(path) if link.label == SPHINX_TOCTREE else path)
    is_elsewhere = ":" in link.target  # in another project
    folder = f"{site.roots[0].folder}/".lstrip("/")
    if not bare or is_elsewhere or not bare.startswith(folder):
        return Resolution("not_a_page")
    if pages := targets.at(bare):
        return _choose(pages, bare)
    files = (FilePath(f"{bare}{suffix}") for suffix in SPHINX_SUFFIXES)
    if bare.rpartition("/")[2] in _SPHINX_MADE or any(map(targets.is_file, files)):
        return _EMBEDDED
    return Resolution("missing", None, _missing_candidates(link.target, targets))


def without_sphinx_suffix(path: FilePath) -> FilePath:
    """Return the path of a page of Sphinx without its suffix."""
    if (bare := without_suffix(path)) != path:
        return FilePath(bare)
    suffix = next((end for end in SPHINX_SUFFIXES if path.endswith(end)), "")
    return FilePath(path.removesuffix(suffix))


def path_of(link: Link, source: FilePath, site: Site | None) -> FilePath | None:
    """Return the path that a link in a page names; a leading "/" means the root."""
    folder = "" if link.target.startswith("/") else _folder(source)
    if site and is_from_source(link):
        folder = source_folders(link.target, site)[-1]
    if is_label(link):
        return None
    if site and is_ref(link):
        folder = site.roots[0].folder if link.target.startswith("/") else ref_folder(link, source)
    return normalize_path(f"{folder}/{link.target}".lstrip("/"))


def source_folders(target: str, site: Site) -> list[FilePath]:
    """Return the folders from which Jekyll's `{% link %}` names a page; not the page's own.

    Only collections (`_guides/a.md`) may have one beside that of the site's pages.
    """
    pieces = site.pieces if target.startswith("_") else ()
    return [*(FilePath(root.folder) for root in site.roots), *pieces]


def _include_paths(source: FilePath, target: str, site: Site | None) -> list[FilePath]:
    """Return where a file may lie that a page includes."""
    folders = [_folder(source)]
    if site:
        folders += [*(FilePath(root.folder) for root in site.roots), site.folder]
        folders += [FilePath(f"{site.folder}/_includes".lstrip("/"))] * (
            site.style.name == "jekyll"
        )
        folders += site.pieces
    target = target.removeprefix("@/")
    paths = (join(folder, target) for folder in (*folders, FilePath("")))
    return [path for path in paths if path]


def whole_anchors(
    path: FilePath,
    site: Site | None,
    anchors: Callable[[FilePath], PageAnchors],
    find: Callable[[FilePath, IncludedPage], FilePath | None],
) -> PageAnchors:
    """Return what a page says about its anchors, with all the pages that it includes.

    `find` returns the page that a page includes; None: it is not in the repository, or not read.
    Then the anchors are unknown.
    """
    remaining = MAX_INCLUDED

    def read(page_path: FilePath, above: tuple[FilePath, ...]) -> PageAnchors:
        nonlocal remaining
        page = anchors(page_path)
        whole = page._replace(includes=())
        # from the last one on, so that the positions of the others stay the same
        for include in reversed(page.includes):
            if site and include.generator != site.style.name:
                continue
            remaining -= 1
            included = find(page_path, include)
            if included is None or remaining < 0 or len(above) >= MAX_INCLUDE_DEPTH:
                return whole._replace(is_generated=True)
            if included == page_path or included in above:
                continue
            part = read(included, (*above, page_path))
            position = include.position
            ids, headings = part.ids, part.headings
            if site and site.style.name == "docusaurus":  # it numbers them in each file anew
                ids, headings = tuple(sorted(site_anchors(part, site))), ()
            whole = PageAnchors(
                (*whole.headings[:position], *headings, *whole.headings[position:]),
                (*whole.ids, *ids),
                (*whole.targets, *part.targets),
                whole.is_generated or part.is_generated,
            )
            if len(whole.headings) > MAX_HEADINGS:
                return whole._replace(is_generated=True)
        return whole

    return read(path, ())


def _same_but_for_case(paths: Sequence[FilePath], targets: Targets) -> tuple[FilePath, ...]:
    """Return the files at these paths in other letter case."""
    folded = {fold(path) for path in paths}
    files = {file for path in paths for file in targets.files(path) if fold(file) in folded}
    return tuple(sorted(files))[:MAX_CANDIDATES]


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
        names = [without_suffix(page) for page in pages]
        for ends in (names, [_FOLDER_PAGE.sub("", name) for name in names]):
            exact = [page for page, end in zip(pages, ends, strict=True) if end.endswith(written)]
            if len(exact) == 1:
                return Resolution("resolved", exact[0])
    if len(pages) == 1:
        return Resolution("resolved", pages[0])
    return Resolution("ambiguous", pages[0], tuple(pages[:MAX_CANDIDATES]))


def _not_a_page(path: FilePath) -> Resolution:
    return Resolution("out_of_scope" if _page_suffix(path) else "not_a_page")


def _root_folders(source: FilePath, sites: Sites) -> list[FilePath]:
    folders = [FilePath(""), *sites.link_roots]
    folder = _folder(source)
    while folder and fold(folder.rpartition("/")[2]) not in DOCS_FOLDERS:
        folder = _folder(folder)
    return [*folders, folder] if folder else folders


def _is_folder(target: str) -> bool:
    """Return whether a link names a folder, as "/", "." and ".." do."""
    return target.rstrip("/").rpartition("/")[2] in {"", ".", ".."}


def _folder(path: FilePath) -> FilePath:
    return FilePath(path.rpartition("/")[0])


def _page_suffix(path: str) -> str:
    return path[len(without_suffix(path)) :].lower()


def _address_key(site: Site, address: str) -> str:
    return f"{site.folder}\0{fold(address)}"


def _is_slug_of(anchor: str, site: Site, known: Collection[str]) -> bool:
    """Return whether a site makes one of the known anchors from what a link has."""
    if not site.option(SLUGS_LINKS):
        return False
    return not site_anchors(PageAnchors((HeadingName(2, anchor),)), site).isdisjoint(known)


def is_plain_anchor(anchor: str) -> bool:
    """Return whether every usual function makes an anchor of the same words."""
    return _PLAIN_ANCHOR.fullmatch(anchor) is not None


def _names_of(headings: Sequence[str]) -> frozenset[str] | None:
    """Return the letters of headings, with and without parameters; None: not all are plain."""
    if not all(map(_PLAIN_HEADING.fullmatch, headings)):
        return None
    names = {name for text in headings for name in (text, text.partition("(")[0])}
    return frozenset(_SIGNS.sub("", name).lower() for name in names)


def _may_be_made(anchor: str, target: FilePath, targets: Targets) -> bool:
    """Return whether a function that is not known may make an anchor of a heading of a page.

    It may write words for signs (`&`) and for letters of other scripts, and hyphens anywhere,
    leave out parameters, and begin with the headings above.
    """
    if not is_plain_anchor(anchor):
        return True
    names = targets.names_of_headings(target)
    if names is None:
        return True
    words = anchor.rsplit("-", MAX_HEADING_WORDS)
    words[0] = words[0].replace("-", "")
    return any("".join(words[start:]) in names for start in range(len(words)))


def _has_anchor(link: Link, target: FilePath, targets: Targets) -> bool:
    page, site, anchor = targets.whole_anchors(target), targets.sites.of(target), link.anchor or ""
    if page.is_generated:
        return True
    if site and site.style.labels_first:  # Dendron, which includes lines: `#start,1:#end`
        anchor = _DENDRON_RANGE.sub("", anchor)
    is_own = bool(site and site.option(OWN_ANCHORS))
    is_known = site and site.style.knows_anchors and site.style.name not in _LENIENT and not is_own
    if site and is_known and link.kind not in _WIKILINKS:
        is_made = anchor in {"", "top"} or anchor.startswith(_MADE_ANCHORS)
        is_tag = site.style.name == "mkdocs" and anchor.startswith(_MKDOCS_TAG)
        known = site_anchors(page, site)
        return is_made or is_tag or anchor in known or _is_slug_of(anchor, site, known)
    anchors, name = site_anchors(page, None), fold(anchor)
    if name in anchors or name in {"", "top"} or _BROWSER_ANCHOR.match(name):
        return True
    if site and is_own and (not site.style.knows_anchors or _may_be_made(anchor, target, targets)):
        return True
    # Obsidian writes the headings above it, and the text of the heading, separated by "#".
    return slug(fold(anchor.rpartition("#")[2].strip())) in anchors
