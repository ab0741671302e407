"""The tool sets, made from the table of answers, and the choice of tools among them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ubp.core.errors import UsageError
from ubp.core.text import closest_name
from ubp.server.tools.graph_app import GRAPH_APP
from ubp.server.tools.tool import AnyTool, make_tool, naming
from ubp.table import KITS, ROWS, rows_of_tools

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
# Tools whose texts name the tools that settle what they find.
NAMING = frozenset({"ubp_review_change", "ubp_check_staleness"})
SETTLING = frozenset({"ubp_acknowledge", "ubp_update_page", "ubp_bind"})
ADDED = "+"  # `+specs` adds the tool sets of the list to the default ones
OWN_PREFIX = "ubp_"
OWN_SETS = frozenset({"docs", "maintenance", "edit"})  # the others are those of other servers
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

    Where a set has a `+`, all are added to the default ones. Optional sets are loaded if one of
    their names is given, or a tool that no other set has. `excluded` takes precedence over `tools`;
    `read_only` also leaves out tools that write.

    Raises:
        UsageError: a tool set or tool does not exist.
    """
    is_added = any(name.startswith(ADDED) for name in toolsets)
    names = [name.removeprefix(ADDED) for name in toolsets]
    toolsets = [RENAMED_TOOLSETS.get(name, name) for name in names]
    _check_names("tool set", toolsets, [*table, *OPTIONAL_TOOLSETS])
    default = tuple(table) if is_added or not (toolsets or tools) else ()
    chosen_sets = [*default, *toolsets]
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
        naming(tool, settling) if settling and tool.name in NAMING else tool for tool in selected
    )


def without_defaults(toolsets: Sequence[str]) -> tuple[str, ...]:
    """Return the optional sets of a list that replaces the default ones, if it does."""
    names = {RENAMED_TOOLSETS.get(name, name) for name in toolsets}
    is_replacing = names and not any(name.startswith(ADDED) for name in toolsets)
    return tuple(toolsets) if is_replacing and not names & TOOLSETS.keys() else ()


def with_prefix(tools: Sequence[AnyTool], prefix: str | None) -> tuple[AnyTool, ...]:
    """Return the tools, the bare names of specifications after a prefix: `notes_search`.

    None: after the name of the tool set, where tools of several sets are offered together; `search`
    and `get_section` would not say to which they belong. Names that begin with `ubp_` or with the
    name of their set are not bare ones.

    Raises:
        UsageError: the prefix cannot begin a name.
    """
    if prefix and not prefix.replace("-", "_").isidentifier():
        raise UsageError(
            f"Invalid --prefix: {prefix}.", hint="Use letters, digits, _ and -, such as kb_."
        )
    offered = {tool.name for tool in tools}
    sets = {row.tool: row.toolset for row in ROWS if row.tool in offered}
    _, *others = {OWN_PREFIX if name in OWN_SETS else name for name in sets.values()} or {""}
    names = {}
    for tool in tools:
        toolset = sets[tool.name]
        if toolset not in OWN_SETS and not tool.name.startswith(f"{toolset}_"):
            start = (f"{toolset}_" if others else "") if prefix is None else prefix
            names[tool.name] = f"{start}{tool.name}"
    return tuple(replace(tool, name=names.get(tool.name, tool.name), names=names) for tool in tools)


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
