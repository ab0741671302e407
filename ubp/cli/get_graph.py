"""`ubp get-graph`: pages and the links between them."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.ranges import FAR, check_range
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.model import LinkType
from ubp.render.graphs import dot_text, graph_text, mermaid_text
from ubp.tools.calling import call
from ubp.tools.docs.get_graph import DEPTH, LIMIT, MAX_DEPTH, TOOL


def get_graph(  # noqa: PLR0913  # the command's options
    *,
    center: str | None = None,
    depth: int | None = None,
    link_type: list[LinkType] | None = None,
    limit: int = LIMIT,
    format_: Annotated[
        Literal["text", "json", "dot", "mermaid"], Parameter(name=["--format", "-f"])
    ] = "text",
    ref: str | None = None,
    terminal: Terminal,
) -> int:
    """Show which pages link to which, all of them or those around one.

    Args:
        center: A page: its path, the unique end of that, or its `doc_id`.
        depth: Show pages within so many links of it, 1 to 5 (2 where nothing is said).
        link_type: Follow links of this type only; repeatable.
        limit: Show so many pages at most (500), the nearest or those with the most links.
        format_: How it is written.
        ref: The graph of this revision instead of the work tree's.
        terminal: Where the answer goes.
    """
    if depth is not None:
        _check(center, depth)
    check_range("--limit", limit)
    with open_workspace(terminal) as workspace:
        if terminal.options.json or format_ == "json":
            given = {"center": center, "depth": depth, "link_types": link_type, "limit": limit}
            terminal.record(call(TOOL, workspace, {**given, "ref": ref}, is_typed=True).record)
            return CLEAN
        found = workspace.graph(
            center=center, depth=depth or DEPTH, link_types=link_type or (), limit=limit, ref=ref
        )
    if format_ == "dot":
        terminal.write(dot_text(found))
    elif format_ == "mermaid":
        terminal.write(mermaid_text(found))
    else:
        terminal.write(graph_text(found, terminal.style, is_quiet=terminal.options.quiet))
    return CLEAN


def _check(center: str | None, depth: int) -> None:
    if center is None:
        raise UsageError(
            "--depth needs --center.",
            cause="Without a center all pages are shown.",
            hint="Name a page: ubp get-graph --center docs/auth.md --depth 1",
        )
    check_range("--depth", depth, MAX_DEPTH, why=FAR)
