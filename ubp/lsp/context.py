"""What answers are made of: a view of what is on the screen, its texts, and their places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsprotocol import types

from ubp.checks.finding import Region
from ubp.checks.locations import locate_links
from ubp.core.errors import RepositoryError
from ubp.core.files import open_regular_file
from ubp.core.model import Assessment, FilePath, Link, Page
from ubp.git.files import regular_file
from ubp.git.snapshot import read_documents
from ubp.index.link_graph import GraphEdge
from ubp.index.view import View
from ubp.lsp.pages import Pages, read_pages
from ubp.lsp.text import Encoding, Place, Text
from ubp.markdown.front_matter import LINE_END
from ubp.markdown.source_text import SourceText
from ubp.search.graph import Graph, open_graph
from ubp.staleness.model import StalenessContext
from ubp.staleness.state import assess_paths, open_context
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Addresses:
    """The URIs of a repository's files; `opened` are those that the client uses for open ones.

    `root` is the repository's folder as the client spells it: it may lead there by a symlink.
    """

    root: str
    opened: Mapping[FilePath, str]

    def uri(self, path: FilePath) -> str:
        """Return the URI of a file."""
        return self.opened.get(path) or Path(self.root, path).as_uri()


@dataclass(frozen=True, slots=True)
class LocatedLink:
    """A link of a page, resolved; the ranges of the whole link and of its target's path."""

    edge: GraphEdge
    range: types.Range
    target_range: types.Range

    @property
    def link(self) -> Link:
        """The link as it is written."""
        return self.edge.link


class EditorContext:
    """A workspace with the snapshot on the screen, from which one request is answered.

    `shown` are the texts of the open files, `view` another view than that of the whole snapshot.
    """

    def __init__(
        self,
        workspace: Workspace,
        addresses: Addresses,
        encoding: Encoding,
        shown: Mapping[FilePath, str],
        view: View | None = None,
    ) -> None:
        self.shown = shown
        self.workspace = workspace
        self.session = workspace.session
        self.addresses = addresses
        self.encoding = encoding
        self.view: View = view or self.session.view()

    @cached_property
    def graph(self) -> Graph:
        """The links on the screen."""
        return open_graph(self.view)

    @cached_property
    def staleness(self) -> StalenessContext:
        """What verdicts depend on."""
        return open_context(self.session, self.view)

    def page(self, path: FilePath) -> Page | None:
        """Return a document, None for another file."""
        return self.view.pages_at([path]).get(path)

    @property
    def pages(self) -> Pages:
        """All documents, and what they are looked up by."""
        return self.view.derived("editor pages", lambda: read_pages(self.session, self.view))

    def assess(self, paths: Sequence[FilePath]) -> Mapping[FilePath, Assessment]:
        """Return the assessments of these pages."""
        return assess_paths(self.session, self.view, paths)

    def data(self, path: FilePath) -> bytes:
        """Return the bytes of a file as Git stores them; of none, or of a hidden one, nothing."""
        entry = None if self.session.is_hidden(path) else self.view.entry(path)
        if entry is None or not entry.is_file:
            return b""
        read = read_documents(self.session.repository, self.view.snapshot, {path: entry})
        return read[path] or b""

    def text(self, path: FilePath) -> Text:
        """Return the text of a file, with the lines and columns that facts refer to."""
        return self.view.derived(
            f"text {path}", lambda: Text(SourceText(self.data(path)).text, self.encoding)
        )

    def links(self, path: FilePath) -> tuple[LocatedLink, ...]:
        """Return the links of a document in order."""
        return self.view.derived(f"links {path}", lambda: self._locate_links(path))

    def _locate_links(self, path: FilePath) -> tuple[LocatedLink, ...]:
        edges = self.graph.outlinks(path)
        regions = locate_links(self.data(path), {edge.link for edge in edges}) if edges else {}
        return tuple(
            LocatedLink(edge, *(self.range(path, region) for region in regions[edge.link]))
            for edge in edges
        )

    def range(self, path: FilePath, region: Region) -> types.Range:
        """Return a region of a file as a range."""
        text = self.text(path)
        return types.Range(
            position(text.place_at(region.line - 1, region.column - 1)),
            position(text.place_at(region.end_line - 1, region.end_column - 1)),
        )

    def line_range(self, path: FilePath, line: int, shown: str = "") -> types.Range:
        """Return the range of a text in a line (from 1), or of the line without its margins."""
        text = self.text(path)
        written = text.line(line - 1)
        start = written.find(shown) if shown else -1
        if start < 0:
            start, shown = len(written) - len(written.lstrip()), written.strip()
        return types.Range(
            position(text.place_at(line - 1, start)),
            position(text.place_at(line - 1, start + len(shown))),
        )

    def location(self, path: FilePath, line: int = 1) -> types.Location:
        """Return the beginning of a line (from 1) of a file."""
        start = types.Position(line - 1, 0)
        return types.Location(self.addresses.uri(path), types.Range(start, start))

    def edits(self, path: FilePath, after: bytes) -> list[types.TextEdit]:
        """Return the edit that makes the text of a file on the screen that of these bytes."""
        before = self.text(path)
        old, new = before.text, SourceText(after).text
        if old == new:
            return []
        start = _common_length(old, new)
        end = _common_length(old[start:][::-1], new[start:][::-1])
        span = types.Range(position(before.place(start)), position(before.place(len(old) - end)))
        return [types.TextEdit(span, self.with_line_ends(path, new[start : len(new) - end]))]

    def byte_range(self, path: FilePath, start: int, end: int) -> types.Range:
        """Return the range of some bytes of a document, as Git stores them."""
        data, text = self.data(path), self.text(path)
        first, last = (len(SourceText(data[:offset]).text) for offset in (start, end))
        return types.Range(position(text.place(first)), position(text.place(last)))

    def with_line_ends(self, path: FilePath, text: str) -> str:
        """Return a text with the line ends that a file has in the editor, or on the disk."""
        shown = self.shown.get(path)
        if shown is None:
            try:
                path_on_disk = regular_file(self.session.repository, path)
                with open_regular_file(path_on_disk) as file:
                    shown = file.readline().decode("utf-8", "replace")
            except (RepositoryError, OSError):
                shown = ""
        line_end = LINE_END.search(shown)
        return text.replace("\n", line_end[0]) if line_end else text


def position(place: Place) -> types.Position:
    """Return a place as the protocol has it."""
    return types.Position(place.line, place.character)


def place(found: types.Position) -> Place:
    """Return a position as a place."""
    return Place(found.line, found.character)


def contains(span: types.Range, found: types.Position) -> bool:
    """Return whether a position is in a range, or at its end."""
    return span.start <= found <= span.end


def _common_length(first: str, second: str) -> int:
    """Return how many letters two texts have in common at the beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    shorter = min(len(first), len(second))
    return next((index for index, (left, right) in pairs if left != right), shorter)
