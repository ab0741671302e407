"""How the links of a state are written, and how many lead nowhere: how well UBP reads them."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

from ubp.checks.context import RuleContext
from ubp.checks.finding import WIKILINKS
from ubp.checks.known_pages import KnownPages
from ubp.checks.page_text import LAYOUT, letters_of
from ubp.core.model import FilePath, Link
from ubp.core.paths import PAGE_SUFFIXES
from ubp.index.link_graph import GraphEdge
from ubp.markdown.includes import HUGO_REF, SPHINX_DOC, SPHINX_LABEL, SPHINX_TOCTREE
from ubp.markdown.resolve import FILE_SUFFIX, is_ref
from ubp.markdown.sites.site import Site

LINK, ANCHOR = "broken-link", "missing-anchor"
# Links of a form that lead nowhere, and their share: with more, the form is read by another rule.
# Of forms that were read right in eight sites at most 25 % do, of those that were not (names of
# options in home-manager, of pages in milvus-docs, copied pages in iceberg, data in vector) 64 %.
MIN_MISREAD = 10
MAX_LOST = 1 / 3
# Links of a form that lead somewhere, where two thirds do: its authors mean it so (35 of 49 paths
# from the root in the pages of rook that belong to no site).
MIN_USUAL = 5
# Links of a form that is read as its authors mean it, and the share of it that leads nowhere.
MIN_READ_WELL = 50
MAX_LOST_OF_READ_WELL = 1 / 10
MIN_ANCHORS_READ = 20  # links to headings of a site, of which no more lead nowhere
# A known generator makes the anchors, so that more of them may be broken.
MAX_LOST_OF_SITE = 1 / 5
# Different anchors with capital letters in a folder of no site, if most have them: no program that
# UBP knows writes anchors so.
MIN_IN_CAPITALS = 20
# Different anchors in pages of a layout that exist, and how many more than lead nowhere: it shows
# the page's text then, and no other headings.
MIN_IN_LAYOUT = 3
TIMES_IN_LAYOUT = 4
_SIGN = re.compile(r"[^\w\s]|_")
_PREFIX = re.compile(r"(?:[@~][\w-]*/|[a-z][a-z0-9+.-]*:)", re.IGNORECASE)
VERIFIABLE = frozenset({"resolved", "ambiguous", "missing", "not_a_page", "embedded"})
_REFERENCES = {
    HUGO_REF: "{{< ref … >}}",
    SPHINX_DOC: "{doc}`…`",
    SPHINX_TOCTREE: "{toctree} …",
    SPHINX_LABEL: "{ref}`…`",
}
_HTML_SUFFIXES = (".html", ".htm")
_IN_PAGE, _IN_OTHER_PAGE = "#", "…#"  # how a link to a heading is written


class _Form(NamedTuple):
    """Links of a site, None: of pages of none, that are written alike."""

    site: Site | None
    rule: str
    written: str


class LinkCounts:
    """How many links of a state lead somewhere, by their form, site, layout and folder."""

    def __init__(self, context: RuleContext, pages: KnownPages) -> None:
        self._context = context
        self._pages = pages

    def reads_anchors_well(self, site: Site | None) -> bool:
        """Return whether nearly all links to headings of a site lead somewhere."""
        forms = [_Form(site, ANCHOR, written) for written in (_IN_PAGE, _IN_OTHER_PAGE)]
        links = sum(self._links[form] for form in forms)
        lost = sum(self._lost[form] for form in forms)
        most = MAX_LOST_OF_READ_WELL if site is None else MAX_LOST_OF_SITE
        return links >= MIN_ANCHORS_READ and lost <= most * links

    def has_unknown_anchors(self, page: FilePath) -> bool:
        """Return whether a page of no site is in a folder whose anchors no known program makes."""
        return _first_folder(page) in self._folders_of_unknown_programs

    def is_misread(self, page: FilePath, link: Link, rule: str) -> bool:
        """Return whether too many links of a form lead nowhere for its rule to be the right one."""
        form = _form(self._context.graph.sites.of(page), link, rule)
        lost = self._lost[form]
        return lost >= MIN_MISREAD and lost > MAX_LOST * self._links[form]

    def is_read_well(self, page: FilePath, link: Link) -> bool:
        """Return whether nearly all links of a form lead somewhere."""
        form = _form(self._context.graph.sites.of(page), link, LINK)
        links, lost = self._links[form], self._lost[form]
        return links >= MIN_READ_WELL and lost <= MAX_LOST_OF_READ_WELL * links

    def is_usual(self, page: FilePath, link: Link) -> bool:
        """Return whether at least two thirds of the links of a form lead somewhere."""
        form = _form(self._context.graph.sites.of(page), link, LINK)
        links, lost = self._links[form], self._lost[form]
        return links - lost >= MIN_USUAL and lost <= MAX_LOST * links

    @cached_property
    def _links(self) -> Counter[_Form]:
        return self._tally.links

    @cached_property
    def _lost(self) -> Counter[_Form]:
        return self._tally.lost

    @cached_property
    def _tally(self) -> "_Tally":
        """What is counted, in one pass: reading 98,000 links of 9,700 pages takes 2 s."""
        tally, graph = _Tally(), self._context.graph
        for edge in graph.all_edges():
            site = graph.sites.of(edge.source)
            tally.add(edge, site, is_lost=self._is_lost_in_all(edge))
        return tally

    def _is_lost_in_all(self, edge: GraphEdge) -> bool:
        """Return whether no page of the name, as in another language, has the anchor of a link."""
        target, anchor = edge.resolution.target, edge.link.anchor
        if edge.resolution.has_anchor is not False or target is None or anchor is None:
            return False
        return self._pages.sibling(target, anchor) is None

    @property
    def _anchors(self) -> set[tuple[FilePath, str, bool]]:
        return self._tally.anchors

    @property
    def anchors_found(self) -> Counter[Site | None]:
        """How many different anchors links of a site lead to."""
        return self._anchors_by_site[0]

    @property
    def anchors_in_case(self) -> Counter[Site | None]:
        """How many lead nowhere but for their capitals: with many, the site's anchors have them."""
        return self._anchors_by_site[1]

    @cached_property
    def _anchors_by_site(self) -> tuple[Counter[Site | None], Counter[Site | None]]:
        graph = self._context.graph
        found, in_case = set[tuple[Site | None, str]](), set[tuple[Site | None, str]]()
        for target, anchor, has_anchor in self._anchors:
            if has_anchor:
                found.add((graph.sites.of(target), anchor))
            elif anchor != anchor.lower() and anchor.lower() in graph.anchors(target):
                in_case.add((graph.sites.of(target), anchor))
        return Counter(site for site, _ in found), Counter(site for site, _ in in_case)

    @property
    def signs_found(self) -> Counter[Site | None]:
        """How many different anchors of headings with signs links of a site lead to."""
        return self._signs_by_site[0]

    @property
    def signs_lost(self) -> Counter[Site | None]:
        """How many have the letters of such a heading, and other signs."""
        return self._signs_by_site[1]

    @cached_property
    def _signs_by_site(self) -> tuple[Counter[Site | None], Counter[Site | None]]:
        graph = self._context.graph
        found, lost = set[tuple[Site | None, str]](), set[tuple[Site | None, str]]()
        for target, anchor, has_anchor in self._anchors:
            heading = self._pages.headings(target).get(letters_of(anchor))
            if heading and _SIGN.search(heading):
                (found if has_anchor else lost).add((graph.sites.of(target), anchor))
        return Counter(site for site, _ in found), Counter(site for site, _ in lost)

    @cached_property
    def _folders_of_unknown_programs(self) -> frozenset[str]:
        """The folders at the root where most anchors have capitals, which GitHub's have not."""
        sites = self._context.graph.sites
        anchors = defaultdict[str, set[str]](set)
        for target, anchor, has_anchor in self._anchors:
            if has_anchor and not sites.of(target):
                anchors[_first_folder(target)].add(anchor)
        in_capitals = {
            folder: sum(anchor != anchor.lower() for anchor in found)
            for folder, found in anchors.items()
        }
        return frozenset(
            folder
            for folder, count in in_capitals.items()
            if count >= MIN_IN_CAPITALS and count * 2 > len(anchors[folder])
        )

    def shows_the_text(self, filler: str) -> bool:
        """Return whether it is a layout of pages whose linked headings are in their text."""
        found, lost = self._anchors_by_layout[0][filler], self._anchors_by_layout[1][filler]
        return found >= MIN_IN_LAYOUT and found >= TIMES_IN_LAYOUT * lost

    @cached_property
    def _anchors_by_layout(self) -> tuple[Counter[str], Counter[str]]:
        """How many different anchors in pages of each layout exist, and how many do not."""
        found, lost = set[tuple[str, FilePath, str]](), set[tuple[str, FilePath, str]]()
        for target, anchor, has_anchor in self._anchors:
            for filler in self._pages.text(target).fillers:
                if filler.startswith(LAYOUT):
                    anchors = found if has_anchor else lost
                    anchors.add((filler, target, anchor))
        return Counter(key[0] for key in found), Counter(key[0] for key in lost)

    @property
    def neighbors(self) -> Mapping[tuple[Site | None, str], tuple[set[str], set[str]]]:
        """The names in each folder of addresses that lead to pages, and those that do not."""
        return self._tally.neighbors

    @property
    def sites_with_wikilinks(self) -> AbstractSet[Site | None]:
        """The sites with a wikilink that leads somewhere; in others a plug-in may lack."""
        return self._tally.sites_with_wikilinks


