"""Tools asked by the server itself, for resources and prompts; whether it offers them or not."""

from collections.abc import Mapping
from typing import Any

from ubp.tools.calling import ToolAnswer, call
from ubp.tools.registry import TOOLSETS
from ubp.tools.tool import Tool
from ubp.workspace import Workspace

_BY_NAME: Mapping[str, Tool] = {tool.name: tool for one in TOOLSETS.values() for tool in one}


def ask(workspace: Workspace, tool: str, **arguments: Any) -> ToolAnswer:
    """The answer of a tool."""
    return call(_BY_NAME[tool], workspace, arguments)
