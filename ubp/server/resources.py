"""Resources: pages, the state of the documentation and its graph, each with an address."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from mcp.server.apps import APP_MIME_TYPE
from mcp.types import (
    EmbeddedResource,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from ubp.answers.pages.get_page import PageRequest
from ubp.answers.staleness.status import StatusRequest
from ubp.core.errors import CollectionError, PageNotFoundError
from ubp.core.model import FilePath
from ubp.frame.arguments import reject_path_traversal
from ubp.frame.encoding import to_json, to_object
from ubp.frame.kit import KitResource
from ubp.frame.quoting import name
from ubp.frame.wording import MAX_NAMES
from ubp.frame.writer import Writer, stale_ref_text
from ubp.index.select import select_page
from ubp.output.ci.outcome import result_uri
from ubp.server.errors import bad_params
from ubp.server.repositories import QUERY, Repositories, ServedRepository
from ubp.server.tools.registry import TOOLSETS
from ubp.server.tools.tool import NOTICE, AnyTool, App, ToolAnswer, call_tool
from ubp.server.transport import readable
from ubp.table import KITS, kit_resources
from ubp.workspace import Workspace

PAGE = "ubp://page/"
PAGE_TEMPLATE = PAGE + "{+filepath}"
CHOICE = "{?repository}"  # follows where several repositories are served
MARKDOWN, JSON = "text/markdown", "application/json"
# Without the domains that a page may reach hosts allow none.
APP_META: dict[str, Any] = {"ui": {"csp": {}, "prefersBorder": True}}

Record = Mapping[str, Any]

_TOOLS: Mapping[str, AnyTool] = {tool.name: tool for tools in TOOLSETS.values() for tool in tools}
APPS: Mapping[str, App[Any]] = {tool.app.uri: tool.app for tool in _TOOLS.values() if tool.app}


class ResourceRow(NamedTuple):
    """A resource at a fixed address, and the function that reads it from a workspace."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[Workspace], Record]


def list_resources(repositories: Repositories, *, has_apps: bool) -> ListResourcesResult:
    """Return the resources at fixed addresses, those of each repository; pages have a template.

    Of many repositories those of the first: the others have templates.

    `has_apps`: the client shows MCP Apps, whose pages are resources, too.
    """
    rows: tuple[ResourceRow | KitResource, ...] = (
        *ROWS,
        *_kit_rows(repositories, is_template=False),
    )
    resources = [
        Resource(
            uri=row.uri + (f"{QUERY}{quote(repository)}" if repository else ""),
            name=f"{row.name} of {repository}" if repository else row.name,
            title=row.title,
            description=row.description,
            mime_type=JSON,
        )
        for repository in repositories.names[:MAX_NAMES] or ("",)
        for row in rows
    ]
    apps = [tool.app for tool in repositories.offered() if has_apps and tool.app]
    resources += [
        Resource(
            uri=app.uri,
            name=app.title,
            title=app.title,
            description=app.description,
            mime_type=APP_MIME_TYPE,
            _meta=APP_META,
        )
        for app in apps
    ]
    return ListResourcesResult(resources=resources)


def list_templates(repositories: Repositories) -> ListResourceTemplatesResult:
    """Return the templates of the addresses of pages, and of projects where they are offered.

    Where there are several repositories, each address has one, in which its name is completed.
    """
    page = ResourceTemplate(
        uri_template=PAGE_TEMPLATE + (CHOICE if repositories.names else ""),
        name="page",
        title="Documentation page",
        description=f"The Markdown of a page in the work tree, and whether it is stale. {NOTICE}",
        mime_type=MARKDOWN,
    )
    of_kits = [
        ResourceTemplate(
            uri_template=row.uri + (CHOICE if repositories.names else ""),
            name=row.name,
            title=row.title,
            description=f"{row.description} {NOTICE}",
            mime_type=JSON,
        )
        for row in _kit_rows(repositories, is_template=True)
    ]
    fixed = [
        ResourceTemplate(
            uri_template=row.uri + CHOICE,
            name=row.name,
            title=row.title,
            description=row.description,
            mime_type=JSON,
        )
        for row in ROWS
        if repositories.names
    ]
    return ListResourceTemplatesResult(resource_templates=[page, *fixed, *of_kits])


