"""`ubp get-page`: a page, its links and what became of its sources."""

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.text.pages import page_text
from ubp.tools.calling import call
from ubp.tools.docs.get_page import TOOL


def get_page(
    page: str | None = None,
    *,
    title: str | None = None,
    ref: str | None = None,
    max_tokens: int | None = None,
    terminal: Terminal,
) -> int:
    """Print a page, the links out of it and to it, and whether it still describes its sources.

    Args:
        page: Its path, the unique end of that, or its `doc_id`.
        title: Its title, or a part of that which no other page has, instead.
        ref: The page at this revision instead of the work tree's.
        max_tokens: With --json: leave out what matters least until the answer is no longer.
        terminal: Where the answer goes.
    """
    if (page is None) == (title is None):
        raise UsageError(
            "Which page?",
            cause="`ubp get-page` is about one page.",
            hint="Name it: ubp get-page docs/auth.md; `ubp list-pages` lists them.",
        )
    with open_workspace(terminal) as workspace:
        if terminal.options.json:
            given = {"filepath": page, "title": title, "ref": ref, "max_tokens": max_tokens}
            terminal.record(call(TOOL, workspace, given, is_typed=True).record)
            return CLEAN
        read = workspace.page(page, title=title, ref=ref)
    terminal.write(page_text(read, terminal.style, is_quiet=terminal.options.quiet))
    return CLEAN
