"""`ubp search`: which pages, or which sections, answer a query."""

from typing import Annotated

from cyclopts import Parameter

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.search_records import search_record, sections_record
from ubp.render.text.search import Telling, pages_text, sections_text


def search(
    *query: str,
    fulltext: bool = False,
    limit: Annotated[int, Parameter(name=["--limit", "-n"])] = 10,
    no_content: bool = False,
    ref: str | None = None,
    terminal: Terminal,
) -> int:
    """Find pages by their words.

    Args:
        query: Words, any of which will do; "a phrase"; -word; prefix*; AND, OR, NOT in capitals.
        fulltext: Find sections by their words alone, not pages.
        limit: Show so many pages or sections.
        no_content: Show where the words stand, not what stands there.
        ref: Search this revision instead of the work tree.
        terminal: Where the answer goes.
    """
    text = _check(query, limit)
    has_content = not no_content
    telling = Telling(terminal.style, terminal.options.quiet, has_content)
    with open_workspace(terminal) as workspace:
        if fulltext:
            answer = workspace.search_sections(text, limit=limit, ref=ref)
            if terminal.options.json:
                terminal.record(sections_record(answer, has_content=has_content))
            else:
                terminal.write(sections_text(answer, telling))
        else:
            found = workspace.search(text, limit=limit, ref=ref)
            if terminal.options.json:
                terminal.record(search_record(found, has_content=has_content))
            else:
                terminal.write(pages_text(found, telling))
    return CLEAN


def _check(query: tuple[str, ...], limit: int) -> str:
    text = " ".join(query)
    if not text.strip():
        raise UsageError(
            "What is to be found?",
            cause="`ubp search` looks for words in the pages.",
            hint="Name some: ubp search token expiry",
        )
    if limit < 1:
        raise UsageError(
            f"--limit is {limit}.", cause="So many cannot be shown.", hint="Take 1 or more."
        )
    return text
