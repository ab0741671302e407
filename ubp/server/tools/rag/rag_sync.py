"""`rag_sync`: bring a project up to date with the files that it was made from."""

from dataclasses import dataclass
from typing import Annotated

from ubp.output.records.rag import RagSyncRecord
from ubp.server.tools.rag.arguments import json_text
from ubp.server.tools.tool import Tool
from ubp.sync.projects import synchronize
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RagSyncRequest:
    """What to synchronize."""

    project: Annotated[str, "project, from rag://projects"]
    path: Annotated[str, "only files below this folder"] | None = None
    full: Annotated[bool, "read unchanged files again"] = False
    remove_deleted: Annotated[bool, "remove documents whose files are gone"] = False


def run(workspace: Workspace, request: RagSyncRequest) -> RagSyncRecord:
    """Synchronize the project and return what changed."""
    compared = synchronize(
        workspace,
        request.project,
        path=request.path or "",
        full=request.full,
        removes=request.remove_deleted,
    )
    return RagSyncRecord(
        compared.added,
        compared.updated,
        compared.deleted,
        compared.unchanged,
        tuple(f"{problem.address}: {problem.reason}" for problem in compared.problems),
    )


RAG_SYNC = Tool(
    name="rag_sync",
    title="Synchronize a project",
    description=(
        "Compare a project with the files it was indexed from, index what changed, and remove "
        "documents that have expired. What could not be listed is kept."
    ),
    request=RagSyncRequest,
    record=RagSyncRecord,
    run=run,
    text=json_text,
    budgets=(),
    writes=True,
    takes_outer_paths=True,
    failure="sync_failed",
)
