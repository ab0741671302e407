"""A site: the pages that one generator publishes, their addresses, and who may link to what.

`Site` is what a generator's configuration says, `Sites` all sites of a snapshot. Everything here is
computed from paths and facts, so that another configuration does not parse a page again.
"""

import posixpath
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import match_any, normalize_path, without_page_suffix
from ubp.markdown.sites.redirects import is_too_wide

FOLDER_PAGES = ("index", "readme", "_index")

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?")
_KEPT = frozenset(" ./\\_#+~-@")
_GROUP = re.compile(r"\(.+\)")
_LANGUAGE_SUFFIX = re.compile(r"(.+)\.([a-z]{2}(?:[-_][A-Za-z]{2,4})?)")
# As Docusaurus reads it: versions and dates (`1.2-x`, `2021-11-x`) have no such prefix.
_NUMBER_PREFIX = re.compile(r"^(?!\d+[-_.]\d)\d+\s*[-_.]+\s*(?=[^-_.\s])")


OWN_ANCHORS = "made by the site's own function"
"""The option of a site whose anchors cannot be known, as its configuration computes them."""


OWN_HOOKS = "programs of the site read its pages"
"""The option of a site whose programs may make anchors of comments in a page."""

SLUGS_LINKS = "makes anchors of links as of headings"
"""The option of a site in which `#Set up` leads to the heading with the anchor `set-up`."""

OTHER_LABELS = "labels may be defined by other projects or programs"
"""The option of a site of Sphinx in which a label that no page defines may lead somewhere."""

OTHER_PAGES = "programs may make pages"
"""The option of a site of Sphinx whose configuration writes files, or extensions do."""

ROOT_LANGUAGE = "root"
"""The default language where its pages lie beside the folders of the others."""


class Style(NamedTuple):
    """How a generator makes addresses.

    `is_pretty`: each page is a folder, so that relative links begin in it. `drops_numbers`: from
    the beginning of names. `drops_languages`: from the end of names (`page.ja.md`). `verifies`:
    which addresses can be judged by the repository's files: none ("files": only links to files
    are), those from the root below a folder ("rooted"), those of pages below a section, or all.
    `falls_back`: a page that a language lacks is
    published from the default language. `has_wikilinks`: itself, or by a plugin in wide use.
    `searches_roots`: a relative link to a file may also begin in a root. `ignores_case`: addresses
    are in lower case. `shows_front_matter`: to readers, as a table or as text. `keys` of front
    matter set addresses. `folder_pages` are the names of files that are their folders'
    pages. `content_prefix` begins links to files that are written from the first root,
    `site_prefix` those from the folder of the site. `whole_keys` are those of the `keys` that set
    the whole address. `slugs_names`: names in addresses are slugs, as github-slugger makes them.
    `localizes_links`: addresses from the root begin in the language of their page.
    `resolves_paths`: a template of the generator makes addresses of relative links that are paths.
    `makes_addresses`: of a page's path, so that a link to `page.md` leads where one to `page` does.
    `hyphenates`: names in addresses have hyphens for spaces, and few other signs.
    Without `knows_anchors` a heading may have the anchor of any generator. `is_wiki`: a link finds
    a page in whatever letter case, and with a hyphen for a space, as on GitHub. `finds_names`: of a
    link to `a/page.md` the name alone counts, wherever the page lies. `labels_first`: of a wikilink
    with a label, which is in front of the page (`[[label|page]]`). `drops_groups`: the names of
    folders in parentheses are not part of an address.
    """

    name: str
    is_pretty: bool = False
    drops_numbers: bool = False
    drops_languages: bool = False
    verifies: Literal["files", "rooted", "sections", "all"] = "files"
    falls_back: bool = True
    has_wikilinks: bool = False
    searches_roots: bool = False
    ignores_case: bool = False
    shows_front_matter: bool = False
    keys: tuple[str, ...] = ()
    folder_pages: tuple[str, ...] = FOLDER_PAGES
    content_prefix: str = ""
    site_prefix: str = ""
    whole_keys: tuple[str, ...] = ("url", "permalink")
    slugs_names: bool = False
    localizes_links: bool = False
    resolves_paths: bool = False
    makes_addresses: bool = False
    hyphenates: bool = False
    knows_anchors: bool = True
    is_wiki: bool = False
    finds_names: bool = False
    labels_first: bool = False
    drops_groups: bool = False


