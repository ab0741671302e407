"""`ubp get-graph`: the answer, and the picture that it writes to a file."""

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.answers.pages.get_graph import GET_GRAPH, GraphRequest, read_graph
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import check_folder, write_html
from ubp.cli.parameters import PICTURE_LIMIT
from ubp.cli.print_answer import print_answer, read_collection
from ubp.cli.terminal import Terminal
from ubp.core.errors import PageNotFoundError, UsageError
from ubp.core.model import FilePath
from ubp.index.session import Session
from ubp.search.traverse import PageGraph


def get_graph(  # noqa: PLR0913  # what the frame and the command line give
    request: GraphRequest,
    *,
    format_: Annotated[
        Literal["text", "json", "dot", "mermaid", "html"],
        Parameter(
            name=["--format", "-f"],
            metavar="FORMAT",
            help="Output format; html is a picture of up to 5,000 pages to explore in a browser.",
        ),
    ] = "text",
    output: Annotated[
        str | None,
        Parameter(
            metavar="FILE",
            help="With html: write the picture to this file (.ubp/graph.html).",
        ),
    ] = None,
    given: Collection[str],
    collection: str | None,
    terminal: Terminal,
) -> int:
    """Print the graph, or write its picture."""
    if "depth" in given and request.center is None:
        raise UsageError(
            "--depth requires --center.",
            cause="Without --center, all pages are shown.",
            hint="Specify a page: ubp get-graph --center docs/auth.md --depth 1",
        )
    if output is not None and format_ != "html":
        raise UsageError("--output requires --format html.", hint="Add --format html.")
    if format_ == "html":
        if "limit" not in given:
            request = replace(request, limit=PICTURE_LIMIT)
        return _write_picture(request, output, terminal, collection)
    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    return print_answer(GET_GRAPH, request, terminal, collection=collection, format_=format_)


def _read_graph(session: Session, request: GraphRequest) -> tuple[PageGraph, FilePath | None]:
    """Return the graph around a page, or all of it and the source that is its center.

    Raises:
        PageNotFoundError: the center is neither a page nor a source that a page lists.
    """
    try:
        return read_graph(session, request, include_summaries=True), None
    except PageNotFoundError:
        graph = read_graph(session, replace(request, center=None), include_summaries=True)
        names = {
            verdict.name
            for assessment in graph.assessments.values()
            for verdict in assessment.references
        }
        center = request.center or ""
        found = [name for name in names if name == center or name.endswith(f"/{center}")]
        if center in found:
            return graph, FilePath(center)
        if len(found) != 1:
            raise
        return graph, FilePath(found[0])


def _write_picture(
    request: GraphRequest, file: str | None, terminal: Terminal, collection: str | None
) -> int:
    """Write the picture of a graph; that of a collection needs a file."""
    from ubp.output.html.graph import graph_html

    if collection is not None and file is None:
        raise UsageError(
            "--in with --format html requires --output.", hint="Add --output graph.html."
        )
    if file is not None:
        check_folder(file, terminal)
    reference = read_collection(collection, request.ref)
    with open_workspace(terminal, collection=reference) as workspace:
        graph, source = _read_graph(workspace.session, request)
        repository = workspace.session.repository
    page = graph_html(graph, repository.name, source)
    file = write_html(file, "graph.html", page, repository.config_dir, terminal)
    if terminal.options.json:
        terminal.json({"schema_version": 1, "file": file, "pages": len(graph.near.documents)})
    return CLEAN
