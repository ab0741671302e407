"""`ubp reindex`: the index built anew, or pruned."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, Moment, Option
from ubp.frame.wording import count, moment, printable, size
from ubp.frame.writer import Writer
from ubp.git.repository import Repository
from ubp.index.embed.locate import EndpointPlace
from ubp.index.embedded import fingerprint_of
from ubp.index.select import select_pages
from ubp.index.session import Session
from ubp.index.store.store import Pruned, Statistics
from ubp.index.view import View

SKIP_EMBEDDING = "Do not compute embeddings now; the first search that needs them will."

# What earlier versions kept in the work tree. It is not read.
OLD_NAMES = ("knowledge.db", "knowledge.db-wal", "knowledge.db-shm", "serve.log", "serve.log.1")
OLD_FILES = frozenset(f".ubp/{name}" for name in OLD_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedRecord:
    """What was removed from the index."""

    pages: Annotated[Count, "blobs"]
    listings: Annotated[Count, "work trees"]
    freed_bytes: Annotated[Count, "bytes freed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """The database."""

    path: Annotated[str | None, "path of the database; null if in memory"]
    why_in_memory: Annotated[str, "why it is in memory; empty if it has a path"]
    format: Annotated[Count, "schema version"]
    size_bytes: Annotated[Count, "size in bytes, including the write-ahead log"]
    written_at: Annotated[Moment | None, "time of the last write"]
    pages: Annotated[Count, "parsed blobs"]
    listings: Annotated[Count, "work trees"]
    heads: Annotated[Count, "commits with cached history"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexRecord:
    """What was parsed."""

    documents: Annotated[Count, "pages in the index"]
    parsed: Annotated[Count, "pages that were read"]
    pruned: Annotated[PrunedRecord | None, "with --prune: what was removed"]
    embedded: Annotated[
        Count | None, "number of sections embedded; null if embedding was not requested"
    ]
    index: IndexRecord


@dataclass(frozen=True, slots=True)
class ReindexRequest(Request[ReindexRecord]):
    """What to read anew: every page, or one `file`; with `prune` nothing is read.

    `prune` only removes what is no longer needed, and with it an index that an earlier version left
    in `.ubp/`, unless Git tracks it.
    """

    file: Annotated[
        str | None, "page to read", Option("Re-index only this page.", metavar="PATH")
    ] = None
    prune: Annotated[
        bool,
        "remove data, read nothing",
        Option("Only remove data that no work tree or recent commit needs."),
    ] = False
    skip_embedding: Annotated[bool, "compute no embeddings now", Option(SKIP_EMBEDDING)] = False


def run(session: Session, request: ReindexRequest) -> ReindexRecord:
    """Read pages anew, and embed their sections where there is a model; or prune the index.

    Raises:
        UsageError: `file` matches no page.
        ModelError: the configured model does not exist, or cannot be used.
    """
    store = session.store
    if request.file is not None:
        view = session.view()
        paths = select_pages([request.file], view, session.repository)
        store.forget_pages({page.blob for path in paths if (page := view.page(path))})
    elif not request.prune:
        store.clear()
    session.forget()
    view = session.view()
    view.link_graph()
    is_embedding = not (request.prune or request.skip_embedding)
    pruned = _prune(session) if request.prune else None
    embedded = embed_sections(session, view) if is_embedding else None
    return ReindexRecord(
        documents=view.count_documents(),
        parsed=view.parsed,
        pruned=pruned,
        embedded=embedded,
        index=index_record(store.statistics()),
    )


def _prune(session: Session) -> PrunedRecord:
    session.history.forget_unreachable()
    place, store = session.model_place(), session.store
    pruned: Pruned = store.prune(place and fingerprint_of(store.database, place))
    freed = pruned.freed_bytes + _remove_old_files(session.repository)
    return PrunedRecord(pages=pruned.pages, listings=pruned.listings, freed_bytes=freed)


def embed_sections(session: Session, view: View) -> int | None:
    """Embed the sections that have no vector yet; return how many.

    None: there is no model, or it is a server's, whose vectors `ubp model embed` makes.

    Raises:
        ModelError: the configured model does not exist, or cannot be used.
    """
    if isinstance(session.model_place(), EndpointPlace):
        return None
    model = session.model()
    return None if model is None else view.semantic_index(model).embedded


def index_record(index: Statistics) -> IndexRecord:
    """Return the record of the database."""
    written_at = None if index.written_at is None else moment(int(index.written_at))
    return IndexRecord(**{**index._asdict(), "written_at": written_at})


def _remove_old_files(repository: Repository) -> int:
    """Remove OLD_FILES that Git ignores and does not track; return their bytes.

    Git lists nothing below a submodule or a symbolic link, and knows whether case matters.
    """
    if repository.root is None:
        return 0
    command = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ".ubp")
    ignored = os.fsdecode(repository.run(*command)).split("\0")
    freed = 0
    for name in OLD_FILES & set(ignored):
        path = os.path.join(repository.root, name)
        with suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                os.unlink(path)
                freed += status.st_size
    return freed


def text(record: ReindexRecord, write: Writer) -> Iterator[str]:
    """Yield what was read, what was pruned, and why the index is in memory."""
    if write.is_quiet:
        return
    yield f"{count(record.parsed, 'page')} read; {record.documents} in the index."
    if record.embedded:
        yield f"{count(record.embedded, 'section')} embedded."
    if record.pruned is not None:
        pages, listings = (
            count(record.pruned.pages, "page"),
            count(record.pruned.listings, "listing"),
        )
        yield f"Pruned: {pages}, {listings}; {size(record.pruned.freed_bytes)} freed."
    if record.index.path is None:
        yield f"The index was in memory: {printable(record.index.why_in_memory)}"


REINDEX = Answer(request=ReindexRequest, record=ReindexRecord, run=run, text=text, has_facts=False)
