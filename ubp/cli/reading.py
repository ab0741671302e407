"""What the commands that read pages have in common."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import check_range
from ubp.cli.terminal import Terminal
from ubp.workspace import Workspace

if TYPE_CHECKING:
    from ubp.frame.budget import Fit
    from ubp.index.collections import CollectionReference

Value = TypeVar("Value")


class RecordFormat(NamedTuple, Generic[Value]):
    """The record of an answer, and how it is cut to a number of tokens."""

    record: Callable[[Value], object]
    fit: "Fit | None" = None


def print_answer(  # noqa: PLR0913  # a reading command in full
    terminal: Terminal,
    read: Callable[[Workspace], Value],
    text: Callable[[Value], str],
    load_format: Callable[[], RecordFormat[Value]],
    *,
    max_tokens: int | None = None,
    collection: "CollectionReference | None" = None,
) -> int:
    """Print what `read` returns as text, or with `--json` as its record; return the exit status.

    `load_format` imports what only `--json` needs: the classes of records take 40 ms to make.
    `collection` is read instead of the repository.

    Raises:
        UsageError: `max_tokens` is too small for any answer.
    """
    if max_tokens is not None:
        from ubp.frame.budget import MIN_TOKENS

        check_range("--max-tokens", max_tokens, minimum=MIN_TOKENS)
    started = time.perf_counter()
    with open_workspace(terminal, collection=collection) as workspace:
        value = read(workspace)
    if terminal.options.json:
        from ubp.frame.budget import TokenLimit, build_answer, count_tokens

        record, fit = load_format()
        limits = []
        if max_tokens is not None:
            limits.append(TokenLimit(max_tokens, count_tokens, is_lean=False))
        answer = build_answer(record(value), started, fit=fit, limits=limits, is_lean=False)
        terminal.json(answer)
    else:
        terminal.write(text(value))
    return CLEAN
