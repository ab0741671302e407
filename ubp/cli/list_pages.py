"""`ubp list-pages`: the pages there are."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.render.text.pages import list_text
from ubp.tools.arguments import check
from ubp.tools.calling import call
from ubp.tools.docs.list_pages import LIMIT, TOOL, next_cursor, read_list


def list_pages(  # noqa: PLR0913  # the command's options
    *,
    doc_type: list[str] | None = None,
    tag: list[str] | None = None,
    sort: Literal["title", "updated_at", "created_at", "filepath"] = "title",
    order: Literal["asc", "desc"] = "asc",
    limit: Annotated[int, Parameter(name=["--limit", "-n"])] = LIMIT,
    cursor: str | None = None,
    ref: str | None = None,
    terminal: Terminal,
) -> int:
    """List the pages with their titles, types and links.

    Args:
        doc_type: Only pages of this type (spec, design, api, …); repeatable: of any of them.
        tag: Only pages with this tag; repeatable: with all of them.
        sort: What they are sorted by.
        order: Upwards or downwards.
        limit: Show so many (200).
        cursor: Go on where an answer ended.
        ref: The pages of this revision instead of the work tree's.
        terminal: Where the answer goes.
    """
    given = check(
        TOOL.input_schema,
        {
            "doc_type": doc_type,
            "tags": tag,
            "sort": sort,
            "order": order,
            "limit": limit,
            "cursor": cursor,
            "ref": ref,
        },
        has_maxima=False,
    )
    with open_workspace(terminal) as workspace:
        if terminal.options.json:
            terminal.record(call(TOOL, workspace, given, is_typed=True).record)
            return CLEAN
        listed = read_list(workspace, given, is_dated=False)
    is_quiet = terminal.options.quiet
    terminal.write(
        list_text(listed, terminal.style, cursor=next_cursor(listed, given), is_quiet=is_quiet)
    )
    return CLEAN