class Root(NamedTuple):
    """A folder of pages. "{lang}" in `folder` and `url` stands for a language.

    `url` is its address below the site's base. A page in `language`, the default one, is published
    where another language lacks it. Addresses in it have no language, except with `keeps_default`.
    """

    folder: str
    url: str = ""
    language: str = ""
    keeps_default: bool = False


Written = Sequence[tuple[str, Sequence[str]]]
"""Addresses in front matter: `slug`, `id`, `url`, `permalink`, `aliases`, `redirect_from`."""


class Site(NamedTuple):
    """A site as its configuration describes it; `config` is that file, "" for UBP's own.

    `roots` are ordered by preference. `static` are folders of files that are published unchanged.
    `base` is the path that absolute links begin with. `navigation` are the pages that its menus
    list; None: the generator lists every page. `options` are those of the generator's anchors.
    `rewrites` are the patterns of paths that are published elsewhere (VitePress). `excluded` are
    globs of the pages in its folders that it does not publish; where there are globs in
    `published`, it publishes only those. With a `suffix_language`, the default one, names of files
    may end in a language (`page.fr.md`), and links have none (MkDocs). `pieces` are folders of what
    pages include. `keeps_paths`: it makes no address of the path of a page from the root
    (`/page.md`).
    """

    style: Style
    folder: FilePath
    roots: tuple[Root, ...]
    static: tuple[FilePath, ...] = ()
    base: str = ""
    navigation: tuple[FilePath, ...] | None = None
    options: tuple[tuple[str, str], ...] = ()
    config: str = ""
    rewrites: tuple[tuple[str, str], ...] = ()
    excluded: tuple[str, ...] = ()
    pieces: tuple[FilePath, ...] = ()
    keeps_paths: bool = False
    published: tuple[str, ...] = ()
    suffix_language: str = ""

    def option(self, name: str) -> str:
        """Return an option, "" where the configuration does not set it."""
        return dict(self.options).get(name, "")


@lru_cache(maxsize=256)
def _listed(navigation: tuple[FilePath, ...]) -> frozenset[str]:
    return frozenset(without_page_suffix(path).rstrip("/") for path in navigation)


class Place(NamedTuple):
    """The position of a file in a site: its root, its language and its path in the root."""

    root: Root
    language: str
    path: str

    @property
    def is_default(self) -> bool:
        """True for the default language, and where there is only one."""
        return not self.root.language or self.language == self.root.language

    def in_default_language(self) -> FilePath:
        """Return the path of the same file in the default language."""
        language = self.root.language
        folder = self.root.folder.replace("{lang}", "" if language == ROOT_LANGUAGE else language)
        folder = folder.rstrip("/")
        return FilePath(f"{folder}/{self.path}".lstrip("/"))

    @property
    def url(self) -> str:
        """The address of the root in this language."""
        language = "" if self.is_default and not self.root.keeps_default else self.language
        return re.sub(r"//+", "/", self.root.url.replace("{lang}", language)).strip("/")


class Sites(NamedTuple):
    """All sites of a snapshot, and the configured folders that "/" in a link may mean."""

    sites: tuple[Site, ...] = ()
    link_roots: tuple[FilePath, ...] = ()

    def of(self, path: FilePath) -> Site | None:
        """Return the site that publishes a page, None if there is none."""
        site = _site_of(self.sites, FilePath(path.rpartition("/")[0]))
        if site and site.excluded and match_any(site.excluded, path):
            return None
        return None if site and site.published and not match_any(site.published, path) else site

    def is_translation(self, path: FilePath, other: FilePath) -> bool:
        """Return whether two pages of a site are in different languages."""
        site = self.of(path)
        places = (locate(site, path), locate(site, other)) if site else (None, None)
        return bool(places[0] and places[1] and places[0].language != places[1].language)

    def is_in_navigation(self, path: FilePath) -> bool:
        """Return whether a page's site lists it in a menu."""
        site = self.of(path)
        if site is None:
            return False
        if site.navigation is None:
            return True
        name = without_page_suffix(path)
        listed = _listed(site.navigation)
        return name in listed or name.rpartition("/")[0] in listed

    @property
    def key(self) -> str:
        """A text that changes whenever links may resolve differently."""
        return repr(tuple(self)) if self.sites or self.link_roots else ""


NO_SITES = Sites()


@lru_cache(maxsize=4096)
def _site_of(sites: tuple[Site, ...], folder: FilePath) -> Site | None:
    found = [
        (len(place.root.folder), -number, site)
        for number, site in enumerate(sites)
        if (place := locate(site, FilePath(f"{folder}/x".lstrip("/"))))
    ]
    return max(found)[2] if found else None