def check_address(uri: str, repositories: Repositories) -> tuple[ServedRepository, str]:
    """Return the repository that an address is about, and the address without its name.

    Raises:
        BadArgumentError: there is no such repository.
        MCPError: no resource has this address, whatever the repository contains.
    """
    name = None
    own_uri = uri
    if repositories.names and QUERY in uri:
        own_uri, _, name = uri.rpartition(QUERY)
    is_known = own_uri.startswith(PAGE) or own_uri in {row.uri for row in ROWS}
    of_kits = (found for kit in repositories.kits if (found := kit_resources(kit)))
    if not is_known and not any(own_uri.startswith(found.scheme) for found in of_kits):
        raise _not_found(uri)
    return repositories.choose(unquote(name) if name else None), own_uri


def read_app(uri: str) -> ReadResourceResult:
    """Return the page of an app, which depends on no repository and may be kept."""
    contents = TextResourceContents(
        uri=uri, mime_type=APP_MIME_TYPE, text=APPS[uri].page(), _meta=APP_META
    )
    return ReadResourceResult(contents=[contents])


def read_resource(workspace: Workspace, uri: str, own_uri: str) -> ReadResourceResult:
    """Read the resource at an address; `own_uri` is the address without a repository's name.

    Raises:
        MCPError: there is no such page.
    """
    mime_type = MARKDOWN if own_uri.startswith(PAGE) else JSON
    text = readable(read_text(workspace, own_uri))
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return ReadResourceResult(contents=[contents])


def read_text(workspace: Workspace, uri: str) -> str:
    """Return the text of a resource, the same one as long as what it describes is the same.

    Raises:
        MCPError: there is no such page.
    """
    if uri.startswith(PAGE):
        return _page_text(workspace, uri)
    row = next((row for row in ROWS if row.uri == uri), None)
    if row is None:
        return _kit_text(workspace, uri)
    record = {key: value for key, value in row.read(workspace).items() if key != "query_time_ms"}
    # No lone surrogates, escaped ones neither: JSON of other languages does not read them.
    return json.dumps({"content_notice": NOTICE, **record}, ensure_ascii=False)


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


def _kit_text(workspace: Workspace, uri: str) -> str:
    of_kits = filter(None, map(kit_resources, KITS))
    resources = next(found for found in of_kits if uri.startswith(found.scheme))
    try:
        record = resources.read(workspace.session, uri)
    except (PageNotFoundError, CollectionError) as error:
        raise bad_params(f"{error.message} {error.cause}".strip(), uri=uri) from None
    if record is None:
        raise _not_found(uri)
    return to_json({"content_notice": NOTICE, **to_object(record, is_versioned=False)})


def _kit_rows(repositories: Repositories, *, is_template: bool) -> Iterator[KitResource]:
    for kit in repositories.kits:
        if resources := kit_resources(kit):
            yield from (row for row in resources.rows if row.is_template == is_template)


def _page_text(workspace: Workspace, uri: str) -> str:
    try:
        page = read_page(workspace, unquote(uri.removeprefix(PAGE)))
    except PageNotFoundError as error:
        raise _not_found(uri, nearest=list(error.near)) from None
    record = workspace.ask(PageRequest(page.path))
    write = Writer(is_agent=True)
    refs = "; ".join(stale_ref_text(reference, write) for reference in record.stale_refs)
    staleness = f"{record.staleness}: {refs}" if refs else record.staleness
    # Two hyphens in a row would end the comment.
    comment = re.sub("-(?=-)", "- ", f"{NOTICE} Staleness: {staleness}.")
    return f"<!-- {comment} -->\n{page.text}"


def _status_record(workspace: Workspace) -> Record:
    record = to_object(workspace.ask(StatusRequest()))
    del record["root"]  # agents need not know where the repository is
    del record["index"]["path"], record["index"]["why_in_memory"]
    return record


def _tool_record(tool: str) -> Callable[[Workspace], Record]:
    """Return the function that calls a tool without arguments."""
    return lambda workspace: run_tool(workspace, tool).record


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
