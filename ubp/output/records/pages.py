"""What records say of a page alike: what it is, its links, which of its sources drifted.

Pages as records: schemas/get-page.json and list-pages.json.

How pages hang together as records: schemas/get-context.json, get-graph.json, impact.json.
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


def document_record(document: DocumentRow) -> Record:
    """What a page is called."""
    return {
        "doc_id": document.doc_id,
        "filepath": document.path,
        "title": document.title,
        "doc_type": document.doc_type,
    }


def link_record(one: PageLink) -> Record:
    """A link and the page at its other end; null where there is none."""
    other = one.other
    return {
        "doc_id": other and other.doc_id,
        "filepath": other and other.path,
        "title": other and other.title,
        "link_type": one.link.link_type,
        "link_context": one.link.context,
        "line": one.link.line,
    }


def stale_refs(assessment: Assessment) -> list[Record]:
    """The references that are not fresh."""
    return [stale_ref(one) for one in assessment.references if one.verdict != "fresh"]


def stale_ref(answer: ReferenceVerdict) -> Record:
    """A source, what became of it, and since when."""
    return {
        "source_path": answer.source_path,
        "verdict": answer.verdict,
        "since": moment_or_none(answer.since),
    }


def moment_or_none(seconds: int | None) -> str | None:
    """A moment in ISO 8601; null where nobody knows it."""
    return None if seconds is None else moment(seconds)


# The newest ones say what happened; `ubp_check_staleness` tells them all.
MAX_COMMITS = 5


def page_record(read: ReadPage) -> Record:
    """`ubp get-page`: schemas/get-page.json."""
    page = read.page
    return {
        **document_record(page.document),
        "tags": list(page.document.tags),
        "staleness": read.assessment.level,
        "stale_refs": list(_stale_refs(read.assessment)),
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
        "outlinks": [{**link_record(one), **_aim(one)} for one in page.outlinks],
        "backlinks": [link_record(one) for one in page.backlinks],
    }


def pages_record(listed: PageList) -> Record:
    """`ubp list-pages`: schemas/list-pages.json; the cursor is the caller's to write."""
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


def _stale_refs(assessment: Assessment) -> Iterator[Record]:
    for answer in assessment.references:
        if answer.verdict != "fresh":
            yield {
                **stale_ref(answer),
                "reason": _reason(answer),
                "commits": [commit_record(one) for one in answer.commits[:MAX_COMMITS]],
                "commit_count": len(answer.commits),
            }


def _reason(reference: ReferenceVerdict) -> str:
    when = "" if reference.since is None else f" since {day(reference.since)}"
    words = describe_verdict(reference.verdict, when, reference.moved_to)
    return f"{words[0].upper()}{words[1:]}."


def _aim(one: PageLink) -> Record:
    if one.other is None:
        anchor = "" if one.link.anchor is None else f"#{one.link.anchor}"
        return {"target": one.link.target + anchor}
    return {"anchor": one.link.anchor, "is_ambiguous": one.bucket == "ambiguous"}


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
            {"source": ids[edge.source], "target": ids[edge.target], "type": edge.link_type}
            for edge in near.edges
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
                **({"is_cut": True} if index >= center.whole_sections else {}),
            }
            for index, section in enumerate(center.sections)
        ],
        **({"full_size": center.full_size} if center.is_cut else {}),
        "staleness": assessment.level,
        **_told(stale_refs=stale_refs(assessment)),
    }


def _related(one: Related, assessment: Assessment) -> Record:
    way = one.link_path
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


def _step(step: ImpactStep, before: FilePath) -> Record:
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
