"""Evidence that a link is broken, and not only beyond the rules that UBP knows.

Each site has its own ways: components, shortcodes, includes, plug-ins and hooks make pages and
anchors of which the files say nothing. So a link that leads nowhere by UBP's rules is a finding
only where something shows that it is broken:

- its target existed by the same rules in an earlier version, and nothing has taken its place;
- a page of the same name, in another version or language, has the heading;
- it differs from an existing name by a slip of the fingers, or from an anchor by a second `#` or
  by capital letters, which browsers distinguish;
- it names a file by its path, as every generator and GitHub read it, in a folder that exists; or in
  any, where no build makes folders of pages, or nearly all such links lead somewhere, and a file of
  the name is elsewhere or no code of the repository has the folder's name; but not where a script
  of the build names the file, or where the file exists beside a symbolic link to the page;
- it names a file of code by its path, and no file and no code of the repository has the name;
- it names an image, from the root, in a folder that the site publishes unchanged, and no file of
  the repository has the name, and no code;
- it would lead to a page if it began with a slash, or in the folder of the page's file;
- it names a page of a folder of which links lead to many others, and nothing else has its name;
- it names a label of Sphinx that the change takes away, or of which no text has the name;
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
from collections.abc import Iterator
from functools import cached_property

from ubp.checks.code_text import CodeText
from ubp.checks.context import HAS_LABELS, RuleContext, begins_with_domain
from ubp.checks.finding import WIKILINKS, Finding, LinkFix
from ubp.checks.known_pages import FOLDER_PAGES, KnownPages
from ubp.checks.link_counts import ANCHOR, LINK, LinkCounts, split_address
from ubp.checks.page_history import PageHistory
from ubp.checks.page_text import letters_of
from ubp.core.model import FilePath, Link
from ubp.core.paths import PAGE_SUFFIXES, normalize_path
from ubp.core.text import fold
from ubp.git.file_versions import LoggedCommit
from ubp.markdown.includes import SPHINX_DOC, SPHINX_TOCTREE
from ubp.markdown.resolve import FILE_SUFFIX, SPHINX_SUFFIXES, is_label, is_ref, path_of, stem
from ubp.markdown.sites.site import OTHER_LABELS, OTHER_PAGES, Site, join, locate

# A page of a site with fewer takes its text from elsewhere: 2,041 of 2,076 false findings in
# influxdata/docs-v2, one of two in photoprism-docs, and none of 216 in seven other sites.
MIN_ANCHORS = 2
# Linked anchors of a page, of which none leads anywhere: another rule makes them. In seven sites
# with 216 findings, of which builders confirmed most, such a page has at most two.
MIN_UNKNOWN = 4
# Pages of a folder to which addresses lead, and how many of their number lead nowhere.
MIN_NEIGHBORS = 5
MAX_LOST_NEIGHBORS = 1 / 4
# Generators that make anchors of headings in lower case, and of links what is written.
LOWERS_ANCHORS = frozenset(
    {"mkdocs", "vitepress", "docusaurus", "hugo", "mdbook", "jekyll", "starlight", "nextra"}
)
# Generators that put pages into templates, which alone add headings to them.
FILLS_TEMPLATES = frozenset({"hugo", "jekyll"})
# Generators whose builds make no folder of pages; None: GitHub itself.
MAKES_NO_FOLDERS = frozenset({"mdbook", "github", None})
# Different anchors of a site that lead to headings with signs: the rule for these is known then.
MIN_SIGNS = 3
# Generators with one rule for anchors, which only a setting replaces that UBP sees. In pages of
# nothing but text it is known, unless more different anchors with signs lead nowhere: one does in
# openapi-typescript, and 27 in vitessio/website, whose pages are not built any more.
FIXED_ANCHORS = frozenset({"mkdocs", "vitepress", "docusaurus", "mdbook", "starlight"})
MAX_SIGNS_LOST = 5
MAX_FROM_ROOT = 50  # pages of the name of a link
LAST_DATE = 253_402_300_799  # 9999-12-31; a commit may have any
# Generators that resolve relative paths of files as those of pages.
RESOLVES_FILES = frozenset({"mkdocs", "vitepress", "docusaurus", "mdbook", "sphinx", "github"})
# Those that publish files that only a build makes (`feed.xml`), but no images.
RESOLVES_IMAGES = frozenset({"jekyll", "starlight", "hugo"})
# Those that also take images from folders that a template or another language names.
SEARCHES_IMAGES = frozenset({"hugo"})
# Folders of what other pages include; its links begin in those.
_PIECES = re.compile(
    r"(?:^|/)(?:_(?!posts/|drafts/)[^/]*|includes?|partials?|snippets?|shared|reusables|fragments)/",
    re.IGNORECASE,
)
# Such a file in another folder; not a page of Hugo, nor a menu or cover of Docsify or of a wiki.
_PIECE = re.compile(
    r"(?:^|/)_(?!(?:index|sidebar|navbar|coverpage|header|footer)\.)[^/]*$", re.IGNORECASE
)
_SOURCE_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|py|rb|php|go|rs|java|kts?|swift|cs|cc?|cpp|hh?|hpp|scala|sh|sql|lua)$",
    re.IGNORECASE,
)
# What a link would be if it began as its author may have meant, by that beginning.
_BEGINNINGS = {
    "/": "From the root,",
    "../": "The page is published as a folder, in which relative addresses begin:",
    "./": "The page is published as a file, beside which relative addresses begin:",
}
_MAKES_PAGES = ("sphinx-apidoc", "sphinx.ext.apidoc", "sphinx-autogen", "better-apidoc")
_FORGE = re.compile(r"(?:\.\./)+(?:blob|raw|tree)/")  # followed from a forge's address of a page
_COUNTED = re.compile(r"_\d+")  # anchors of headings without ASCII letters
_LANGUAGE_SUFFIX = re.compile(r"\.(?P<language>[a-z]{2}(?:-[A-Z]{2})?)\.mdx?$")


class Evidence:
    """What shows that the links of a state are broken."""

    def __init__(self, context: RuleContext) -> None:
        self._context = context
        self._pages = KnownPages(context)
        self._history = PageHistory(context, self._pages)
        self._counts = LinkCounts(context, self._pages)
        self._unknown: dict[FilePath, bool] = {}

    def of(self, finding: Finding) -> str | None:
        """Return what shows that a finding is right, in a sentence; None where nothing does.

        The sentence is empty where the finding's own message and hint say it.
        """
        link = finding.about
        if not isinstance(link, Link):
            return ""
        site = self._context.graph.sites.of(finding.filepath)
        is_within = not link.target and finding.rule == ANCHOR
        is_relative = not link.target.startswith("/")
        if is_relative and (site is not None or is_within) and _PIECES.search(finding.filepath):
            return None  # its links begin elsewhere
        if is_within and _PIECE.search(finding.filepath):
            return None  # its headings are those of the page that includes it
        if finding.rule == ANCHOR:
            return self._of_anchor(finding, link)
        if is_label(link):
            return self._of_label(finding, link)
        return self._of_link(finding, link)

    def with_likely_fix(self, finding: Finding) -> Finding:
        """Return a finding without a fix to a heading that the page had beside the lost one."""
        link, fix = finding.about, finding.fix
        if finding.rule != ANCHOR or not isinstance(fix, LinkFix) or not isinstance(link, Link):
            return finding
        anchor, meant = link.anchor or "", fix.target.partition("#")[2]
        page = finding.related
        if page is None or letters_of(meant) == letters_of(anchor):
            return finding
        if meant not in self._history.anchors_beside(page, anchor):
            return finding
        return finding._replace(hint=f"The most similar heading is #{meant}.", fix=None)

    # Links to pages and files

    def _of_link(self, finding: Finding, link: Link) -> str | None:
        site = self._context.graph.sites.of(finding.filepath)
        if link.kind in WIKILINKS:
            is_used = site in self._counts.sites_with_wikilinks
            is_misread = self._counts.is_misread(finding.filepath, link, LINK)
            return "" if is_used and not is_misread else None
        if address := _address_in(link.target, site):
            return address
        is_named = self._names_file(finding, link, site) or self._names_static_file(link, site)
        if finding.related and not finding.fix and "letter" in finding.message:
            return "" if is_named else None
        if (meant := self._meant_target(finding, link)) is not None:
            return meant
        fix = finding.fix
        if isinstance(fix, LinkFix) and (not finding.related or _is_respelt(fix)):
            return ""
        is_misread = self._counts.is_misread(finding.filepath, link, LINK)
        is_lost = is_named and (not is_misread or is_github_readme(site, finding.filepath))
        is_absent = (
            is_lost
            or self._names_absent_code(finding.filepath, link)
            or self._is_absent_neighbor(finding.filepath, link)
        )
        return "" if is_absent else None

    def _meant_target(self, finding: Finding, link: Link) -> str | None:
        """Return a sentence on what a link must mean, "" where the hint names it; None: unknown."""
        if removed := self._history.removed_target(finding.filepath, link):
            path, commit = removed
            existed = f"{path} existed until {_written(commit)}." if commit else f"HEAD has {path}."
            return None if self._may_be_built(path) else existed
        site = self._context.graph.sites.of(finding.filepath)
        may_be_rewritten = self._may_be_rewritten(finding.filepath, link)
        for text in () if may_be_rewritten else _other_beginnings(site, link):
            page = self._page_at(finding.filepath, link, text)
            if page is not None:
                beginning = _BEGINNINGS[text[: text.index("/") + 1]]
                return f"{beginning} {text} is {page}." if not finding.hint else ""
        return None

    def _may_be_rewritten(self, source: FilePath, link: Link) -> bool:
        """Whether a template may make addresses of such links, as many of them lead nowhere."""
        site = self._context.graph.sites.of(source)
        fills_templates = site is None or site.style.name in FILLS_TEMPLATES
        return fills_templates and self._counts.is_misread(source, link, LINK)

    def _page_at(self, source: FilePath, link: Link, text: str) -> FilePath | None:
        """Return the page to which a link would lead with another text as its target."""
        graph = self._context.graph
        edges = graph.edges_of([source]).get(source, ())
        edge = next((edge for edge in edges if edge.link == link), None)
        pages = self._context.pages_of_stem(stem(link.target.rstrip("/")))[:MAX_FROM_ROOT]
        return next((page for page in pages if edge and graph.leads_to(edge, text, page)), None)

    def _is_absent_neighbor(self, source: FilePath, link: Link) -> bool:
        """Whether a link names a page of a folder of whose other pages nearly all are there.

        A page of the name in a folder of the name elsewhere may be shown here, as in a language.
        """
        site = self._context.graph.sites.of(source)
        folder, name = split_address(link.target)
        found, lost = self._counts.neighbors[site, folder]
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

    def _names_file(self, finding: Finding, link: Link, site: Site | None) -> bool:
        """Whether a link is the path of a file in a folder that exists."""
        path = self._path_from_root(finding, link, site)
        if path is None or (site is None and self._is_copied(finding.filepath)):
            return False
        if self._may_be_built(path) or self._leads_elsewhere(finding.filepath, link):
            return False
        if site is not None and not self._resolves_files(site, finding, link):
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
                and not _FORGE.match(link.target)
            )
        )

    def _of_label(self, finding: Finding, link: Link) -> str | None:
        """Return what shows that a label is missing: the change, or that no text has its name."""
        name = " ".join(link.target.split())
        if self._code.defines_label(name):
            return None
        if page := self._context.page_with_label(finding.filepath, link):
            return f"{page} had this label."
        return None if self._code.names_label(name) else ""

    def _is_absent_page(self, link: Link, site: Site | None) -> bool:
        """Whether a reference names a page that neither a program nor another project has."""
        name = link.target.rpartition("/")[2]
        files = [name, *(f"{name}{suffix}" for suffix in (".md", *SPHINX_SUFFIXES))]
        return (
            site is not None
            and link.label in {SPHINX_DOC, SPHINX_TOCTREE}
            and not site.option(OTHER_PAGES)
            and not (link.label == SPHINX_DOC and site.option(OTHER_LABELS))
            and not self._code.spells(letters_of(name), site.folder)
            and not any(map(self._code.is_named_in_build, _MAKES_PAGES))
            and not any(map(self._code.is_named_in_build, files))
        )

    def _path_from_root(self, finding: Finding, link: Link, site: Site | None) -> FilePath | None:
        """Return the path of the file that a link names, from the root; None: it names none."""
        page, target = finding.filepath, link.target
        is_path = target.lower().endswith(PAGE_SUFFIXES) or FILE_SUFFIX.search(target)
        if is_ref(link):
            return path_of(link, page, site) if self._is_absent_page(link, site) else None
        if not is_path or target.startswith(("@", "~")):
            return None
        if target.startswith("/"):
            is_usual = site is None and self._counts.is_usual(page, link)
            begins_at_root = is_usual or is_github_readme(site, page)
            return normalize_path(target.lstrip("/")) if begins_at_root else None
        return path_of(link, page, site)

    def _resolves_files(self, site: Site, finding: Finding, link: Link) -> bool:
        """Whether a site's generator resolves a link as the path of a file, and of nothing else."""
        style, target = site.style.name, link.target
        # MyST resolves labels of all pages
        is_label = style in HAS_LABELS and "/" not in target and "image" not in link.kind
        is_label = is_label and not is_ref(link)
        if not target.lower().endswith(PAGE_SUFFIXES):
            is_elsewhere = target.rpartition("/")[2] in self._pages.paths_by_name
            is_image = link.kind == "image" and style in RESOLVES_IMAGES
            is_searched = style in SEARCHES_IMAGES and is_elsewhere
            if is_label or is_searched or not (is_image or style in RESOLVES_FILES):
                return False
        return not self._leaves_a_copy(site, finding.filepath, link)

    def _leaves_a_copy(self, site: Site, page: FilePath, link: Link) -> bool:
        """Whether a link leaves pages that a build may have copied, none of which it may mean."""
        place = locate(site, page)
        if place is None or not leaves(site, page, link):
            return False
        copied = f"{page.removesuffix(place.path)}{place.path.partition('/')[0]}/"
        named = self._pages.paths_by_name.get(link.target.rpartition("/")[2], ())
        return not any(path.startswith(copied) for path in named)

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
            and name not in self._pages.paths_by_name
            and not self._code.makes_folder(name.rpartition(".")[0])
        )

    def _names_absent_code(self, page: FilePath, link: Link) -> bool:
        """Whether a link is the relative path of code whose name no file and no code has."""
        site, name = self._context.graph.sites.of(page), link.target.rpartition("/")[2]
        if site and (site.style.name in HAS_LABELS or self._leaves_a_copy(site, page, link)):
            return False
        return (
            link.kind in {"markdown", "definition"}
            and not link.target.startswith(("/", "~", "@"))
            and _SOURCE_CODE.search(name) is not None
            and name not in self._pages.paths_by_name
            and not self._code.makes_folder(name.rpartition(".")[0])
            and not self._code.is_named_in_build(name)
        )

    def _may_be_built(self, path: FilePath) -> bool:
        """Whether a script of the build names a file, with its folder if others have the name."""
        parts = path.split("/")
        is_common = parts[-1] in self._pages.paths_by_name
        return self._code.is_named_in_build("/".join(parts[-2:] if is_common else parts[-1:]))

    def _leads_elsewhere(self, page: FilePath, link: Link) -> bool:
        """Whether a link leads to a file where a symbolic link shows its page."""
        folders = [path.rpartition("/")[0] for path in self._pages.symbolic_links.get(page, ())]
        targets = (normalize_path(f"{folder}/{link.target}".lstrip("/")) for folder in folders)
        return any(self._context.view.entry(target) for target in targets if target)

    def _is_copied(self, page: FilePath) -> bool:
        """Whether a book lists a page in a place where it is not: a build puts it there."""
        parts = page.split("/")
        tails = ("/".join(parts[index:]) for index in range(1, len(parts) - 1))
        return not self._copied.isdisjoint(tails)

    @cached_property
    def _copied(self) -> frozenset[str]:
        """The paths that the lists of books have and that are not there."""
        graph = self._context.graph
        lists = [
            path
            for path in self._context.view.document_paths()
            if stem(path) == "summary"
            and (site := graph.sites.of(path)) is not None
            and site.style.name == "mdbook"
        ]
        return frozenset(
            posixpath.normpath(edge.link.target)
            for edges in graph.edges_of(lists).values()
            for edge in edges
            if edge.resolution.bucket == "missing"
        )

    def _is_lost_for_good(self, finding: Finding, link: Link, folder: FilePath) -> bool:
        """Whether no build makes an absent folder, as far as other links, files and code show."""
        if not self._counts.is_read_well(finding.filepath, link):
            return False
        name = link.target.rpartition("/")[2]
        is_elsewhere = name in self._pages.paths_by_name and stem(name) not in FOLDER_PAGES
        if finding.related or is_elsewhere:
            return True
        parts = folder.split("/")
        folders = [FilePath("/".join(parts[: index + 1])) for index in range(len(parts))]
        absent = [path for path, entry in self._context.view.entries(folders).items() if not entry]
        return not any(self._code.makes_folder(path.rpartition("/")[2]) for path in absent)

    # Links to headings

    def _of_anchor(self, finding: Finding, link: Link) -> str | None:
        target, anchor = finding.related, link.anchor or ""
        letters = letters_of(anchor)
        site = self._context.graph.sites.of(target) if target else None
        if target is None or not letters or self._may_be_written_otherwise(site, target, link):
            return None
        if (slip := self._slip_of_signs(site, target, anchor)) is not None:
            return slip
        if self.is_in_named_file(finding):
            return None
        if self._pages.text(target).spells(letters):
            heading = self._heading_with_signs(target, letters)
            return f'The heading "{heading}" has another anchor.' if heading else None
        if site is not None and site.style.name != "github" and self._is_unknown(target):
            return None
        return self._of_absent_heading(finding, link, target)

    def _of_absent_heading(self, finding: Finding, link: Link, target: FilePath) -> str | None:
        anchor, letters = link.anchor or "", letters_of(link.anchor or "")
        if _is_slip(finding, letters):
            return ""
        if (version := self._history.earlier_version(target, anchor)) is not None:
            path, commit = version
            was = "it" if path == target else path
            since = f"Until {_written(commit)}" if commit else "In HEAD"
            return f"{since} {was} had this heading."
        if (sibling := self._pages.sibling(target, anchor)) is not None:
            # `page.fr.md` is what a link to `page.md` means in pages such as `index.fr.md`
            is_meant = _language_suffix(sibling) == _language_suffix(finding.filepath) != ""
            return None if is_meant else f"{sibling} has this heading."
        is_nowhere = self._is_nowhere(target, letters)
        is_misread = is_nowhere and self._counts.is_misread(finding.filepath, link, ANCHOR)
        return "" if is_nowhere and not is_misread else None

    def _heading_with_signs(self, page: FilePath, letters: str) -> str | None:
        """Return the heading of these letters, if how its signs are written is known."""
        site = self._context.graph.sites.of(page)
        found, lost = self._counts.signs_found[site], self._counts.signs_lost[site]
        is_shown = found >= MIN_SIGNS and found > lost
        is_fixed = (
            site is not None
            and site.style.name in FIXED_ANCHORS
            and lost <= max(found, MAX_SIGNS_LOST)
            and self._is_nothing_but_text(page)
        )
        is_known = is_shown or is_fixed
        if not is_known or self._pages.text(page).spells_beside_headings(letters):
            return None
        return self._pages.headings(page).get(letters)

    def _may_be_written_otherwise(self, site: Site | None, page: FilePath, link: Link) -> bool:
        """Return whether anchors of a page may be others than those that UBP knows."""
        if site is None:
            return self._counts.has_unknown_anchors(page)
        if site.style.name == "mkdocs" and stem(page) == "readme":
            index = FilePath(f"{page.rpartition('/')[0]}/index.md".lstrip("/"))
            return self._context.view.entry(index) is not None  # MkDocs leaves the README out
        if site.style.name == "mkdocs" and _COUNTED.fullmatch(link.anchor or ""):
            return self._pages.text(page).has_tight_headings  # Python-Markdown counts these, too
        # MyST resolves it among all labels and objects of a site
        return site.style.name in HAS_LABELS and not link.target

    def _slip_of_signs(self, site: Site | None, page: FilePath, anchor: str) -> str | None:
        """Return a sentence where only capitals or a # tell an anchor from one of the page."""
        if anchor.startswith("#") and anchor.lstrip("#") in self._context.graph.anchors(page):
            return "It has one # too many."
        if site is not None and self._differs_in_case(site, page, anchor):
            return "Browsers distinguish capital letters in anchors."
        return None

    def _differs_in_case(self, site: Site, page: FilePath, anchor: str) -> bool:
        """Return whether a page has an anchor in lower case, and nothing that may spell it so.

        Of a page's title that is not asked: without an anchor, too, it is what a browser shows.
        """
        lowered, text = anchor.lower(), self._pages.text(page)
        return (
            site.style.name in LOWERS_ANCHORS
            and lowered != anchor
            and lowered in self._context.graph.anchors(page)
            and letters_of(anchor) not in self._pages.titles(page)
            and not self._pages.fillers(page)
            and not text.sets_name(anchor)
            and not any(named.sets_name(anchor) for named in self._pages.named_files(page))
            and self._counts.anchors_in_case[site] < self._counts.anchors_found[site]
        )

    def _is_nowhere(self, page: FilePath, letters: str) -> bool:
        """Return whether nothing spells a heading that may be the page's."""
        if self._is_nothing_but_text(page):
            return True
        text = self._pages.text(page)
        if any(
            not self._makes_no_heading(page, filler, letters)
            for filler in self._pages.fillers(page)
        ):
            return False
        site = self._context.graph.sites.of(page)
        folder = site.folder if site else ""
        is_template = site is not None and site.style.name in FILLS_TEMPLATES
        if is_template and text.has_sentences and not text.has_component:
            return not self._code.spells_in_template(letters, folder)
        if self._code.spells(letters, folder):
            return False
        return not text.has_component or not self._pages.is_spelled_elsewhere(page, letters)

    def _is_nothing_but_text(self, page: FilePath) -> bool:
        """Return whether its headings are those in its text, as its site's generator reads them."""
        site = self._context.graph.sites.of(page)
        is_read_well = self._counts.reads_anchors_well(site)
        return (is_read_well or is_github_readme(site, page)) and self._pages.has_own_text(page)

    def _makes_no_heading(self, page: FilePath, filler: str, letters: str) -> bool:
        """Return whether what fills a page is known, and does not spell a heading."""
        kind, _, name = filler.partition(" ")
        if kind == "layout":
            return self._counts.shows_the_text(filler)
        if kind == "snippet":
            included = self._pages.included(page)
            return included is not None and not any(text.spells(letters) for text in included)
        site = self._context.graph.sites.of(page)
        is_shortcode = kind == "short" and site is not None and site.style.name == "hugo"
        return is_shortcode and name in self._code.plain_shortcodes

    def is_in_named_file(self, finding: Finding) -> bool:
        """Return whether a page names the file that has its missing heading."""
        link, target = finding.about, finding.related
        if finding.rule != ANCHOR or target is None or not isinstance(link, Link):
            return False
        letters = letters_of(link.anchor or "")
        return any(text.spells(letters) for text in self._pages.named_files(target))

    def _is_unknown(self, page: FilePath) -> bool:
        """Whether a page has one anchor at most, or none of several that links name."""
        if self._is_nothing_but_text(page):
            return False
        graph = self._context.graph
        if len(graph.anchors(page)) < MIN_ANCHORS and not self._pages.has_own_text(page):
            return True
        if page not in self._unknown:
            own = (edge for edge in graph.outlinks(page) if edge.resolution.target == page)
            edges = [*graph.backlinks(page), *own]
            found = {edge.link.anchor: edge.resolution.has_anchor for edge in edges}
            found.pop(None, None)
            is_none_found = len(found) >= MIN_UNKNOWN and not any(found.values())
            self._unknown[page] = is_none_found and not self._pages.is_translated(page, found)
        return self._unknown[page]

    @cached_property
    def _code(self) -> CodeText:
        return CodeText(self._context)