class _Tally:
    """What a pass over the links of a state counts.

    `links` of each form, and how many of them are `lost`; the `anchors` that links name, with their
    pages, and whether the page has the anchor.
    """

    def __init__(self) -> None:
        self.links, self.lost = Counter[_Form](), Counter[_Form]()
        self.anchors = set[tuple[FilePath, str, bool]]()
        self.neighbors = defaultdict[tuple[Site | None, str], tuple[set[str], set[str]]](
            lambda: (set(), set())
        )
        self.sites_with_wikilinks = set[Site | None]()

    def add(self, edge: GraphEdge, site: Site | None, *, is_lost: bool) -> None:
        """Count a link of a site; `is_lost`: its anchor leads nowhere."""
        bucket, target, _, has_anchor = edge.resolution
        if bucket in VERIFIABLE:
            self._count(_form(site, edge.link, LINK), is_lost=bucket == "missing")
        folder, name = split_address(edge.link.target)
        if folder and bucket in {"resolved", "missing"}:
            self.neighbors[site, folder][bucket == "missing"].add(name)
        if target is not None and edge.link.kind in WIKILINKS:
            self.sites_with_wikilinks.add(site)
        if has_anchor is None:
            return
        self._count(_form(site, edge.link, ANCHOR), is_lost=is_lost)
        if edge.link.anchor and target is not None:
            self.anchors.add((target, edge.link.anchor, has_anchor))

    def _count(self, form: _Form, *, is_lost: bool) -> None:
        self.links[form] += 1
        self.lost[form] += is_lost


