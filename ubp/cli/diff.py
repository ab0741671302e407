"""`ubp diff`: two versions as they are typed, `NAME@A..B`, and the answer."""

import re
from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.answers.search.diff import DIFF, DiffRequest
from ubp.cli.print_answer import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.config import COLLECTION_NAME
from ubp.core.errors import UsageError

_COLLECTION = re.compile(rf"({COLLECTION_NAME})@(?!\{{)(.*)", re.DOTALL)


def diff(
    versions: str,
    page: str | None = None,
    /,
    *,
    format_: Annotated[
        Literal["text", "json", "markdown"], Parameter(name=["--format", "-f"], metavar="FORMAT")
    ] = "text",
    terminal: Terminal,
) -> int:
    """Run `ubp diff`.

    Args:
        versions: Two revisions: A..B, of a collection NAME@A..B.
        page: Compare only this page, or one of its sections: PATH or PATH#SECTION.
        format_: Output format.
        terminal: Where the answer goes.
    """
    matched = _COLLECTION.fullmatch(versions)
    name, span = (matched[1], matched[2]) if matched else (None, versions)
    old, dots, new = span.partition("..")
    if not dots or not old or new.startswith("."):
        raise UsageError(
            f"Not two versions: {versions}.",
            hint="Write them as A..B, of a collection as NAME@A..B.",
        )
    path, _, section = (page or "").partition("#")
    request = DiffRequest(old, new or "HEAD", path or None, section or None)
    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    return print_answer(DIFF, request, terminal, collection=name, format_=format_)