def _address_in(target: str, site: Site | None) -> str:
    """Return a sentence where the address of another site is written as a path, else ""."""
    if "://" in target:
        return "It is written as a path, and has an address in it."
    if begins_with_domain(target, site):
        return "Without https:// the address of another site is a path."
    return ""


def _other_beginnings(site: Site | None, link: Link) -> Iterator[str]:
    """Yield what a relative address without a suffix may mean: from the root, or the folder.

    Where a browser begins in the page as in a folder, its author may have begun beside it, and the
    other way round.
    """
    target, style = link.target, site.style if site else None
    if target.startswith("/") or FILE_SUFFIX.search(target) or link.kind in WIKILINKS:
        return
    if "/" in target and not target.startswith("."):
        yield f"/{target}"
    if style and style.is_pretty and style.verifies == "sections":
        yield f"../{target.removeprefix('./')}"
    if style and not style.is_pretty and style.verifies == "all" and target.startswith("../"):
        yield f"./{target.removeprefix('../')}"


def _language_suffix(path: FilePath) -> str:
    """Return the language that the name of a page ends with, "" where it has none."""
    match = _LANGUAGE_SUFFIX.search(path)
    return match["language"] if match else ""


def is_github_readme(site: Site | None, page: FilePath) -> bool:
    """Return whether a page is a README of no site, which GitHub shows."""
    return site is None and stem(page) == "readme"


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


def _is_respelt(fix: LinkFix) -> bool:
    """Whether the fix of a link has another name of the file, which then is misspelt."""
    return stem(fix.target) != stem(fix.link.target.rstrip("/"))


def _is_slip(finding: Finding, letters: str) -> bool:
    """Whether the fix of a finding changes letters, and no words: signs may be the generator's."""
    if not isinstance(finding.fix, LinkFix):
        return False
    meant = finding.fix.target.partition("#")[2]
    other = letters_of(meant)
    return other != letters and meant.count("-") == (
        finding.about.anchor or "" if isinstance(finding.about, Link) else ""
    ).count("-")


def _written(commit: LoggedCommit) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime(min(commit.date, LAST_DATE)))
    return f"{commit.id[:8]} ({day})"
