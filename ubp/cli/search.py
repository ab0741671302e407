"""`ubp search`: the pages, or sections, that match a query."""

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from ubp.cli.parameters import (
    MAX_USEFUL_DEPTH,
    DocTypes,
    LinkTypes,
    Number,
    OptionalNumber,
    Revision,
    Tags,
    check_range,
)
from ubp.cli.reading import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.output.records.search import search_record, sections_record
from ubp.output.text.search import SearchTextOptions, pages_text, sections_text
from ubp.search.pages import Mode
from ubp.server.tools.docs.search import MAX_DEPTH, fit_search


def search(  # noqa: PLR0913  # the command's options
    *query: str,
    mode: Annotated[Mode, Parameter(metavar="MODE")] = "hybrid",
    fulltext: bool = False,
    limit: Annotated[int, Parameter(name=["--limit", "-n"], metavar="N")] = 10,
    doc_type: DocTypes = None,
    tag: Tags = None,
    include_links: bool = False,
    depth: Number = 2,
    link_type: LinkTypes = None,
    no_content: bool = False,
    max_tokens: OptionalNumber = None,
    explain: bool = False,
    ref: Revision = None,
    terminal: Terminal,
) -> int:
    """Run `ubp search`.

    Args:
        query: Words (match any), "a phrase", -word, prefix*, AND, OR, NOT, tag:x, type:x, path:x.
        mode: Search by keywords, meaning and links (hybrid), keywords only, or meaning only.
        fulltext: Search sections by keywords, instead of pages.
        limit: Maximum number of results (10).
        doc_type: Only pages of this type (spec, design, api, …); repeatable (match any).
        tag: Only pages with this tag; repeatable (match all).
        include_links: Show the pages linked with each result.
        depth: Follow links from the best results up to this many links, 1 to 3 (2).
        link_type: Follow only links of this type; repeatable.
        no_content: Show only the locations of results, without excerpts.
        max_tokens: With --json: maximum number of tokens; the least relevant parts are dropped.
        explain: Show the score of each page by search method, and the time of each step.
        ref: Search this revision instead of the work tree.
        terminal: Where the answer goes.
    """
    text = " ".join(query)
    if not text.strip():
        raise UsageError(
            "Missing search query.",
            hint="Specify one or more words: ubp search token expiry",
        )
    if limit < 1:
        raise UsageError(f"Invalid --limit: {limit}.", hint="Must be at least 1.")
    check_range("--depth", depth, MAX_DEPTH, why=MAX_USEFUL_DEPTH)
    options = SearchTextOptions(terminal.style, terminal.options.quiet, not no_content, explain)
    if fulltext:
        return print_answer(
            terminal,
            lambda workspace: workspace.search_sections(
                text, limit=limit, doc_types=doc_type or (), tags=tag or (), ref=ref
            ),
            partial(sections_text, options=options),
            partial(sections_record, has_content=options.has_content),
        )
    return print_answer(
        terminal,
        lambda workspace: workspace.search(
            text,
            mode=mode,
            limit=limit,
            doc_types=doc_type or (),
            tags=tag or (),
            link_types=link_type or (),
            depth=depth,
            include_linked=include_links,
            is_dated=terminal.options.json,
            ref=ref,
        ),
        partial(pages_text, options=options),
        partial(search_record, has_content=options.has_content, is_explained=explain),
        fit=fit_search,
        max_tokens=max_tokens,
    )
