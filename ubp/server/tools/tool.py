"""Tools: what a tool is, how it is called, and the cursors of lists.

A call checks the arguments, runs the tool, writes the answer as text and fits it into its budget.
The record, for clients that ask for it, lacks empty fields: agents pay for every null.
"""

import base64
import json
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ubp.core.errors import BadArgumentError
from ubp.core.model import FilePath
from ubp.output.records.encoding import Json, to_json
from ubp.output.records.fields import AnswerFacts
from ubp.output.records.schema import Schema, record_schema
from ubp.search.list_pages import Place
from ubp.server.tools.arguments import check_arguments, reject_path_traversal
from ubp.server.tools.budget import MEASURES, Budget, Fit, TokenLimit, build_answer
from ubp.workspace import Workspace

NOTICE = AnswerFacts().content_notice


class Tool(NamedTuple):
    """An operation that agents can call.

    `record` is the type that `run` returns from checked arguments, defaults included; `text` writes
    the finished record as an agent reads it; `fit` removes the least important parts of a record
    until it is within the arguments that `budgets` names. Instead of that, a list named `items` is
    shortened by calling the tool with a smaller `limit`.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    record: type
    run: Callable[[Workspace, Mapping[str, Any]], object]
    text: Callable[[Json], str]
    fit: Fit | None = None
    items: str = ""
    budgets: tuple[Budget, ...] = ("max_tokens",)
    writes: bool = False

    @property
    def output_schema(self) -> Schema:
        """Return the schema of the record, with a description of every field."""
        return record_schema(self.record, is_answer=True, is_lean=True)


# What the server writes below a text (`protocol.measurements`).
MEASUREMENT_TOKENS = 20


class ToolAnswer(NamedTuple):
    """An answer: the text, and the same facts as a record for programs."""

    record: Json
    text: str


def call_tool(
    tool: Tool,
    workspace: Workspace,
    arguments: Mapping[str, Any],
    *,
    is_structured: bool = False,
) -> ToolAnswer:
    """Run a tool and return its answer.

    Budgets limit what is sent: the text, and with `is_structured` also the record. Paths are
    relative to the directory in which the workspace was opened: open it at the repository's root.

    Raises:
        BadArgumentError: an argument is unknown, missing or not allowed.
        PageNotFoundError: no page has the name, or several have.
        UbpError: any other reason why the workspace cannot answer.
    """
    started = time.perf_counter()
    checked = check_arguments(tool.input_schema, arguments)
    reject_path_traversal(checked)

    def write(record: Json) -> str:
        return tool.text(record) + (to_json(record) if is_structured else "")

    limits = [
        TokenLimit(checked[name] - MEASUREMENT_TOKENS, MEASURES[name], write)
        for name in tool.budgets
        if name in checked
    ]
    while True:
        record = build_answer(
            tool.run(workspace, checked), started, fit=tool.fit, limits=limits, is_lean=True
        )
        shares = [limit.most / (limit.most + limit.excess(record)) for limit in limits]
        number = len(record[tool.items]) if tool.items else 0
        if number <= 1 or min(shares, default=1.0) >= 1:
            return ToolAnswer(record, tool.text(record))
        checked["limit"] = min(number - 1, max(1, int(number * min(shares))))


def write_cursor(query: Any, place: Place) -> str:
    """Return a cursor for a place in the answer to a query (any JSON value)."""
    encoded = json.dumps([_checksum(query), place.value, place.path])
    return base64.urlsafe_b64encode(encoded.encode("ascii")).decode("ascii").rstrip("=")


def read_cursor(query: Any, cursor: str, kind: type[str] | type[int]) -> Place:
    """Return the place that a cursor encodes; `kind` is the type of the sort key.

    Raises:
        BadArgumentError: it is not a cursor, or belongs to another query.
    """
    try:
        decoded = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        checksum, value, path = json.loads(decoded)
    except (ValueError, TypeError) as error:
        raise _bad_cursor("It was not returned by ubp_list_pages, or was altered.") from error
    is_value = value is None or type(value) is kind
    if checksum != _checksum(query) or not is_value or not isinstance(path, str):
        raise _bad_cursor("It belongs to a list with different filters, sort order or revision.")
    return Place(value, FilePath(path))


def _checksum(query: Any) -> int:
    return zlib.crc32(json.dumps(query, sort_keys=True).encode("ascii"))


def _bad_cursor(cause: str) -> BadArgumentError:
    return BadArgumentError(
        "cursor",
        "Invalid `cursor`.",
        cause=cause,
        hint="Repeat the arguments of the call that returned it, or omit `cursor` to start again.",
    )
