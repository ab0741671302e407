"""Evidence that a link is broken, and not only beyond the rules that UBP knows.

Each site has its own ways: components, shortcodes, includes, plug-ins and hooks make pages and
anchors of which the files say nothing. So a link that leads nowhere by UBP's rules is a finding
only where something shows that it is broken:

- its target existed by the same rules in an earlier version, and nothing has taken its place;
- a page of the same name, in another version or language, has the heading;
- it differs from an existing name by a slip of the fingers, or from an anchor by capital letters,
  which browsers distinguish;
- it names a file by its path, as every generator and GitHub read it, in a folder that exists; or in
  any, where no build makes folders of pages, or nearly all such links lead somewhere, and a file of
  the name is elsewhere or no code of the repository has the folder's name;
- it names an image, from the root, in a folder that the site publishes unchanged, and no file of
  the repository has the name, and no code;
- it would lead to a page if it began with a slash, or in the folder of the page's file;
- it names a page of a folder of which links lead to many others, and nothing else has its name;
- it has a second address in it;
- a heading of the page has the same letters, and the site's links show how its signs are written;
- it is a wikilink, others of its site lead somewhere, and not too many lead nowhere;
- nothing else in the page, in what it includes or in the repository's code spells the heading, nor
  in another page that a component may show. Of a page that is nothing but its text, on a site whose
  anchors are read well, the code is not asked.

A page of a site that has one heading at most and little text, or none of several headings that
links name, takes its text from elsewhere, and so does one that names the file with the heading:
nothing is evidence then.
"""

import posixpath
import re
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ubp.checks.code_text import CodeText, read_files
from ubp.checks.context import RuleContext
from ubp.checks.finding import WIKILINKS, Finding, LinkFix
from ubp.checks.page_text import PageText, letters_of, squash
from ubp.core.interruption import batches
from ubp.core.model import FilePath, Link, ObjectId
from ubp.core.paths import PAGE_SUFFIXES, normalize_path
from ubp.core.text import fold
from ubp.git.file_versions import (
    FileVersion,
    FileVersions,
    LoggedCommit,
    read_file_versions,
)
from ubp.git.files import find_ignored
from ubp.index.link_graph import GraphEdge
from ubp.markdown.resolve import (
    FILE_SUFFIX,
    PageNameForms,
    Targets,
    requested_names,
    resolve,
    stem,
)
from ubp.markdown.sites.site import Site, join, locate

LINK, ANCHOR = "broken-link", "missing-anchor"
# Of a page; reading one takes 0.2 ms in a batch, and parsing one that spells the heading 20 ms.
MAX_VERSIONS = 300
MAX_PARSED = 4
FIRST_BATCH = 8  # versions that are read at once; each batch after it is twice as large
# Of all pages together, 1 ms each; influxdata/docs-v2, with 5,179 pages, reads 700.
MAX_READ = 10_000
MAX_KEPT_BYTES = 64 * 1024 * 1024
# A page of a site with fewer takes its text from elsewhere: 2,041 of 2,076 false findings in
# influxdata/docs-v2, one of two in photoprism-docs, and none of 216 in seven other sites.
MIN_ANCHORS = 2
# Linked anchors of a page, of which none leads anywhere: another rule makes them. In seven sites
# with 216 findings, of which builders confirmed most, such a page has at most two.
MIN_UNKNOWN = 4
# Links of a form that lead nowhere, and their share: with more, the form is read by another rule.
# Of forms that were read right in eight sites at most 25 % do, of those that were not (names of
# options in home-manager, of pages in milvus-docs, copied pages in iceberg, data in vector) 64 %.
MIN_MISREAD = 10
MAX_LOST = 1 / 3
# Links of a form that is read as its authors mean it, and the share of it that leads nowhere.
MIN_READ_WELL = 50
MAX_LOST_OF_READ_WELL = 1 / 10
MIN_ANCHORS_READ = 20  # links to headings of a site, of which no more lead nowhere
# Different anchors with capital letters in a folder of no site, if most have them: no program that
# UBP knows writes anchors so.
MIN_IN_CAPITALS = 20
# Pages of a folder to which addresses lead, and how many of their number lead nowhere.
MIN_NEIGHBORS = 5
MAX_LOST_NEIGHBORS = 1 / 4
# Other pages that have a heading's letters, all read: a word in more is too common.
MAX_ALIKE = 100
PAGES_READ = 200  # at once
# Generators that make anchors of headings in lower case, and of links what is written.
LOWERS_ANCHORS = frozenset(
    {"mkdocs", "vitepress", "docusaurus", "hugo", "mdbook", "jekyll", "starlight", "nextra"}
)
# Generators whose pages are their files, and not what a layout makes of their front matter.
SHOWS_FILES = frozenset({"mkdocs", "vitepress", "docusaurus", "mdbook", "sphinx", "starlight"})
# Generators whose links may name labels of any page.
HAS_LABELS = frozenset({"sphinx", "mystmd"})
# Generators that put pages into templates, which alone add headings to them.
FILLS_TEMPLATES = frozenset({"hugo", "jekyll"})
# Generators whose builds make no folder of pages; None: GitHub itself.
MAKES_NO_FOLDERS = frozenset({"mdbook", None})
# Different anchors of a site that lead to headings with signs: the rule for these is known then.
MIN_SIGNS = 3
# Different anchors in pages of a layout that exist, and how many more than lead nowhere: it shows
# the page's text then, and no other headings.
MIN_IN_LAYOUT = 3
TIMES_IN_LAYOUT = 4
_LAYOUT = "layout "
_IN_PAGE, _IN_OTHER_PAGE = "#", "…#"  # how a link to a heading is written
MAX_FROM_ROOT = 50  # pages of the name of a link
MAX_NAMED = 50  # files that a page names
LAST_DATE = 253_402_300_799  # 9999-12-31; a commit may have any
# Generators that resolve relative paths of images as those of pages.
RESOLVES_IMAGES = frozenset({"mkdocs", "vitepress", "docusaurus", "mdbook", "sphinx", "github"})
# Folders of what other pages include; its links begin in those.
_PIECES = re.compile(
    r"(?:^|/)(?:_(?!posts/|drafts/)[^/]*|includes?|partials?|snippets?|shared|reusables|fragments)/",
    re.IGNORECASE,
)
_FOLDER_PAGES = frozenset({"index", "_index", "readme"})


