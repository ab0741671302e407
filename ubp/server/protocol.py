"""The protocol's side of the server: instructions, tools, resources, prompts and completions.

It uses the library's low-level server, not the one that derives schemas from Python's annotations:
our schemas are a third shorter, errors keep the codes that we give them, and unknown arguments are
refused.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp import MCPError
from mcp.server.apps import EXTENSION_ID, client_supports_apps
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListResourcesResult,
    ListRootsRequest,
    ListRootsResult,
    ListToolsResult,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as OfferedTool
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from ubp.core.errors import UbpError
from ubp.core.text import closest_name
from ubp.core.version import __version__
from ubp.frame.budget import count_tokens
from ubp.frame.encoding import to_json
from ubp.frame.schema import Schema
from ubp.server.agents import Agents
from ubp.server.completions import completer
from ubp.server.errors import (
    answer_errors,
    bad_params,
    error_result,
    failure_result,
    internal_error,
    translate,
)
from ubp.server.prompts import list_prompts, prompt_rows, writer
from ubp.server.repositories import REPOSITORY, Repositories, subject_line
from ubp.server.resources import (
    APPS,
    check_address,
    list_resources,
    list_templates,
    read_app,
    read_resource,
)
from ubp.server.subscriptions import Subscriptions
from ubp.server.tools.tool import NOTICE, SHORT_NOTICE, AnyTool, ToolAnswer, call_tool
from ubp.server.transport import readable, readable_json


class InstructionLine(NamedTuple):
    """A line of the instructions, included if all of its `tools` are offered."""

    text: str
    tools: frozenset[str] = frozenset()


INSTRUCTION_LINES = (
    InstructionLine(
        "UBP knows this repository's Markdown documentation: which pages are relevant, how they "
        "link, and which are out of date with the code (staleness)."
    ),
    InstructionLine(
        "To answer a question: ubp_search(query), then ubp_get_context(filepath) on the best page.",
        frozenset({"ubp_search", "ubp_get_context"}),
    ),
    InstructionLine(
        "To explore: ubp_list_pages(doc_type), ubp_get_page(filepath), "
        "ubp_get_graph(center=filepath).",
        frozenset({"ubp_list_pages", "ubp_get_page", "ubp_get_graph"}),
    ),
    InstructionLine(
        "Before relying on a page or updating it: check staleness and stale_refs; "
        "ubp_check_staleness(filepath, for_update=true) returns the page and what changed in its "
        "sources. "
        "Where page and code disagree, the code is right.",
        frozenset({"ubp_check_staleness"}),
    ),
    InstructionLine(
        "To repair a page: read it so, then ubp_update_page with its blob as expected_blob, or "
        "ubp_acknowledge if it is still accurate. A person reviews what you propose.",
        frozenset({"ubp_check_staleness", "ubp_update_page", "ubp_acknowledge"}),
    ),
    InstructionLine(
        f"Paths are relative to the repository root. {NOTICE} In text, it appears in double "
        "quotes or between the lines <<<MARKER and MARKER>>>. MARKER is random and different in "
        "every response, so no page can contain it."
    ),
)


def instructions(tools: Collection[str]) -> str:
    """Return the instructions, which a model reads once before its first call, for these tools."""
    return "\n".join(line.text for line in INSTRUCTION_LINES if line.tools <= {*tools})


Context = ServerRequestContext[Any]
Result = TypeVar("Result")

# In milliseconds, for 1,000 pages; slower calls are logged as warnings.
TIME_TARGETS: Mapping[str, float] = {
    "ubp_search": 200,
    "ubp_fulltext_search": 100,
    "ubp_get_page": 50,
    "ubp_get_context": 100,
    "ubp_get_graph": 100,
    "ubp_list_pages": 50,
}

# The lists do not change while the process runs.
UNCHANGING = CacheHint(ttl_ms=3_600_000)
LISTS: tuple[CacheableMethod, ...] = (
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "tools/list",
)

# What depends on which repositories there are.
METHODS_ABOUT_REPOSITORIES = frozenset(
    {
        "completion/complete",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "tools/call",
        "tools/list",
    }
)
SECONDS_TO_LIST_ROOTS = 5.0
RECORD_META = "ubp/record"  # the key of `_meta` in calls of programs that ask for the record

MAX_NAME_CHARACTERS = 100  # of an unknown tool

LOG = logging.getLogger(__name__)


def create_server(
    repositories: Repositories, subscriptions: Subscriptions, *, is_structured: bool = False
) -> Server[dict[str, Any]]:
    """Return a server that offers the tools, resources and prompts of these repositories.

    Answers are texts; with `is_structured`, or in calls that ask for it, they are records, and the
    text is the record's JSON. Clients pass a model one of the two (Claude Code 2.1 and VS Code the
    record), so that a budget counts it once.
    """
    server: Server[dict[str, Any]] = Server(
        "ubp",
        version=__version__,
        title="Unified Blueprint",
        instructions=instructions([tool.name for tool in repositories.offered()]),
        cache_hints=dict.fromkeys(LISTS, UNCHANGING),
        lifespan=partial(_notify_changes, subscriptions),
        on_list_tools=partial(_list_tools, repositories, is_structured=is_structured),
        on_call_tool=partial(_call_tool, repositories, Agents(), is_structured=is_structured),
        on_list_resources=partial(_list_resources, repositories),
        on_list_resource_templates=_listing(partial(list_templates, repositories)),
        on_read_resource=partial(_read_resource, repositories),
        on_subscribe_resource=subscriptions.subscribe,
        on_unsubscribe_resource=subscriptions.unsubscribe,
        on_subscriptions_listen=subscriptions.listen,
        on_list_prompts=_listing(partial(list_prompts, repositories)),
        on_get_prompt=partial(_get_prompt, repositories),
        on_completion=partial(_complete, repositories),
    )
    if any(tool.app for tool in repositories.offered()):
        server.extensions[EXTENSION_ID] = {}
    # The library's own middleware would trace every call where OpenTelemetry is set up.
    server.middleware[:] = [answer_errors, partial(_ask_for_folders, repositories)]
    return server


@asynccontextmanager
async def _notify_changes(
    subscriptions: Subscriptions, _: Server[dict[str, Any]]
) -> AsyncIterator[dict[str, Any]]:
    """Check what clients subscribed to as long as the server runs."""
    task = asyncio.create_task(subscriptions.notify_changes())
    try:
        yield {}
    finally:
        task.cancel()


async def _ask_for_folders(
    repositories: Repositories, context: Context, call_next: CallNext
) -> HandlerResult:
    """Serve the folders of a client that offers them, where there is no repository (a middleware).

    Only clients of the handshake era do, and not before they are initialized.
    """
    capabilities = context.session.client_capabilities
    if (
        repositories.wants_folders
        and context.method in METHODS_ABOUT_REPOSITORIES
        and capabilities is not None
        and capabilities.roots is not None
        and context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    ):
        try:
            answer = await context.session.send_request(
                ListRootsRequest(), ListRootsResult, SECONDS_TO_LIST_ROOTS
            )
        except MCPError as error:
            LOG.warning("the client did not list its folders: %s", error.message)
        else:
            addresses = (urlsplit(str(root.uri)) for root in answer.roots)
            folders = [url2pathname(uri.path) for uri in addresses if uri.scheme == "file"]
            repositories.serve_folders(folders)
    return await call_next(context)


async def _list_tools(
    repositories: Repositories, context: Context, _: object, *, is_structured: bool
) -> ListToolsResult:
    choice = {REPOSITORY: repositories.schema()} if repositories.names else {}
    has_apps = client_supports_apps(context)
    return ListToolsResult(
        tools=[
            _offer(tool, choice, has_output_schema=is_structured, has_app=has_apps)
            for tool in repositories.offered()
        ]
    )


def _offer(
    tool: AnyTool, choice: Mapping[str, Any], *, has_output_schema: bool, has_app: bool
) -> OfferedTool:
    """Describe a tool; `choice` has the schema of the argument that chooses a repository."""
    schema = tool.input_schema
    output_schema = dict(tool.output_schema)
    if choice:
        schema = {**schema, "properties": {**schema["properties"], **choice}}
        answered = {REPOSITORY: {"type": "string", "description": "what the answer is about"}}
        output_schema["properties"] = {**output_schema["properties"], **answered}
    return OfferedTool(
        name=tool.name,
        title=tool.title,
        description=f"{tool.shown_description} {SHORT_NOTICE}",
        input_schema=_brief(schema),
        output_schema=output_schema if has_output_schema else None,
        annotations=ToolAnnotations(
            read_only_hint=not tool.writes,
            # What only reads destroys nothing, and may be repeated.
            destructive_hint=tool.destroys if tool.writes else None,
            idempotent_hint=False if tool.writes else None,
            open_world_hint=tool.run_online is not None and tool.run is tool.run_online,
        ),
        _meta={"ui": {"resourceUri": tool.app.uri}} if tool.app and has_app else None,
    )


def _brief(schema: Schema) -> Schema:
    """Return a schema without the defaults of flags, which are off unless they are given.

    Each agent pays for every character.
    """
    properties = {
        name: {key: value for key, value in part.items() if key != "default" or value is not False}
        for name, part in schema["properties"].items()
    }
    return {**schema, "properties": properties}


async def _list_resources(
    repositories: Repositories, context: Context, _: object
) -> ListResourcesResult:
    return list_resources(repositories, has_apps=client_supports_apps(context))


def _listing(list_items: Callable[[], Result]) -> Callable[[Context, Any], Awaitable[Result]]:
    async def answer(_: Context, __: Any) -> Result:
        return list_items()

    return answer


async def _call_tool(
    repositories: Repositories,
    agents: Agents,
    context: Context,
    params: CallToolRequestParams,
    *,
    is_structured: bool,
) -> CallToolResult:
    started = time.perf_counter()
    is_structured = is_structured or bool((params.meta or {}).get(RECORD_META))
    tool: AnyTool | None = None
    tools: Mapping[str, AnyTool] = {}
    try:
        served, arguments = repositories.take(params.arguments or {})
        tools = repositories.tools(served)
        tool = tools.get(params.name)
        agent = agents.calling(context)
        has_app = client_supports_apps(context)
        if tool is None:
            raise _unknown_tool(params.name, tools)  # noqa: TRY301  # an error of the protocol
        answer = await served.scheduler.answer(
            lambda workspace: call_tool(
                tool,
                workspace,
                arguments,
                is_structured=is_structured,
                has_app=has_app,
                agent=agent,
            ),
            context.session.report_progress,
            writes=tool.writes,
        )
    except UbpError as error:
        translated = translate(error, tools, tool.input_schema["properties"] if tool else ())
        if is_structured and tool is not None and tool.failure:
            return failure_result(tool.failure, translated)
        is_chosen = repositories.names and tools
        return error_result(translated, subject_line(served.name) if is_chosen else "")
    except Exception as error:
        if not is_structured or tool is None or not tool.failure or isinstance(error, MCPError):
            raise
        return failure_result(tool.failure, internal_error(tool.name, error))
    _log_time(tool.name, arguments, (time.perf_counter() - started) * 1000)
    meta = readable_json(answer.meta) if answer.meta else None
    if is_structured:
        record = {REPOSITORY: served.name, **answer.record} if repositories.names else answer.record
        record = readable_json(record)
        text = TextContent(text=to_json(record))
        return CallToolResult(content=[text], structured_content=record, _meta=meta)
    text = TextContent(text=readable(answer.text) + _measurements(answer))
    return CallToolResult(content=[text], _meta=meta)


def _measurements(answer: ToolAnswer) -> str:
    """Return the size and time of an answer that is text alone; a record has them as fields."""
    milliseconds = answer.record["query_time_ms"]
    return f"[about {count_tokens(answer.text)} tokens, {milliseconds} ms]\n"


async def _read_resource(
    repositories: Repositories, context: Context, params: ReadResourceRequestParams
) -> ReadResourceResult:
    if params.uri in APPS:
        return read_app(params.uri)
    served, uri = check_address(params.uri, repositories)
    return await served.scheduler.answer(
        lambda workspace: read_resource(workspace, params.uri, uri), context.session.report_progress
    )


async def _get_prompt(
    repositories: Repositories, context: Context, params: GetPromptRequestParams
) -> GetPromptResult:
    served, arguments = repositories.take(params.arguments or {})
    chosen = served.name if repositories.names else ""
    write = writer(params.name, arguments, chosen, prompt_rows(repositories))
    return await served.scheduler.answer(write, context.session.report_progress)


async def _complete(
    repositories: Repositories, context: Context, params: CompleteRequestParams
) -> CompleteResult:
    given = (params.context.arguments if params.context else None) or {}
    served, _ = repositories.take(given)
    prompts = {row.name for row in prompt_rows(repositories)}
    complete = completer(params, prompts, repositories.names)
    return await served.scheduler.answer(complete, context.session.report_progress)


def _unknown_tool(requested: str, tools: Mapping[str, AnyTool]) -> Exception:
    name = requested[:MAX_NAME_CHARACTERS]
    closest = closest_name(name, tools)
    suggestion = f" Did you mean {closest}?" if closest else ""
    return bad_params(
        f"Unknown tool: {name}.{suggestion} Available: {', '.join(tools)}.", tool=name
    )


def _log_time(name: str, arguments: Mapping[str, Any], milliseconds: float) -> None:
    sizes = ", ".join(f"{key} {len(str(value))}" for key, value in arguments.items())
    call = f"{name} (argument lengths: {sizes or 'none'}) took {milliseconds:.0f} ms"
    target = TIME_TARGETS.get(name)
    if target is not None and milliseconds > target:
        LOG.warning("%s, more than the target of %.0f ms", call, target)
    else:
        LOG.debug("%s", call)
