"""`ubp get-graph`: the answer, and the picture that it writes to a file."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.answers.pages.get_graph import GET_GRAPH, GraphRequest, read_graph
from ubp.cli.answers import check_limits, print_answer
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import check_folder, write_html
from ubp.cli.parameters import (
    PICTURE_LIMIT,
    In,
    LinkTypes,
    OptionalNumber,
    Revision,
    read_collection,
)
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError


def get_graph(  # noqa: PLR0913  # the command's options
    *,
    center: Annotated[str | None, Parameter(metavar="PAGE")] = None,
    depth: OptionalNumber = None,
    link_type: LinkTypes = None,
    limit: OptionalNumber = None,
    format_: Annotated[
        Literal["text", "json", "dot", "mermaid", "html"],
        Parameter(name=["--format", "-f"], metavar="FORMAT"),
    ] = "text",
    output: Annotated[str | None, Parameter(metavar="FILE")] = None,
    ref: Revision = None,
    in_: In = None,
    terminal: Terminal,
) -> int:
    """Run `ubp get-graph`.

    Args:
        center: Show the pages around this one: path, unique path suffix, or `doc_id`.
        depth: With --center: show pages up to this many links away, 1 to 5 (2).
        link_type: Follow only links of this type; repeatable.
        limit: Maximum number of pages (500, with html 5000): the nearest, or those with the most
            links.
        format_: Output format; html is a picture to explore in a browser.
        output: With html: write the picture to this file (.ubp/graph.html).
        ref: Use this revision instead of the work tree.
        in_: Use a collection instead of this repository.
        terminal: Where the answer goes.
    """
    if depth is not None and center is None:
        raise UsageError(
            "--depth requires --center.",
            cause="Without --center, all pages are shown.",
            hint="Specify a page: ubp get-graph --center docs/auth.md --depth 1",
        )
    if output is not None and format_ != "html":
        raise UsageError("--output requires --format html.", hint="Add --format html.")
    given = {"depth": depth, "limit": PICTURE_LIMIT if format_ == "html" else None}
    if limit is not None:
        given["limit"] = limit
    numbers = {name: value for name, value in given.items() if value is not None}
    check_limits(GET_GRAPH, numbers)
    request = GraphRequest(center=center, link_types=tuple(link_type or ()), ref=ref, **numbers)
    if format_ == "html":
        return _write_picture(request, output, terminal, in_)
    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    return print_answer(GET_GRAPH, request, terminal, collection=in_, format_=format_)


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
        graph = read_graph(workspace.session, request, include_summaries=True)
        repository = workspace.session.repository
    page = graph_html(graph, repository.name)
    file = write_html(file, "graph.html", page, repository.config_dir, terminal)
    if terminal.options.json:
        terminal.json({"schema_version": 1, "file": file, "pages": len(graph.near.documents)})
    return CLEAN
