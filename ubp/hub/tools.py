"""The hub's tools for agents: the same answers, for whoever the token is about."""

import time
from http import HTTPStatus
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.concurrency import run_in_threadpool

from ubp.core.errors import ModelError, UbpError
from ubp.core.version import __version__
from ubp.frame.encoding import to_json
from ubp.frame.fields import AnswerFacts
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.hub.answers import AnyHubAnswer
from ubp.hub.api import Hub, Reply
from ubp.hub.database import DatabaseDownError
from ubp.server.errors import answer_errors, bad_params, error_result, translate

INSTRUCTIONS = (
    "UBP's hub knows the documentation of all repositories that you may read: which pages describe "
    "a file, which are out of date, who owns them. Repositories are named HOST/OWNER/NAME. "
    + AnswerFacts().content_notice
)

Context = ServerRequestContext[Any]


def create_hub_server(hub: Hub) -> Server[dict[str, Any]]:
    """Return a server that offers the hub's tools.

    The library's own middleware traces every call where OpenTelemetry is set up.
    """
    tools = {answer.tool: answer for answer in hub.answers.values() if answer.tool}

    async def list_tools(_: Context, __: object) -> ListToolsResult:
        return ListToolsResult(tools=[_offer(answer) for answer in tools.values()])

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        answer = tools.get(params.name)
        if answer is None:
            raise bad_params(f"Unknown tool: {params.name[:100]}.")
        token = get_access_token()
        reader = str((token.claims or {})["reader"]) if token else ""
        return await run_in_threadpool(_answer, hub, answer, reader, params.arguments or {})

    server: Server[dict[str, Any]] = Server(
        "ubp-hub",
        version=__version__,
        title="Unified Blueprint: the hub",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(answer_errors)
    return server


def _offer(answer: AnyHubAnswer) -> Tool:
    return Tool(
        name=answer.tool,
        title=answer.title,
        description=answer.description,
        input_schema=answer.schema,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _answer(
    hub: Hub, answer: AnyHubAnswer, reader: str, arguments: dict[str, Any]
) -> CallToolResult:
    """Return the answer to a reader, and add the call to the log."""
    started = time.perf_counter()
    status = HTTPStatus.OK
    try:
        request = answer.read(arguments)
        with hub.database.reading.connection(is_snapshot=True) as connection:
            record = answer.run(connection, reader, request)
        text = joined(answer.text(record, Writer(is_agent=True)))
        result = CallToolResult(content=[TextContent(text=text)])
    except UbpError as error:
        is_down = isinstance(error, DatabaseDownError | ModelError)
        status = HTTPStatus.SERVICE_UNAVAILABLE if is_down else HTTPStatus.BAD_REQUEST
        result = error_result(translate(error))
    seconds = time.perf_counter() - started
    question = to_json(arguments).encode("utf-8", "replace")
    reply = hub.finish(answer.tool, reader, question, Reply(status, None), seconds)
    if reply.status != status:
        message = reply.value["error"]["message"]
        return CallToolResult(content=[TextContent(text=message)], is_error=True)
    return result
