"""`ubp search`: the pages, or sections, that match a query."""

from functools import partial
from typing import Annotated, Any

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
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
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.output.text.search import SearchTextOptions, pages_text, sections_text
from ubp.search.pages import Mode
from ubp.server.tools.docs import fulltext_search
from ubp.server.tools.docs import search as page_search
from ubp.server.tools.docs.search import MAX_DEPTH
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace


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
    arguments = {
        "query": text,
        "mode": mode,
        "limit": limit,
        "doc_type": doc_type,
        "tags": tag,
        "include_linked": include_links,
        "depth": depth,
        "link_types": link_type,
        "max_tokens": max_tokens,
        "ref": ref,
    }
    with open_workspace(terminal) as workspace:
        if fulltext:
            _print_sections(workspace, arguments, options, terminal)
        else:
            _print_pages(workspace, arguments, options, terminal)
    return CLEAN


def _print_pages(
    workspace: Workspace,
    arguments: dict[str, Any],
    options: SearchTextOptions,
    terminal: Terminal,
) -> None:
    if not terminal.options.json:
        results = page_search.find(workspace, arguments, is_dated=False)
        terminal.write(pages_text(results, options))
        return
    run = partial(
        page_search.run, has_content=options.has_content, is_explained=options.is_explained
    )
    tool = page_search.SEARCH._replace(run=run)
    terminal.record(call_tool(tool, workspace, arguments, is_typed=True).record)


def _print_sections(
    workspace: Workspace,
    arguments: dict[str, Any],
    options: SearchTextOptions,
    terminal: Terminal,
) -> None:
    tags = arguments["tags"] or ()
    if not terminal.options.json:
        results = fulltext_search.find(workspace, arguments, tags=tags)
        terminal.write(sections_text(results, options))
        return
    run = partial(fulltext_search.run, has_content=options.has_content, tags=tags)
    tool = fulltext_search.FULLTEXT_SEARCH._replace(run=run)
    supported = {name: arguments[name] for name in tool.input_schema["properties"]}
    terminal.record(call_tool(tool, workspace, supported, is_typed=True).record)