# What a link would be if it began as its author may have meant, by its first letter.
_BEGINNINGS = {"/": "From the root,", ".": "Relative addresses begin in the page, a folder:"}
_FORGE = re.compile(r"(?:\.\./)+(?:blob|raw|tree)/")  # followed from a forge's address of a page
_LANGUAGE_SUFFIX = re.compile(r"\.(?P<language>[a-z]{2}(?:-[A-Z]{2})?)\.mdx?$")
_SIGN = re.compile(r"[^\w\s]|_")
_PREFIX = re.compile(r"(?:[@~][\w-]*/|[a-z][a-z0-9+.-]*:)", re.IGNORECASE)
VERIFIABLE = frozenset({"resolved", "ambiguous", "missing", "not_a_page", "embedded"})
_HTML_SUFFIXES = (".html", ".htm")


class _Form(NamedTuple):
    """Links of a site, None: of pages of none, that are written alike."""

    site: Site | None
    rule: str
    written: str


class Evidence:
    """What shows that the links of a state are broken."""

    def __init__(self, context: RuleContext) -> None:
        self._context = context
        self._old_anchors: dict[tuple[ObjectId, Site | None], frozenset[str]] = {}
        self._old_texts: dict[FilePath, list[tuple[FileVersion, PageText]]] = {}
        self._texts: dict[FilePath, PageText] = {}
        self._named: dict[FilePath, tuple[PageText, ...]] = {}
        self._unknown: dict[FilePath, bool] = {}
        self._included_in: dict[FilePath, tuple[PageText, ...] | None] = {}
        self._headings_of: dict[FilePath, dict[str, str]] = {}
        self._read = 0
        self._kept = 0

    def of(self, finding: Finding) -> str | None:
        """Return what shows that a finding is right, in a sentence; None where nothing does.

        The sentence is empty where the finding's own message and hint say it.
        """
        link = finding.about
        if not isinstance(link, Link):
            return ""
        site = self._context.graph.sites.of(finding.filepath)
        is_within = not link.target and finding.rule == ANCHOR
        if (site is not None or is_within) and _PIECES.search(finding.filepath):
            return None  # its links begin elsewhere
        if finding.rule == ANCHOR:
            return self._of_anchor(finding, link)
        return self._of_link(finding, link)

    # Links to pages and files

    def _of_link(self, finding: Finding, link: Link) -> str | None:
        site = self._context.graph.sites.of(finding.filepath)
        if link.kind in WIKILINKS:
            is_used = site is None or site in self._sites_with_wikilinks
            return "" if is_used and not self._is_misread(finding.filepath, link, LINK) else None
        if "://" in link.target:
            return "It is written as a path, and has an address in it."
        is_named = self._names_file(finding, link, site) or self._names_static_file(link, site)
        if finding.related and not finding.fix and "letter" in finding.message:
            return "" if is_named else None
        if (meant := self._meant_target(finding, link)) is not None:
            return meant
        if isinstance(finding.fix, LinkFix) and finding.fix.target not in {None, finding.related}:
            return ""
        is_lost = is_named and not self._is_misread(finding.filepath, link, LINK)
        return "" if is_lost or self._is_absent_neighbor(finding.filepath, link) else None

    def _meant_target(self, finding: Finding, link: Link) -> str | None:
        """Return a sentence on what a link must mean, "" where the hint names it; None: unknown."""
        if removed := self._removed_target(finding.filepath, link):
            path, commit = removed
            return f"{path} existed until {_written(commit)}."
        for text in _other_beginnings(link):
            page = self._page_at(finding.filepath, link, text)
            if page is not None:
                return f"{_BEGINNINGS[text[:1]]} {text} is {page}." if not finding.hint else ""
        return None

    def _page_at(self, source: FilePath, link: Link, text: str) -> FilePath | None:
        """Return the page to which a link would lead with another text as its target."""
        graph = self._context.graph
        site = graph.sites.of(source)
        is_folder = site is not None and site.style.is_pretty and site.style.verifies == "sections"
        if not text.startswith("/") and not is_folder:
            return None
        edges = graph.edges_of([source]).get(source, ())
        edge = next((edge for edge in edges if edge.link == link), None)
        pages = self._context.pages_of_stem(stem(link.target.rstrip("/")))[:MAX_FROM_ROOT]
        return next((page for page in pages if edge and graph.leads_to(edge, text, page)), None)

    def _is_absent_neighbor(self, source: FilePath, link: Link) -> bool:
        """Whether a link names a page of a folder of whose other pages nearly all are there.

        A page of the name in a folder of the name elsewhere may be shown here, as in a language.
        """
        site = self._context.graph.sites.of(source)
        folder, name = _split_address(link.target)
        found, lost = self._neighbors[site, folder]
        parent = fold(folder.rpartition("/")[2])
        return (
            bool(folder)
            and len(found) >= MIN_NEIGHBORS
            and len(lost) <= MAX_LOST_NEIGHBORS * len(found)
            and (parent, fold(name)) not in self._names_in_folders
            and not self._code.makes_folder(name)
        )

    @cached_property
    def _names_in_folders(self) -> frozenset[tuple[str, str]]:
        """The names of pages, each with that of its folder."""
        paths = (path.rsplit("/", 2) for path in self._context.view.document_paths())
        return frozenset((fold(parts[-2]), stem(parts[-1])) for parts in paths if len(parts) > 1)

    @cached_property
    def _neighbors(self) -> Mapping[tuple[Site | None, str], tuple[set[str], set[str]]]:
        """The names in each folder of addresses that lead to pages, and those that do not."""
        neighbors = defaultdict[tuple[Site | None, str], tuple[set[str], set[str]]](
            lambda: (set(), set())
        )
        graph = self._context.graph
        for edge in graph.all_edges():
            folder, name = _split_address(edge.link.target)
            if folder and edge.resolution.bucket in {"resolved", "missing"}:
                is_lost = edge.resolution.bucket == "missing"
                neighbors[graph.sites.of(edge.source), folder][is_lost].add(name)
        return neighbors

    @cached_property
    def _sites_with_wikilinks(self) -> frozenset[Site | None]:
        """The sites with a wikilink that leads somewhere; in others a plug-in may lack."""
        graph = self._context.graph
        return frozenset(
            graph.sites.of(edge.source)
            for edge in graph.all_edges()
            if edge.link.kind in WIKILINKS and edge.resolution.target is not None
        )

    def _names_file(self, finding: Finding, link: Link, site: Site | None) -> bool:
        """Whether a link is the path of a file in a folder that exists."""
        target = link.target
        path = normalize_path(f"{finding.filepath.rpartition('/')[0]}/{target}".lstrip("/"))
        is_page = target.lower().endswith(PAGE_SUFFIXES)
        is_copied = site is None and self._is_copied(finding.filepath)
        if path is None or is_copied or target.startswith(("/", "@", "~")):
            return False
        if not is_page and not FILE_SUFFIX.search(target):
            return False
        if site is not None:
            style = site.style.name
            # MyST resolves labels of all pages
            is_label = style in HAS_LABELS and "/" not in target and "image" not in link.kind
            if not is_page and (is_label or style not in RESOLVES_IMAGES):
                return False
            if leaves(site, finding.filepath, link):  # a build may have copied the page
                return False
        folder = FilePath(path.rpartition("/")[0])
        readme = FilePath(f"{folder}/README.md".lstrip("/"))
        if site is not None and stem(path) == "index" and self._context.view.entry(readme):
            return False  # mdBook makes it of README.md
        entry = self._context.view.entry(folder) if folder else None
        return (
            not folder
            or (entry is not None and entry.is_directory)
            or self._is_lost_for_good(finding, link, folder)
            or (
                (site.style.name if site else None) in MAKES_NO_FOLDERS
                and link.kind != "include"
                and not _FORGE.match(target)
            )
        )

    def _names_static_file(self, link: Link, site: Site | None) -> bool:
        """Whether a link is the path, from the root, of a file that the repository does not have.

        Its folder is there, among the files that the site publishes unchanged.
        """
        target = link.target
        name = target.rpartition("/")[2]
        is_path = target.startswith("/") and not target.startswith("//")
        if site is None or not is_path or not FILE_SUFFIX.search(target):
            return False
        path = target.strip("/").removeprefix(f"{site.base.strip('/')}/")
        folders = (join(static, path.rpartition("/")[0]) for static in site.static)
        entries = [self._context.view.entry(folder) for folder in folders if folder]
        return (
            not target.lower().endswith(PAGE_SUFFIXES)
            and any(entry is not None and entry.is_directory for entry in entries)
            and "/" in path
            and name not in self._paths_by_name
            and not self._code.makes_folder(name.rpartition(".")[0])
        )

    def _is_copied(self, page: FilePath) -> bool:
        """Whether a book lists a page in a place where it is not: a build puts it there."""
        parts = page.split("/")
        tails = ("/".join(parts[index:]) for index in range(1, len(parts) - 1))
        return not self._copied.isdisjoint(tails)

    @cached_property
    def _copied(self) -> frozenset[str]:
        """The paths that the lists of books have and that are not there."""
        graph = self._context.graph
        edges = (edge for edge in graph.all_edges() if edge.resolution.bucket == "missing")
        return frozenset(
            posixpath.normpath(edge.link.target)
            for edge in edges
            if stem(edge.source) == "summary"
            and (site := graph.sites.of(edge.source)) is not None
            and site.style.name == "mdbook"
        )

    def _is_lost_for_good(self, finding: Finding, link: Link, folder: FilePath) -> bool:
        """Whether no build makes an absent folder, as far as other links, files and code show."""
        if not self._is_read_well(finding.filepath, link):
            return False
        name = link.target.rpartition("/")[2]
        if finding.related or (name in self._paths_by_name and stem(name) not in _FOLDER_PAGES):
            return True
        parts = folder.split("/")
        folders = [FilePath("/".join(parts[: index + 1])) for index in range(len(parts))]
        absent = [path for path, entry in self._context.view.entries(folders).items() if not entry]
        return not any(self._code.makes_folder(path.rpartition("/")[2]) for path in absent)

    def _removed_target(self, source: FilePath, link: Link) -> tuple[FilePath, LoggedCommit] | None:
        """Return the file of an earlier version to which a link leads by the same rules."""
        names = requested_names(link)
        found = {path for name in names for path in self._removed_by_name.get(name, ())}
        pages = {path for path in found if path.lower().endswith(PAGE_SUFFIXES)}
        for paths in (pages, *({path} for path in sorted(found - pages))):
            targets = Targets(sites=self._context.graph.sites)
            for path in sorted(paths):
                if path in pages:
                    targets.add_page(PageNameForms(path, None, ()))
                else:
                    targets.add_file(path)
            resolution = resolve(source, link._replace(anchor=None), targets)
            removed = resolution.target if paths is pages else next(iter(paths))
            if resolution.bucket != "missing" and removed in paths:
                return None if self._is_generated(removed) else (removed, self._removed[removed])
        return None

    @cached_property
    def _removed(self) -> Mapping[FilePath, LoggedCommit]:
        removed = self._versions.removed()
        present = self._context.view.entries(list(removed))
        return {path: commit for path, commit in removed.items() if present[path] is None}

    def _is_generated(self, path: FilePath) -> bool:
        """Return whether a removed file is one that a build generates since."""
        repository = self._context.view.context.repository
        return self._context.skips_ignored and bool(find_ignored(repository, [path]))

    @cached_property
    def _removed_by_name(self) -> Mapping[str, list[FilePath]]:
        by_name: dict[str, list[FilePath]] = {}
        for path in self._removed:
            names = {stem(path)}
            if stem(path) in _FOLDER_PAGES:
                names.add(fold(path.rpartition("/")[0].rpartition("/")[2]))
            for name in names:
                by_name.setdefault(name, []).append(path)
        return by_name

    # Links to headings

    def _of_anchor(self, finding: Finding, link: Link) -> str | None:
        target, anchor = finding.related, link.anchor or ""
        letters = letters_of(anchor)
        site = self._context.graph.sites.of(target) if target else None
        if target is None or not letters or self._may_be_written_otherwise(site, target, link):
            return None
        if site is not None and self._differs_in_case(site, target, anchor):
            return "Browsers distinguish capital letters in anchors."
        if self.is_in_named_file(finding):
            return None
        if self._text(target).spells(letters):
            heading = self._heading_with_signs(target, letters)
            return f'The heading "{heading}" has another anchor.' if heading else None
        if site is not None and self._is_unknown(target):
            return None
        return self._of_absent_heading(finding, link, target)

    def _of_absent_heading(self, finding: Finding, link: Link, target: FilePath) -> str | None:
        anchor, letters = link.anchor or "", letters_of(link.anchor or "")
        if _is_slip(finding, letters):
            return ""
        if (version := self._earlier_version(target, anchor)) is not None:
            path, commit = version
            was = "it" if path == target else path
            return f"Until {_written(commit)} {was} had this heading."
        if (sibling := self._sibling(target, anchor)) is not None:
            # `page.fr.md` is what a link to `page.md` means in pages such as `index.fr.md`
            is_meant = _language_suffix(sibling) == _language_suffix(finding.filepath) != ""
            return None if is_meant else f"{sibling} has this heading."
        is_nowhere = self._is_nowhere(target, letters)
        is_misread = is_nowhere and self._is_misread(finding.filepath, link, ANCHOR)
        return "" if is_nowhere and not is_misread else None

    def _heading_with_signs(self, page: FilePath, letters: str) -> str | None:
        """Return the heading of these letters, if how its signs are written is known."""
        site = self._context.graph.sites.of(page)
        found, lost = self._signs_found[site], self._signs_lost[site]
        if found < MIN_SIGNS or found <= lost or self._text(page).spells_beside_headings(letters):
            return None
        return self._headings(page).get(letters)

    def _headings(self, page: FilePath) -> dict[str, str]:
        """Return the headings of a page by their letters."""
        if page not in self._headings_of:
            sections = self._context.graph.sections(page)
            titles = (section.heading_path[-1] for section in sections if section.heading_path)
            self._headings_of[page] = {letters_of(title): title for title in titles}
        return self._headings_of[page]

    def _may_be_written_otherwise(self, site: Site | None, page: FilePath, link: Link) -> bool:
        """Return whether anchors of a page may be others than those that UBP knows."""
        if site is None:
            return _first_folder(page) in self._folders_of_unknown_programs
        # MyST resolves it among all labels and objects of a site
        return site.style.name in HAS_LABELS and not link.target

    @cached_property
    def _folders_of_unknown_programs(self) -> frozenset[str]:
        """The folders at the root where most anchors have capitals, which GitHub's have not."""
        graph = self._context.graph
        anchors = defaultdict[str, set[str]](set)
        for edge in graph.all_edges():
            anchor, target = edge.link.anchor, edge.resolution.target
            if anchor and target and edge.resolution.has_anchor and not graph.sites.of(target):
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

    def _differs_in_case(self, site: Site, page: FilePath, anchor: str) -> bool:
        """Return whether a page has an anchor in lower case, and nothing that may spell it so.

        Of a page's title that is not asked: without an anchor, too, it is what a browser shows.
        """
        lowered, text = anchor.lower(), self._text(page)
        return (
            site.style.name in LOWERS_ANCHORS
            and lowered != anchor
            and lowered in self._context.graph.anchors(page)
            and letters_of(anchor) not in self._titles(page)
            and not text.fillers
            and not text.sets_name(anchor)
            and not any(named.sets_name(anchor) for named in self._named_files(page))
            and self._anchors_in_case[site] < self._anchors_found[site]
        )

    def _titles(self, page: FilePath) -> frozenset[str]:
        """Return the letters of a page's title, and of its other headings of the first level."""
        return frozenset(
            letters_of(section.heading_path[0])
            for section in self._context.graph.sections(page)
            if section.level <= 1 and section.heading_path
        )

    @property
    def _anchors_found(self) -> Counter[Site | None]:
        """How many different anchors links of a site lead to."""
        return self._anchors_by_site[0]

    @property
    def _anchors_in_case(self) -> Counter[Site | None]:
        """How many lead nowhere but for their capitals: with many, the site's anchors have them."""
        return self._anchors_by_site[1]

    @cached_property
    def _anchors_by_site(self) -> tuple[Counter[Site | None], Counter[Site | None]]:
        graph = self._context.graph
        found, in_case = set[tuple[Site | None, str]](), set[tuple[Site | None, str]]()
        for edge in graph.all_edges():
            anchor, target = edge.link.anchor, edge.resolution.target
            if not anchor or target is None or edge.resolution.has_anchor is None:
                continue
            if edge.resolution.has_anchor:
                found.add((graph.sites.of(target), anchor))
            elif anchor != anchor.lower() and anchor.lower() in graph.anchors(target):
                in_case.add((graph.sites.of(target), anchor))
        return Counter(site for site, _ in found), Counter(site for site, _ in in_case)

    @property
    def _signs_found(self) -> Counter[Site | None]:
        """How many different anchors of headings with signs links of a site lead to."""
        return self._signs_by_site[0]

    @property
    def _signs_lost(self) -> Counter[Site | None]:
        """How many have the letters of such a heading, and other signs."""
        return self._signs_by_site[1]

    @cached_property
    def _signs_by_site(self) -> tuple[Counter[Site | None], Counter[Site | None]]:
        graph = self._context.graph
        found, lost = set[tuple[Site | None, str]](), set[tuple[Site | None, str]]()
        for edge in graph.all_edges():
            anchor, target = edge.link.anchor, edge.resolution.target
            has_anchor = edge.resolution.has_anchor
            if not anchor or target is None or has_anchor is None:
                continue
            heading = self._headings(target).get(letters_of(anchor))
            if heading and _SIGN.search(heading):
                (found if has_anchor else lost).add((graph.sites.of(target), anchor))
        return Counter(site for site, _ in found), Counter(site for site, _ in lost)

    def _is_misread(self, page: FilePath, link: Link, rule: str) -> bool:
        """Return whether so many links of a form lead nowhere that another rule must read them."""
        form = _form(self._context.graph.sites.of(page), link, rule)
        lost = self._lost[form]
        return lost >= MIN_MISREAD and lost > MAX_LOST * self._links[form]

    def _is_read_well(self, page: FilePath, link: Link) -> bool:
        """Return whether nearly all links of a form lead somewhere."""
        form = _form(self._context.graph.sites.of(page), link, LINK)
        links, lost = self._links[form], self._lost[form]
        return links >= MIN_READ_WELL and lost <= MAX_LOST_OF_READ_WELL * links

    @cached_property
    def _links(self) -> Counter[_Form]:
        return self._counts[0]

    @cached_property
    def _lost(self) -> Counter[_Form]:
        return self._counts[1]

    @cached_property
    def _counts(self) -> tuple[Counter[_Form], Counter[_Form]]:
        """How many links of each form there are, and how many of them lead nowhere."""
        links, lost = Counter[_Form](), Counter[_Form]()
        graph = self._context.graph
        for edge in graph.all_edges():
            site = graph.sites.of(edge.source)
            if edge.resolution.bucket in VERIFIABLE:
                form = _form(site, edge.link, LINK)
                links[form] += 1
                lost[form] += edge.resolution.bucket == "missing"
            if edge.resolution.has_anchor is not None:
                form = _form(site, edge.link, ANCHOR)
                links[form] += 1
                lost[form] += self._is_lost_in_all(edge)
        return links, lost

    def _is_lost_in_all(self, edge: GraphEdge) -> bool:
        """Return whether no page of the name, as in another language, has the anchor of a link."""
        target, anchor = edge.resolution.target, edge.link.anchor
        if edge.resolution.has_anchor or target is None or anchor is None:
            return False
        return self._sibling(target, anchor) is None

    def _is_nowhere(self, page: FilePath, letters: str) -> bool:
        """Return whether nothing spells a heading that may be the page's."""
        if self._is_nothing_but_text(page):
            return True
        text = self._text(page)
        if any(not self._makes_no_heading(page, filler, letters) for filler in text.fillers):
            return False
        site = self._context.graph.sites.of(page)
        folder = site.folder if site else ""
        is_template = site is not None and site.style.name in FILLS_TEMPLATES
        if is_template and text.has_sentences and not text.has_component:
            return not self._code.spells_in_template(letters, folder)
        if self._code.spells(letters, folder):
            return False
        return not text.has_component or not self._is_spelled_elsewhere(page, letters)

    def _is_nothing_but_text(self, page: FilePath) -> bool:
        """Return whether its headings are those in its text, as its site's generator reads them."""
        site = self._context.graph.sites.of(page)
        forms = [_Form(site, ANCHOR, written) for written in (_IN_PAGE, _IN_OTHER_PAGE)]
        links = sum(self._links[form] for form in forms)
        lost = sum(self._lost[form] for form in forms)
        is_read_well = links >= MIN_ANCHORS_READ and lost <= MAX_LOST_OF_READ_WELL * links
        return is_read_well and self._has_own_text(page)

    def _makes_no_heading(self, page: FilePath, filler: str, letters: str) -> bool:
        """Return whether what fills a page is known, and does not spell a heading."""
        kind, _, name = filler.partition(" ")
        if kind == "layout":
            return self._shows_the_text(filler)
        if kind == "snippet":
            included = self._included(page)
            return included is not None and not any(text.spells(letters) for text in included)
        site = self._context.graph.sites.of(page)
        is_shortcode = kind == "short" and site is not None and site.style.name == "hugo"
        return is_shortcode and name in self._code.plain_shortcodes

    def _shows_the_text(self, filler: str) -> bool:
        """Return whether it is a layout of pages whose linked headings are in their text."""
        found, lost = self._anchors_by_layout[0][filler], self._anchors_by_layout[1][filler]
        return found >= MIN_IN_LAYOUT and found >= TIMES_IN_LAYOUT * lost

    @cached_property
    def _anchors_by_layout(self) -> tuple[Counter[str], Counter[str]]:
        """How many different anchors in pages of each layout exist, and how many do not."""
        found, lost = set[tuple[str, FilePath, str]](), set[tuple[str, FilePath, str]]()
        for edge in self._context.graph.all_edges():
            anchor, target = edge.link.anchor, edge.resolution.target
            if not anchor or target is None or edge.resolution.has_anchor is None:
                continue
            for filler in self._text(target).fillers:
                if filler.startswith(_LAYOUT):
                    anchors = found if edge.resolution.has_anchor else lost
                    anchors.add((filler, target, anchor))
        return Counter(key[0] for key in found), Counter(key[0] for key in lost)

    def _is_spelled_elsewhere(self, page: FilePath, letters: str) -> bool:
        """Return whether another page may spell a heading, which a component may show."""
        wanted = letters.encode()
        paths = [path for path, data in self._squashed_pages.items() if wanted in data]
        return (
            not letters.isascii()
            or len(paths) > MAX_ALIKE
            or any(path != page and self._text(path).spells(letters) for path in paths)
        )

    @cached_property
    def _squashed_pages(self) -> Mapping[FilePath, bytes]:
        view = self._context.view
        return {
            path: squash(data)
            for paths in batches(view.document_paths(), PAGES_READ)
            for path, data in view.read(paths).items()
            if data
        }

    def is_in_named_file(self, finding: Finding) -> bool:
        """Return whether a page names the file that has its missing heading."""
        link, target = finding.about, finding.related
        if finding.rule != ANCHOR or target is None or not isinstance(link, Link):
            return False
        letters = letters_of(link.anchor or "")
        return any(text.spells(letters) for text in self._named_files(target))

    def _named_files(self, page: FilePath) -> tuple[PageText, ...]:
        if page not in self._named:
            site = self._context.graph.sites.of(page)
            folders = ["", page.rpartition("/")[0]]
            folders += [site.folder, *(root.folder for root in site.roots)] if site else []
            names = islice(dict.fromkeys(self._text(page).named_files()), MAX_NAMED)
            paths = {
                path
                for name in names
                for folder in folders
                if (path := normalize_path(f"{folder}/{name.lstrip('/')}".lstrip("/")))
            }
            texts = read_files(self._context, paths - {page})
            self._named[page] = tuple(PageText(data) for _, data in texts)
        return self._named[page]

    def _included(self, page: FilePath) -> tuple[PageText, ...] | None:
        """Return the texts that a page includes; None where one is not known."""
        if page not in self._included_in:
            names = self._text(page).included
            found = names and [self._paths_ending_with(name) for name in names]
            paths = {path for paths in found or () for path in paths}
            texts = tuple(PageText(data) for _, data in read_files(self._context, paths))
            is_known = found and all(found) and not any(text.fillers for text in texts)
            self._included_in[page] = texts if is_known else None
        return self._included_in[page]

    def _paths_ending_with(self, name: str) -> list[FilePath]:
        """Return the files with a path that ends so: those of folders that a setting may name."""
        name = re.sub(r"^(?:\.\./|/)+", "", posixpath.normpath(name))
        paths = self._paths_by_name.get(name.rpartition("/")[2], ())
        return [path for path in paths if f"/{path}".endswith(f"/{name}")]

    @cached_property
    def _paths_by_name(self) -> Mapping[str, list[FilePath]]:
        paths: dict[str, list[FilePath]] = {}
        for path, entry in self._context.view.files():
            if entry.is_file:
                paths.setdefault(path.rpartition("/")[2], []).append(path)
        return paths

    def _is_unknown(self, page: FilePath) -> bool:
        """Whether a page has one anchor at most, or none of several that links name."""
        if self._is_nothing_but_text(page):
            return False
        graph = self._context.graph
        if len(graph.anchors(page)) < MIN_ANCHORS and not self._has_own_text(page):
            return True
        if page not in self._unknown:
            own = (edge for edge in graph.outlinks(page) if edge.resolution.target == page)
            edges = [*graph.backlinks(page), *own]
            found = {edge.link.anchor: edge.resolution.has_anchor for edge in edges}
            found.pop(None, None)
            is_none_found = len(found) >= MIN_UNKNOWN and not any(found.values())
            self._unknown[page] = is_none_found and not self._is_translated(page, found)
        return self._unknown[page]

    def _is_translated(self, page: FilePath, linked: Collection[str | None]) -> bool:
        """Whether another page of the name has most of the linked anchors, and not twice as many.

        Links to a translation often have the anchors of the original.
        """
        graph = self._context.graph
        site, count = graph.sites.of(page), len(graph.anchors(page))
        return any(
            graph.sites.of(path) == site
            and len(graph.anchors(path)) <= 2 * count
            and 2 * len(graph.anchors(path).intersection(linked)) > len(linked)
            for path in self._pages_by_name.get(_page_name(page), ())
            if path != page
        )

    def _has_own_text(self, page: FilePath) -> bool:
        site = self._context.graph.sites.of(page)
        shows_file = site is None or site.style.name in SHOWS_FILES
        return shows_file and self._text(page).has_own_text()

    def _earlier_version(
        self, target: FilePath, anchor: str
    ) -> tuple[FilePath, LoggedCommit] | None:
        """Return the newest version of a page that had an anchor, and what has no new filler."""
        site = self._context.graph.sites.of(target)
        letters, fillers = letters_of(anchor), self._text(target).fillers
        parsed = 0
        for version, text in self._older(target):
            if parsed >= MAX_PARSED:
                break
            if not text.spells(letters):
                continue
            parsed += 1
            anchors = self._anchors_of(version.blob, text.data, site)
            if {anchor, fold(anchor)} & anchors and fillers <= text.fillers:
                return version.path, version.until
        return None

    def _older(self, page: FilePath) -> Iterator[tuple[FileVersion, PageText]]:
        """Yield the earlier versions of a page, read in batches: each starts a process of Git."""
        if self._kept > MAX_KEPT_BYTES:
            self._old_texts, self._kept = {}, 0
        known = self._old_texts.setdefault(page, [])
        yield from known
        versions = islice(self._versions.older(page), len(known), MAX_VERSIONS)
        size = FIRST_BATCH
        repository = self._context.view.context.repository
        while self._read < MAX_READ and (batch := list(islice(versions, size))):
            contents = repository.read_blobs([version.blob for version in batch])
            read = [(version, PageText(contents[version.blob] or b"")) for version in batch]
            self._read, size = self._read + len(batch), 2 * size
            self._kept += sum(len(text.data) for _, text in read)
            known += read
            yield from read

    def _anchors_of(self, blob: ObjectId, data: bytes, site: Site | None) -> frozenset[str]:
        if (blob, site) not in self._old_anchors:
            from ubp.markdown.document import read_head  # few checks compare with old versions
            from ubp.markdown.parse import parse_markdown
            from ubp.markdown.sites.detect import site_anchors

            page = parse_markdown(data, read_head(data, ()).body).anchors
            self._old_anchors[blob, site] = site_anchors(page, site)
        return self._old_anchors[blob, site]

    def _sibling(self, target: FilePath, anchor: str) -> FilePath | None:
        """Return a page of the same name that has an anchor, and all that fills the other page."""
        site = self._context.graph.sites.of(target)
        fillers = self._text(target).fillers
        for path in self._pages_by_name.get(_page_name(target), ()):
            if path == target or self._context.graph.sites.of(path) != site:
                continue
            if anchor in self._context.graph.anchors(path) and fillers <= self._text(path).fillers:
                return path
        return None

    @cached_property
    def _pages_by_name(self) -> Mapping[str, list[FilePath]]:
        pages: dict[str, list[FilePath]] = {}
        for path in self._context.view.document_paths():
            pages.setdefault(_page_name(path), []).append(path)
        return pages

    def _text(self, path: FilePath) -> PageText:
        if path not in self._texts:
            data = self._context.graph.text(path) or b""
            self._texts[path] = PageText(data)
        return self._texts[path]

    @cached_property
    def _code(self) -> CodeText:
        return CodeText(self._context)

    @cached_property
    def _versions(self) -> FileVersions:
        view = self._context.view
        commit = view.snapshot.commit
        if commit is None:
            return FileVersions((), {})
        return view.of_commit(
            "file-versions", lambda: read_file_versions(view.context.repository, commit)
        )


