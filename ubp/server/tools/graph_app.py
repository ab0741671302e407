"""The picture of a graph, which clients with MCP Apps show beside the answer of `ubp_get_graph`."""

from ubp.answers.pages.get_graph import GraphRequest, read_graph
from ubp.frame.encoding import Json
from ubp.index.session import Session
from ubp.server.tools.tool import App


def read_page() -> str:
    """Return the page of the app."""
    from ubp.output.html.graph import graph_app_html

    return graph_app_html()


def read_picture(session: Session, request: GraphRequest) -> Json:
    """Return what the app shows: the same graph, with the first lines of its pages."""
    from ubp.output.html.graph import app_graph

    graph = read_graph(session, request, include_summaries=True)
    return app_graph(graph, session.repository.name)._asdict()


GRAPH_APP = App(
    uri="ui://ubp/graph",
    title="Document graph",
    description="A picture of the pages and links that ubp_get_graph returns, to explore.",
    page=read_page,
    key="ubp/graph",
    data=read_picture,
)
