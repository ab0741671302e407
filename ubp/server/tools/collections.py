"""The argument `collection`, which reading tools take where the project names collections."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ubp.core.errors import BadArgumentError, UsageError
from ubp.core.text import closest_name
from ubp.index.collections import parse_reference
from ubp.server.tools.arguments import text
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

READING_TOOLS = frozenset(
    {
        "ubp_search",
        "ubp_get_page",
        "ubp_get_context",
        "ubp_fulltext_search",
        "ubp_list_pages",
        "ubp_get_graph",
        "ubp_suggest_links",
    }
)

Run = Callable[[Workspace, Mapping[str, Any]], object]


def offer_collections(tools: Sequence[Tool], names: Sequence[str]) -> tuple[Tool, ...]:
    """Return the tools, those that read pages with an argument for one of these collections."""
    if not names:
        return tuple(tools)
    return tuple(
        _with_collection(tool, names) if tool.name in READING_TOOLS else tool for tool in tools
    )


def _with_collection(tool: Tool, names: Sequence[str]) -> Tool:
    properties = {
        **tool.input_schema["properties"],
        "collection": text(f"read this instead of the project: {', '.join(names)} (or NAME@REV)"),
    }
    return tool._replace(
        input_schema={**tool.input_schema, "properties": properties},
        run=partial(_run, tool.run, frozenset(names)),
    )


def _run(run: Run, names: frozenset[str], workspace: Workspace, given: Mapping[str, Any]) -> object:
    arguments = {name: value for name, value in given.items() if name != "collection"}
    if "collection" not in given:
        return run(workspace, arguments)
    if "ref" in given:
        raise BadArgumentError(
            "ref",
            "`ref` cannot be combined with `collection`.",
            hint="Write the revision as NAME@REV in `collection`.",
        )
    try:
        reference = parse_reference(given["collection"])
    except UsageError as error:
        raise BadArgumentError("collection", error.message, cause=error.cause) from error
    if reference.name not in names:
        closest = closest_name(reference.name, names)
        raise BadArgumentError(
            "collection",
            f"This project has no collection {reference.name}.",
            cause=f"It has {', '.join(sorted(names))}.",
            hint=f"Did you mean {closest}?" if closest else "",
        )
    with workspace.in_collection(reference.name, reference.version) as collection:
        return run(collection, arguments)
