"""The tool sets, made from the table of answers, and the choice of tools among them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ubp.core.errors import UsageError
from ubp.core.text import closest_name
from ubp.server.tools.graph_app import GRAPH_APP
from ubp.server.tools.tool import AnyTool, make_tool, naming
from ubp.table import KITS, rows_of_tools

APPS = {"ubp_get_graph": GRAPH_APP}


def load_rows(name: str) -> tuple[AnyTool, ...]:
    """Return the tools of a set that the table of answers has."""
    tools = (make_tool(row.tool) for row in rows_of_tools(name))
    return tuple(replace(tool, app=APPS.get(tool.name)) for tool in tools)


TOOLSETS: Mapping[str, tuple[AnyTool, ...]] = {
    name: load_rows(name) for name in ("docs", "maintenance")
}
"""The default ones."""

# Loaded where they are asked for: a server without them starts no later.
OPTIONAL_TOOLSETS: Mapping[str, Callable[[], tuple[AnyTool, ...]]] = {
    "edit": partial(load_rows, "edit"),
    **{kit.name: partial(load_rows, kit.name) for kit in KITS},
}
# The tool whose answers say which of the others settles a case.
REVIEW = "ubp_review_change"
SETTLING = frozenset({"ubp_acknowledge", "ubp_update_page", "ubp_bind"})
ADDED = "+"  # `+specs` adds a tool set to the default ones
# Former names, accepted for one version after the renaming.
RENAMED_TOOLSETS: Mapping[str, str] = {"care": "maintenance"}


def select_tools(
    toolsets: Sequence[str] = (),
    tools: Sequence[str] = (),
    excluded: Sequence[str] = (),
    *,
    read_only: bool = False,
    table: Mapping[str, Sequence[AnyTool]] = TOOLSETS,
) -> tuple[AnyTool, ...]:
    """Return the tools of these sets and those listed by name, in table order; by default `table`.

    Sets with a `+` are added to the default ones. Optional sets are loaded if one of their names is
    given, or a tool that no other set has. `excluded` takes precedence over `tools`; `read_only`
    also leaves out tools that write.

    Raises:
        UsageError: a tool set or tool does not exist.
    """
    added = [name.removeprefix(ADDED) for name in toolsets if name.startswith(ADDED)]
    toolsets = [RENAMED_TOOLSETS.get(name, name) for name in toolsets if name[:1] != ADDED]
    _check_names("tool set", [*toolsets, *added], [*table, *OPTIONAL_TOOLSETS])
    default = tuple(table) if not toolsets and (added or not tools) else ()
    chosen_sets = [*toolsets, *default, *added]
    known = {tool.name for tools_of_set in table.values() for tool in tools_of_set}
    is_every = not known.issuperset([*tools, *excluded])
    table = {
        **table,
        **{
            name: load()
            for name, load in OPTIONAL_TOOLSETS.items()
            if is_every or name in chosen_sets
        },
    }
    all_tools = tuple(tool for tools_of_set in table.values() for tool in tools_of_set)
    _check_names("tool", [*tools, *excluded], [tool.name for tool in all_tools])
    chosen = {*tools, *(tool.name for name in chosen_sets for tool in table[name])} - {*excluded}
    selected = tuple(
        tool for tool in all_tools if tool.name in chosen and not (read_only and tool.writes)
    )
    settling = SETTLING.intersection(tool.name for tool in selected)
    return tuple(
        naming(tool, settling) if settling and tool.name == REVIEW else tool for tool in selected
    )


def read_notes_of(tools: Sequence[AnyTool], collection: str) -> tuple[AnyTool, ...]:
    """Return the tools, those about notes reading a collection (`NAME[@REV]`) by default."""
    names = {row.tool for row in rows_of_tools("notes")}
    return tuple(
        replace(tool, default_collection=collection) if tool.name in names else tool
        for tool in tools
    )


def allow_network(tools: Sequence[AnyTool]) -> tuple[AnyTool, ...]:
    """Return the tools as they are where the user lets the server use the network."""
    return tuple(
        replace(tool, run=tool.run_online, writes=True) if tool.run_online else tool
        for tool in tools
    )


def offer_collections(
    tools: Sequence[AnyTool], names: Sequence[str], languages: Sequence[str] = ()
) -> tuple[AnyTool, ...]:
    """Return the tools, those that read pages with an argument for one of these collections.

    Those about specifications take one of `languages`, if there are any.
    """
    return tuple(
        replace(
            tool,
            collections=tuple(names) if tool.reads_collections else (),
            languages=tuple(languages),
        )
        for tool in tools
    )


def _check_names(kind: str, names: Sequence[str], known_names: Collection[str]) -> None:
    for name in names:
        if name not in known_names:
            closest = closest_name(name, known_names)
            raise UsageError(
                f"Unknown {kind}: {name}.",
                cause=f"Available: {', '.join(known_names)}.",
                hint=f"Did you mean {closest}?" if closest else "",
            )