def locate(site: Site, path: FilePath) -> Place | None:
    """Return the position of a file in a site: in the root with the longest folder."""
    places = [place for root in site.roots if (place := _place(root, path))]
    return max(places, key=lambda place: len(place.root.folder), default=None)


def _place(root: Root, path: FilePath) -> Place | None:
    before, mark, after = root.folder.partition("{lang}")
    if not path.startswith(f"{before}/" if before and not mark else before):
        return None
    if not mark:
        return Place(root, root.language, path[len(before) :].lstrip("/"))
    language, _, rest = path[len(before) :].partition("/")
    inner = after.strip("/")
    if not _LANGUAGE.fullmatch(language) or (inner and not rest.startswith(f"{inner}/")):
        return None
    return Place(root, language, rest[len(inner) :].lstrip("/"))


def join(folder: str, path: str) -> FilePath | None:
    """Return a path in a folder, None if it leads out of the repository."""
    return normalize_path(f"{folder}/{path.lstrip('/')}" if folder else path.lstrip("/"))


def addresses(site: Site, path: FilePath, written: Written) -> tuple[str, ...]:
    """Return the addresses of a page below the site's base, without slashes at the ends.

    `written` are the addresses that its front matter sets.
    """
    place = locate(site, path)
    if place is None:
        return ()
    style = site.style
    if style.finds_names:
        name = without_page_suffix(place.path).rpartition("/")[2]
        return (re.sub(r"\W+", "-", name).strip("-").lower(),)
    fields = {key: values for key, values in written if key in style.keys}
    set_by_page = [url for key in style.whole_keys for url in fields.get(key, ())]
    if set_by_page:
        return tuple(_join_url(url.removesuffix(".html")) for url in set_by_page)
    address = without_page_suffix(rewritten(site, place.path))
    language = place.url
    if (suffix := _LANGUAGE_SUFFIX.fullmatch(address)) and style.drops_languages:
        address, language = suffix[1], _join_url(suffix[2], language)
    folder, _, name = address.removeprefix("_").rpartition("/")  # "_" begins Jekyll's collections
    if style.drops_groups:
        folder = _join_url(*(name for name in folder.split("/") if not _GROUP.fullmatch(name)))
    if style.drops_numbers:
        folder = without_numbers(folder)
        name = next(iter(fields.get("id", ())), without_numbers(name))
        is_named_twice = style.name == "docusaurus" and name == folder.rpartition("/")[2]
        name = "" if is_named_twice else name
    name = "" if name.lower() in style.folder_pages else name
    if style.slugs_names:
        name, folder = _slug(name), "/".join(map(_slug, folder.split("/")))
    slug = next(iter(fields.get("slug", ())), name)
    joined = _join_url(language, *(() if slug.startswith("/") else (folder,)), slug)
    # templates may find the page by its path, too
    return tuple(dict.fromkeys((_hyphenated(joined), joined))) if style.hyphenates else (joined,)


@lru_cache(maxsize=256)
def _rewrite_rules(
    rewrites: tuple[tuple[str, str], ...],
) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of path-to-regexp (`:name`, `:name*`, `(.*)`), and what replaces them."""
    rules = []
    for pattern, target in rewrites:
        parts = re.split(r"(:\w+[*+?]?|\(\.\*\))", pattern)
        names = [part[1:].rstrip("*+?") if part[0] == ":" else "" for part in parts[1::2]]
        if is_too_wide(parts[1::2], parts[::2]):
            continue
        groups = [
            f"(?P<{name}>{'.*' if part[-1] in '*+' else '[^/]+'})" if name else "(.*)"
            for name, part in zip(names, parts[1::2], strict=True)
        ]
        written = [name for name in names if name]
        # A name twice is none of its patterns, nor is one that begins with a digit.
        if len({*written}) < len(written) or not all(map(str.isidentifier, written)):
            continue
        texts = [re.escape(part) for part in parts[::2]]
        whole = "".join(part for pair in zip(texts, [*groups, ""], strict=True) for part in pair)
        number = names.index("") + 1 if "" in names else 0
        template = re.sub(r":(\w+)[*+?]?", r"\\g<\1>", target.replace("\\", ""))
        template = template.replace("(.*)", f"\\{number}" if number else "")
        if {*re.findall(r"\\g<(\w+)>", template)} <= {*names}:
            rules.append((re.compile(whole), template))
    return tuple(rules)


def rewritten(site: Site, path: str) -> str:
    """Return the path below its root under which a site publishes a page."""
    for pattern, target in _rewrite_rules(site.rewrites) if site.rewrites else ():
        if match := pattern.fullmatch(path):
            return match.expand(target)
    return path


def without_numbers(path: str) -> str:
    """Return a path without the numbers that begin its names."""
    return "/".join(_NUMBER_PREFIX.sub("", name) for name in path.split("/"))


def _slug(name: str) -> str:
    return re.sub(r"[^\w\- ]", "", name).replace(" ", "-").lower()


def _hyphenated(path: str) -> str:
    """Return a path with a hyphen for spaces, and without most signs."""
    if path.isascii() and path.isidentifier():
        return path
    kept = (
        sign
        for sign in path
        if sign in _KEPT or sign.isspace() or unicodedata.category(sign)[0] in "LMN"
    )
    return re.sub(r"\s*-\s*|\s+", "-", "".join(kept).strip())


def old_addresses(site: Site, path: FilePath, written: Written) -> tuple[str, ...]:
    """Return the addresses from which a page's front matter redirects."""
    fields = dict(written)
    folder = next(iter(addresses(site, path, ())), "").rpartition("/")[0]
    aliases = (*fields.get("aliases", ()), *fields.get("redirect_from", ()))
    joined = (
        normalize_path(
            _join_url(*(() if alias.startswith("/") else (folder,)), alias.removesuffix(".html"))
        )
        for alias in aliases
    )
    return tuple(address for address in joined if address is not None)


