"""The facts of a snapshot that rules read, each computed when a rule first asks for it."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ubp.checks.debt import Debts, accepted_debts
from ubp.checks.finding import WIKILINKS, Finding
from ubp.checks.outdated import OutdatedMention
from ubp.checks.renames import Renames
from ubp.checks.suppress import ObsidianComments
from ubp.checks.unbinding import Unbinding
from ubp.core.model import (
    Assessment,
    FilePath,
    Link,
    Page,
    ReferenceVerdict,
)
from ubp.core.paths import PAGE_SUFFIXES, normalize_path, without_page_suffix
from ubp.git.files import find_ignored
from ubp.index.link_graph import GraphEdge
from ubp.index.view import View
from ubp.markdown.resolve import (
    FILE_SUFFIX,
    PageNameForms,
    Targets,
    differs_in_case,
    is_file,
    is_label,
    own_language,
    path_of,
    resolve,
    stem,
)
from ubp.markdown.sites.site import OWN_HOOKS, Site, addresses, linked_address
from ubp.search.graph import Graph, open_graph
from ubp.staleness.model import Denied, denial

if TYPE_CHECKING:  # few checks review bindings, or find a path misspelt
    from ubp.bindings.review import ReviewedBinding
    from ubp.checks.misspelt import Misspelt

_COMMENT = re.compile(r"<!--([^<>\n]*)-->")
UNVERIFIABLE = frozenset({"missing", "ambiguous"})
# Links of a site that are paths of pages from the root: with more, something makes addresses of it.
MAX_PATHS_FROM_ROOT = 20


# Generators that make no page of a folder that has none.
SHOWS_NO_FOLDERS = frozenset({"jekyll", "mkdocs"})
# Generators whose links may name labels of any page.
HAS_LABELS = frozenset({"sphinx", "mystmd"})
# The name of a site on the web.
_DOMAIN = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|org|net|dev|io)(?:/|$)", re.ASCII
)


def begins_with_domain(target: str, site: Site | None) -> bool:
    """Return whether a path in a page of a site begins with the name of a site on the web."""
    has_labels = site is not None and site.style.name in HAS_LABELS  # `app.io` is a module
    return _DOMAIN.match(target) is not None and not has_labels


def _is_path_from_root(edge: GraphEdge) -> bool:
    target = edge.link.target
    is_path = target.startswith("/") and target.lower().endswith(PAGE_SUFFIXES)
    return is_path and edge.link.kind not in WIKILINKS and edge.resolution.target is not None


class AssessedReference(NamedTuple):
    """A page and the verdict of one of its references."""

    page: Page
    verdict: ReferenceVerdict


class LostFiles(NamedTuple):
    """The files of a folder that a page's links miss, as they are written.

    `by_folder` has those for which a folder has a file of their name.
    """

    targets: set[str]
    by_folder: dict[str, set[str]]


class RuleContext:
    """A snapshot as rules see it: the state, or the state that a change leads to.

    `paths` are the pages to report findings in, None: all. `changes` are the files that the change
    touches, None: a state is checked. `assess` returns the verdicts of `bound_pages`,
    `assess_translations` those of translations (of a change, that it concerns), `review` compares
    bindings with history. The rule on the debt file also needs `rules`, the names of the rules that
    run, and `find_current`, which returns all their findings in the state. `not_checked` has the
    reasons of the rules that cannot answer here. `skips_ignored`: a link to a file that Git ignores
    is not broken.
    """

    rules: tuple[str, ...] = ()
    find_current: Callable[[], Sequence[Finding]] = tuple
    # What the base of a change would have reported (`ubp.checks.relaxed`).
    relaxed: Sequence[Finding] = ()
    skips_ignored = True
    find_outdated_mentions: Callable[[], Iterable[OutdatedMention]] = tuple
    # What a change unbinds; nothing where a state is checked.
    find_unbound: Callable[[], Iterable[Unbinding]] = tuple

    def __init__(  # noqa: PLR0913, PLR0917  # the inputs of all rules
        self,
        view: View,
        renames: Renames,
        assess: Callable[[], tuple[Assessment, ...]],
        assess_translations: Callable[[], tuple[Assessment, ...]],
        review: "Callable[[Sequence[Assessment]], tuple[ReviewedBinding, ...]]",
        paths: frozenset[FilePath] | None = None,
        *,
        changes: Collection[FilePath] | None = None,
    ) -> None:
        self.view = view
        self.paths = paths
        self.is_change = changes is not None
        self.changes = changes or ()
        self.renames = renames
        self.not_checked: dict[str, str] = {}
        self._assess = assess
        self._assess_translations = assess_translations
        self._review = review
        self._is_opaque: dict[str, bool] = {}  # by folder
        self._comments: dict[FilePath, frozenset[str]] = {}
        self._own_addresses: dict[FilePath, tuple[str, ...]] = {}
        self._redirects: dict[Site, tuple[re.Pattern[str], ...]] = {}
        self._targets: dict[FilePath, dict[int, set[FilePath | None]]] = {}  # by page and line
        self._lost: dict[FilePath, dict[str, LostFiles]] = {}  # by page and folder

    def includes(self, path: FilePath) -> bool:
        """Whether findings in this page are to be reported."""
        return self.paths is None or path in self.paths

    @cached_property
    def debts(self) -> Debts:
        """The contents of the snapshot's debt file."""
        return accepted_debts(self.view)

    @cached_property
    def behind(self) -> frozenset[FilePath]:
        """The assessed pages with a reference that was behind before the change."""
        return frozenset(
            assessment.page.filepath
            for assessment in self._assessments
            if self.is_change
            and any(
                verdict.is_debt and verdict.verdict not in {"fresh", "unknown"}
                for verdict in assessment.references
            )
        )

    @cached_property
    def drifted(self) -> tuple[AssessedReference, ...]:
        """The references that are not fresh; of a change only alarms that were before it."""
        return tuple(
            AssessedReference(assessment.page, verdict)
            for assessment in self._assessments
            for verdict in assessment.references
            if verdict.verdict != "fresh"
            and not (self.is_change and (verdict.is_debt or verdict.is_noted))
        )

    @cached_property
    def noted(self) -> frozenset[FilePath]:
        """The pages with a reference that the change makes drift, and that is not an alarm."""
        return frozenset(
            assessment.page.filepath
            for assessment in self._assessments
            if self.is_change and any(verdict.is_noted for verdict in assessment.references)
        )

    @cached_property
    def denied(self) -> tuple[Denied, ...]:
        """The pages that the judge finds accurate."""
        return tuple(filter(None, map(denial, self._assessments)))

    @cached_property
    def translated(self) -> tuple[AssessedReference, ...]:
        """The translations that are not fresh; of a change only those that were before it."""
        return tuple(
            AssessedReference(assessment.page, verdict)
            for assessment in self._assess_translations()
            for verdict in assessment.references
            if verdict.verdict != "fresh" and not (self.is_change and verdict.is_debt)
        )

    @cached_property
    def assessed(self) -> tuple[AssessedReference, ...]:
        """The references of the assessed pages, whatever their verdicts are."""
        return tuple(
            AssessedReference(assessment.page, verdict)
            for assessment in self._assessments
            for verdict in assessment.references
        )

    @cached_property
    def reviewed(self) -> "tuple[ReviewedBinding, ...]":
        """The bindings of the assessed pages, compared with history."""
        return self._review(self._assessments)

    @cached_property
    def bound_pages(self) -> tuple[Page, ...]:
        """The included pages with references, or with problems in their front matter."""
        if self.paths is None:
            return tuple(self.view.bound_pages())
        pages = self.view.pages_at(sorted(self.paths)).values()  # of 5,000 that saves 0.1 s
        return tuple(page for page in pages if page.facts.references or page.facts.problems)

    @cached_property
    def graph(self) -> Graph:
        """The links of the snapshot."""
        return open_graph(self.view)

    @cached_property
    def suspect_links(self) -> tuple[GraphEdge, ...]:
        """The links of the included pages in which a rule may find something."""
        if self.paths is None:
            edges = self.graph.all_edges()
        else:
            by_page = self.graph.edges_of(sorted(self.paths))
            edges = chain.from_iterable(by_page.values())
        suspects = [
            edge
            for edge in edges
            if edge.resolution.bucket in UNVERIFIABLE
            or edge.resolution.has_anchor is False
            or edge.link.meant_type
            or self.differs_in_case(edge)
            or self.stays_as_written(edge)
            or self.lacks_scheme(edge)
            or self.loses_its_page(edge)
        ]
        near_comments = {edge.source for edge in suspects if "%%" in edge.link.context}
        contents = self.view.read(near_comments) if near_comments else {}
        comments = {path: ObsidianComments(data) for path, data in contents.items() if data}
        return tuple(
            edge
            for edge in suspects
            if edge.source not in comments or not comments[edge.source].cover(edge.link.byte_start)
        )

    def differs_in_case(self, edge: GraphEdge) -> bool:
        """Whether a link finds its page only where the case of file names does not count."""
        resolution = edge.resolution
        return (
            resolution.bucket == "resolved"
            and resolution.target is not None
            and differs_in_case(edge.link, resolution.target, self.graph.sites)
            and not self._is_address_set_by_page(edge.link, resolution.target)
        )

    def _is_address_set_by_page(self, link: Link, path: FilePath) -> bool:
        """Whether a page's front matter names its address, so that its file's name is another."""
        if path not in self._own_addresses:
            from ubp.markdown.document import read_head, written_addresses  # not for each hook

            data = self.view.read([path]).get(path)
            written = written_addresses(read_head(data, ())) if data else ()
            site = self.graph.sites.of(path)
            self._own_addresses[path] = addresses(site, path, written) if site else ()
        name = link.target.rstrip("/").rpartition("/")[2].removesuffix(".html")
        return any(name == url.rpartition("/")[2] for url in self._own_addresses[path])

    def is_behind_opaque_folder(self, edge: GraphEdge) -> bool:
        """Whether a link's path goes through a submodule or symlink, where Git lists no files."""
        path = self._target_path(edge, edge.source)
        if edge.link.kind in WIKILINKS or path is None:
            return False
        folder = path.rpartition("/")[0]
        if folder not in self._is_opaque:
            self._is_opaque[folder] = self.view.opaque_folder(path) is not None
        return self._is_opaque[folder]

    def lost_files(self, source: FilePath) -> Mapping[str, LostFiles]:
        """Return the files of folders that a page's links miss, by the folder as it is written."""
        if source not in self._lost:
            found = self._lost[source] = dict[str, LostFiles]()
            for edge in self.graph.outlinks(source):
                folder = edge.link.target.rpartition("/")[0]
                if folder and edge.resolution.bucket == "missing":
                    lost = found.setdefault(folder, LostFiles(set(), {}))
                    lost.targets.add(edge.link.target)
                    for path in edge.resolution.candidates:
                        beside = lost.by_folder.setdefault(path.rpartition("/")[0], set())
                        beside.add(edge.link.target)
        return self._lost[source]

    def is_linked_beside(self, edge: GraphEdge, target: FilePath) -> bool:
        """Whether a link on the same line as another leads to a page."""
        if edge.source not in self._targets:
            lines: dict[int, set[FilePath | None]] = defaultdict(set)
            for other in self.graph.outlinks(edge.source):
                lines[other.link.line].add(other.resolution.target)
            self._targets[edge.source] = lines
        return target in self._targets[edge.source][edge.link.line]

    def lacks_scheme(self, edge: GraphEdge) -> bool:
        """Whether a link that leads to no page is the address of another site: `github.com/a`."""
        link = edge.link
        if edge.resolution.bucket != "not_a_page" or link.kind in WIKILINKS:
            return False
        if not begins_with_domain(link.target, self.graph.sites.of(edge.source)):
            return False
        domain = link._replace(target=link.target.partition("/")[0])  # a folder may be named so
        return not self.finds_file(edge._replace(link=domain))

    def finds_file(self, edge: GraphEdge) -> bool:
        """Whether a link that is not a link to a page names a file or folder of the repository.

        An address from the root of a site is not that of a folder, unless a page in HTML is in it,
        or the generator may make one.
        """
        path, site = self._target_path(edge, edge.source), self.graph.sites.of(edge.source)
        folders = ["", *(root.folder for root in site.roots), *site.static] if site else [""]
        from_root = [f"{folder}/{edge.link.target.lstrip('/')}" for folder in folders]
        paths = [path, *map(normalize_path, (name.strip("/") for name in from_root))]
        if site and site.style.name in SHOWS_NO_FOLDERS and edge.link.target.startswith("/"):
            pages = [FilePath(f"{name}/index.html") for name in paths if name]
            entries = self.view.entries([name for name in (*paths, *pages) if name]).values()
            return any(entry is not None and not entry.is_directory for entry in entries)
        return any(self.view.entry(name) is not None for name in paths if name)

    def is_localized(self, edge: GraphEdge) -> bool:
        """Whether the missing target of a link is there with a language at the end of its name."""
        site = self.graph.sites.of(edge.source)
        if site is None or not site.suffix_language:
            return False
        languages = {own_language(edge.source), f".{site.suffix_language}"}
        names = [path.rpartition(".") for path in self._possible_files(edge)]
        paths = [
            FilePath(f"{name}{end}.{suffix}") for name, _, suffix in names for end in languages
        ]
        return any(self.view.entries(paths).values())

    def is_generated(self, edge: GraphEdge) -> bool:
        """Whether a `.gitignore` names the missing target of a link: a build generates it."""
        return not self._generated.isdisjoint(self._possible_files(edge))

    def is_made_by_hook(self, path: FilePath, anchor: str) -> bool:
        """Whether a program of the page's site may make an anchor of a comment with its name."""
        site = self.graph.sites.of(path)
        if not anchor or site is None or not site.option(OWN_HOOKS):
            return False
        if path not in self._comments:
            text = (self.graph.text(path) or b"").decode("utf-8", "replace")
            words = (word for comment in _COMMENT.findall(text) for word in comment.split())
            self._comments[path] = frozenset(words)
        return anchor.lstrip("+") in self._comments[path]

    @cached_property
    def _generated(self) -> frozenset[FilePath]:
        if not self.skips_ignored:
            return frozenset()
        missing = [edge for edge in self.suspect_links if edge.resolution.bucket == "missing"]
        paths = {
            path
            for edge in missing
            if not self.is_behind_opaque_folder(edge)
            for path in self._possible_files(edge)
        }
        return find_ignored(self.view.context.repository, paths)

    def stays_as_written(self, edge: GraphEdge) -> bool:
        """Return whether a site publishes the path of a page as it is, which leads nowhere."""
        if not _is_path_from_root(edge):
            return False
        site = self.graph.sites.of(edge.source)
        is_kept = site is not None and site.keeps_paths
        return is_kept and self._paths_from_root[site] <= MAX_PATHS_FROM_ROOT

    @cached_property
    def _paths_from_root(self) -> Counter[Site | None]:
        """How many links of each site are paths of pages from the root."""
        sites = self.graph.sites
        return Counter(
            sites.of(edge.source) for edge in self.graph.all_edges() if _is_path_from_root(edge)
        )

    def _possible_files(self, edge: GraphEdge) -> tuple[FilePath, ...]:
        """Return the files that a link may name: by its path, or by the address on its site."""
        path, site = self._target_path(edge, edge.source), self.graph.sites.of(edge.source)
        if edge.link.kind in WIKILINKS or not path:
            return ()
        target = without_page_suffix(edge.link.target)
        urls = linked_address(site, edge.source, target) if site else []
        roots = [root.folder for root in site.roots if "{lang}" not in root.folder] if site else []
        names = [path, *(f"{root}/{url}".strip("/") for root in roots for url in urls)]
        files = (
            name if name.lower().endswith(PAGE_SUFFIXES) else f"{name}.md"
            for name in names
            if FILE_SUFFIX.search(name) is None or name.lower().endswith(PAGE_SUFFIXES)
        )
        return tuple(map(FilePath, dict.fromkeys([*names, *files])))

    def names_folder(self, edge: GraphEdge) -> bool:
        """Whether a link in a page of no site names a folder that looks like a file: `x.org`."""
        path = self._target_path(edge, edge.source)
        if path is None or edge.link.kind in WIKILINKS or self.graph.sites.of(edge.source):
            return False
        entry = self.view.entry(path) if FILE_SUFFIX.search(path) else None
        return entry is not None and entry.is_directory

    def is_redirected(self, edge: GraphEdge) -> bool:
        """Whether the site of a page redirects the address that a link leads to."""
        site = self.graph.sites.of(edge.source)
        if site is None or edge.link.kind in WIKILINKS:
            return False
        if site not in self._redirects:
            from ubp.index.facts import FileContents  # few checks find a broken link
            from ubp.markdown.sites.redirects import REDIRECT_FILES, redirect_patterns, redirects_in

            folders = ("", site.folder, *site.static, *(root.folder for root in site.roots))
            names = {
                FilePath(f"{folder}/{name}".lstrip("/")): name
                for folder in folders
                for name in REDIRECT_FILES
            }
            if site.config:
                names[FilePath(site.config)] = site.config.rpartition("/")[2]
            entries = self.view.entries(names)
            kept = {path: entry for path, entry in entries.items() if entry and entry.is_file}
            files = FileContents(self.view.context.repository, self.view.snapshot).read(kept)
            found = (
                address
                for path, data in files.items()
                if data
                for address in redirects_in(names[path], data)
            )
            self._redirects[site] = redirect_patterns(found)
        patterns = self._redirects[site]
        target = without_page_suffix(edge.link.target)
        urls = linked_address(site, edge.source, target) if patterns else ()
        return any(pattern.fullmatch(url) for url in urls for pattern in patterns)

    def loses_its_page(self, edge: GraphEdge) -> bool:
        """Whether the change took away the page at the address that a link has.

        It moved or removed that page, or it moved the link's. Elsewhere an address of no page may
        be one that a build makes.
        """
        if edge.resolution.bucket != "not_a_page" or edge.link.kind in WIKILINKS:
            return False
        if is_label(edge.link):
            return self.page_with_label(edge.source, edge.link) is not None
        if not self.renames.removed or is_file(edge.link.target):
            return False
        lost = self._removed_page(edge) or self.renamed_target(edge)
        return lost is not None and not self.finds_file(edge)

    def page_with_label(self, source: FilePath, link: Link) -> FilePath | None:
        """Return the page that had the label of Sphinx's `{ref}` before the change."""
        return resolve(source, link, self._replaced_labels).target

    @cached_property
    def _replaced_labels(self) -> Targets:
        """The pages that the change edited or removed, as they were, by their labels."""
        from ubp.markdown.document import read_head  # not for each hook
        from ubp.markdown.parse import parse_markdown

        replaced = self.renames.replaced.items()
        blobs = {path: entry.id for path, entry in replaced if path.lower().endswith(PAGE_SUFFIXES)}
        contents = self.view.context.repository.read_blobs(blobs.values())
        targets = Targets(sites=self.graph.sites)
        for path, blob in blobs.items():
            data = contents[blob] or b""
            labels = parse_markdown(data, read_head(data, ()).body).anchors.targets
            targets.add_page(PageNameForms(path, None, (), (("target", labels),)))
        return targets

    def renamed_target(self, edge: GraphEdge) -> FilePath | None:
        """Return the new path of a link's target, where the change moved it or the link's page."""
        target = edge.link.target
        if edge.link.kind in WIKILINKS:
            return self.renames.new_path(target) or self.renames.new_path_by_name(target)
        if kept := self._page_of_old_folder(edge):
            return kept
        path = self._target_path(edge, self.renames.origin(edge.source) or edge.source)
        removed = self._removed_page(edge)
        return (self.renames.new_path(path) if path else None) or (
            self.renames.new_paths.get(removed) if removed else None
        )

    def _page_of_old_folder(self, edge: GraphEdge) -> FilePath | None:
        """Return the page to which a relative link of a moved page led in its old folder."""
        source, target = self.renames.origin(edge.source), edge.link.target
        if source is None:
            return None
        path = self._target_path(edge, source)
        if path and self.view.page(path):
            return path
        old = edge._replace(source=source)
        pages = () if target.startswith("/") else self.pages_of_stem(stem(target.rstrip("/")))
        return next((page for page in pages if self.graph.leads_to(old, target, page)), None)

    def _removed_page(self, edge: GraphEdge) -> FilePath | None:
        """Return the page that the change moved or removed, and to which a link led before."""
        source = self.renames.origin(edge.source) or edge.source
        found = resolve(source, edge.link._replace(anchor=None), self._removed_pages).target
        return found if found in self.renames.removed else None

    @cached_property
    def _removed_pages(self) -> Targets:
        """The pages that the change moved or removed, at their old addresses."""
        from ubp.markdown.document import read_head, written_addresses  # not for each hook

        removed = self.renames.removed.items()
        blobs = {path: entry.id for path, entry in removed if path.lower().endswith(PAGE_SUFFIXES)}
        contents = self.view.context.repository.read_blobs(blobs.values())
        targets = Targets(sites=self.graph.sites)
        for path, blob in blobs.items():
            written = written_addresses(read_head(contents[blob] or b"", ()))
            targets.add_page(PageNameForms(path, None, (), written))
        return targets

    def _target_path(self, edge: GraphEdge, source: FilePath) -> FilePath | None:
        """Return the path that a link in the page `source` names; a leading "/" means the root."""
        return path_of(edge.link, source, self.graph.sites.of(source))

    def file_from_root(self, edge: GraphEdge) -> FilePath | None:
        """Return the file that a relative link would name if it began at the root."""
        path = normalize_path(edge.link.target.lstrip("/"))
        entry = self.view.entry(path) if path else None
        return path if entry and not entry.is_directory else None

    def meant_paths(self, edge: GraphEdge) -> tuple[FilePath, ...]:
        """Return the files that a link to nothing leads to but for a typing error in a name."""
        return self._misspelt.meant_paths(edge)

    @cached_property
    def _misspelt(self) -> "Misspelt":
        from ubp.checks.misspelt import Misspelt  # where something is missing

        return Misspelt(self.view, self.graph)

    def pages_of_stem(self, name: str) -> tuple[FilePath, ...]:
        """Return the pages of this file name, which is case-folded and without suffix."""
        return self._paths_by_stem.get(name, ())

    @cached_property
    def _assessments(self) -> tuple[Assessment, ...]:
        return self._assess()

    @cached_property
    def _paths_by_stem(self) -> dict[str, tuple[FilePath, ...]]:
        paths: dict[str, tuple[FilePath, ...]] = {}
        for path in self.view.document_paths():
            paths[stem(path)] = (*paths.get(stem(path), ()), path)
        return paths
