"""`ubp search`: which pages, or which sections, answer a query."""

from typing import Annotated, Any

from cyclopts import Parameter

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.model import LinkType
from ubp.render.search_records import search_record, sections_record
from ubp.render.text.search import Telling, pages_text
from ubp.render.text.sections import sections_text
from ubp.search.answers import SectionAnswer
from ubp.search.pages import Mode
from ubp.searching import FoundPages

MAX_DEPTH = 3


def search(  # noqa: PLR0913  # the command's options
    *query: str,
    mode: Mode = "hybrid",
    fulltext: bool = False,
    limit: Annotated[int, Parameter(name=["--limit", "-n"])] = 10,
    doc_type: list[str] | None = None,
    tag: list[str] | None = None,
    include_links: bool = False,
    depth: int = 2,
    link_type: list[LinkType] | None = None,
    no_content: bool = False,
    explain: bool = False,
    ref: str | None = None,
    terminal: Terminal,
) -> int:
    """Find pages by words, by meaning, and by the links between them.

    Args:
        query: Any of these words; "a phrase", -word, start*, AND, OR, NOT, tag:x, type:x, path:x.
        mode: Ask everything (hybrid), words alone, or meaning alone.
        fulltext: Find sections by their words alone, not pages.
        limit: Show so many pages or sections.
        doc_type: Only pages of this type (spec, design, api, …); repeatable: of any of them.
        tag: Only pages with this tag; repeatable: with all of them.
        include_links: Tell which pages the found ones are linked with.
        depth: Follow links from the best pages so far, 1 to 3.
        link_type: Follow links of this type only; repeatable.
        no_content: Show where the answers stand, not what stands there.
        explain: Tell what each leg says of every page, and how long each step took.
        ref: Search this revision instead of the work tree.
        terminal: Where the answer goes.
    """
    text = _check(query, limit, depth)
    telling = Telling(terminal.style, terminal.options.quiet, not no_content, explain)
    pages: dict[str, Any] = {"doc_types": doc_type or (), "tags": tag or (), "ref": ref}
    with open_workspace(terminal) as workspace:
        if fulltext:
            answer = workspace.search_sections(text, limit=limit, **pages)
            return _tell_sections(answer, telling, terminal)
        found = workspace.search(
            text,
            mode=mode,
            limit=limit,
            link_types=link_type or (),
            depth=depth,
            include_linked=include_links,
            is_dated=terminal.options.json,
            **pages,
        )
    return _tell_pages(found, telling, terminal)


def _tell_sections(answer: SectionAnswer, telling: Telling, terminal: Terminal) -> int:
    if terminal.options.json:
        terminal.record(sections_record(answer, has_content=telling.has_content))
    else:
        terminal.write(sections_text(answer, telling))
    return CLEAN


def _tell_pages(found: FoundPages, telling: Telling, terminal: Terminal) -> int:
    if terminal.options.json:
        record = search_record(
            found, has_content=telling.has_content, is_explained=telling.is_explained
        )
        terminal.record(record)
    else:
        terminal.write(pages_text(found, telling))
    return CLEAN


def _check(query: tuple[str, ...], limit: int, depth: int) -> str:
    text = " ".join(query)
    if not text.strip():
        raise UsageError(
            "What is to be found?",
            cause="`ubp search` looks for words in the pages, and for what they mean.",
            hint="Name some: ubp search token expiry",
        )
    if limit < 1:
        raise UsageError(
            f"--limit is {limit}.", cause="So many cannot be shown.", hint="Take 1 or more."
        )
    if not 1 <= depth <= MAX_DEPTH:
        raise UsageError(
            f"--depth is {depth}.",
            cause="Beyond a few links nearly all pages are near each other.",
            hint=f"Take 1 to {MAX_DEPTH}.",
        )
    return text
