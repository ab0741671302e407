"""`rag_index`: documents of a file or folder become part of a project."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Annotated

from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.fields import Count
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.rag.changes import IndexRequest, index_path
from ubp.kits.rag.fields import Project, ProjectName, Success


@dataclass(frozen=True, slots=True)
class RagIndexRecord:
    """What was indexed of a path."""

    success: Success
    project: ProjectName
    indexed_files: Annotated[tuple[str, ...], "documents of the project"]
    total_chunks: Annotated[Count, "parts of these documents"]
    errors: Annotated[tuple[str, ...], "files that could not be indexed, and why"]
    time_taken_ms: Annotated[float, "time taken"]
    left_out_count: Annotated[
        Count, "documents in folders below, which `recursive` indexes, too"
    ] = 0


@dataclass(frozen=True, slots=True)
class RagMetadata:
    """Fields that the front matter of imported documents gets where it has none."""

    category: str = ""
    tags: tuple[str, ...] = ()
    author: str = ""
    related_system: str = ""


@dataclass(frozen=True, slots=True)
class RagIndexRequest(Request[RagIndexRecord]):
    """What to index."""

    path: Annotated[str, "file or folder, in the repository or in a configured folder"]
    project: Project | None = None
    recursive: Annotated[bool, "folders in the folder, too"] = False
    metadata: RagMetadata | None = None
    update: Annotated[bool, "replace other versions that are indexed"] = False
    auto_detect: Annotated[bool, "name the project after the folder"] = False


def run(session: Session, request: RagIndexRequest) -> RagIndexRecord:
    """Index the path and return what the project has of it."""
    started = perf_counter()
    metadata = request.metadata or RagMetadata()
    fields = {
        "category": metadata.category,
        "tags": [*metadata.tags],
        "author": metadata.author,
        "related_system": metadata.related_system,
    }
    indexed = index_path(
        session,
        IndexRequest(
            request.path,
            request.project or "",
            request.recursive,
            {name: value for name, value in fields.items() if value},
            request.update,
            request.auto_detect,
        ),
    )
    return RagIndexRecord(
        success=True,
        project=indexed.project,
        indexed_files=indexed.files,
        total_chunks=indexed.chunks,
        errors=tuple(f"{problem.address}: {problem.reason}" for problem in indexed.problems),
        time_taken_ms=round((perf_counter() - started) * 1000, 1),
        left_out_count=indexed.below,
    )


def text(record: RagIndexRecord, write: Writer) -> Iterator[str]:
    """Yield the documents that were indexed, and the files that could not be."""
    files, chunks = count(len(record.indexed_files), "document"), count(record.total_chunks, "part")
    yield f"{files} of project {write.name(record.project)}, {chunks}. {write.notice()}"
    yield from (write.path(path) for path in record.indexed_files)
    yield from (f"Not indexed: {write.quote(error)}" for error in record.errors)
    if record.left_out_count:
        left_out = count(record.left_out_count, "document")
        yield f"Left out: {left_out} in folders below. Pass recursive to index them, too."


RAG_INDEX = Answer(
    request=RagIndexRequest,
    record=RagIndexRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Index a file or folder",
        description=(
            "Make documents searchable: Markdown, HTML, text, Word, PDF and notebooks. Files of a "
            "Git work tree are read in place; those of other configured folders are copied into "
            "the project's own repository."
        ),
        writes=True,
        takes_outer_paths=True,
        failure="index_failed",
    ),
)
