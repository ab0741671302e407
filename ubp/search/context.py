"""A document and those around it, as many as the budget allows."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath, LinkType, ObjectId, Section
from ubp.core.policy import excerpt
from ubp.core.text import Budget, summarize, truncate_page
from ubp.search.graph import DocumentRow, Graph
from ubp.search.traverse import Path, find_paths

MAX_HEADINGS = 20
# Related documents are read in batches until the budget is used up: most are never read.
BATCH_SIZE = 25
MAX_BRIEFS = 10_000  # 10 MB


class Center(NamedTuple):
    """The requested document. `content` is its text without the front matter.

    `full_size` counts the characters of the whole text. The first `whole_sections` of `sections`
    are complete; the others are cut or missing.
    """

    document: DocumentRow
    content: str
    sections: tuple[Section, ...]
    full_size: int
    whole_sections: int

    @property
    def is_cut(self) -> bool:
        """Whether a part of the document is missing."""
        return len(self.content) < self.full_size


class Related(NamedTuple):
    """A summary of a document near the center; `hidden_headings` counts those beyond the limit."""

    document: DocumentRow
    link_path: Path
    summary: str
    headings: tuple[str, ...]
    hidden_headings: int


class Context(NamedTuple):
    """A document and those around it, most important first.

    `size` is the number of characters of both, `left_out` the number of related documents beyond
    the budget.
    """

    center: Center
    related: tuple[Related, ...]
    size: int
    left_out: int


class _Brief(NamedTuple):
    summary: str
    headings: tuple[str, ...]
    hidden_headings: int


def read_context(
    graph: Graph,
    path: FilePath,
    depth: int,
    budget: Budget,
    link_types: Collection[LinkType] = (),
) -> Context:
    """Read a document and the related ones within `depth` links of it.

    The least important parts are left out first: related documents from the last on (see
    `find_paths`), then the end of the document itself. Its headings take at most half of it.

    Raises:
        KeyError: there is no document at the path.
    """
    center, budget = _read_center(graph, path, budget)
    size = len(center.content)
    paths = find_paths(graph, path, depth, link_types)
    selected: list[Related] = []
    for related in _read_related(graph, paths):
        text = "\n".join(
            [
                related.document.path,
                related.document.title,
                related.link_path.link.context,
                related.summary,
                *related.headings,
            ]
        )
        if not budget.fits(text):
            break
        budget, size = budget.minus(text), size + len(text)
        selected.append(related)
    return Context(center, tuple(selected), size, len(paths) - len(selected))


def cut_context(context: Context, policy: str) -> Context:
    """Return a context with as much of its document as the policy of its collection allows."""
    content = excerpt(context.center.content, policy)
    if content == context.center.content:
        return context
    center = context.center._replace(content=content, whole_sections=0)
    size = context.size - len(context.center.content) + len(content)
    return context._replace(center=center, size=size)


def _read_center(graph: Graph, path: FilePath, budget: Budget) -> tuple[Center, Budget]:
    """Read the document, and return the budget that is left after it and its headings, too."""
    document = graph.document(path)
    if document is None:
        raise KeyError(path)
    sections = graph.sections(path)
    data = graph.text(path) or b""
    start = sections[0].byte_start if sections else 0
    text = _decode(data[start : sections[-1].byte_end]) if sections else ""
    outline = [f"{section.heading} {section.line_start}-{section.line_end}" for section in sections]
    listed = _count_fitting(outline, budget.half())
    budget = budget.minus("\n".join(outline[:listed]))
    content = truncate_page(text, budget.fits)
    whole_sections = bisect_right(
        sections, len(content), key=lambda section: len(_decode(data[start : section.byte_end]))
    )
    center = Center(document, content, sections[:listed], len(text), whole_sections)
    return center, budget.minus(content)


def _count_fitting(lines: Sequence[str], budget: Budget) -> int:
    """Return how many of the lines fit into the budget, together."""

    def is_too_long(count: int) -> bool:
        return not budget.fits("\n".join(lines[:count]))

    return bisect_left(range(1, len(lines) + 1), True, key=is_too_long)  # noqa: FBT003


def _read_related(graph: Graph, paths: Sequence[Path]) -> Iterator[Related]:
    for first in range(0, len(paths), BATCH_SIZE):
        batch = paths[first : first + BATCH_SIZE]
        documents = graph.documents_at([path.filepath for path in batch])
        briefs = _summarize(graph, documents)
        for path in batch:
            if path.filepath in documents:
                yield Related(documents[path.filepath], path, *briefs[path.filepath])


def _summarize(graph: Graph, documents: Mapping[FilePath, DocumentRow]) -> dict[FilePath, _Brief]:
    """Summarize documents; the results for committed ones are cached by blob."""
    cache: dict[ObjectId, _Brief] = graph.cached("briefs", dict)
    if len(cache) > MAX_BRIEFS:
        cache.clear()
    blobs = {
        path: document.blob for path, document in documents.items() if not graph.is_changed(path)
    }
    new = [path for path in documents if blobs.get(path) not in cache]
    texts, sections = graph.texts(new), graph.sections_of(new)
    briefs = {path: _brief(sections[path], texts.get(path) or b"") for path in new}
    cache |= {blobs[path]: briefs[path] for path in new if path in blobs and texts.get(path)}
    return {path: briefs[path] if path in briefs else cache[blobs[path]] for path in documents}


def _brief(sections: Sequence[Section], data: bytes) -> _Brief:
    texts = (_decode(data[section.byte_start : section.byte_end]) for section in sections)
    summary = next(filter(None, map(summarize, texts)), "")
    headings = [(section.level, section.heading) for section in sections if section.heading]
    top = min((level for level, _ in headings), default=0)
    is_long = len(headings) > MAX_HEADINGS
    shown = [heading for level, heading in headings if level == top or not is_long][:MAX_HEADINGS]
    return _Brief(summary, tuple(shown), len(headings) - len(shown))


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