def _other_beginnings(link: Link) -> Iterator[str]:
    """Yield what a relative address without a suffix may mean: from the root, or the folder."""
    target = link.target
    if target.startswith("/") or FILE_SUFFIX.search(target) or link.kind in WIKILINKS:
        return
    if "/" in target and not target.startswith("."):
        yield f"/{target}"
    yield f"../{target.removeprefix('./')}"


def _language_suffix(path: FilePath) -> str:
    """Return the language that the name of a page ends with, "" where it has none."""
    match = _LANGUAGE_SUFFIX.search(path)
    return match["language"] if match else ""


def _first_folder(path: FilePath) -> str:
    """Return the folder at the root that a file is in, "" for the root itself."""
    folder, slash, _ = path.partition("/")
    return folder if slash else ""


def _split_address(target: str) -> tuple[str, str]:
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
    if link.kind in WIKILINKS:
        return "[[…]]"
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


def leaves(site: Site, path: FilePath, link: Link) -> bool:
    """Return whether a link to a file leaves its site's pages, or a copied folder among them."""
    target = link.target
    place = locate(site, path)
    if link.kind in WIKILINKS or not target.startswith("../") or place is None:
        return False
    depth = place.path.count("/")
    climbs = posixpath.normpath(target).split("/").count("..")
    # `../../` up to the top: pages in a folder of it may come from another repository
    return bool(FILE_SUFFIX.search(target)) and (climbs > depth or climbs == depth > 1)


def _is_slip(finding: Finding, letters: str) -> bool:
    """Whether the fix of a finding changes letters, and no words: signs may be the generator's."""
    if not isinstance(finding.fix, LinkFix):
        return False
    meant = finding.fix.target.partition("#")[2]
    other = letters_of(meant)
    return other != letters and meant.count("-") == (
        finding.about.anchor or "" if isinstance(finding.about, Link) else ""
    ).count("-")


def _page_name(path: FilePath) -> str:
    """Return the name of a page, of a folder's page with its folder."""
    name = stem(path)
    name = re.sub(r"\.[a-z]{2}(?:[-_][a-z]{2,4})?$", "", name)
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return f"{folder}/{name}" if name in {*_FOLDER_PAGES, "page"} else name


def _written(commit: LoggedCommit) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime(min(commit.date, LAST_DATE)))
    return f"{commit.id[:8]} ({day})"
