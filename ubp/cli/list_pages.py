"""`ubp list-pages`: the pages there are."""

from typing import Literal

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.render.page_records import pages_record
from ubp.render.text.pages import list_text


def list_pages(  # noqa: PLR0913  # the command's options
    *,
    doc_type: list[str] | None = None,
    tag: list[str] | None = None,
    sort: Literal["title", "updated_at", "filepath"] = "title",
    order: Literal["asc", "desc"] = "asc",
    ref: str | None = None,
    terminal: Terminal,
) -> int:
    """List the pages with their titles, types and links.

    Args:
        doc_type: Only pages of this type (spec, design, api, …); repeatable: of any of them.
        tag: Only pages with this tag; repeatable: with all of them.
        sort: What they are sorted by.
        order: Upwards or downwards.
        ref: The pages of this revision instead of the work tree's.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        listed = workspace.pages(
            doc_types=doc_type or (),
            tags=tag or (),
            sort=sort,
            is_descending=order == "desc",
            is_dated=terminal.options.json or sort == "updated_at",
            ref=ref,
        )
    if terminal.options.json:
        terminal.record(pages_record(listed))
    else:
        terminal.write(list_text(listed, terminal.style, is_quiet=terminal.options.quiet))
    return CLEAN
