"""What records say of a page alike: what it is, its links, which of its sources drifted."""

from typing import Any

from ubp.graph.pages import PageLink
from ubp.graph.view import DocumentRow
from ubp.model import Assessment, ReferenceVerdict
from ubp.render.wording import moment

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
