"""Pages as records: schemas/get-page.json and list-pages.json."""

from collections.abc import Iterator
from typing import Any

from ubp.graph.pages import ListedPage, PageLink
from ubp.model import Assessment, ReferenceVerdict
from ubp.reading import PageList, ReadPage
from ubp.render.page_parts import document_record, link_record, moment_or_none, stale_ref
from ubp.render.records import commit_record

Record = dict[str, Any]

# The newest ones say what happened; `ubp_check_staleness` tells them all.
MOST_COMMITS = 5


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
                "commits": [commit_record(one) for one in answer.commits[:MOST_COMMITS]],
                "commit_count": len(answer.commits),
            }


def _reason(answer: ReferenceVerdict) -> str:
    if answer.moved_to:
        return f"It moved to {answer.moved_to}."
    return REASONS[answer.verdict]


REASONS = {
    "modified": "It was changed since the page described it.",
    "deleted": "It was deleted since the page described it.",
    "moved": "It was moved since the page described it.",
    "created": "It came after the page.",
    "not_found": "No commit ever had it.",
    "unknown": "This clone's history ends before the page was written.",
}


def _aim(one: PageLink) -> Record:
    if one.other is None:
        anchor = "" if one.link.anchor is None else f"#{one.link.anchor}"
        return {"target": one.link.target + anchor}
    return {"anchor": one.link.anchor, "is_ambiguous": one.bucket == "ambiguous"}
