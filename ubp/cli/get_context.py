"""`ubp get-context`: a page with what stands around it."""

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.ranges import FAR, check_range
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.model import LinkType
from ubp.relating import MAX_SIZE
from ubp.render.text.related import context_text
from ubp.tools.calling import call
from ubp.tools.docs.get_context import MAX_DEPTH, TOOL, find


def get_context(  # noqa: PLR0913  # the command's options
    page: str | None = None,
    *,
    depth: int = 2,
    link_type: list[LinkType] | None = None,
    max_size: int = MAX_SIZE,
    max_tokens: int | None = None,
    ref: str | None = None,
    terminal: Terminal,
) -> int:
    """Tell what stands around a page: the pages that it is linked with, in short.

    Args:
        page: Its path, the unique end of that, or its `doc_id`.
        depth: Tell of pages within so many links of it, 1 to 3 (2 where nothing is said).
        link_type: Follow links of this type only; repeatable.
        max_size: Leave out what matters least beyond so many characters (50000).
        max_tokens: The same for so many tokens; with --json the whole answer counts.
        ref: The pages of this revision instead of the work tree's.
        terminal: Where the answer goes.
    """
    if page is None:
        raise UsageError(
            "Which page?",
            cause="`ubp get-context` is about one page.",
            hint="Name it: ubp get-context docs/auth.md; `ubp list-pages` lists them.",
        )
    check_range("--depth", depth, MAX_DEPTH, why=FAR)
    check_range("--max-size", max_size)
    given = {
        "filepath": page,
        "depth": depth,
        "link_types": link_type,
        "max_size": max_size,
        "max_tokens": max_tokens,
        "ref": ref,
    }
    with open_workspace(terminal) as workspace:
        if terminal.options.json:
            terminal.record(call(TOOL, workspace, given, is_typed=True).record)
            return CLEAN
        found = find(workspace, given)
    terminal.write(context_text(found, terminal.style, is_quiet=terminal.options.quiet))
    return CLEAN
