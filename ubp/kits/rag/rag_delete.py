"""`rag_delete`: remove documents that agents have added."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.fields import Count, DocId
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.rag.changes import DeleteFilters, delete
from ubp.kits.rag.fields import Category, Success


@dataclass(frozen=True, slots=True)
class RagDeleteRecord:
    """What was deleted."""

    success: Success
    deleted_count: Annotated[Count, "number of documents"]
    deleted_ids: Annotated[tuple[DocId, ...], "their ids"]


@dataclass(frozen=True, slots=True)
class RagDeleteFilters:
    """Which documents to delete; all conditions must match."""

    older_than: Annotated[str, "since the last change: 12h, 30d, 1w, 1y"] = ""
    category: Category = ""
    source_type: Annotated[str, "jira, confluence, web or custom"] = ""


@dataclass(frozen=True, slots=True)
class RagDeleteRequest(Request[RagDeleteRecord]):
    """What to delete: a document, those that match, or all of a project."""

    document_id: Annotated[str, "one document"] | None = None
    project: Annotated[str, "all its documents, or those that match"] | None = None
    filters: RagDeleteFilters | None = None
    purge: Annotated[bool, "remove them from the history, too: they cannot be restored"] = False


def run(session: Session, request: RagDeleteRequest) -> RagDeleteRecord:
    """Delete the documents and return their ids."""
    filters = request.filters
    deleted = delete(
        session,
        document_id=request.document_id or "",
        project=request.project or "",
        filters=None
        if filters is None
        else DeleteFilters(filters.older_than, filters.category, filters.source_type),
        purge=request.purge,
    )
    return RagDeleteRecord(success=True, deleted_count=len(deleted), deleted_ids=deleted)


def text(record: RagDeleteRecord, write: Writer) -> Iterator[str]:
    """Yield how many documents were deleted, and their ids."""
    yield f"Deleted {count(record.deleted_count, 'document')}. {write.notice()}"
    yield from record.deleted_ids


RAG_DELETE = Answer(
    request=RagDeleteRequest,
    record=RagDeleteRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Delete documents",
        description=(
            "Delete documents that were added by rag_index or rag_external. Files of repositories "
            "are not touched. With purge they are also removed from the history, and their bytes "
            "from disk."
        ),
        writes=True,
        destroys=True,
        failure="delete_failed",
    ),
)
