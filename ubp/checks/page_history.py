"""Earlier versions of a state's pages, and the files that it does not have any more."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice

from ubp.checks.context import RuleContext
from ubp.checks.known_pages import FOLDER_PAGES, KnownPages
from ubp.checks.page_text import PageText, letters_of
from ubp.core.model import FilePath, Link, ObjectId
from ubp.core.paths import PAGE_SUFFIXES
from ubp.core.text import fold
from ubp.git.file_versions import FileVersion, FileVersions, LoggedCommit, read_file_versions
from ubp.git.files import find_ignored
from ubp.markdown.resolve import PageNameForms, Targets, requested_names, resolve, stem
from ubp.markdown.sites.site import Site

# Of a page; reading one takes 0.2 ms in a batch, and parsing one that spells the heading 20 ms.
MAX_VERSIONS = 300
MAX_PARSED = 4
FIRST_BATCH = 8  # versions that are read at once; each batch after it is twice as large
# Of all pages together, 1 ms each; influxdata/docs-v2, with 5,179 pages, reads 700.
MAX_READ = 10_000
MAX_KEPT_BYTES = 64 * 1024 * 1024


class PageHistory:
    """What links and anchors led to in earlier versions, by the rules of today."""

    def __init__(self, context: RuleContext, pages: KnownPages) -> None:
        self._context = context
        self._pages = pages
        self._old_anchors: dict[tuple[ObjectId, Site | None], frozenset[str]] = {}
        self._old_texts: dict[FilePath, list[tuple[FileVersion, PageText]]] = {}
        self._read = 0
        self._kept = 0

    def earlier_version(
        self, target: FilePath, anchor: str
    ) -> tuple[FilePath, LoggedCommit] | None:
        """Return the newest version of a page that had an anchor, and what has no new filler."""
        site = self._context.graph.sites.of(target)
        letters, fillers = letters_of(anchor), self._pages.text(target).fillers
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

    def removed_target(self, source: FilePath, link: Link) -> tuple[FilePath, LoggedCommit] | None:
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
            if stem(path) in FOLDER_PAGES:
                names.add(fold(path.rpartition("/")[0].rpartition("/")[2]))
            for name in names:
                by_name.setdefault(name, []).append(path)
        return by_name

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

    @cached_property
    def _versions(self) -> FileVersions:
        view = self._context.view
        commit = view.snapshot.commit
        if commit is None:
            return FileVersions((), {})
        return view.of_commit(
            "file-versions", lambda: read_file_versions(view.context.repository, commit)
        )
