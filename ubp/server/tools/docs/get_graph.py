"""`ubp_get_graph`: pages and the links between them."""

from collections.abc import Mapping
from typing import Any

from ubp.output.agent.pages import graph_text
from ubp.output.records.pages import GraphRecord, graph_record
from ubp.server.tools.arguments import LINK_TYPE, MAX_TOKENS, REF, number, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

DEPTH, MAX_GRAPH_DEPTH = 2, 5
GRAPH_LIMIT, MAX_LIMIT = 500, 5_000


def run(workspace: Workspace, given: Mapping[str, Any]) -> GraphRecord:
    """Return the record of the graph around a page, or of the whole graph."""
    graph = workspace.graph(
        center=given.get("center"),
        depth=given["depth"],
        link_types=given.get("link_types", ()),
        limit=given["limit"],
        ref=given.get("ref"),
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
    input_schema=object_schema(
        center=string("filepath or doc_id; omit for the whole graph, most linked pages first"),
        depth=number(1, MAX_GRAPH_DEPTH, DEPTH, "hops from center"),
        link_types=LINK_TYPE,
        limit=number(1, MAX_LIMIT, GRAPH_LIMIT),
        max_tokens=MAX_TOKENS,
        ref=REF,
    ),
    record=GraphRecord,
    run=run,
    text=graph_text,
    items="nodes",
)
