"""Evidence that a link is broken, and not only beyond the rules that UBP knows.

Each site has its own ways: components, shortcodes, includes, plug-ins and hooks make pages and
anchors of which the files say nothing. So a link that leads nowhere by UBP's rules is a finding
only where something shows that it is broken:

- its target existed by the same rules in an earlier version, and nothing has taken its place;
- a page of the same name, in another version or language, has the heading;
- it differs from an existing name by a slip of the fingers;
- it names a file by its path, as every generator and GitHub read it, in a folder that exists;
- nothing else in the page or in the repository's code spells the heading.
"""

import posixpath
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ubp.checks.context import RuleContext
from ubp.checks.finding import WIKILINKS, Finding, LinkFix
from ubp.core.model import FilePath, Link, ObjectId
from ubp.core.paths import PAGE_SUFFIXES, nfc, normalize_path
from ubp.core.text import fold
from ubp.git.file_versions import FileVersions, LoggedCommit, read_file_versions
from ubp.markdown.resolve import (
    FILE_SUFFIX,
    PageNameForms,
    Targets,
    requested_names,
    resolve,
    stem,
)
from ubp.markdown.sites.site import Site, locate

LINK, ANCHOR = "broken-link", "missing-anchor"
# Of a page; reading one takes 0.2 ms, and parsing one that spells the heading 20 ms.
MAX_VERSIONS = 300
MAX_PARSED = 4
MAX_CODE_BYTES = 500_000
LAST_DATE = 253_402_300_799  # 9999-12-31; a commit may have any
# Generators that resolve relative paths of images as those of pages.
RESOLVES_IMAGES = frozenset({"mkdocs", "vitepress", "docusaurus", "mdbook", "sphinx", "github"})
# Folders of what other pages include; its links begin in those.
_PIECES = re.compile(
    r"(?:^|/)(?:_[^/]*|includes?|partials?|snippets?|shared|reusables|fragments)/", re.IGNORECASE
)
_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|rb|php|go|rs|java|kt|swift|cs|c|cc|cpp|h|html?|njk|liquid"
    r"|hbs|erb|j2|jinja2?|ya?ml|json5?|toml|cue|csv|xml|proto|graphqls?)$",
    re.IGNORECASE,
)
# What may spell a heading: headings, ids, names, comments, and quoted texts of components.
_SPELLED = re.compile(
    r"^[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*#{1,6}[ \t]*(?P<heading>.+)$"
    r"|^(?P<underlined>.+)\n[=-]{3,}[ \t]*$|<h[1-6][^>]*>(?P<html>.*?)</h"
    r"|[{\[][ \t]*:?[ \t]*#(?P<id>[\w.:-]+)|^[ \t]*===[!+]?[ \t]+\"(?P<tab>.+)\""
    r"|\b(?:id|name|title|label|value|slug)[ \t]*[=:][ \t]*[{(]*"
    r"(?P<quote>[\"'`])(?P<quoted>.+?)(?P=quote)"
    r"|\b(?:id|name)[ \t]*=[ \t]*(?P<bare>[^\s\"'`>{}]+)|<!--(?P<comment>[^<>]*)-->",
    re.MULTILINE,
)
_DYNAMIC = re.compile(r"[{}<>\[&]")
# What fills a page from elsewhere: shortcodes, tags of templates, directives, layouts, pieces.
_FILLERS = re.compile(
    r"\{\{[<%]?[-\s]*(?P<short>[\w./]+)|\{%[-\s]*(?P<tag>\w+)"
    r"|^[ \t]*:::+[ \t]*\{?(?P<module>[\w.-]+)|^layout:[ \t]*(?P<layout>\S+)"
    r"|(?P<snippet>--8<--|\{!|@include|!!!include)"
    r"|^[ \t]*`{3,}\{(?P<directive>[\w:-]+)\}|^\.\.[ \t]+(?P<rst>[\w:-]+)::",
    re.MULTILINE,
)
_COMPONENT = re.compile(r"<[A-Z][\w.]*|^(?:<script|import[ \t])", re.MULTILINE)
_HARMLESS = frozenset(
    {"tip", "note", "info", "warning", "danger", "caution", "details", "important"}
)


