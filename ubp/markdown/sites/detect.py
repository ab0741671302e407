"""Find the sites of a snapshot by the configuration files of their generators."""

import re
from collections.abc import Iterable
from functools import lru_cache

from ubp.core.model import FilePath
from ubp.core.text import fold
from ubp.markdown.sites.anchors import PageAnchors
from ubp.markdown.sites.generators import (
    GENERATORS,
    MAX_CONFIG_BYTES,
    Configs,
    Generator,
    packages_above,
)
from ubp.markdown.sites.site import Root, Site

MAX_SITES = 200

_BY_NAME = {generator.style.name: generator for generator in GENERATORS}
_CONFIG = (
    "(?P<folder>(?:.*/)?)(?:"
    + "|".join(f"(?P<{generator.style.name}>{generator.configs})" for generator in GENERATORS)
    + r"|(?:[\w-]+_)?versions\.json|\.vitepress/config/[\w-]+\.[cm]?[jt]s"
    + r"|config/_default/(?:languages|module|markup)(?:\.[a-z]{2}(?:-[A-Za-z]+)?)?\.(?:toml|ya?ml)"
    + r"|layouts/(?:_default/)?_markup/render-link(?:\.\w+)?\.html)"
)


def is_site_config(path: FilePath) -> bool:
    """Return whether a file may configure a site."""
    return re.fullmatch(_CONFIG, path) is not None


def find_sites(configs: Configs) -> tuple[Site, ...]:
    """Return the sites that configuration files describe; files that describe none are skipped."""
    sites: list[Site] = []
    readable = {path: data for path, data in configs.items() if len(data) <= MAX_CONFIG_BYTES}
    for path in sorted(readable):
        match = re.fullmatch(_CONFIG, path)
        name = match.lastgroup if match else None
        if match is None or name is None or name not in _BY_NAME or len(sites) >= MAX_SITES:
            continue
        site = _BY_NAME[name].read(FilePath(match["folder"].rstrip("/")), path, readable)
        if site is not None:
            sites.append(site._replace(config=path))
    order = list(_BY_NAME)
    return tuple(sorted(sites, key=lambda site: order.index(site.style.name)))


def configured_site(generator: str, folder: FilePath, root: FilePath, base: str) -> Site:
    """Return a site that UBP's own configuration describes."""
    return Site(_BY_NAME[generator].style, folder, (Root(root),), base=base, navigation=())


def slug_rule(site: Site) -> str:
    """Return the name of the rule by which a site makes anchors of headings."""
    return _BY_NAME[site.style.name].slugs


@lru_cache(maxsize=2048)
def site_anchors(page: PageAnchors, site: Site | None) -> frozenset[str]:
    """Return all that a link may name as an anchor in a page of a site, in the exact spelling.

    Without a site whose anchors are known these are the anchors of all generators, folded.
    """
    if site is not None and site.style.knows_anchors:
        generator = _BY_NAME[site.style.name]
        return frozenset({*generator.anchors(page.headings, site), *page.ids, *page.targets} - {""})
    names = {*page.ids, *page.targets}
    for generator in GENERATORS:
        names.update(generator.anchors(page.headings, _without_options(generator)))
    return frozenset(map(fold, names - {""}))


def _without_options(generator: Generator) -> Site:
    return Site(generator.style, FilePath(""), ())


def config_paths(paths: Iterable[FilePath]) -> list[FilePath]:
    """Return those of these files that may configure a site."""
    return [path for path in paths if is_site_config(path)]


def package_paths(configs: Iterable[FilePath]) -> frozenset[FilePath]:
    """Return the paths at which a package may name a site's generator, or its version."""
    homes = (path.partition(".vitepress/") for path in configs)
    folders = {folder.rstrip("/") for folder, mark, _ in homes if mark}
    above = {path for folder in folders for path in packages_above(folder)}
    beside = (re.fullmatch(r"(?P<folder>(?:.*/)?)_config\.ya?ml", path) for path in configs)
    return frozenset(above.union(FilePath(f"{m['folder']}package.json") for m in beside if m))
