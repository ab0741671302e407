"""`ubp list-pages` and `ubp_list_pages`: the pages, sorted and filtered."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from ubp.answers.pages.folders import FolderRecord, folder_lines, folder_records
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import DocTypes, MaxTokens, Ref, Tags, between
from ubp.frame.fields import (
    NO_ROOM,
    REVISION,
    Count,
    DocId,
    DocType,
    Moment,
    Option,
    PageLevel,
    PagePath,
    Title,
    WhyUnreadable,
)
from ubp.frame.records import UpdatedAt, dates, moment_or_none
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.facts import why_unreadable
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.search.list_pages import ListedPage, ListRequest, PageList, SortKey, list_pages
from ubp.staleness.state import assess_paths

MAX_LIMIT = 1_000
# Left out first where not all pages fit: what the text does not have, then all but the level.
SPARE = (
    ("doc_id", "link_count", "tags"),
    ("updated_at", "doc_type", "outgoing_link_count", "incoming_link_count"),
)
# A page is a line of about 45 tokens: 60 are 2,700, and a summary by folder says where the rest is.
LIMIT, PEOPLES_LIMIT = 60, 200
FOLDERS_TOKENS = 600  # the least budget with a summary by folder, which takes up to 250 as JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPageRecord:
    """A page in a list."""

    doc_id: Annotated[DocId | None, NO_ROOM] = None
    filepath: PagePath
    title: Title
    doc_type: Annotated[DocType | None, NO_ROOM] = None
    tags: Annotated[tuple[str, ...], "tags from the front matter"] = ()
    link_count: Annotated[Count | None, f"outgoing and incoming; {NO_ROOM}"] = None
    outgoing_link_count: Annotated[Count | None, f"its links to other pages; {NO_ROOM}"] = None
    incoming_link_count: Annotated[Count | None, f"links from other pages; {NO_ROOM}"] = None
    staleness: PageLevel
    created_at: Annotated[
        Moment | None,
        "committer date of the commit that added the page; null unless it is the sort key",
    ] = None
    updated_at: UpdatedAt = None
    uncommitted: Annotated[bool, "whether the file differs from the last commit"] = False
    unreadable: WhyUnreadable = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesRecord:
    """The list of pages."""

    pages: Annotated[tuple[ListedPageRecord, ...], "pages in the requested order"]
    total: Annotated[Count, "pages of these types and tags"]
    documents: Annotated[Count, "number of pages"]
    next_cursor: Annotated[str | None, "cursor of the next results; null at the end"] = None
    folders: Annotated[
        tuple[FolderRecord, ...],
        "the folders of the requested pages, if there are more of them than the first results; of"
        " all pages, if the requested folder has none",
    ] = ()


@dataclass(frozen=True, slots=True)
class ListPagesRequest(Request[PagesRecord]):
    """Which pages to list, in which order, and where to go on."""

    doc_type: Annotated[
        DocTypes,
        Option(
            "Only pages of this type (spec, design, api, …); repeatable (match any).",
            metavar="TYPE",
        ),
    ] = ()
    tags: Annotated[
        Tags,
        Option("Only pages with this tag; repeatable (match all).", metavar="TAG", name="--tag"),
    ] = ()
    folder: Annotated[
        str,
        Option(
            "Only pages in this folder and below it, from the root; `.` is the root alone.",
            metavar="DIR",
        ),
    ] = ""
    sort: Annotated[SortKey, Option("Sort key.", metavar="KEY")] = "title"
    order: Annotated[Literal["asc", "desc"], Option("Sort order.", metavar="ORDER")] = "asc"
    limit: Annotated[
        int,
        *between(1, MAX_LIMIT),
        Option(
            "Maximum number of pages (200).",
            metavar="N",
            name=("--limit", "-n"),
            default=PEOPLES_LIMIT,
        ),
    ] = LIMIT
    cursor: (
        Annotated[
            str,
            "next_cursor of the previous response",
            Option("Continue a previous listing from its cursor.", metavar="CURSOR"),
        ]
        | None
    ) = None
    max_tokens: MaxTokens | None = None
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: ListPagesRequest, *, is_dated: bool = True) -> PagesRecord:
    """Return the requested pages, with the cursor of the rest.

    Without `is_dated` no history is walked for the dates of their last changes.

    Raises:
        BadArgumentError: the cursor is none, or belongs to a list with other arguments.
    """
    view = session.view(Target(request.ref))
    listed = list_pages(
        session,
        view,
        ListRequest(
            request.doc_type,
            request.tags,
            request.sort,
            request.order == "desc",
            is_dated,
            request.limit,
            request.cursor,
            request.ref,
            request.folder,
        ),
        partial(assess_paths, session),
    )
    return PagesRecord(
        pages=tuple(_page_record(page, listed) for page in listed.pages),
        total=len(listed.matching),
        documents=listed.total,
        next_cursor=listed.next_cursor,
        folders=_folders(view, request, listed),
    )


def _folders(view: View, request: ListPagesRequest, listed: PageList) -> tuple[FolderRecord, ...]:
    if request.folder and not listed.matching:
        return folder_records(view.document_paths(), least=1)
    if request.max_tokens is not None and request.max_tokens < FOLDERS_TOKENS:
        return ()
    is_cut = request.cursor is None and len(listed.pages) < len(listed.matching)
    return folder_records(listed.matching) if is_cut else ()


def run_for_people(session: Session, request: ListPagesRequest) -> PagesRecord:
    """Return the pages without dates: until they are known, it takes seconds to find them."""
    return run(session, request, is_dated=False)


def _page_record(page: ListedPage, listed: PageList) -> ListedPageRecord:
    document = page.document
    path = document.path
    return ListedPageRecord(
        doc_id=document.doc_id,
        filepath=path,
        title=document.title,
        doc_type=document.doc_type,
        tags=tuple(document.tags),
        link_count=page.outgoing + page.incoming,
        outgoing_link_count=page.outgoing,
        incoming_link_count=page.incoming,
        staleness=listed.assessments[path].level,
        created_at=moment_or_none(listed.created_at[path]),
        updated_at=moment_or_none(listed.updated_at[path]),
        uncommitted=path in listed.uncommitted,
        unreadable=why_unreadable(listed.assessments[path].page),
    )


def text(record: PagesRecord, write: Writer) -> Iterator[str]:
    """Yield a line a page, how many there are, and how the list goes on."""
    if write.is_quiet:
        yield from (write.name(page.filepath) for page in record.pages)
        return
    lines = [line for page in record.pages for line in _page_lines(page, write)]
    if write.is_agent:
        yield f"{_shown(len(record.pages), record.total)}. {write.notice()}"
        yield from lines
        yield from folder_lines(record.folders, write)
        if record.next_cursor:
            yield f"More pages: pass cursor {record.next_cursor}{write.arguments()}"
    else:
        lines += folder_lines(record.folders, write)
        more = f" Continue with --cursor {record.next_cursor}" if record.next_cursor else ""
        yield from [*lines, *([""] if lines else [])]
        yield f"{_shown(len(record.pages), record.documents)}.{more}"


def _shown(number: int, total: int) -> str:
    return count(number, "page") if number == total else f"{number} of {count(total, 'page')}"


def _page_lines(page: ListedPageRecord, write: Writer) -> Iterator[str]:
    facts = [write.label(page.doc_type or "")]
    links = [f"{page.outgoing_link_count} out", f"{page.incoming_link_count} in"]
    level = [] if page.staleness == "untracked" else [write.level(page.staleness)]
    if write.is_agent:
        facts += [*level, *links, *dates(page.created_at, page.updated_at)]
        facts += ["uncommitted changes"] if page.uncommitted else []
        yield f"{write.path(page.filepath)}: {write.title(page.title)} ({', '.join(facts)})"
    else:
        facts += [*links, *level, *dates(None, page.updated_at)]
        yield f"{write.path(page.filepath)}  {write.title(page.title)}, {', '.join(facts)}"
    if page.unreadable:
        yield f"  {write.style.yellow(page.unreadable)}"


LIST_PAGES = Answer(
    request=ListPagesRequest,
    record=PagesRecord,
    run=run,
    run_for_people=run_for_people,
    text=text,
    items="pages",
    spare=SPARE,
    reads_collections=True,
    tool=ToolTraits(
        title="List pages",
        description=(
            "List documentation pages with type, staleness and link counts, filtered and "
            "sorted. Use it to see which exist or changed last."
        ),
    ),
)
