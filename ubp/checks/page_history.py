"""Earlier versions of a state's pages, and the files that it does not have any more."""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice

from ubp.checks.context import RuleContext
from ubp.checks.known_pages import FOLDER_PAGES, KnownPages
from ubp.checks.page_text import PageText, letters_of
from ubp.core.model import Entry, FilePath, Link, ObjectId
from ubp.core.paths import PAGE_SUFFIXES
from ubp.core.text import common_length, fold
from ubp.git.file_versions import FileVersion, FileVersions, LoggedCommit
from ubp.git.files import find_ignored
from ubp.markdown.resolve import PageNameForms, Targets, requested_names, resolve, stem
from ubp.markdown.sites.site import Site

# Of a page; reading one takes 0.2 ms in a batch, and parsing one that spells the heading 20 ms.
MAX_VERSIONS = 300
MAX_PARSED = 4  # for each heading
BATCH = 16  # versions that are read at once
# Of all pages together, 1 ms each; influxdata/docs-v2, with 5,179 pages, reads 700.
MAX_READ = 10_000


# Its path, and the commit until which it was there; None of what is in HEAD.
EarlierVersion = tuple[FilePath, LoggedCommit | None]


class PageHistory:
    """What links and anchors led to in earlier versions, by the rules of today."""

    def __init__(self, context: RuleContext, pages: KnownPages) -> None:
        self._context = context
        self._pages = pages
        self._old_anchors: dict[tuple[ObjectId, Site | None], frozenset[str]] = {}
        self._earlier: dict[FilePath, dict[str, EarlierVersion | None]] = {}
        self._beside: dict[tuple[FilePath, str], frozenset[str]] = {}
        self._read = 0

    def earlier_version(self, target: FilePath, anchor: str) -> EarlierVersion | None:
        """Return the newest version of a page that had an anchor, and what has no new filler."""
        known = self._earlier.setdefault(target, {})
        if anchor not in known:
            known |= self._find_earlier(target, {anchor, *self._lost_anchors(target)})
        return known[anchor]

    def anchors_beside(self, page: FilePath, anchor: str) -> frozenset[str]:
        """Return all anchors of the newest version of a page that had one; none did: none."""
        self.earlier_version(page, anchor)
        return self._beside.get((page, anchor), frozenset())

    def _lost_anchors(self, page: FilePath) -> Iterator[str]:
        """Yield the anchors that links name, and that a page does not have."""
        graph = self._context.graph
        for edge in (*graph.backlinks(page), *graph.outlinks(page)):
            if edge.resolution.target == page and edge.resolution.has_anchor is False:
                yield edge.link.anchor or ""

    def _find_earlier(
        self, page: FilePath, anchors: Collection[str]
    ) -> dict[str, EarlierVersion | None]:
        """Return the newest version with each of some anchors that a page does not have.

        What a version has and the next one has not is where the two differ: only that is searched.
        """
        site, newer = self._context.graph.sites.of(page), self._pages.text(page)
        fillers = newer.fillers
        found: dict[str, EarlierVersion | None] = dict.fromkeys(anchors)
        tries = {anchor: MAX_PARSED for anchor in anchors if letters_of(anchor)}
        for version, text in self._older(page) if tries else ():
            changed = PageText(_differing_lines(text.data, newer.data))
            newer = text
            for anchor in [name for name in tries if changed.spells(letters_of(name))]:
                tries[anchor] -= 1
                old = self._anchors_of(version.blob, text.data, site)
                if {anchor, fold(anchor)} & old and fillers <= text.fillers:
                    found[anchor] = version.path, version.until
                    self._beside[page, anchor] = old
                if found[anchor] or not tries[anchor]:
                    del tries[anchor]
            if not tries:
                break
        return found

    def removed_target(self, source: FilePath, link: Link) -> EarlierVersion | None:
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
    def _removed(self) -> Mapping[FilePath, LoggedCommit | None]:
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
            if stem(path) in FOLDER_PAGES:
                names.add(fold(path.rpartition("/")[0].rpartition("/")[2]))
            for name in names:
                by_name.setdefault(name, []).append(path)
        return by_name

    def _older(self, page: FilePath) -> Iterator[tuple[FileVersion, PageText]]:
        """Yield the earlier versions of a page, read in batches: each starts a process of Git."""
        versions = islice(self._versions.older(page), MAX_VERSIONS)
        repository = self._context.view.context.repository
        while self._read < MAX_READ and (batch := list(islice(versions, BATCH))):
            contents = repository.read_blobs([version.blob for version in batch])
            self._read += len(batch)
            for version in batch:
                yield version, PageText(contents[version.blob] or b"")

    def _anchors_of(self, blob: ObjectId, data: bytes, site: Site | None) -> frozenset[str]:
        if (blob, site) not in self._old_anchors:
            from ubp.markdown.document import read_head  # few checks compare with old versions
            from ubp.markdown.parse import parse_markdown
            from ubp.markdown.sites.detect import site_anchors

            page = parse_markdown(data, read_head(data, ()).body).anchors
            self._old_anchors[blob, site] = site_anchors(page, site)
        return self._old_anchors[blob, site]

    @cached_property
    def _versions(self) -> FileVersions:
        view = self._context.view
        committed, changes = view.file_versions(), view.snapshot.changes
        if not changes:
            return committed
        before = view.base_entries(changes)
        return committed.with_uncommitted(
            {path: (_blob(before[path]), _blob(after)) for path, after in changes.items()}
        )


def _blob(entry: Entry | None) -> ObjectId | None:
    return entry.id if entry and entry.is_file else None


def _differing_lines(text: bytes, other: bytes) -> bytes:
    """Return the lines of a text from the first that differs in another to the last, and beside."""
    start = common_length(text, other)
    end = len(text) - common_length(text[start:], other[start:], at_end=True)
    before = text.rfind(b"\n", 0, start)
    first = text.rfind(b"\n", 0, max(0, before)) + 1
    after = text.find(b"\n", end)
    last = text.find(b"\n", after + 1) if after >= 0 else -1
    return text[first : last if last >= 0 else len(text)]
