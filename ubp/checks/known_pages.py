"""The pages of a state as evidence about their headings needs them, each read once."""

import posixpath
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from itertools import islice

from ubp.checks.code_text import read_files
from ubp.checks.context import RuleContext
from ubp.checks.page_text import LAYOUT, PageText, letters_of, squash
from ubp.core.interruption import batches
from ubp.core.model import MODE_SYMLINK, FilePath
from ubp.core.paths import PAGE_SUFFIXES, normalize_path
from ubp.markdown.resolve import stem
from ubp.markdown.sites.anchors import TERM

# Other pages that have a heading's letters, all read: a word in more is too common.
MAX_ALIKE = 100
PAGES_READ = 200  # at once
# Generators whose pages are their files, and not what a layout makes of their front matter.
SHOWS_FILES = frozenset({"mkdocs", "vitepress", "docusaurus", "mdbook", "sphinx", "starlight"})
# Those that make nothing of `layout:` in front matter.
HAS_NO_LAYOUTS = frozenset({"mkdocs", "docusaurus", "mdbook", "sphinx"})
MAX_NAMED = 50  # files that a page names
FOLDER_PAGES = frozenset({"index", "_index", "readme"})


class KnownPages:
    """The texts of pages, the pages and files of each name, and what pages include and name."""

    def __init__(self, context: RuleContext) -> None:
        self._context = context
        self._texts: dict[FilePath, PageText] = {}
        self._named: dict[FilePath, tuple[PageText, ...]] = {}
        self._included_in: dict[FilePath, tuple[PageText, ...] | None] = {}
        self._headings_of: dict[FilePath, dict[str, str]] = {}

    def text(self, path: FilePath) -> PageText:
        """Return the text of a page, empty where it cannot be read."""
        if path not in self._texts:
            data = self._context.graph.text(path) or b""
            self._texts[path] = PageText(data)
        return self._texts[path]

    def headings(self, page: FilePath) -> dict[str, str]:
        """Return the headings of a page, of all levels, by their letters."""
        if page not in self._headings_of:
            self._headings_of[page] = {
                letters_of(heading.text): heading.text
                for heading in self._context.graph.headings(page)
                if heading.level != TERM
            }
        return self._headings_of[page]

    def titles(self, page: FilePath) -> frozenset[str]:
        """Return the letters of a page's title, and of its other headings of the first level."""
        return frozenset(
            letters_of(section.heading_path[0])
            for section in self._context.graph.sections(page)
            if section.level <= 1 and section.heading_path
        )

    def has_own_text(self, page: FilePath) -> bool:
        """Return whether what a page shows is its text: sentences, and no tag or component."""
        site, text = self._context.graph.sites.of(page), self.text(page)
        shows_file = site is None or site.style.name in SHOWS_FILES
        is_filled = text.has_component or self.fillers(page)
        return shows_file and not is_filled and text.has_sentences

    def fillers(self, page: FilePath) -> frozenset[str]:
        """Return the names of what fills a page from elsewhere when its site is built."""
        site, fillers = self._context.graph.sites.of(page), self.text(page).fillers
        if site is None or site.style.name not in HAS_NO_LAYOUTS:
            return fillers
        return frozenset(name for name in fillers if not name.startswith(LAYOUT))

    def sibling(self, target: FilePath, anchor: str) -> FilePath | None:
        """Return a page of the same name that has an anchor, and all that fills the other page."""
        site = self._context.graph.sites.of(target)
        fillers = self.fillers(target)
        for path in self._pages_by_name.get(_page_name(target), ()):
            if path == target or self._context.graph.sites.of(path) != site:
                continue
            if anchor in self._context.graph.anchors(path) and fillers <= self.fillers(path):
                return path
        return None

    def is_translated(self, page: FilePath, linked: Collection[str | None]) -> bool:
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

    @cached_property
    def _pages_by_name(self) -> Mapping[str, list[FilePath]]:
        pages: dict[str, list[FilePath]] = {}
        for path in self._context.view.document_paths():
            pages.setdefault(_page_name(path), []).append(path)
        return pages

    @cached_property
    def _squashed_pages(self) -> Mapping[FilePath, bytes]:
        view = self._context.view
        return {
            path: squash(data)
            for paths in batches(view.document_paths(), PAGES_READ)
            for path, data in view.read(paths).items()
            if data
        }

    def is_spelled_elsewhere(self, page: FilePath, letters: str) -> bool:
        """Return whether another page may spell a heading, which a component may show."""
        wanted = letters.encode()
        paths = [path for path, data in self._squashed_pages.items() if wanted in data]
        return (
            not letters.isascii()
            or len(paths) > MAX_ALIKE
            or any(path != page and self.text(path).spells(letters) for path in paths)
        )

    def named_files(self, page: FilePath) -> tuple[PageText, ...]:
        """Return the texts of the files that a page names otherwise than by a link."""
        if page not in self._named:
            site = self._context.graph.sites.of(page)
            folders = ["", page.rpartition("/")[0]]
            folders += [site.folder, *(root.folder for root in site.roots)] if site else []
            names = islice(dict.fromkeys(self.text(page).named_files()), MAX_NAMED)
            paths = {
                path
                for name in names
                for folder in folders
                if (path := normalize_path(f"{folder}/{name.lstrip('/')}".lstrip("/")))
            }
            texts = read_files(self._context, paths - {page})
            self._named[page] = tuple(PageText(data) for _, data in texts)
        return self._named[page]

    def included(self, page: FilePath) -> tuple[PageText, ...] | None:
        """Return the texts that a page includes; None where one is not known."""
        if page not in self._included_in:
            names = self.text(page).included
            found = names and [self._paths_ending_with(name) for name in names]
            paths = {path for paths in found or () for path in paths}
            texts = tuple(PageText(data) for _, data in read_files(self._context, paths))
            is_known = found and all(found) and not any(text.fillers for text in texts)
            self._included_in[page] = texts if is_known else None
        return self._included_in[page]

    def _paths_ending_with(self, name: str) -> list[FilePath]:
        """Return the files with a path that ends so: those of folders that a setting may name."""
        name = re.sub(r"^(?:\.\./|/)+", "", posixpath.normpath(name))
        paths = self.paths_by_name.get(name.rpartition("/")[2], ())
        return [path for path in paths if f"/{path}".endswith(f"/{name}")]

    @cached_property
    def symbolic_links(self) -> Mapping[FilePath, list[FilePath]]:
        """The symbolic links to each page."""
        view = self._context.view
        links = {
            path: entry.id
            for path, entry in view.files()
            if entry.mode == MODE_SYMLINK and path.lower().endswith(PAGE_SUFFIXES)
        }
        contents = view.context.repository.read_blobs(links.values()) if links else {}
        found: dict[FilePath, list[FilePath]] = {}
        for path, blob in links.items():
            written = (contents[blob] or b"").decode("utf-8", "replace")
            target = normalize_path(f"{path.rpartition('/')[0]}/{written}".lstrip("/"))
            if target:
                found.setdefault(target, []).append(path)
        return found

    @cached_property
    def paths_by_name(self) -> Mapping[str, list[FilePath]]:
        """The files of each name."""
        paths: dict[str, list[FilePath]] = {}
        for path, entry in self._context.view.files():
            if entry.is_file:
                paths.setdefault(path.rpartition("/")[2], []).append(path)
        return paths


def _page_name(path: FilePath) -> str:
    """Return the name of a page, of a folder's page with its folder."""
    name = stem(path)
    name = re.sub(r"\.[a-z]{2}(?:[-_][a-z]{2,4})?$", "", name)
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return f"{folder}/{name}" if name in {*FOLDER_PAGES, "page"} else name
