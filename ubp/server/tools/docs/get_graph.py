"""`ubp_get_graph`: pages and the links between them."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.answer import App, Request
from ubp.frame.arguments import LinkTypes, MaxTokens, Ref, between
from ubp.frame.encoding import Json
from ubp.index.session import Session
from ubp.output.agent.pages import graph_text
from ubp.output.records.pages import GraphRecord, graph_record
from ubp.search.traverse import PageGraph
from ubp.server.tools.tool import Tool
from ubp.workspace import DEPTH, GRAPH_LIMIT, MAX_GRAPH_DEPTH, Workspace

MAX_LIMIT = 5_000


@dataclass(frozen=True, slots=True)
class GraphRequest(Request[GraphRecord]):
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
    return graph_record(_read_graph(workspace, request))


def read_page() -> str:
    """Return the page of the app."""
    from ubp.output.html.graph import graph_app_html

    return graph_app_html()


def read_picture(session: Session, request: GraphRequest) -> Json:
    """Return what the app shows: the same graph, with the first lines of its pages."""
    from ubp.output.html.graph import app_graph

    graph = _read_graph(Workspace(session, session.collection), request, include_summaries=True)
    return app_graph(graph, session.repository.name)._asdict()


def _read_graph(
    workspace: Workspace, request: GraphRequest, *, include_summaries: bool = False
) -> PageGraph:
    return workspace.graph(
        center=request.center,
        depth=request.depth,
        link_types=request.link_types,
        limit=request.limit,
        include_summaries=include_summaries,
        ref=request.ref,
    )


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
    app=App(
        uri="ui://ubp/graph",
        title="Document graph",
        description="A picture of the pages and links that ubp_get_graph returns, to explore.",
        page=read_page,
        key="ubp/graph",
        data=read_picture,
    ),
)
