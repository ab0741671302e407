"""`ubp model embed`: the vectors of the model in use, after what they cost has been shown."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from ubp.core.shell import ubp_command
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, Option
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.embed.locate import EndpointPlace, require_extra
from ubp.index.session import Session

MINUTE, HOUR = 60, 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedRecord:
    """The texts without a vector of the model in use, and what was done about them."""

    name: Annotated[str, "name of the model"]
    host: Annotated[str | None, "host of its server; null if it runs on this machine"]
    sections: Annotated[Count, "chunks of pages"]
    texts: Annotated[Count, "texts that had no vector: equal chunks have one"]
    tokens: Annotated[Count | None, "estimated number of their tokens; null without a server"] = (
        None
    )
    seconds: Annotated[float | None, "estimated time; null without a server"] = None
    cost: Annotated[float | None, "estimated price by UBP_EMBED_PRICE; null if that is not set"] = (
        None
    )
    embedded: Annotated[Count | None, "number of texts embedded now; null without --yes"] = None
    refused: Annotated[Count, "number of those that the server took in no length"] = 0
    counted_tokens: Annotated[Count | None, "tokens that the server counted; null if unknown"] = (
        None
    )
    spent_seconds: Annotated[float | None, "time spent; null without --yes"] = None
    spent: Annotated[float | None, "price of the counted tokens; null if unknown"] = None


@dataclass(frozen=True, slots=True)
class EmbedRequest(Request[EmbedRecord]):
    """Whether to make the missing vectors of the model in use; without `yes`, what they cost."""

    yes: Annotated[
        bool, "make the vectors", Option("Make the vectors. Without it, show what they cost.")
    ] = False


def run(session: Session, request: EmbedRequest) -> EmbedRecord:
    """Return what the missing vectors of the model in use cost; with `yes`, make them.

    Raises:
        ModelNeededError: there is no embedding model.
        ModelError: the model cannot be used; what was made before is kept.
    """
    require_extra()
    place = session.model_place()
    if isinstance(place, EndpointPlace):
        return _ask_server(session, place, request)
    model = session.required_model()
    view = session.view()
    sections, pending = view.count_embedded(model.fingerprint, model.dimensions)
    embedded = view.semantic_index(model).embedded if request.yes else None
    return EmbedRecord(
        name=model.name, host=None, sections=sections, texts=pending, embedded=embedded
    )


def _ask_server(session: Session, place: EndpointPlace, request: EmbedRequest) -> EmbedRecord:
    from ubp.index.model_trial import embed, estimate_embedding  # they load models

    folder = session.repository.data_dir
    view = session.view()
    estimate = estimate_embedding(view, place, folder)
    record = EmbedRecord(
        name=place.name,
        host=place.host,
        sections=estimate.sections,
        texts=estimate.texts,
        tokens=estimate.tokens,
        seconds=round(estimate.seconds, 1),
        cost=place.price_of(estimate.tokens),
    )
    if not request.yes:
        return record
    embedded = embed(view, place, estimate.known, folder)
    usage = embedded.usage
    return replace(
        record,
        embedded=embedded.texts,
        refused=usage.refused,
        counted_tokens=usage.tokens or None,
        spent_seconds=round(embedded.seconds, 1),
        spent=place.price_of(usage.tokens) if usage.tokens else None,
    )


def text(
    record: EmbedRecord, write: Writer, command: str = "model", unit: str = "text"
) -> Iterator[str]:
    """Yield what the vectors cost, and how to have them made; or what was made.

    `command` is the one whose `embed` makes them; `unit` is what was counted.
    """
    if write.is_quiet:
        return
    name = write.name(record.name)
    at = f" at {write.name(record.host)}" if record.host else ""
    if record.embedded is not None:
        yield f"{name}{at}: {count(record.embedded, unit)} embedded{_spent(record)}."
        if record.refused:
            yield f"The server takes {count(record.refused, 'text')} in no length."
        return
    if not record.texts:
        has = "section has a vector" if unit == "text" else f"{unit} has its vectors"
        yield f"{name}{at}: every {has} ({record.sections})."
        return
    yield f"{name}{at}: {count(record.texts, unit)} of {record.sections} to embed{_cost(record)}."
    if record.host:
        yield f"They are sent to {write.name(record.host)}. Files that `exclude` matches are not."
    yield f"To make the vectors, run: {ubp_command(command, 'embed', '--yes')}"


def _cost(record: EmbedRecord) -> str:
    if record.tokens is None or record.seconds is None:
        return ""
    price = "" if record.cost is None else f", {record.cost:.4f} by UBP_EMBED_PRICE"
    return f": about {record.tokens} tokens{price}, {_duration(record.seconds)}"


def _spent(record: EmbedRecord) -> str:
    if record.spent_seconds is None:
        return ""
    tokens = "" if record.counted_tokens is None else f", {record.counted_tokens} tokens"
    price = "" if record.spent is None else f", {record.spent:.4f} by UBP_EMBED_PRICE"
    return f" in {_duration(record.spent_seconds)}{tokens}{price}"


def _duration(seconds: float) -> str:
    if seconds < MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < HOUR:
        return f"{round(seconds / MINUTE)} min"
    return f"{seconds / HOUR:.1f} h"


EMBED_MODEL = Answer(
    request=EmbedRequest,
    record=EmbedRecord,
    run=run,
    text=text,
    has_facts=False,
    reads_collections=True,
)
