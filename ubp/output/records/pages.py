"""Records of documents: one page, lists, context, graph and impact."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import Assessment, LinkType
from ubp.frame.fields import (
    Count,
    DocId,
    DocType,
    Line,
    PageLevel,
    PagePath,
    Title,
    WhyUnreadable,
)
from ubp.frame.records import (
    LinkContext,
    StaleRefRecord,
    stale_refs,
)
from ubp.index.facts import why_unreadable
from ubp.search.context import Center, PageContext, Related
from ubp.search.traverse import Direction, PageGraph


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
