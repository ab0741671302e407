"""`ubp_get_graph`: pages and the links between them."""

from dataclasses import dataclass
from typing import Annotated

from ubp.output.agent.pages import graph_text
from ubp.output.records.pages import GraphRecord, graph_record
from ubp.server.tools.arguments import LinkTypes, MaxTokens, Ref, between
from ubp.server.tools.tool import Tool
from ubp.workspace import DEPTH, GRAPH_LIMIT, MAX_GRAPH_DEPTH, Workspace

MAX_LIMIT = 5_000


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """Which pages and links to return."""

    center: (
        Annotated[str, "filepath or doc_id; omit for the whole graph, most linked pages first"]
        | None
    ) = None
    depth: Annotated[int, *between(1, MAX_GRAPH_DEPTH), "hops from center"] = DEPTH
    link_types: LinkTypes = ()
    limit: Annotated[int, *between(1, MAX_LIMIT)] = GRAPH_LIMIT
    max_tokens: MaxTokens | None = None
    ref: Ref | None = None


def run(workspace: Workspace, request: GraphRequest) -> GraphRecord:
    """Return the record of the graph around a page, or of the whole graph."""
    graph = workspace.graph(
        center=request.center,
        depth=request.depth,
        link_types=request.link_types,
        limit=request.limit,
        ref=request.ref,
    )
    return graph_record(graph)


GET_GRAPH = Tool(
    name="ubp_get_graph",
    title="Show how pages are linked",
    description=(
        "Return the link graph: documentation pages and typed links, around one page or for all "
        "pages. Use it to see how the documentation is connected; use "
        "ubp_get_context for page contents and ubp_get_impact for what a change affects."
    ),
    request=GraphRequest,
    record=GraphRecord,
    run=run,
    text=graph_text,
    items="nodes",
    reads_collections=True,
)
