"""`ubp search`: the pages, or sections, that match a query."""

from functools import partial
from typing import Annotated

from cyclopts import Parameter

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
    read_collections,
)
from ubp.cli.reading import RecordFormat, print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.output.text.search import SearchTextOptions, pages_text, sections_text
from ubp.search.pages import Mode
from ubp.search.run import FoundPages, merge_pages
from ubp.search.sections import SectionAnswer
from ubp.workspace import MAX_DEPTH, Workspace


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
    in_: Annotated[str | None, Parameter(name="--in", metavar="NAME[@REV],…")] = None,
    terminal: Terminal,
) -> int:
    """Run `ubp search`.

    Args:
        query: Words (match any), "a phrase", -word, prefix*, AND, OR, NOT, tag:x, type:x, path:x,
            and fields of front matter: category:x, date>=2026-01-01.
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
        in_: Search collections instead of this repository; their results are merged by score.
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
    first, *others = read_collections(in_, ref) or (None,)
    if others and (fulltext or explain):
        raise UsageError(
            f"--{'fulltext' if fulltext else 'explain'} searches one collection: {in_}.",
            hint="Name one with --in, or leave the option out.",
        )
    options = SearchTextOptions(terminal.style, terminal.options.quiet, not no_content, explain)
    if fulltext:
        return print_answer(
            terminal,
            lambda workspace: workspace.search_sections(
                text, limit=limit, doc_types=doc_type or (), tags=tag or (), ref=ref
            ),
            partial(sections_text, options=options),
            partial(_load_sections_format, has_content=options.has_content),
            collection=first,
        )

    def search_one(workspace: Workspace) -> FoundPages:
        return workspace.search(
            text,
            mode=mode,
            limit=limit,
            doc_types=doc_type or (),
            tags=tag or (),
            link_types=link_type or (),
            depth=depth,
            include_linked=include_links,
            is_dated=terminal.options.json,
            is_absolute=bool(others),
            ref=ref,
        )

    def search_all(workspace: Workspace) -> FoundPages:
        answers = [search_one(workspace)]
        for other in others:
            with open_workspace(terminal, collection=other) as other_workspace:
                other_workspace.session.share_model(workspace.session)
                answers.append(search_one(other_workspace))
        return merge_pages(answers, limit)

    return print_answer(
        terminal,
        search_all if others else search_one,
        partial(pages_text, options=options),
        partial(_load_format, has_content=options.has_content, is_explained=explain),
        max_tokens=max_tokens,
        collection=first,
    )


def _load_format(*, has_content: bool, is_explained: bool) -> RecordFormat[FoundPages]:
    from ubp.output.records.search import search_record
    from ubp.server.tools.docs.search import fit_search

    record = partial(search_record, has_content=has_content, is_explained=is_explained)
    return RecordFormat(record, fit_search)


def _load_sections_format(*, has_content: bool) -> RecordFormat[SectionAnswer]:
    from ubp.output.records.search import sections_record

    return RecordFormat(partial(sections_record, has_content=has_content))
