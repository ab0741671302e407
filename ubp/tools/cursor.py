"""Where a list goes on, as one opaque word."""

import base64
import json
import zlib
from typing import Any

from ubp.errors import BadArgumentError
from ubp.graph.pages import Place
from ubp.model import FilePath


def write_cursor(question: Any, place: Place) -> str:
    """A place in the answer to a question (whatever JSON can hold)."""
    told = json.dumps([_mark(question), place.value, place.path])
    return base64.urlsafe_b64encode(told.encode("ascii")).decode("ascii").rstrip("=")


def read_cursor(question: Any, cursor: str, kind: type[str] | type[int]) -> Place:
    """The place that a cursor tells; `kind` is what the list is sorted by.

    Raises:
        BadArgumentError: it is none of ours, or belongs to another question.
    """
    try:
        told = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        mark, value, path = json.loads(told)
    except (ValueError, TypeError) as error:
        raise _bad("It is not as an answer told it.") from error
    is_value = value is None or type(value) is kind
    if mark != _mark(question) or not is_value or not isinstance(path, str):
        raise _bad("It continues another list: other filters, another order or revision.")
    return Place(value, FilePath(path))


def _mark(question: Any) -> int:
    return zlib.crc32(json.dumps(question, sort_keys=True).encode("ascii"))


def _bad(cause: str) -> BadArgumentError:
    return BadArgumentError(
        "cursor",
        "`cursor` cannot be used.",
        cause=cause,
        hint="Repeat the call that gave it, with that cursor; or begin without one.",
    )
