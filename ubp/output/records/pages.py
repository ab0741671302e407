"""Records of documents: one page, lists, context, graph and impact."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import Assessment, LinkType, ReferenceVerdict, Verdict
from ubp.frame.fields import (
    Count,
    DocId,
    DocType,
    GitId,
    Line,
    Moment,
    PageLevel,
    PagePath,
    Title,
    WhyUnreadable,
)
from ubp.frame.records import (
    CommitRecord,
    LinkContext,
    ProblemRecord,
    StaleRefRecord,
    UpdatedAt,
    commit_record,
    moment_or_none,
    problem_record,
    stale_refs,
)
from ubp.frame.wording import day
from ubp.index.facts import why_unreadable
from ubp.search.context import Center, PageContext, Related
from ubp.search.list_pages import PageLink, ReadPage
from ubp.search.traverse import Direction, PageGraph
from ubp.staleness.wording import describe_reference

# The newest commits explain most; `ubp_check_staleness` lists all.
MAX_COMMITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedRefRecord:
    """A reference that is not fresh, and why."""

    source_path: Annotated[str, "path or glob from the root, as it was assessed"]
    verdict: Annotated[Verdict, "verdict on the reference; never fresh"]
    since: Annotated[
        Moment | None,
        "committer date of the first commit that drifted; null if not committed yet or unknown",
    ] = None
    reason: Annotated[str, "the verdict as a sentence"]
    commits: Annotated[
        tuple[CommitRecord, ...],
        "most recent commits since the baseline that changed the source, newest first",
    ] = ()
    commit_count: Annotated[Count, "number of commits that drifted"] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRecord:
    """A section of a page."""

    heading: Annotated[
        str | None, "heading (H2 or H3); null for the text before the first heading"
    ] = None
    section_order: Annotated[Count, "its number, from 0"]
    heading_path: Annotated[
        tuple[str, ...], "headings above it, starting with the page's H1, and its own"
    ] = ()
    anchor: Annotated[str | None, "anchor of the heading, as used after # in links"] = None
    line_start: Annotated[Line, "its first line in the file, from 1"]
    line_end: Annotated[Line, "its last line in the file, from 1"]
    content: Annotated[
        str,
        "text including the heading line; empty if max_tokens leaves room only for the page's"
        " content",
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinkRecord:
    """A link of a page."""

    doc_id: DocId | None = None
    filepath: Annotated[str | None, "path of the page; null if there is none"] = None
    title: Annotated[str | None, "title of that page"] = None
    link_type: Annotated[LinkType, "type of the link"]
    link_context: LinkContext = ""
    line: Annotated[Line, "line of the link in its page, from 1"]
    target: Annotated[
        str | None, "if there is no such page: the link's target as written, decoded"
    ] = None
    anchor: Annotated[str | None, "anchor of the heading in the link to a page"] = None
    is_ambiguous: Annotated[
        bool, "whether several pages match; the first one alphabetically is used"
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklinkRecord:
    """A link of another page to a page."""

    doc_id: DocId | None
    filepath: Annotated[str | None, "path of the linking page"]
    title: Annotated[str | None, "title of that page"]
    link_type: Annotated[LinkType, "type of the link"]
    link_context: LinkContext = ""
    line: Annotated[Line, "line of the link in its page, from 1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """A page, its links, and whether it still describes its sources."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    tags: Annotated[tuple[str, ...], "tags from the front matter"] = ()
    staleness: PageLevel
    stale_refs: Annotated[tuple[ExplainedRefRecord, ...], "the references that are not fresh"] = ()
    problems: Annotated[
        tuple[ProblemRecord, ...],
        "problems in its front matter, or why it cannot be read: its content is empty then",
    ] = ()
    created_at: Annotated[
        Moment | None,
        "committer date of the commit that added the page; null if never committed or before the"
        " start of a shallow clone",
    ]
    updated_at: UpdatedAt
    uncommitted: Annotated[bool, "whether the file differs from the last commit"] = False
    blob: Annotated[GitId, "id that Git gives the file"]
    content: Annotated[str, "its text without the front matter"]
    line_start: Annotated[Line, "first line of `content` in the file"]
    continuation: Annotated[
        str | None, "if the text is cut: the argument `continue` that returns the rest"
    ] = None
    sections: Annotated[tuple[SectionRecord, ...], "its sections in order"]
    outlinks: Annotated[tuple[OutlinkRecord, ...], "its links to pages, in order"] = ()
    backlinks: Annotated[tuple[BacklinkRecord, ...], "the links of other pages to it"] = ()
    truncated_count: Annotated[Count, "sections that are cut because of max_tokens"] = 0


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A page of the link graph."""

    id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    depth: Annotated[
        Count | None, "distance from the center in links; null if there is no center"
    ] = None
    staleness: PageLevel
    outgoing_link_count: Annotated[
        Count, "number of links to other pages, including pages not shown"
    ]
    incoming_link_count: Annotated[
        Count, "number of links from other pages, including pages not shown"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRecord:
    """Links of one type from a page to another."""

    source: Annotated[DocId, "id of the linking page"]
    target: Annotated[DocId, "id of the target page"]
    type: Annotated[LinkType, "type of the link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRecord:
    """Pages and the links between them."""

    center: Annotated[
        DocId | None, "doc_id of the center page; null if all pages are requested"
    ] = None
    nodes: Annotated[tuple[NodeRecord, ...], "pages, sorted by path"]
    edges: Annotated[tuple[EdgeRecord, ...], "each source, target and type once"]
    total_nodes: Annotated[Count, "number of pages"]
    truncated_count: Annotated[
        Count, "number of pages omitted: the farthest first, then those with the fewest links"
    ]


def page_record(read: ReadPage, start: int = 0) -> PageRecord:
    """Return the record of `ubp get-page`, with the text from this character on."""
    page = read.page
    first = page.parts[0].section.line_start if page.parts else 1
    line_start = first + page.content.count("\n", 0, start)
    document = page.document
    return PageRecord(
        doc_id=document.doc_id,
        filepath=document.path,
        title=document.title,
        doc_type=document.doc_type,
        tags=tuple(document.tags),
        staleness=read.assessment.level,
        stale_refs=tuple(_explained_refs(read.assessment)),
        problems=tuple(map(problem_record, read.assessment.page.facts.problems)),
        created_at=moment_or_none(read.created_at),
        updated_at=moment_or_none(read.updated_at),
        uncommitted=read.is_uncommitted,
        blob=document.blob,
        content=page.content[start:],
        line_start=line_start,
        sections=tuple(
            SectionRecord(
                heading=part.section.heading,
                section_order=order,
                heading_path=tuple(part.section.heading_path),
                anchor=part.section.anchor,
                line_start=part.section.line_start,
                line_end=part.section.line_end,
                content=part.content,
            )
            for order, part in enumerate(page.parts)
            if part.section.line_end >= line_start
        ),
        outlinks=tuple(map(_outlink, page.outlinks)),
        backlinks=tuple(map(_backlink, page.backlinks)),
    )


def _explained_refs(assessment: Assessment) -> Iterator[ExplainedRefRecord]:
    for reference in assessment.references:
        if reference.verdict != "fresh":
            yield ExplainedRefRecord(
                source_path=reference.name,
                verdict=reference.verdict,
                since=moment_or_none(reference.since),
                reason=_reason(reference),
                commits=tuple(map(commit_record, reference.commits[:MAX_COMMITS])),
                commit_count=len(reference.commits),
            )


def _reason(reference: ReferenceVerdict) -> str:
    when = "" if reference.since is None else f" since {day(reference.since)}"
    words = describe_reference(reference, when)
    return f"{words[0].upper()}{words[1:]}."


def _outlink(link: PageLink) -> OutlinkRecord:
    page = link.other
    anchor = link.link.anchor
    target = link.link.target if anchor is None else f"{link.link.target}#{anchor}"
    return OutlinkRecord(
        doc_id=page and page.doc_id,
        filepath=page and page.path,
        title=page and page.title,
        link_type=link.link.link_type,
        link_context=link.link.context,
        line=link.link.line,
        target=None if page else target,
        anchor=anchor if page else None,
        is_ambiguous=link.bucket == "ambiguous",
    )


def _backlink(link: PageLink) -> BacklinkRecord:
    page = link.other
    return BacklinkRecord(
        doc_id=page and page.doc_id,
        filepath=page and page.path,
        title=page and page.title,
        link_type=link.link.link_type,
        link_context=link.link.context,
        line=link.link.line,
    )


def context_record(result: PageContext) -> ContextRecord:
    """Return the record of `ubp get-context`."""
    context, center = result.context, result.context.center
    return ContextRecord(
        center=_center(center, result.assessments[center.document.path]),
        related=tuple(
            _related(related, result.assessments[related.document.path])
            for related in context.related
        ),
        total_size=context.size,
        truncated_count=context.left_out,
    )


def graph_record(graph: PageGraph) -> GraphRecord:
    """Return the record of `ubp get-graph`."""
    neighborhood = graph.near
    ids = {document.path: document.doc_id for document in neighborhood.documents}
    return GraphRecord(
        center=None if neighborhood.center is None else ids[neighborhood.center],
        nodes=tuple(
            NodeRecord(
                id=document.doc_id,
                filepath=document.path,
                title=document.title,
                doc_type=document.doc_type,
                depth=neighborhood.hops[document.path] if neighborhood.hops else None,
                staleness=graph.assessments[document.path].level,
                outgoing_link_count=neighborhood.counts[document.path][0],
                incoming_link_count=neighborhood.counts[document.path][1],
            )
            for document in neighborhood.documents
        ),
        edges=tuple(
            EdgeRecord(source=ids[edge.source], target=ids[edge.target], type=edge.link_type)
            for edge in neighborhood.edges
        ),
        total_nodes=neighborhood.total,
        truncated_count=neighborhood.left_out,
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
