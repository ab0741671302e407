"""Resources: pages, the state of the documentation and its graph, each with an address."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from mcp.types import (
    EmbeddedResource,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from ubp.core.errors import PageNotFoundError
from ubp.core.model import FilePath
from ubp.index.select import select_page
from ubp.output.agent.pages import name
from ubp.output.ci.outcome import result_uri
from ubp.output.records.encoding import to_object
from ubp.output.records.setup import status_record
from ubp.server.errors import bad_params
from ubp.server.tools.arguments import reject_path_traversal
from ubp.server.tools.registry import TOOLSETS
from ubp.server.tools.tool import NOTICE, AnyTool, ToolAnswer, call_tool
from ubp.server.transport import readable
from ubp.workspace import Workspace

PAGE = "ubp://page/"
PAGE_TEMPLATE = PAGE + "{+filepath}"
MARKDOWN, JSON = "text/markdown", "application/json"

Record = Mapping[str, Any]

_TOOLS: Mapping[str, AnyTool] = {tool.name: tool for tools in TOOLSETS.values() for tool in tools}


class ResourceRow(NamedTuple):
    """A resource at a fixed address, and the function that reads it from a workspace."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[Workspace], Record]


def list_resources() -> ListResourcesResult:
    """Return the resources at fixed addresses; pages have a template."""
    return ListResourcesResult(
        resources=[
            Resource(
                uri=row.uri,
                name=row.name,
                title=row.title,
                description=row.description,
                mime_type=JSON,
            )
            for row in ROWS
        ]
    )


def list_templates() -> ListResourceTemplatesResult:
    """Return the template of the pages' addresses."""
    page = ResourceTemplate(
        uri_template=PAGE_TEMPLATE,
        name="page",
        title="Documentation page",
        description=f"The Markdown of a page in the work tree. {NOTICE}",
        mime_type=MARKDOWN,
    )
    return ListResourceTemplatesResult(resource_templates=[page])


def reader(uri: str) -> Callable[[Workspace], ReadResourceResult]:
    """Return the function that reads a resource.

    Raises:
        MCPError: no resource has this address.
    """
    if uri.startswith(PAGE):
        return lambda workspace: _contents(uri, MARKDOWN, _page_resource(workspace, uri))
    row = next((row for row in ROWS if row.uri == uri), None)
    if row is None:
        raise _not_found(uri)
    return lambda workspace: _contents(uri, JSON, _to_json(row.read(workspace)))


class PageText(NamedTuple):
    """A page's path and its Markdown."""

    path: FilePath
    text: str


def read_page(workspace: Workspace, filepath: str) -> PageText:
    """Read the page that `filepath` identifies, as tools accept it.

    Raises:
        PageNotFoundError: there is no such page, or the path leads out of the repository.
    """
    reject_path_traversal({"filepath": filepath})
    view = workspace.session.view()
    path = select_page(filepath, view, workspace.session.repository)
    data = view.read([path])[path]
    if data is None:
        raise PageNotFoundError(
            f"Cannot read {path}.", cause="This clone does not contain its blob."
        )
    return PageText(path, data.decode("utf-8", "replace"))


def embed_page(path: FilePath, text: str) -> EmbeddedResource:
    """Return a page, or a part of its text, as content of a message."""
    contents = TextResourceContents(
        uri=f"{PAGE}{result_uri(path)}", mime_type=MARKDOWN, text=readable(text)
    )
    return EmbeddedResource(type="resource", resource=contents)


def run_tool(workspace: Workspace, tool: str, **arguments: Any) -> ToolAnswer:
    """Return the answer of a tool, whether the server offers it or not."""
    return call_tool(_TOOLS[tool], workspace, arguments)


def _page_resource(workspace: Workspace, uri: str) -> str:
    try:
        page = read_page(workspace, unquote(uri.removeprefix(PAGE)))
    except PageNotFoundError as error:
        raise _not_found(uri, nearest=list(error.near)) from None
    return f"<!-- {NOTICE} -->\n{page.text}"


def _status_record(workspace: Workspace) -> Record:
    record = to_object(status_record(workspace.status()))
    del record["root"]  # agents need not know where the repository is
    del record["index"]["path"], record["index"]["why_in_memory"]
    return record


def _tool_record(tool: str) -> Callable[[Workspace], Record]:
    """Return the function that calls a tool without arguments."""
    return lambda workspace: run_tool(workspace, tool).record


def _to_json(record: Record) -> str:
    # No lone surrogates, escaped ones neither: JSON of other languages does not read them.
    return json.dumps({"content_notice": NOTICE, **record}, ensure_ascii=False)


def _contents(uri: str, mime_type: str, text: str) -> ReadResourceResult:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=readable(text))
    return ReadResourceResult(contents=[contents])


def _not_found(uri: str, **data: Any) -> Exception:
    addresses = ", ".join([PAGE_TEMPLATE, *(row.uri for row in ROWS)])
    hint = (
        f" Did you mean {' or '.join(map(name, data['nearest']))}?" if data.get("nearest") else ""
    )
    return bad_params(f"Unknown resource: {uri}.{hint} Available: {addresses}.", uri=uri, **data)


ROWS = (
    ResourceRow(
        "ubp://status",
        "status",
        "Documentation status",
        "Counts of pages, links and stale pages, front matter problems; index state.",
        _status_record,
    ),
    ResourceRow(
        "ubp://stale",
        "stale",
        "Stale pages",
        "The result of ubp_check_staleness: each stale page with its changed sources and commits.",
        _tool_record("ubp_check_staleness"),
    ),
    ResourceRow(
        "ubp://graph",
        "graph",
        "Link graph",
        "The result of ubp_get_graph: the most linked pages and the links between them.",
        _tool_record("ubp_get_graph"),
    ),
)