class Evidence:
    """What shows that the links of a state are broken."""

    def __init__(self, context: RuleContext) -> None:
        self._context = context
        self._old_anchors: dict[tuple[ObjectId, Site | None], frozenset[str]] = {}
        self._texts: dict[FilePath, str] = {}

    def of(self, finding: Finding) -> str | None:
        """Return what shows that a finding is right, in a sentence; None where nothing does.

        The sentence is empty where the finding's own message and hint say it.
        """
        link = finding.about
        if not isinstance(link, Link):
            return ""
        site = self._context.graph.sites.of(finding.filepath)
        if site is not None and _PIECES.search(finding.filepath):  # its links begin elsewhere
            return None
        if finding.rule == ANCHOR:
            return self._of_anchor(finding, link)
        return self._of_link(finding, link)

    # Links to pages and files

    def _of_link(self, finding: Finding, link: Link) -> str | None:
        if link.kind in WIKILINKS:
            return ""
        site = self._context.graph.sites.of(finding.filepath)
        is_named = self._names_file(finding, link, site)
        if finding.related and not finding.fix and "letter" in finding.message:
            return "" if is_named else None
        if removed := self._removed_target(finding.filepath, link):
            path, commit = removed
            return f"{path} existed until {_written(commit)}."
        if isinstance(finding.fix, LinkFix) and finding.fix.target not in {None, finding.related}:
            return ""
        return "" if is_named else None

    def _names_file(self, finding: Finding, link: Link, site: Site | None) -> bool:
        """Whether a link is the path of a file in a folder that exists."""
        target = link.target
        path = normalize_path(f"{finding.filepath.rpartition('/')[0]}/{target}".lstrip("/"))
        is_page = target.lower().endswith(PAGE_SUFFIXES)
        if path is None or target.startswith(("/", "@", "~")):
            return False
        if not is_page and not FILE_SUFFIX.search(target):
            return False
        if site is not None:
            if not is_page and site.style.name not in RESOLVES_IMAGES:
                return False
            if leaves(site, finding.filepath, link):  # a build may have copied the page
                return False
        folder = FilePath(path.rpartition("/")[0])
        readme = FilePath(f"{folder}/README.md".lstrip("/"))
        if site is not None and stem(path) == "index" and self._context.view.entry(readme):
            return False  # mdBook makes it of README.md
        entry = self._context.view.entry(folder) if folder else None
        return not folder or (entry is not None and entry.is_directory)

    def _removed_target(self, source: FilePath, link: Link) -> tuple[FilePath, LoggedCommit] | None:
        """Return the file of an earlier version to which a link leads by the same rules."""
        names = requested_names(link)
        found = {path for name in names for path in self._removed_by_name.get(name, ())}
        for path in sorted(found):
            targets = Targets(sites=self._context.graph.sites)
            is_page = path.lower().endswith(PAGE_SUFFIXES)
            targets.add_page(PageNameForms(path, None, ())) if is_page else targets.add_file(path)
            resolution = resolve(source, link._replace(anchor=None), targets)
            if resolution.bucket != "missing" and (not is_page or resolution.target == path):
                return path, self._removed[path]
        return None

    @cached_property
    def _removed(self) -> Mapping[FilePath, LoggedCommit]:
        removed = self._versions.removed()
        present = self._context.view.entries(list(removed))
        return {path: commit for path, commit in removed.items() if present[path] is None}

    @cached_property
    def _removed_by_name(self) -> Mapping[str, list[FilePath]]:
        by_name: dict[str, list[FilePath]] = {}
        for path in self._removed:
            names = {stem(path)}
            if stem(path) in {"index", "_index", "readme"}:
                names.add(fold(path.rpartition("/")[0].rpartition("/")[2]))
            for name in names:
                by_name.setdefault(name, []).append(path)
        return by_name

    # Links to headings

    def _of_anchor(self, finding: Finding, link: Link) -> str | None:
        target, anchor = finding.related, link.anchor or ""
        letters = _letters(anchor)
        site = self._context.graph.sites.of(target) if target else None
        # MyST resolves it among all labels and objects of a site
        is_label = site is not None and site.style.name == "sphinx" and not link.target
        text = self._text(target) if target else ""
        if target is None or not letters or is_label or self._spells(text, letters):
            return None
        if _is_slip(finding, letters):
            return ""
        fillers = _fillers(text)
        if (version := self._earlier_version(target, anchor, letters, fillers)) is not None:
            path, commit = version
            was = "it" if path == target else path
            return f"Until {_written(commit)} {was} had this heading."
        if (sibling := self._sibling(target, anchor, fillers)) is not None:
            return f"{sibling} has this heading."
        is_filled = fillers or _COMPONENT.search(text)
        return None if is_filled or letters in self._spelled_in_code else ""

    def _spells(self, text: str, letters: str) -> bool:
        """Whether something in a page may make an anchor of these letters by another rule."""
        for match in _SPELLED.finditer(text):
            for written in match.groups():
                if not written:
                    continue
                found = _letters(written)
                if letters in {found, found.lstrip("0123456789")}:
                    return True
                if letters in found and (_DYNAMIC.search(written) or match["comment"]):
                    return True
        return False

    def _earlier_version(
        self, target: FilePath, anchor: str, letters: str, fillers: frozenset[str]
    ) -> tuple[FilePath, LoggedCommit] | None:
        """Return the newest version of a page that had an anchor, and what has no new filler."""
        site = self._context.graph.sites.of(target)
        parsed = 0
        for number, version in enumerate(self._versions.older(target)):
            if number >= MAX_VERSIONS or parsed >= MAX_PARSED:
                break
            data = self._context.view.context.repository.read_blobs([version.blob])[version.blob]
            text = (data or b"").decode("utf-8", "replace")
            if data is None or not self._spells(text, letters):
                continue
            parsed += 1
            anchors = self._anchors_of(version.blob, data, site)
            if {anchor, fold(anchor)} & anchors and fillers <= _fillers(text):
                return version.path, version.until
        return None

    def _anchors_of(self, blob: ObjectId, data: bytes, site: Site | None) -> frozenset[str]:
        if (blob, site) not in self._old_anchors:
            from ubp.markdown.document import read_head  # few checks compare with old versions
            from ubp.markdown.parse import parse_markdown
            from ubp.markdown.sites.detect import site_anchors

            page = parse_markdown(data, read_head(data, ()).body).anchors
            self._old_anchors[blob, site] = site_anchors(page, site)
        return self._old_anchors[blob, site]

    def _sibling(self, target: FilePath, anchor: str, fillers: frozenset[str]) -> FilePath | None:
        """Return a page of the same name that has an anchor, and all that fills the other page."""
        site = self._context.graph.sites.of(target)
        for path in self._pages_by_name.get(_page_name(target), ()):
            if path == target or self._context.graph.sites.of(path) != site:
                continue
            if anchor in self._context.graph.anchors(path) and fillers <= _fillers(
                self._text(path)
            ):
                return path
        return None

    @cached_property
    def _pages_by_name(self) -> Mapping[str, list[FilePath]]:
        pages: dict[str, list[FilePath]] = {}
        for path in self._context.view.document_paths():
            pages.setdefault(_page_name(path), []).append(path)
        return pages

    def _text(self, path: FilePath) -> str:
        if path not in self._texts:
            data = self._context.graph.text(path) or b""
            self._texts[path] = data.decode("utf-8", "replace")
        return self._texts[path]

    @cached_property
    def _spelled_in_code(self) -> "_Spelled":
        return _Spelled(self._context)

    @cached_property
    def _versions(self) -> FileVersions:
        view = self._context.view
        commit = view.snapshot.commit
        if commit is None:
            return FileVersions((), {})
        return view.of_commit(
            "file-versions", lambda: read_file_versions(view.context.repository, commit)
        )


