"""`rag_sync`: bring a project up to date with the files that it was made from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.fields import Count, PagePath
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.rag.changes import synchronize
from ubp.kits.rag.fields import Success


@dataclass(frozen=True, slots=True)
class RagSyncRecord:
    """What a synchronization changed."""

    success: Success
    added: Annotated[tuple[PagePath, ...], "new documents"]
    updated: Annotated[tuple[PagePath, ...], "documents whose files have changed"]
    deleted: Annotated[tuple[PagePath, ...], "also what had expired"]
    unchanged: Annotated[Count, "documents that were up to date"]
    errors: Annotated[tuple[str, ...], "what could not be read or listed; it stays as it was"] = ()


@dataclass(frozen=True, slots=True)
class RagSyncRequest(Request[RagSyncRecord]):
    """What to synchronize."""

    project: Annotated[str, "project, from rag://projects"]
    path: Annotated[str, "only files below this folder"] | None = None
    full: Annotated[bool, "read unchanged files again"] = False
    remove_deleted: Annotated[bool, "remove documents whose files are gone"] = False


def run(session: Session, request: RagSyncRequest) -> RagSyncRecord:
    """Synchronize the project and return what changed."""
    compared = synchronize(
        session,
        request.project,
        path=request.path or "",
        full=request.full,
        removes=request.remove_deleted,
    )
    return RagSyncRecord(
        success=True,
        added=compared.added,
        updated=compared.updated,
        deleted=compared.deleted,
        unchanged=compared.unchanged,
        errors=tuple(f"{problem.address}: {problem.reason}" for problem in compared.problems),
    )


def text(record: RagSyncRecord, write: Writer) -> Iterator[str]:
    """Yield what was added, updated and deleted, and what could not be read."""
    changes = (("added", record.added), ("updated", record.updated), ("deleted", record.deleted))
    counts = ", ".join(f"{len(paths)} {change}" for change, paths in changes)
    yield f"{counts}, {record.unchanged} unchanged. {write.notice()}"
    for change, paths in changes:
        yield from (f"{change} {write.path(path)}" for path in paths)
    yield from (f"Not read: {write.quote(error)}" for error in record.errors)


RAG_SYNC = Answer(
    request=RagSyncRequest,
    record=RagSyncRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Synchronize a project",
        description=(
            "Compare a project with the files it was indexed from, index what changed, and remove "
            "documents that have expired. What could not be listed is kept."
        ),
        writes=True,
        takes_outer_paths=True,
        failure="sync_failed",
    ),
)
