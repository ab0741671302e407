"""Pages and their graph as records: schemas/get-page.json, list-pages.json, get-graph.json."""

from typing import Any

from ubp.graph.neighbours import Neighbourhood
from ubp.graph.pages import PageLink
from ubp.graph.view import DocumentRow
from ubp.paths import doc_id
from ubp.reading import PageList, ReadPage
from ubp.render.wording import moment

Record = dict[str, Any]


def page_record(read: ReadPage) -> Record:
    """`ubp get-page`: schemas/get-page.json."""
    page = read.page
    return {
        **_document(page.document),
        "tags": list(page.document.tags),
        "content": page.content,
        "sections": [
            {
                "heading": part.section.heading,
                "content": part.content,
                "heading_path": list(part.section.heading_path),
                "anchor": part.section.anchor,
                "line_start": part.section.line_start,
                "line_end": part.section.line_end,
            }
            for part in page.parts
        ],
        "outlinks": [{**_link(one), **_aim(one)} for one in page.outlinks],
        "backlinks": [_link(one) for one in page.backlinks],
        "staleness": read.assessment.level,
        "stale_refs": [
            one.source_path for one in read.assessment.references if one.verdict != "fresh"
        ],
        "updated_at": _moment(read.updated_at),
    }


def pages_record(listed: PageList) -> Record:
    """`ubp list-pages`: schemas/list-pages.json."""
    return {
        "pages": [
            {
                **_document(page.document),
                "tags": list(page.document.tags),
                "link_count": page.outgoing + page.incoming,
                "outgoing_link_count": page.outgoing,
                "incoming_link_count": page.incoming,
                "staleness": listed.assessments[page.document.path].level,
                "updated_at": _moment(listed.updated_at[page.document.path]),
            }
            for page in listed.pages
        ],
        "total": len(listed.pages),
        "documents": listed.total,
    }


def graph_record(found: Neighbourhood) -> Record:
    """`ubp get-graph`: schemas/get-graph.json."""
    ids = {document.path: document.doc_id for document in found.documents}
    return {
        "center": None if found.center is None else doc_id(found.center),
        "nodes": [
            {
                "id": document.doc_id,
                "filepath": document.path,
                "title": document.title,
                "doc_type": document.doc_type,
                "depth": found.hops.get(document.path),
            }
            for document in found.documents
        ],
        "edges": [
            {"source": ids[tie.source], "target": ids[tie.target], "type": tie.link_type}
            for tie in found.ties
            if tie.source in ids and tie.target in ids
        ],
    }


def _document(document: DocumentRow) -> Record:
    return {
        "doc_id": document.doc_id,
        "filepath": document.path,
        "title": document.title,
        "doc_type": document.doc_type,
    }


def _link(one: PageLink) -> Record:
    other = one.other
    return {
        "doc_id": other and other.doc_id,
        "filepath": other and other.path,
        "title": other and other.title,
        "link_type": one.link.link_type,
        "link_context": one.link.context,
        "line": one.link.line,
    }


def _aim(one: PageLink) -> Record:
    anchor = one.link.anchor
    return {
        "target": one.link.target if anchor is None else f"{one.link.target}#{anchor}",
        "is_ambiguous": one.bucket == "ambiguous",
    }


def _moment(seconds: int | None) -> str | None:
    return None if seconds is None else moment(seconds)