class _Spelled:
    """The letters of names and texts in the repository's code and data, all read once."""

    def __init__(self, context: RuleContext) -> None:
        view = context.view
        documents = frozenset(view.document_paths())
        paths = [
            path
            for path, entry in view.files()
            if entry.is_file and path not in documents and _CODE.search(path)
        ]
        self._files = [_squash(data) for data in _read(context, paths)]

    def __contains__(self, letters: str) -> bool:
        wanted = letters.encode("utf-8", "surrogateescape")
        whole = re.compile(
            rb"(?<![a-z0-9\x80-\xff])" + re.escape(wanted) + rb"(?![a-z0-9\x80-\xff])"
        )
        return any(wanted in data and whole.search(data) for data in self._files)


def _read(context: RuleContext, paths: Iterable[FilePath]) -> Iterator[bytes]:
    from ubp.git.snapshot import read_documents  # few checks read code

    view = context.view
    entries = {path: entry for path, entry in view.entries(list(paths)).items() if entry}
    for data in read_documents(view.context.repository, view.snapshot, entries).values():
        if data is not None and len(data) <= MAX_CODE_BYTES:
            yield data


def _squash(data: bytes) -> bytes:
    """Return a text in lower case without what slugs make hyphens of."""
    return data.lower().translate(None, b" \t-_*`~")


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


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(nfc(text)))


def _is_slip(finding: Finding, letters: str) -> bool:
    """Whether the fix of a finding changes letters, and no words: signs may be the generator's."""
    if not isinstance(finding.fix, LinkFix):
        return False
    meant = finding.fix.target.partition("#")[2]
    other = _letters(meant)
    return other != letters and meant.count("-") == (
        finding.about.anchor or "" if isinstance(finding.about, Link) else ""
    ).count("-")


def _fillers(text: str) -> frozenset[str]:
    """Return the names of what fills a page from elsewhere when the site is built."""
    found = {
        f"{match.lastgroup} {match[match.lastgroup or 0]}" for match in _FILLERS.finditer(text)
    }
    return frozenset(name for name in found if name.partition(" ")[2] not in _HARMLESS)


def _page_name(path: FilePath) -> str:
    """Return the name of a page, of a folder's page with its folder."""
    name = stem(path)
    name = re.sub(r"\.[a-z]{2}(?:[-_][a-z]{2,4})?$", "", name)
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return f"{folder}/{name}" if name in {"index", "_index", "readme", "page"} else name


def _written(commit: LoggedCommit) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime(min(commit.date, LAST_DATE)))
    return f"{commit.id[:8]} ({day})"