def _join_url(*parts: str) -> str:
    return "/".join(filter(None, (part.strip("/") for part in parts)))


def absolute_links(site: Site, path: FilePath) -> tuple[str, ...]:
    """Return the links from the site's root that lead to a page, if its front matter sets none."""
    base = f"/{site.base.strip('/')}".rstrip("/")
    links = []
    for address in addresses(site, path, ())[:1]:
        published = address.lower() if site.style.ignores_case else address
        end = "/" if published and site.style.is_pretty else ""
        links.append(f"{base}/{published}{end}")
    return tuple(links)


def linked_address(site: Site, source: FilePath, target: str) -> list[str]:
    """Return the addresses below the site's base that a link may mean, as a browser follows it."""
    place = locate(site, source)
    path = target.rstrip("/") if target.strip("/") else "/"
    path = path[:-5] if path.lower().endswith(".html") else path
    head, _, last = path.rpartition("/")
    if last.lower() in site.style.folder_pages[:1]:
        path = head or ("/" if path.startswith("/") else ".")
    if path.startswith("/"):
        base = site.base.strip("/")
        absolute = path.strip("/")
        bases = [absolute]
        if base and (absolute == base or absolute.startswith(f"{base}/")):
            bases.insert(0, absolute[len(base) :].strip("/"))
        found = bases
        if place is not None and not place.is_default and site.style.localizes_links:
            found = [*(f"{place.language}/{url}".rstrip("/") for url in bases), *bases]
    else:
        if place is None:
            return []
        folders = _where_links_begin(site, source)
        joined = (normalize_path(f"{folder}/{path}".lstrip("/")) for folder in folders)
        found = [address for address in joined if address is not None]
    if place is not None and not place.is_default and "{lang}" in place.root.url:
        prefix = f"{place.language}/"
        default = f"{place.root.language}/" if place.root.keeps_default else ""
        found += [default + url[len(prefix) :] for url in found if url.startswith(prefix)]
    return found


def relative_address(site: Site, source: FilePath, target: FilePath) -> str | None:
    """Return a page's address as a relative link of another has it, without a slash at its end.

    None: one of the two has no address, or links of the site may begin in several folders.
    """
    begins = _where_links_begin(site, source)
    address = next(iter(addresses(site, target, ())), None)
    if len(begins) != 1 or address is None or locate(site, source) is None:
        return None
    published, begin = f"/{address}", f"/{begins[0]}"
    if site.style.ignores_case:
        published, begin = published.lower(), begin.lower()
    return posixpath.relpath(published, begin)


def _where_links_begin(site: Site, source: FilePath) -> list[str]:
    """Return the addresses of the folders in which relative links of a page may begin."""
    own, style = next(iter(addresses(site, source, ())), ""), site.style
    name = without_page_suffix(source).rpartition("/")[2].lower()
    if (without_numbers(name) if style.drops_numbers else name) in style.folder_pages:
        return [own]
    above = own.rpartition("/")[0]
    if not style.is_pretty:
        return [above]
    # a template, the site's or the generator's, may resolve links as paths, too
    is_address = style.verifies == "sections" and not style.resolves_paths
    return [own] if is_address else [own, above]
