"""How pages hang together as records: schemas/get-context.json, get-graph.json, impact.json."""

from typing import Any

from ubp.graph.context import Center, Related
from ubp.graph.impact import Impacted, Step
from ubp.model import Assessment, FilePath
from ubp.paths import doc_id
from ubp.relating import PageContext, PageGraph, PageImpact
from ubp.render.page_parts import document_record, stale_refs

Record = dict[str, Any]


def context_record(found: PageContext) -> Record:
    """`ubp get-context`: schemas/get-context.json."""
    context, center = found.context, found.context.center
    return {
        "center": _center(center, found.assessments[center.document.path]),
        "related": [_related(one, found.assessments[one.document.path]) for one in context.related],
        "total_size": context.size,
        "truncated_count": context.left_out,
    }


def graph_record(found: PageGraph) -> Record:
    """`ubp get-graph`: schemas/get-graph.json."""
    near = found.near
    ids = {document.path: document.doc_id for document in near.documents}
    return {
        **({} if near.center is None else {"center": doc_id(near.center)}),
        "nodes": [
            {
                "id": document.doc_id,
                "filepath": document.path,
                "title": document.title,
                "doc_type": document.doc_type,
                **({"depth": near.hops[document.path]} if near.hops else {}),
                "staleness": found.assessments[document.path].level,
                "outgoing_link_count": near.counts[document.path][0],
                "incoming_link_count": near.counts[document.path][1],
            }
            for document in near.documents
        ],
        "edges": [
            {"source": ids[tie.source], "target": ids[tie.target], "type": tie.link_type}
            for tie in near.ties
        ],
        "total_nodes": near.total,
        "truncated_count": near.left_out,
    }


def impact_record(found: PageImpact) -> Record:
    """`ubp impact`: schemas/impact.json."""
    impact = found.impact
    subject = impact.subject
    return {
        "path": subject.path,
        "kind": subject.kind,
        "exists": subject.exists,
        "impacted": [
            {
                **document_record(one.document),
                "depth": one.depth,
                "reason": one.reason,
                "chain": _chain(one, subject.path),
                "staleness": found.assessments[one.document.path].level,
            }
            for one in impact.impacted
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
                **_told(heading=section.heading),
                "line_start": section.line_start,
                "line_end": section.line_end,
                **({"is_cut": True} if index >= center.whole else {}),
            }
            for index, section in enumerate(center.sections)
        ],
        **({"full_size": center.full_size} if center.is_cut else {}),
        "staleness": assessment.level,
        **_told(stale_refs=stale_refs(assessment)),
    }


def _related(one: Related, assessment: Assessment) -> Record:
    way = one.way
    return {
        **document_record(one.document),
        "link_type": way.link.link_type,
        "direction": way.direction,
        "depth": way.depth,
        **({"via": way.via} if way.depth > 1 else {}),
        **_told(
            link_context=way.link.context,
            summary=one.summary,
            headings=list(one.headings),
            hidden_headings=one.hidden_headings,
        ),
        "staleness": assessment.level,
    }


def _chain(one: Impacted, path: FilePath) -> list[Record]:
    before = [path, *(step.path for step in one.chain)]
    return [_step(step, at) for step, at in zip(one.chain, before, strict=False)]


def _step(step: Step, before: FilePath) -> Record:
    """A step; of a folder's page it tells which one."""
    is_link = step.reason != "source_reference"
    return {
        "filepath": step.path,
        **_told(
            link_type=step.reason if is_link else None,
            source_path=step.source_path,
            moved_to=step.moved_to,
            target=step.target if is_link and step.target != before else None,
        ),
        "line": step.line,
    }


def _told(**fields: Any) -> Record:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value}
