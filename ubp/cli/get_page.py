"""`ubp get-page`: a page, its links and what became of its sources."""

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.page_records import page_record
from ubp.render.text.pages import page_text


def get_page(page: str | None = None, *, ref: str | None = None, terminal: Terminal) -> int:
    """Print a page, the links out of it and to it, and whether it still describes its sources.

    Args:
        page: Its path, the unique end of that, or its `doc_id`.
        ref: The page at this revision instead of the work tree's.
        terminal: Where the answer goes.
    """
    if page is None:
        raise UsageError(
            "Which page?",
            cause="`ubp get-page` is about one page.",
            hint="Name it: ubp get-page docs/auth.md; `ubp list-pages` lists them.",
        )
    with open_workspace(terminal) as workspace:
        read = workspace.page(page, ref=ref)
    if terminal.options.json:
        terminal.record(page_record(read))
    else:
        terminal.write(page_text(read, terminal.style, is_quiet=terminal.options.quiet))
    return CLEAN
