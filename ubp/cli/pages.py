"""The commands that read pages and their links, as the MCP tools of the same names do."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import (
    MAX_USEFUL_DEPTH,
    PICTURE_LIMIT,
    In,
    LinkTypes,
    Number,
    OptionalNumber,
    Revision,
    check_range,
    read_collection,
)
from ubp.cli.reading import RecordFormat, print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.output.text.pages import (
    context_text,
    dot_text,
    graph_text,
    mermaid_text,
)
from ubp.search.traverse import PageGraph
from ubp.workspace import (
    DEPTH,
    GRAPH_LIMIT,
    MAX_DEPTH,
    MAX_GRAPH_DEPTH,
    MAX_SIZE,
)

if TYPE_CHECKING:
    from ubp.index.collections import CollectionReference
    from ubp.search.context import PageContext


def get_context(  # noqa: PLR0913  # the command's options
    page: str | None = None,
    *,
    depth: Number = 2,
    link_type: LinkTypes = None,
    max_size: Number = MAX_SIZE,
    max_tokens: OptionalNumber = None,
    ref: Revision = None,
    in_: In = None,
    terminal: Terminal,
) -> int:
    """Run `ubp get-context`.

    Args:
        page: Path, unique path suffix, or `doc_id`.
        depth: Include pages up to this many links away, 1 to 3 (2).
        link_type: Follow only links of this type; repeatable.
        max_size: Maximum number of characters; the least relevant parts are dropped (50000).
        max_tokens: Maximum number of tokens, likewise; with --json, of the whole output.
        ref: Use this revision instead of the work tree.
        in_: Use a collection instead of this repository.
        terminal: Where the answer goes.
    """
    if page is None:
        raise UsageError(
            "Missing argument: a page.",
            hint="Specify one: ubp get-context docs/auth.md; `ubp list-pages` lists all pages.",
        )
    check_range("--depth", depth, MAX_DEPTH, why=MAX_USEFUL_DEPTH)
    check_range("--max-size", max_size)
    return print_answer(
        terminal,
        lambda workspace: workspace.context(
            page,
            depth=depth,
            link_types=link_type or (),
            max_size=max_size,
            max_tokens=max_tokens,
            ref=ref,
        ),
        partial(context_text, style=terminal.style, is_quiet=terminal.options.quiet),
        _load_context_format,
        max_tokens=max_tokens,
        collection=read_collection(in_, ref),
    )


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
    if depth is not None:
        if center is None:
            raise UsageError(
                "--depth requires --center.",
                cause="Without --center, all pages are shown.",
                hint="Specify a page: ubp get-graph --center docs/auth.md --depth 1",
            )
        check_range("--depth", depth, MAX_GRAPH_DEPTH, why=MAX_USEFUL_DEPTH)
    check_range("--limit", 1 if limit is None else limit)
    if output is not None and format_ != "html":
        raise UsageError("--output requires --format html.", hint="Add --format html.")
    options: dict[str, Any] = {
        "center": center,
        "depth": depth or DEPTH,
        "link_types": link_type or (),
        "limit": limit or (PICTURE_LIMIT if format_ == "html" else GRAPH_LIMIT),
        "ref": ref,
    }
    if format_ == "html":
        if in_ is not None and output is None:
            raise UsageError(
                "--in with --format html requires --output.", hint="Add --output graph.html."
            )
        return _write_picture(options, output, terminal, read_collection(in_, ref))
    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    texts: dict[str, Callable[[PageGraph], str]] = {"dot": dot_text, "mermaid": mermaid_text}
    return print_answer(
        terminal,
        lambda workspace: workspace.graph(**options),
        texts.get(format_)
        or partial(graph_text, style=terminal.style, is_quiet=terminal.options.quiet),
        _load_graph_format,
        collection=read_collection(in_, ref),
    )


def _write_picture(
    options: Mapping[str, Any],
    file: str | None,
    terminal: Terminal,
    collection: "CollectionReference | None",
) -> int:
    """Write the picture of a graph; that of a collection needs a file."""
    from ubp.cli.outputs import check_folder, write_html
    from ubp.output.html.graph import graph_html

    if file is not None:
        check_folder(file, terminal)
    with open_workspace(terminal, collection=collection) as workspace:
        graph = workspace.graph(**options, include_summaries=True)
        repository = workspace.session.repository
    page = graph_html(graph, repository.name)
    file = write_html(file, "graph.html", page, repository.config_dir, terminal)
    if terminal.options.json:
        terminal.json({"schema_version": 1, "file": file, "pages": len(graph.near.documents)})
    return CLEAN


def _load_context_format() -> "RecordFormat[PageContext]":
    from ubp.output.records.pages import context_record
    from ubp.server.tools.docs.get_context import fit_context

    return RecordFormat(context_record, fit_context)


def _load_graph_format() -> RecordFormat[PageGraph]:
    from ubp.output.records.pages import graph_record

    return RecordFormat(graph_record)
