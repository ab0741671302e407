"""`rag_external`: store a text from an issue tracker, a wiki or a web page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.core.errors import BadArgumentError
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.fields import DocId, Keyword, Moment
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.rag.changes import MAX_TTL_HOURS, store_text
from ubp.kits.rag.fields import Success
from ubp.sync.documents import ExternalDocument

MAX_CONTENT_CHARACTERS = 4_000_000
MAX_ADDRESS_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class RagExternalRecord:
    """A text that was stored."""

    success: Success
    document_id: DocId
    expires_at: Annotated[Moment | None, "when it answers no more; null: never"] = None


@dataclass(frozen=True, slots=True)
class RagExternalRequest(Request[RagExternalRecord]):
    """A text, and where it is from."""

    source_type: Literal["jira", "confluence", "web", "custom"]
    content: Annotated[str, "the text itself", Keyword("maxLength", MAX_CONTENT_CHARACTERS)]
    project: Annotated[str, "project, created if need be"]
    metadata: Annotated[
        Mapping[str, object], "source_url, query, ttl_hours, and any fields for the front matter"
    ]


def run(session: Session, request: RagExternalRequest) -> RagExternalRecord:
    """Store the text and return its document's id."""
    given = dict(request.metadata)
    ttl = given.pop("ttl_hours", None)
    if ttl is not None and (
        isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl <= MAX_TTL_HOURS
    ):
        raise BadArgumentError("metadata", f"ttl_hours must be a number of hours above 0: {ttl!r}.")
    stored = store_text(
        session,
        request.project,
        ExternalDocument(
            request.source_type,
            request.content,
            _text(given, "source_url"),
            _text(given, "query"),
            ttl,
            given,
        ),
    )
    return RagExternalRecord(
        success=True, document_id=stored.document_id, expires_at=stored.expires_at or None
    )


def text(record: RagExternalRecord, write: Writer) -> Iterator[str]:
    """Yield the id of the stored text, and when it expires."""
    expiry = f"; expires {record.expires_at}" if record.expires_at else ""
    yield f"Stored as {record.document_id}{expiry}. {write.notice()}"


def _text(given: dict[str, object], name: str) -> str:
    value = given.pop(name, None)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_ADDRESS_CHARACTERS:
        raise BadArgumentError(
            "metadata", f"{name} must be a text of at most {MAX_ADDRESS_CHARACTERS} characters."
        )
    return value


RAG_EXTERNAL = Answer(
    request=RagExternalRequest,
    record=RagExternalRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Store an external text",
        description=(
            "Store a text that you have read elsewhere (issue, wiki page, web page) so that it "
            "can be searched, with its address and, by ttl_hours, an expiry. Nothing is fetched. "
            "The same source_url and query replace the former text."
        ),
        writes=True,
        failure="external_failed",
    ),
)
