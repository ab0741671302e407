"""Records of documents: one page, lists, context, graph and impact.

Schemas: get-page.json, list-pages.json, get-context.json, get-graph.json, impact.json.
"""

from collections.abc import Iterator
from typing import Any

from ubp.core.model import Assessment, FilePath, ReferenceVerdict
from ubp.core.paths import doc_id
from ubp.output.records.staleness import commit_record
from ubp.output.wording import day, moment
from ubp.search.context import Center, PageContext, Related
from ubp.search.graph import DocumentRow
from ubp.search.impact import Impacted, ImpactStep, PageImpact
from ubp.search.list_pages import ListedPage, PageLink, PageList, ReadPage
from ubp.search.traverse import PageGraph
from ubp.staleness.wording import describe_verdict

Record = dict[str, Any]

# The newest commits explain most; `ubp_check_staleness` lists all.
MAX_COMMITS = 5


def document_record(document: DocumentRow) -> Record:
    """Return what identifies a document."""
    return {
        "doc_id": document.doc_id,
        "filepath": document.path,
        "title": document.title,
        "doc_type": document.doc_type,
    }


def link_record(link: PageLink) -> Record:
    """Return a link and the page at its other end; null where there is none."""
    page = link.other
    return {
        "doc_id": page and page.doc_id,
        "filepath": page and page.path,
        "title": page and page.title,
        "link_type": link.link.link_type,
        "link_context": link.link.context,
        "line": link.link.line,
    }


def stale_refs(assessment: Assessment) -> list[Record]:
    """Return the references that are not fresh."""
    return [
        stale_ref(reference) for reference in assessment.references if reference.verdict != "fresh"
    ]


def stale_ref(reference: ReferenceVerdict) -> Record:
    """Return a source, its verdict, and since when."""
    return {
        "source_path": reference.source_path,
        "verdict": reference.verdict,
        "since": moment_or_none(reference.since),
    }


def moment_or_none(seconds: int | None) -> str | None:
    """Return a time in ISO 8601; null where it is unknown."""
    return None if seconds is None else moment(seconds)


def page_record(read: ReadPage) -> Record:
    """Return the record of `ubp get-page`: schemas/get-page.json."""
    page = read.page
    return {
        **document_record(page.document),
        "tags": list(page.document.tags),
        "staleness": read.assessment.level,
        "stale_refs": list(_explained_refs(read.assessment)),
        "created_at": moment_or_none(read.created_at),
        "updated_at": moment_or_none(read.updated_at),
        "uncommitted": read.is_uncommitted,
        "content": page.content,
        "sections": [
            {
                "heading": part.section.heading,
                "section_order": order,
                "heading_path": list(part.section.heading_path),
                "anchor": part.section.anchor,
                "line_start": part.section.line_start,
                "line_end": part.section.line_end,
                "content": part.content,
            }
            for order, part in enumerate(page.parts)
        ],
        "outlinks": [{**link_record(link), **_link_target(link)} for link in page.outlinks],
        "backlinks": [link_record(link) for link in page.backlinks],
    }


def pages_record(listed: PageList) -> Record:
    """Return the record of `ubp list-pages`: schemas/list-pages.json, without the cursor."""
    return {
        "pages": [_listed(page, listed) for page in listed.pages],
        "total": listed.matching,
        "documents": listed.total,
    }


def _listed(page: ListedPage, listed: PageList) -> Record:
    path = page.document.path
    return {
        **document_record(page.document),
        "tags": list(page.document.tags),
        "link_count": page.outgoing + page.incoming,
        "outgoing_link_count": page.outgoing,
        "incoming_link_count": page.incoming,
        "staleness": listed.assessments[path].level,
        "created_at": moment_or_none(listed.created_at[path]),
        "updated_at": moment_or_none(listed.updated_at[path]),
        "uncommitted": path in listed.uncommitted,
    }


def _explained_refs(assessment: Assessment) -> Iterator[Record]:
    for reference in assessment.references:
        if reference.verdict != "fresh":
            yield {
                **stale_ref(reference),
                "reason": _reason(reference),
                "commits": [commit_record(commit) for commit in reference.commits[:MAX_COMMITS]],
                "commit_count": len(reference.commits),
            }


