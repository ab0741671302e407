"""`ubp get-graph` and `ubp_get_graph`: pages and the links between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.pages.folders import FolderRecord, folder_lines, folder_records
from ubp.core.model import QUIET_LEVELS, FilePath, Level, LinkType
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import LinkTypes, MaxTokens, Ref, between
from ubp.frame.fields import REVISION, Count, DocId, DocType, Option, PageLevel, PagePath, Title
from ubp.frame.wording import count, printable
from ubp.frame.writer import Writer
from ubp.index.select import select_page
from ubp.index.session import Session, Target
from ubp.search.graph import open_graph
from ubp.search.results import summarize_pages
from ubp.search.traverse import MAX_USEFUL_DEPTH, PageGraph, neighborhood
from ubp.staleness.state import assess_paths

MAX_DEPTH, MAX_LIMIT = 5, 5_000
# A page with its links takes about 46 tokens (500 pages of 1,885: 23,000).
LIMIT, PEOPLES_LIMIT = 60, 500

# Mermaid reads HTML, entities of its own and Markdown in labels; a quotation mark ends them.
_MERMAID = {ord(character): f"#{ord(character)};" for character in "#&\"'`<>\\[](){}|"}
_COLORS: Mapping[Level, str] = {"stale": "red", "possibly_stale": "orange"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A page of the link graph."""

    id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    depth: Annotated[
        Count | None, "distance from the center in links; null if there is no center"
    ] = None
    staleness: PageLevel
    outgoing_link_count: Annotated[
        Count, "number of links to other pages, including pages not shown"
    ]
    incoming_link_count: Annotated[
        Count, "number of links from other pages, including pages not shown"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRecord:
    """Links of one type from a page to another."""

    source: Annotated[DocId, "id of the linking page"]
    target: Annotated[DocId, "id of the target page"]
    type: Annotated[LinkType, "type of the link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRecord:
    """Pages and the links between them."""

    center: Annotated[
        DocId | None, "doc_id of the center page; null if all pages are requested"
    ] = None
    nodes: Annotated[tuple[NodeRecord, ...], "pages, sorted by path"]
    edges: Annotated[tuple[EdgeRecord, ...], "each source, target and type once"]
    total_nodes: Annotated[Count, "number of pages"]
    truncated_count: Annotated[
        Count, "number of pages omitted: the farthest first, then those with the fewest links"
    ]
    folders: Annotated[
        tuple[FolderRecord, ...], "the folders of all pages of the graph, if some are omitted"
    ] = ()


@dataclass(frozen=True, slots=True)
class GraphRequest(Request[GraphRecord]):
    """Which pages and links to return: those around a page, or all.

    Of more than `limit` pages the nearest are kept, and of these those with the most links.
    """

    center: (
        Annotated[
            str,
            "filepath or doc_id; default: all, most linked first",
            Option(
                "Show the pages around this one: path, unique path suffix, or `doc_id`.",
                metavar="PAGE",
            ),
        ]
        | None
    ) = None
    depth: Annotated[
        int,
        *between(1, MAX_DEPTH),
        "hops from center",
        Option(
            "With --center: show pages up to this many links away, 1 to 5 (2).",
            metavar="N",
            why=MAX_USEFUL_DEPTH,
        ),
    ] = 2
    link_types: Annotated[
        LinkTypes,
        Option("Follow only links of this type; repeatable.", metavar="TYPE", name="--link-type"),
    ] = ()
    limit: Annotated[
        int,
        *between(1, MAX_LIMIT),
        Option(
            "Maximum number of pages (500): the nearest, or those with the most links.",
            metavar="N",
            default=PEOPLES_LIMIT,
        ),
    ] = LIMIT
    max_tokens: MaxTokens | None = None
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: GraphRequest) -> GraphRecord:
    """Return the graph around a page, or of all pages.

    Raises:
        PageNotFoundError: there is no such page, or more than one.
    """
    graph = read_graph(session, request)
    near = graph.near
    ids = {document.path: document.doc_id for document in near.documents}
    return GraphRecord(
        center=None if near.center is None else ids[near.center],
        nodes=tuple(
            NodeRecord(
                id=document.doc_id,
                filepath=document.path,
                title=document.title,
                doc_type=document.doc_type,
                depth=near.hops[document.path] if near.hops else None,
                staleness=graph.assessments[document.path].level,
                outgoing_link_count=near.counts[document.path][0],
                incoming_link_count=near.counts[document.path][1],
            )
            for document in near.documents
        ),
        edges=tuple(
            EdgeRecord(source=ids[edge.source], target=ids[edge.target], type=edge.link_type)
            for edge in near.edges
        ),
        total_nodes=near.total,
        truncated_count=near.left_out,
        folders=folder_records(near.paths) if near.left_out else (),
    )


def read_graph(
    session: Session, request: GraphRequest, *, include_summaries: bool = False
) -> PageGraph:
    """Return the graph as pictures need it, with the first lines of its pages if wanted.

    Raises:
        PageNotFoundError: there is no such page, or more than one.
    """
    view = session.view(Target(request.ref))
    center = None
    if request.center is not None:
        center = select_page(request.center, view, session.repository)
    near = neighborhood(open_graph(view), center, request.depth, request.link_types, request.limit)
    paths = [document.path for document in near.documents]
    summaries: Mapping[FilePath, str] = {}
    if include_summaries:
        summaries = summarize_pages(view, view.pages_at(paths))
    return PageGraph(near, assess_paths(session, view, paths), summaries)


def text(record: GraphRecord, write: Writer) -> Iterator[str]:
    """Yield each page with the pages that it links to; quietly a line for each link."""
    paths = {node.id: node.filepath for node in record.nodes}
    if write.is_quiet:
        for edge in record.edges:
            source, target = write.name(paths[edge.source]), write.name(paths[edge.target])
            yield f"{source} -> {target} ({edge.type})"
        return
    targets: dict[str, list[EdgeRecord]] = {node.id: [] for node in record.nodes}
    for edge in record.edges:
        targets[edge.source].append(edge)
    links = count(len(record.edges), "link")
    if write.is_agent:
        yield f"{_size(record)}, {links} shown. {write.notice()}"
    for node in record.nodes:
        yield _node_line(node, write)
        linked = [(write.name(paths[edge.target]), edge.type) for edge in targets[node.id]]
        if linked and write.is_agent:
            names = (name if kind == "references" else f"{name} ({kind})" for name, kind in linked)
            yield f"  -> {', '.join(names)}"
        elif linked:
            yield from (f"  -> {name} ({kind})" for name, kind in linked)
    if not write.is_agent:
        yield from ([""] if record.nodes else [])
        yield f"{_size(record)}, {links}."
    elif record.truncated_count:
        omitted = count(record.truncated_count, "page")
        yield from folder_lines(record.folders, write)
        yield f"[{omitted} omitted: use a larger limit, or center on one page]"


def _node_line(node: NodeRecord, write: Writer) -> str:
    if not write.is_agent:
        stale = f", {write.level(node.staleness)}" if node.staleness in _COLORS else ""
        center = "  (center)" if node.depth == 0 else ""
        return f"{write.path(node.filepath)}  {write.title(node.title)}{stale}{center}"
    facts = []
    if node.depth is not None:
        facts.append(f"{count(node.depth, 'hop')} away" if node.depth else "center")
    if node.staleness not in QUIET_LEVELS:
        facts.append(node.staleness)
    known = f" ({', '.join(facts)})" if facts else ""
    return f"{write.path(node.filepath)}: {write.title(node.title)}{known}"


def dot_text(record: GraphRecord) -> str:
    """Return the graph in Graphviz's language; stale pages are colored."""
    paths = {node.id: node.filepath for node in record.nodes}
    lines = ["digraph ubp {", *_note("  // ", record), "  rankdir=LR;", "  node [shape=box];"]
    for node in record.nodes:
        color = _COLORS.get(node.staleness)
        attributes = f", color={color}" if color else ""
        lines.append(f"  {_dot(node.filepath)} [label={_dot(node.title)}{attributes}];")
    lines += [
        f"  {_dot(paths[edge.source])} -> {_dot(paths[edge.target])} [label={_dot(edge.type)}];"
        for edge in record.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid_text(record: GraphRecord) -> str:
    """Return the graph in Mermaid's language, which GitHub draws (up to 500 links)."""
    names = {node.id: f"n{index}" for index, node in enumerate(record.nodes)}
    lines = ["graph LR", *_note("  %% ", record)]
    lines += [f'  {names[node.id]}["{_mermaid(node.title)}"]' for node in record.nodes]
    lines += [
        f"  {names[edge.source]} -->|{edge.type}| {names[edge.target]}" for edge in record.edges
    ]
    for level, color in _COLORS.items():
        stale = [names[node.id] for node in record.nodes if node.staleness == level]
        if stale:
            lines += [
                f"  classDef {level} stroke:{color}",
                f"  class {','.join(stale)} {level}",
            ]
    return "\n".join(lines) + "\n"


def _note(prefix: str, record: GraphRecord) -> list[str]:
    return [f"{prefix}{_size(record)}"] if record.truncated_count else []


def _size(record: GraphRecord) -> str:
    total = count(record.total_nodes, "page")
    if not record.truncated_count:
        return total
    selection = "the nearest" if record.center else "the most linked"
    return f"{len(record.nodes)} of {total} ({selection})"


def _dot(text: str) -> str:
    # A backslash begins an escape in labels (\N is the node's name): two stand for one.
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mermaid(text: str) -> str:
    return printable(text).translate(_MERMAID)


GET_GRAPH = Answer(
    request=GraphRequest,
    record=GraphRecord,
    run=run,
    text=text,
    items="nodes",
    reads_collections=True,
    formats={"dot": dot_text, "mermaid": mermaid_text},
    tool=ToolTraits(
        title="Show the link graph",
        description=(
            "Return the link graph: documentation pages and typed links, around one page or "
            "all. Use it to see how they are connected."
        ),
    ),
)
