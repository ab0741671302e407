"""`ubp model`: the embedding model that search by meaning uses."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, Digest, Line
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.model_status import model_status
from ubp.index.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """The embedding model in use."""

    name: Annotated[str | None, "name of the model; null if there is none"]
    directory: Annotated[str | None, "absolute path of its directory; null of a server's"]
    host: Annotated[str | None, "host of its server; null if it runs on this machine"]
    dimensions: Annotated[Line | None, "number of dimensions of a vector"]
    fingerprint: Annotated[Digest | None, "digest of its files; identifies its vectors"]
    sections: Annotated[Count, "chunks of pages to embed"]
    pending: Annotated[Count | None, "number without a vector yet"]
    why_none: Annotated[str, "why there is no model; empty if there is one"]


@dataclass(frozen=True, slots=True)
class ModelRequest(Request[ModelRecord]):
    """Which model is in use, and how many sections it has yet to embed."""


def run(session: Session, _request: ModelRequest) -> ModelRecord:
    """Return the model in use, and how much is embedded; nothing is loaded."""
    return ModelRecord(**model_status(session, session.view())._asdict())


def text(record: ModelRecord, write: Writer) -> Iterator[str]:
    """Yield the model in use and where it is."""
    if write.is_quiet:
        return
    yield f"{'Model:':<15}{model_text(record, write)}"
    if record.directory is not None:
        yield f"{'Directory:':<15}{write.name(record.directory)}"
        yield f"{'Fingerprint:':<15}{record.fingerprint}"


def model_text(record: ModelRecord, write: Writer) -> str:
    """Return the model and how much it has embedded, or why there is none."""
    if record.name is None:
        return f"none: {write.name(record.why_none)}"
    pending = f", {record.pending} pending" if record.pending else ""
    sections = count(record.sections, "section")
    at = f" at {write.name(record.host)}" if record.host else ""
    size = "no vectors yet" if record.dimensions is None else f"{record.dimensions} dimensions"
    return f"{write.name(record.name)}{at} ({size}); {sections}{pending}"


MODEL = Answer(request=ModelRequest, record=ModelRecord, run=run, text=text, has_facts=False)