def _reason(reference: ReferenceVerdict) -> str:
    when = "" if reference.since is None else f" since {day(reference.since)}"
    words = describe_verdict(reference.verdict, when, reference.moved_to)
    return f"{words[0].upper()}{words[1:]}."


def _link_target(link: PageLink) -> Record:
    if link.other is None:
        anchor = "" if link.link.anchor is None else f"#{link.link.anchor}"
        return {"target": link.link.target + anchor}
    return {"anchor": link.link.anchor, "is_ambiguous": link.bucket == "ambiguous"}


def context_record(result: PageContext) -> Record:
    """Return the record of `ubp get-context`: schemas/get-context.json."""
    context, center = result.context, result.context.center
    return {
        "center": _center(center, result.assessments[center.document.path]),
        "related": [
            _related(related, result.assessments[related.document.path])
            for related in context.related
        ],
        "total_size": context.size,
        "truncated_count": context.left_out,
    }


def graph_record(graph: PageGraph) -> Record:
    """Return the record of `ubp get-graph`: schemas/get-graph.json."""
    neighborhood = graph.near
    ids = {document.path: document.doc_id for document in neighborhood.documents}
    return {
        **({} if neighborhood.center is None else {"center": doc_id(neighborhood.center)}),
        "nodes": [
            {
                "id": document.doc_id,
                "filepath": document.path,
                "title": document.title,
                "doc_type": document.doc_type,
                **({"depth": neighborhood.hops[document.path]} if neighborhood.hops else {}),
                "staleness": graph.assessments[document.path].level,
                "outgoing_link_count": neighborhood.counts[document.path][0],
                "incoming_link_count": neighborhood.counts[document.path][1],
            }
            for document in neighborhood.documents
        ],
        "edges": [
            {"source": ids[edge.source], "target": ids[edge.target], "type": edge.link_type}
            for edge in neighborhood.edges
        ],
        "total_nodes": neighborhood.total,
        "truncated_count": neighborhood.left_out,
    }


def impact_record(result: PageImpact) -> Record:
    """Return the record of `ubp impact`: schemas/impact.json."""
    impact = result.impact
    subject = impact.subject
    return {
        "path": subject.path,
        "kind": subject.kind,
        "exists": subject.exists,
        "impacted": [
            {
                **document_record(impacted.document),
                "depth": impacted.depth,
                "reason": impacted.reason,
                "chain": _chain(impacted, subject.path),
                "staleness": result.assessments[impacted.document.path].level,
            }
            for impacted in impact.impacted
        ],
        "total": impact.total,
        "truncated_count": impact.total - len(impact.impacted),
    }


def _center(center: Center, assessment: Assessment) -> Record:
    return {
        **document_record(center.document),
        "content": center.content,
        "sections": [
            {
                **_non_empty(heading=section.heading),
                "line_start": section.line_start,
                "line_end": section.line_end,
                **({"is_cut": True} if index >= center.whole_sections else {}),
            }
            for index, section in enumerate(center.sections)
        ],
        **({"full_size": center.full_size} if center.is_cut else {}),
        "staleness": assessment.level,
        **_non_empty(stale_refs=stale_refs(assessment)),
    }


def _related(related: Related, assessment: Assessment) -> Record:
    path = related.link_path
    return {
        **document_record(related.document),
        "link_type": path.link.link_type,
        "direction": path.direction,
        "depth": path.depth,
        **({"via": path.via} if path.depth > 1 else {}),
        **_non_empty(
            link_context=path.link.context,
            summary=related.summary,
            headings=list(related.headings),
            hidden_headings=related.hidden_headings,
        ),
        "staleness": assessment.level,
    }


def _chain(impacted: Impacted, path: FilePath) -> list[Record]:
    previous = [path, *(step.path for step in impacted.chain)]
    return [_step(step, at) for step, at in zip(impacted.chain, previous, strict=False)]


def _step(step: ImpactStep, previous: FilePath) -> Record:
    """Return a step; its target only where that is not the page before, as in a directory."""
    is_link = step.reason != "source_reference"
    return {
        "filepath": step.path,
        **_non_empty(
            link_type=step.reason if is_link else None,
            source_path=step.source_path,
            moved_to=step.moved_to,
            target=step.target if is_link and step.target != previous else None,
        ),
        "line": step.line,
    }


def _non_empty(**fields: Any) -> Record:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value}
