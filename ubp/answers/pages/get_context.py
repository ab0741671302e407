"""`ubp get-context` and `ubp_get_context`: a page, and summaries of the pages linked with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any
from unicodedata import east_asian_width

from ubp.core.errors import BadArgumentError
from ubp.core.model import QUIET_LEVELS, Assessment, LinkType
from ubp.core.text import Budget, summarize
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import IdArgument, LinkTypes, MaxTokens, PageArgument, Ref, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import (
    REVISION,
    Count,
    DocId,
    DocType,
    Line,
    Option,
    PageLevel,
    PagePath,
    Title,
    WhyUnreadable,
)
from ubp.frame.records import LinkContext, StaleRefRecord, stale_refs
from ubp.frame.wording import ARROWS, count
from ubp.frame.writer import Writer, stale_ref_text
from ubp.index.facts import why_unreadable
from ubp.index.select import select_page
from ubp.index.session import Session, Target
from ubp.search.context import Center, Related, cut_context, read_context
from ubp.search.graph import open_graph
from ubp.search.traverse import MAX_USEFUL_DEPTH, Direction
from ubp.staleness.state import assess_paths

MAX_DEPTH = 3
MAX_CONTEXT_SIZE = 500_000
CONTEXT_TOKENS = 4_000  # of an agent's answer by default
# The width of a summary on a terminal.
SUMMARY_COLUMNS = 100
MAX_HEADINGS = 12
MAX_RELATED = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class CenterSectionRecord:
    """A section of the requested page."""

    heading: Annotated[
        str | None, "heading (H2 or H3); null for the text before the first heading"
    ] = None
    line_start: Annotated[Line, "line of the page, from 1"]
    line_end: Annotated[Line, "line of the page, from 1"]
    is_cut: Annotated[bool, "whether content contains only a part of it, or nothing"] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CenterRecord:
    """The requested page."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    content: Annotated[
        str, "text without the front matter; cut after a paragraph if it does not fit"
    ]
    sections: Annotated[tuple[CenterSectionRecord, ...], "its sections in order"]
    full_size: Annotated[
        Line | None, "number of characters of its whole text, if content was cut"
    ] = None
    staleness: PageLevel
    stale_refs: Annotated[
        tuple[StaleRefRecord, ...], "sources that drifted or could not be verified"
    ] = ()
    unreadable: WhyUnreadable = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedRecord:
    """A summary of a linked page."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    link_type: Annotated[LinkType, "type of the link to it"]
    direction: Annotated[
        Direction,
        "outlink: the page nearer to the center links to this one; backlink: this one links to it",
    ]
    depth: Annotated[Line, "distance in links"]
    via: Annotated[
        str | None,
        "path of the page that it is linked with on the way to the center; null if that is the"
        " center",
    ] = None
    link_context: LinkContext = ""
    summary: Annotated[
        str, "first prose of the page, at most 500 characters, cut after a sentence"
    ] = ""
    headings: Annotated[
        tuple[str, ...], "first 20 headings, or those of the highest level if there are more"
    ] = ()
    hidden_headings: Annotated[Count, "number of headings omitted"] = 0
    staleness: PageLevel
    unreadable: WhyUnreadable = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecord:
    """A page with its linked pages, as much as fits."""

    center: CenterRecord
    related: Annotated[
        tuple[RelatedRecord, ...],
        "linked pages, most important first: by distance, link strength, outlinks first, number of"
        " links, path",
    ]
    total_size: Annotated[Count, "number of characters of the texts in this result"]
    truncated_count: Annotated[Count, "number of linked pages omitted because they do not fit"]


@dataclass(frozen=True, slots=True)
class ContextRequest(Request[ContextRecord]):
    """A page, and how much of its surroundings to return.

    Where `max_size` characters or `max_tokens` estimated tokens do not suffice for all texts, the
    least important is left out. Links of `link_types` are followed; none: all are.
    """

    filepath: (
        Annotated[
            PageArgument,
            Option(
                "Path, unique path suffix, or `doc_id`.",
                name="page",
                is_argument=True,
                missing="a page",
                hint="Specify one: ubp get-context docs/auth.md; `ubp list-pages` lists all pages.",
            ),
        ]
        | None
    ) = None
    id: IdArgument | None = None
    depth: Annotated[
        int,
        *between(1, MAX_DEPTH),
        Option(
            "Include pages up to this many links away, 1 to 3 (2).",
            metavar="N",
            why=MAX_USEFUL_DEPTH,
        ),
    ] = 2
    link_types: Annotated[
        LinkTypes,
        Option("Follow only links of this type; repeatable.", metavar="TYPE", name="--link-type"),
    ] = ()
    max_size: Annotated[
        int,
        *between(1, MAX_CONTEXT_SIZE),
        "in characters",
        Option(
            "Maximum number of characters; the least relevant parts are dropped (50000).",
            metavar="N",
        ),
    ] = 50_000
    max_tokens: (
        Annotated[
            MaxTokens,
            Option(
                "Maximum number of tokens, likewise; with --json, of the whole output.",
                metavar="N",
                default=None,
            ),
        ]
        | None
    ) = CONTEXT_TOKENS
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: ContextRequest) -> ContextRecord:
    """Return a page and those within `depth` links of it, in short, as much as fits.

    Raises:
        BadArgumentError: not exactly one page is given.
        PageNotFoundError: there is no such page, or more than one.
    """
    page = request.filepath or request.id
    if page is None or (request.filepath and request.id):
        raise BadArgumentError("filepath", "Pass exactly one of `filepath` and `id`.")
    view = session.view(Target(request.ref))
    name = select_page(page, view, session.repository)
    budget = Budget(request.max_size, request.max_tokens)
    context = read_context(open_graph(view), name, request.depth, budget, request.link_types)
    if session.collection is not None:
        context = cut_context(context, session.collection.policy)
    paths = [name, *(related.document.path for related in context.related)]
    assessments = assess_paths(session, view, paths)
    return ContextRecord(
        center=_center(context.center, assessments[name]),
        related=tuple(
            _related(related, assessments[related.document.path]) for related in context.related
        ),
        total_size=context.size,
        truncated_count=context.left_out,
    )


def _center(center: Center, assessment: Assessment) -> CenterRecord:
    return CenterRecord(
        doc_id=center.document.doc_id,
        filepath=center.document.path,
        title=center.document.title,
        doc_type=center.document.doc_type,
        content=center.content,
        sections=tuple(
            CenterSectionRecord(
                heading=section.heading,
                line_start=section.line_start,
                line_end=section.line_end,
                is_cut=index >= center.whole_sections,
            )
            for index, section in enumerate(center.sections)
        ),
        full_size=center.full_size if center.is_cut else None,
        staleness=assessment.level,
        stale_refs=stale_refs(assessment),
        unreadable=why_unreadable(assessment.page),
    )


def _related(related: Related, assessment: Assessment) -> RelatedRecord:
    path = related.link_path
    return RelatedRecord(
        doc_id=related.document.doc_id,
        filepath=related.document.path,
        title=related.document.title,
        doc_type=related.document.doc_type,
        link_type=path.link.link_type,
        direction=path.direction,
        depth=path.depth,
        via=path.via if path.depth > 1 else None,
        link_context=path.link.context,
        summary=related.summary,
        headings=tuple(related.headings),
        hidden_headings=related.hidden_headings,
        staleness=assessment.level,
        unreadable=why_unreadable(assessment.page),
    )


def fit_context(record: Json, limit: TokenLimit) -> None:
    """Drop headings, then related pages, then text of the page itself.

    The outline takes half of the budget at most: the text is worth more.
    """
    if limit.excess(record) <= 0:
        return
    center, related = record["center"], record["related"]
    if not limit.drop(record, _drop_related(record, related, limit)):
        content = center["content"]
        center["full_size"] = center.get("full_size") or len(content)
        frame = {**record, "center": {**center, "content": ""}}
        limit._replace(most=limit.most // 2).drop(frame, _drop_outline(center))
        limit.truncate(record, center, "content")
        _mark_cut(center, content)
        limit.drop(record, _drop_outline(center))
    texts = [text for page in related for text in _texts(page)]
    record["total_size"] = len(center["content"]) + sum(map(len, texts))


def _drop_related(record: Json, related: list[Json], limit: TokenLimit) -> Iterator[Any]:
    for page in reversed(related):
        yield [limit.clear(page, "headings"), limit.clear(page, "hidden_headings")]
    while related:
        record["truncated_count"] += 1
        yield related.pop()


def _mark_cut(center: Json, content: str) -> None:
    """Mark the sections that end after the last line that is left."""
    lines = center["content"].count("\n") + 1
    is_whole = center["content"] == content
    for section in center["sections"]:
        first = center["sections"][0]["line_start"]
        if not is_whole and section["line_end"] - first >= lines:
            section["is_cut"] = True


def _drop_outline(center: Json) -> Iterator[Any]:
    while center["sections"]:
        yield center["sections"].pop()


def _texts(page: Json) -> Iterator[str]:
    yield from (page.get(key) or "" for key in ("filepath", "title", "link_context", "summary"))
    yield from page.get("headings", [])


def text(record: ContextRecord, write: Writer) -> Iterator[str]:
    """Yield the page, for people in short, then some lines for each linked page."""
    if write.is_quiet:
        yield from (write.name(page.filepath) for page in record.related)
    elif write.is_agent:
        yield from _agents_text(record, write)
    else:
        yield from _peoples_text(record, write)


def _agents_text(record: ContextRecord, write: Writer) -> Iterator[str]:
    center, related = record.center, record.related
    marker = write.marker(center.content)
    yield write.notice(marker)
    yield f"{write.path(center.filepath)}: {write.title(center.title)}"
    yield f"{write.label(center.doc_type)}, {write.level(center.staleness)}"
    if center.stale_refs:
        yield f"Sources: {'; '.join(stale_ref_text(ref, write) for ref in center.stale_refs)}"
    if center.unreadable:
        yield center.unreadable
    if center.content:
        yield from write.enclose(center.content, marker)
    if center.full_size is not None:
        yield (
            f"[truncated; the full page has {center.full_size} characters: "
            f"use ubp_get_page(filepath{write.arguments()})]"
        )
    if related:
        yield f"Linked pages: {len(related)} (-> outgoing, <- incoming)"
    for page in related:
        yield from _linked_lines(page, write)
    if record.truncated_count:
        yield (
            f"[{count(record.truncated_count, 'page')} omitted: use a larger max_tokens or "
            "max_size, or ubp_get_graph(center) for the list]"
        )


def _linked_lines(page: RelatedRecord, write: Writer) -> Iterator[str]:
    facts = [page.link_type, *([f"via {write.name(page.via)}"] if page.via else [])]
    facts += [] if page.staleness in QUIET_LEVELS else [page.staleness]
    place = f"{write.path(page.filepath)}: {write.title(page.title)}"
    yield f"{ARROWS[page.direction]} {place} ({', '.join(facts)})"
    if page.unreadable:
        yield f"   {page.unreadable}"
    if page.summary:
        yield f"   {write.quote(page.summary)}"
    if page.headings:
        more = f", and {page.hidden_headings} more" if page.hidden_headings else ""
        yield f"   Sections: {', '.join(map(write.title, page.headings))}{more}"


def _peoples_text(record: ContextRecord, write: Writer) -> Iterator[str]:
    yield from _center_lines(record.center, write)
    yield ""
    shown, total = len(record.related), len(record.related) + record.truncated_count
    if not total:
        yield "No linked pages."
    elif not shown:
        yield f"{count(total, 'linked page')} left out, because there is no room."
    elif shown < total:
        yield f"{shown} of {count(total, 'linked page')} (the others do not fit):"
    else:
        yield f"{count(total, 'linked page')}:"
    for page in record.related[:MAX_RELATED]:
        yield from _related_lines(page, write)
    if (more := shown - MAX_RELATED) > 0:
        yield from ("", f"{count(more, 'more page')}: --quiet lists the paths, --json everything.")


def _center_lines(center: CenterRecord, write: Writer) -> Iterator[str]:
    facts = [write.title(center.title), write.name(center.doc_type), write.level(center.staleness)]
    yield f"{write.path(center.filepath)}  {', '.join(facts)}"
    if center.unreadable:
        yield f"  {write.style.yellow(center.unreadable)}"
    if summary := summarize(center.content):
        yield f"  {write.quote(summary)}"
    headings = [section.heading for section in center.sections if section.heading]
    if headings:
        more = ["\u2026"] if len(headings) > MAX_HEADINGS else []
        shown = [write.title(heading) for heading in headings[:MAX_HEADINGS]]
        yield f"  {count(len(headings), 'section')}: {', '.join([*shown, *more])}"
    for reference in center.stale_refs:
        if reference.verdict != "unknown":
            yield f"  {write.style.yellow(stale_ref_text(reference, write))}"
    if center.full_size is not None:
        cut = f"Only {len(center.content)} of {center.full_size} characters fit."
        yield f"  {write.style.yellow(cut)}"


def _related_lines(page: RelatedRecord, write: Writer) -> Iterator[str]:
    via = f" {write.name(page.via)}" if page.via else ""
    connection = write.style.dim(f"{ARROWS[page.direction]}{via} ({page.link_type})")
    stale = "" if page.staleness in QUIET_LEVELS else f", {write.level(page.staleness)}"
    yield f"  {write.path(page.filepath)}  {write.title(page.title)}{stale}  {connection}"
    if page.unreadable:
        yield f"    {write.style.yellow(page.unreadable)}"
    if summary := _one_line_summary(page.summary):
        yield f"    {write.quote(summary)}"


def _one_line_summary(text: str) -> str:
    wide_characters = sum(east_asian_width(character) in "WF" for character in text)
    return summarize(text, SUMMARY_COLUMNS * len(text) // (len(text) + wide_characters or 1))


GET_CONTEXT = Answer(
    request=ContextRequest,
    record=ContextRecord,
    run=run,
    text=text,
    fit=fit_context,
    reads_collections=True,
    tool=ToolTraits(
        title="Read a page with linked pages",
        description=(
            "Read a documentation page whole, and summaries of the pages linked with it, up to "
            "depth hops away. Use it on the best result of ubp_search."
        ),
    ),
)
