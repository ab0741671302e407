"""A page with what stands around it, as much as there is room for."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath, LinkType, ObjectId, Section
from ubp.core.text import Budget, summarize, truncate_page
from ubp.search.graph import DocumentRow, Graph
from ubp.search.traverse import Path, find_paths

HEADINGS = 20
# Related pages are read so many at a time, until the room is filled: most of them never are.
READ_AT_ONCE = 25
MAX_BRIEFS = 10_000  # 10 MB


class Center(NamedTuple):
    """The page that is asked about. `content` is its text without the front matter.

    Where the room did not suffice for all of its `full_size` characters, the sections from
    `sections[whole]` on are cut or missing.
    """

    document: DocumentRow
    content: str
    sections: tuple[Section, ...]
    full_size: int
    whole: int

    @property
    def is_cut(self) -> bool:
        """Whether a part of the page is missing."""
        return len(self.content) < self.full_size


class Related(NamedTuple):
    """A page near the center, in short; `hidden_headings` are those beyond the first ones."""

    document: DocumentRow
    way: Path
    summary: str
    headings: tuple[str, ...]
    hidden_headings: int


class _Brief(NamedTuple):
    summary: str
    headings: tuple[str, ...]
    hidden_headings: int


class Context(NamedTuple):
    """A page and those around it, the most important first.

    `size` is what is said of them in characters, `left_out` how many pages there was no room for.
    """

    center: Center
    related: tuple[Related, ...]
    size: int
    left_out: int


def read_context(
    graph: Graph,
    path: FilePath,
    depth: int,
    budget: Budget,
    link_types: Collection[LinkType] = (),
) -> Context:
    """Read a page and what stands within `depth` links of it.

    What matters least is left out first: the related pages from the last on (see `find_ways`),
    and only then the end of the page itself.

    Raises:
        KeyError: the path is no page.
    """
    center = _read_center(graph, path, budget)
    budget, size = budget.minus(center.content), len(center.content)
    ways = find_paths(graph, path, depth, link_types)
    related: list[Related] = []
    for one in _read_related(graph, ways):
        said = "\n".join(_said(one))
        if not budget.fits(said):
            break
        budget, size = budget.minus(said), size + len(said)
        related.append(one)
    return Context(center, tuple(related), size, len(ways) - len(related))


def _read_center(graph: Graph, path: FilePath, budget: Budget) -> Center:
    document = graph.document(path)
    if document is None:
        raise KeyError(path)
    sections = graph.sections(path)
    data = graph.text(path) or b""
    start = sections[0].byte_start if sections else 0
    text = _decoded(data[start : sections[-1].byte_end]) if sections else ""
    content = truncate_page(text, budget.fits)
    size = len(content)
    whole = bisect_right(sections, size, key=lambda one: len(_decoded(data[start : one.byte_end])))
    return Center(document, content, sections, len(text), whole)


def _read_related(graph: Graph, ways: Sequence[Path]) -> Iterator[Related]:
    for first in range(0, len(ways), READ_AT_ONCE):
        batch = ways[first : first + READ_AT_ONCE]
        documents = graph.documents_at([way.path for way in batch])
        briefs = _sum_up(graph, documents)
        for way in batch:
            if way.path in documents:
                yield Related(documents[way.path], way, *briefs[way.path])


def _sum_up(graph: Graph, documents: Mapping[FilePath, DocumentRow]) -> dict[FilePath, _Brief]:
    """Pages in short; remembered of those that are as they were committed."""
    known: dict[ObjectId, _Brief] = graph.remembered("briefs", dict)
    if len(known) > MAX_BRIEFS:
        known.clear()
    steady = {path: one.blob for path, one in documents.items() if not graph.is_changed(path)}
    new = [path for path in documents if steady.get(path) not in known]
    texts, sections = graph.texts(new), graph.sections_of(new)
    made = {path: _brief(sections[path], texts.get(path) or b"") for path in new}
    known |= {steady[path]: made[path] for path in new if path in steady and texts.get(path)}
    return {path: made[path] if path in made else known[steady[path]] for path in documents}


def _brief(sections: Sequence[Section], data: bytes) -> _Brief:
    texts = (_decoded(data[one.byte_start : one.byte_end]) for one in sections)
    summary = next(filter(None, map(summarize, texts)), "")
    headings = [one.heading for one in sections if one.heading]
    if len(headings) > HEADINGS:
        top = min(one.level for one in sections if one.heading)
        headings = [one.heading for one in sections if one.heading and one.level == top]
    total = sum(1 for one in sections if one.heading)
    shown = tuple(headings[:HEADINGS])
    return _Brief(summary, shown, total - len(shown))


def _said(one: Related) -> Iterator[str]:
    yield one.document.path
    yield one.document.title
    yield one.way.link.context
    yield one.summary
    yield from one.headings


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
