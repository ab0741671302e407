"""Errors as agents receive them: a code, a message with the next step, and data.

An error of a tool is a result with `isError`, which a model reads and acts on; other requests, and
mistakes in the protocol such as the name of a tool that does not exist, end with the protocol's
errors.

The protocol's own codes are used where it has one; the others are between -32003 and -32019, which
neither the specification nor the library uses (-32001 is a client's time-out there, -32002 is
retired).
"""

import logging
import re
import secrets
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from pydantic import ValidationError

from ubp.core.errors import (
    BadArgumentError,
    CollectionError,
    ConfigError,
    DocumentNotFoundError,
    HubError,
    ModelError,
    ModelNeededError,
    PageNotFoundError,
    PartNotFoundError,
    RepositoryError,
    RevisionNotFoundError,
    SectionNotFoundError,
    StoreError,
    UbpError,
    UsageError,
)
from ubp.frame.encoding import to_json
from ubp.frame.quoting import name
from ubp.frame.wording import printable
from ubp.server.scheduler import IndexNotReadyError
from ubp.server.transport import readable_json
from ubp.table import ROWS

PAGE_NOT_FOUND = -32003
INDEX_NOT_READY = -32004
DATABASE_ERROR = -32005
REPOSITORY_ERROR = -32006
MODEL_ERROR = -32007
HUB_ERROR = -32008

ERROR_META = "ubp/error"  # the key of `_meta` in the result of a tool that failed

MAX_FAULTS = 3  # listed per request
MAX_CHARACTERS = 4_000
"""Of a message, and of each text in its data: they repeat what a client sent."""

LOG = logging.getLogger(__name__)

