"""Tools: what a tool is, how it is called, and the cursors of lists.

A call checks the arguments, runs the tool, leaves empty fields out of its record (agents pay for
every null), fits it into its budget, and writes it as text, too.
"""

import base64
import json
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ubp.core.errors import BadArgumentError
from ubp.core.model import FilePath
from ubp.output.records.encoding import Json
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
    until it is within the argument that `budget` names.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    record: type
    run: Callable[[Workspace, Mapping[str, Any]], object]
    text: Callable[[Json], str]
    fit: Fit | None = None
    budget: Budget = "max_tokens"
    writes: bool = False

    @property
    def output_schema(self) -> Schema:
        """Return the schema of the record, with a description of every field."""
        return record_schema(self.record, is_answer=True, is_lean=True)


class ToolAnswer(NamedTuple):
    """An answer: the record for programs, and the same facts as text for readers."""

    record: Json
    text: str


def call_tool(tool: Tool, workspace: Workspace, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Run a tool and return its answer.

    Paths are relative to the directory in which the workspace was opened: open it at the
    repository's root.

    Raises:
        BadArgumentError: an argument is unknown, missing or not allowed.
        PageNotFoundError: no page has the name, or several have.
        UbpError: any other reason why the workspace cannot answer.
    """
    started = time.perf_counter()
    checked = check_arguments(tool.input_schema, arguments)
    reject_path_traversal(checked)
    limit = None
    if tool.budget in checked:
        limit = TokenLimit(checked[tool.budget], MEASURES[tool.budget])
    record = build_answer(
        tool.run(workspace, checked), started, fit=tool.fit, limit=limit, is_lean=True
    )
    return ToolAnswer(record, tool.text(record))


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
