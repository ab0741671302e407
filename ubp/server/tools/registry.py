"""The table of tool sets. A later set joins by a row."""

from collections.abc import Collection, Mapping, Sequence

from ubp.core.errors import UsageError
from ubp.core.text import closest_name
from ubp.server.tools.docs import (
    fulltext_search,
    get_context,
    get_graph,
    get_page,
    list_pages,
    search,
)
from ubp.server.tools.maintenance import check_staleness, get_impact, suggest_links
from ubp.server.tools.tool import Tool

TOOLSETS: Mapping[str, tuple[Tool, ...]] = {
    "docs": (
        search.SEARCH,
        get_page.GET_PAGE,
        get_context.GET_CONTEXT,
        fulltext_search.FULLTEXT_SEARCH,
        list_pages.LIST_PAGES,
        get_graph.GET_GRAPH,
    ),
    "care": (check_staleness.CHECK_STALENESS, suggest_links.SUGGEST_LINKS, get_impact.GET_IMPACT),
}


def select_tools(
    toolsets: Sequence[str] = (),
    tools: Sequence[str] = (),
    excluded: Sequence[str] = (),
    *,
    read_only: bool = False,
    table: Mapping[str, Sequence[Tool]] = TOOLSETS,
) -> tuple[Tool, ...]:
    """The tools of these sets and those that are named, in the table's order; nothing named: all.

    What is excluded is left out, however it was named, and so is with `read_only` all that writes.

    Raises:
        UsageError: there is no such set or tool.
    """
    every = tuple(tool for one in table.values() for tool in one)
    names = [tool.name for tool in every]
    _check("tool set", toolsets, table)
    _check("tool", [*tools, *excluded], names)
    sets = table if not (toolsets or tools) else toolsets
    wanted = {*tools, *(tool.name for one in sets for tool in table[one])} - {*excluded}
    return tuple(tool for tool in every if tool.name in wanted and not (read_only and tool.writes))


def _check(kind: str, told: Sequence[str], known: Collection[str]) -> None:
    for name in told:
        if name not in known:
            closest = closest_name(name, known)
            raise UsageError(
                f"There is no {kind} {name}.",
                cause=f"There are {', '.join(known)}.",
                hint=f"Did you mean {closest}?" if closest else "",
            )