_TOOLS_OF_COMMANDS = {row.command: row.tool for row in ROWS if row.command and row.tool}
# In backquotes, or at the end of a sentence: with arguments it is another request.
_COMMAND = re.compile(r"`ubp ([a-z-]+)`|\bubp ([a-z-]+)(?=\.?$)")
# Not what a client wrote: in quotes, in a path, with a value.
_OPTION = re.compile(r"(?<![\w`\"'/.-])--([a-z]+(?:-[a-z]+)*)(?![\w=\"'`/-])")
_WHOLE_COMMAND = re.compile(r"\b(?:ubp|git) [a-z-]+")
# Two directories and more: a single one hardly reveals anything about this machine.
_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/\\-])(?:[A-Za-z]:)?(?:[/\\][^\s/\\:;,'\"`]+)+[/\\]")


class _Row(NamedTuple):
    """What an error becomes: its code, its kind, its advice (empty: the error's own hint)."""

    error: type[UbpError]
    code: int
    kind: str
    advice: str = ""


# The first row that matches applies.
_ROWS = (
    _Row(
        SectionNotFoundError,
        PAGE_NOT_FOUND,
        "section_not_found",
        "Use a section_id as a search returns it.",
    ),
    _Row(
        DocumentNotFoundError,
        PAGE_NOT_FOUND,
        "document_not_found",
        "Use a document_id as rag_search returns it.",
    ),
    _Row(PartNotFoundError, PAGE_NOT_FOUND, "page_not_found"),
    _Row(
        PageNotFoundError,
        PAGE_NOT_FOUND,
        "page_not_found",
        "Use ubp_list_pages to list all pages, or ubp_search to find a page by topic.",
    ),
    _Row(IndexNotReadyError, INDEX_NOT_READY, "index_not_ready"),
    _Row(BadArgumentError, INVALID_PARAMS, "bad_argument"),
    _Row(RevisionNotFoundError, INVALID_PARAMS, "revision_not_found"),
    _Row(ModelNeededError, MODEL_ERROR, "model_needed"),
    _Row(UsageError, INVALID_PARAMS, "invalid_params"),
    _Row(CollectionError, INVALID_PARAMS, "collection_not_found"),
    _Row(StoreError, DATABASE_ERROR, "database_error"),
    _Row(ModelError, MODEL_ERROR, "model_error"),
    _Row(HubError, HUB_ERROR, "hub_error"),
    _Row(ConfigError, REPOSITORY_ERROR, "configuration_error"),
    _Row(RepositoryError, REPOSITORY_ERROR, "repository_error"),
)


async def answer_errors(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Turn each exception into an error of the protocol (a middleware)."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        if error.code == INTERNAL_ERROR:  # the library's, which has logged the reason
            raise internal_error(ctx.method, error) from None
        raise
    except ValidationError as error:
        raise _malformed(ctx.method, error) from None
    except UbpError as error:
        raise translate(error) from None
    except Exception as error:  # noqa: BLE001  # nothing above this handles it
        raise internal_error(ctx.method, error) from None


def translate(
    error: UbpError, offered: Collection[str] = (), arguments: Collection[str] = ()
) -> MCPError:
    """Return the protocol's error for an error with message, cause and hint.

    Commands without arguments are replaced by the tools that give the same answer, if `offered`;
    options outside of commands by those `arguments` of the tool that have their names.
    """
    row = next((row for row in _ROWS if isinstance(error, row.error)), None)
    if row is None:
        return internal_error(type(error).__name__, error)
    data = {"kind": row.kind, **_shortened(_details(error))}
    sentences = [error.message, error.cause, *_advice(error, row)]
    *before, last = (
        _with_arguments(_with_tools(sentence, offered), arguments)
        for sentence in sentences
        if sentence
    )
    message = " ".join([*map(_ended, before), last])
    return MCPError(row.code, printable(redact_paths(_short(message))), readable_json(data))


def _ended(sentence: str) -> str:
    """Return a sentence with a full stop: some end with a name, as it was given."""
    return sentence if sentence.endswith((".", "?", "!", ":")) else f"{sentence}."


def _with_tools(sentence: str, offered: Collection[str]) -> str:
    def tool(match: re.Match[str]) -> str:
        name = _TOOLS_OF_COMMANDS.get(match[1] or match[2], "")
        return name if name in offered else match[0]

    return _COMMAND.sub(tool, sentence)


def _with_arguments(sentence: str, arguments: Collection[str]) -> str:
    def argument(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        return f"`{name}`" if name in arguments else match[0]

    return sentence if _WHOLE_COMMAND.search(sentence) else _OPTION.sub(argument, sentence)


def error_result(error: MCPError, about: str = "") -> CallToolResult:
    """Return an error as the result of a tool; its code and data are in `_meta`.

    `about` precedes the text.

    Raises:
        MCPError: it is an internal error.
    """
    code, message, data = error.error.code, error.error.message, error.error.data
    if code == INTERNAL_ERROR:
        raise error
    text = TextContent(text=f"{about}Error {code} ({data['kind']}): {message}")
    return CallToolResult(
        content=[text],
        is_error=True,
        _meta={ERROR_META: {"code": code, "message": message, "data": data}},
    )


def failure_result(failure: str, error: MCPError) -> CallToolResult:
    """Return an error of a tool whose errors are objects with `success`, `error` and `message`.

    An internal error has no details, but the number under which the log has them.
    """
    code, message, data = error.error.code, error.error.message, error.error.data
    is_internal = code == INTERNAL_ERROR
    envelope = {
        "success": False,
        "error": "internal_error" if is_internal else failure,
        "message": message,
    }
    return CallToolResult(
        content=[TextContent(text=to_json(envelope))],
        structured_content=envelope,
        is_error=True,
        _meta={ERROR_META: {"code": code, "message": message, "data": data}},
    )


def bad_params(message: str, **data: Any) -> MCPError:
    """Return the error of a request with a wrong or missing name."""
    data = readable_json({"kind": "invalid_params", **_shortened(data)})
    return MCPError(INVALID_PARAMS, printable(_short(message)), data)


def _short(text: str) -> str:
    """Return a text that is not too long for a model, with the beginning and the end of one."""
    if len(text) <= MAX_CHARACTERS:
        return text
    return f"{text[: MAX_CHARACTERS // 2]} … {text[-MAX_CHARACTERS // 2 :]}"


def _shortened(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _short(value) if isinstance(value, str) else value for key, value in data.items()}


def redact_paths(text: str) -> str:
    """Return a text in which absolute paths are reduced to the names of the files."""
    return _ABSOLUTE_PATH.sub("", text)


def _details(error: UbpError) -> Mapping[str, Any]:
    if isinstance(error, PageNotFoundError):
        return {"nearest": list(error.near)}
    if isinstance(error, BadArgumentError):
        return {"argument": error.argument}
    return {}


def _advice(error: UbpError, row: _Row) -> tuple[str, ...]:
    if isinstance(error, PageNotFoundError):
        suggestion = f"Did you mean {' or '.join(map(name, error.near))}?" if error.near else ""
        return suggestion, row.advice
    return (row.advice or error.hint,)


def _malformed(method: str, error: ValidationError) -> MCPError:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    messages = (
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:MAX_FAULTS]
    )
    return bad_params(f"Invalid parameters for {method}: {'; '.join(messages)}.")


def internal_error(where: str, error: Exception) -> MCPError:
    """Return the error for an exception that nothing expects, which is logged with a number."""
    number = secrets.token_hex(4)
    LOG.error("error %s in %s", number, where, exc_info=error)
    return MCPError(
        INTERNAL_ERROR,
        f"Internal error {number}. This is a bug in UBP; the server's log has the details (of `ubp "
        "serve`: ubp/serve.log in the Git directory). Continue without this result.",
        {"kind": "internal_error", "error_id": number},
    )