def _first_folder(path: FilePath) -> str:
    """Return the folder at the root that a file is in, "" for the root itself."""
    folder, slash, _ = path.partition("/")
    return folder if slash else ""


def split_address(target: str) -> tuple[str, str]:
    """Return the folder and the name of a page's address from the root; "": it is none."""
    folder, _, name = target.rstrip("/").rpartition("/")
    is_address = folder.startswith("/") and not FILE_SUFFIX.search(name)
    return (folder, name) if is_address else ("", "")


def _form(site: Site | None, link: Link, rule: str) -> _Form:
    """Return the form of a link, of those to headings whether they name a page."""
    if rule == ANCHOR:
        return _Form(site, rule, _IN_OTHER_PAGE if link.target else _IN_PAGE)
    return _Form(site, rule, written_form(link))


def written_form(link: Link) -> str:
    """Return how the target of a link is written: `@/`, `/…`, `/….md`, `….md`, `…`."""
    target = link.target
    if link.kind in WIKILINKS or is_ref(link):
        return _REFERENCES.get(link.label or "", "[[…]]")
    if prefix := _PREFIX.match(target):
        return f"{prefix[0]}…"
    root = "/" if target.startswith("/") else ""
    name = target.rpartition("/")[2].lower()
    if name.endswith(PAGE_SUFFIXES):
        return f"{root}….md"
    if name.endswith(_HTML_SUFFIXES):
        return f"{root}….html"
    if FILE_SUFFIX.search(name):
        return f"{root}…{name[name.rindex('.') :]}"
    return f"{root}…"
