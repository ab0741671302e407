"""`ubp model compare`: models on the repository's own headings and titles."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ubp.core.errors import ModelError, UsageError
from ubp.core.shell import ubp_command
from ubp.core.text import estimate_tokens
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, Fraction, Line, Option
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.embed.locate import EndpointPlace, Place, find_model, require_extra
from ubp.index.session import Session

if TYPE_CHECKING:
    from ubp.index.embed.sample import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedModelRecord:
    """How well a model finds sections by their headings, and pages by their titles."""

    name: Annotated[str, "name of the model"]
    host: Annotated[str | None, "host of its server; null if it runs on this machine"]
    dimensions: Annotated[Line | None, "number of dimensions of a vector; null if not asked"] = None
    headings: Annotated[
        Fraction | None,
        "headings with their section among the first five; null if not asked",
    ] = None
    titles: Annotated[
        Fraction | None, "titles with their page among the first five; null if not asked"
    ] = None
    seconds: Annotated[float | None, "time taken; null if not asked"] = None
    tokens: Annotated[Count | None, "tokens that its server counted; null if unknown"] = None
    cost: Annotated[float | None, "their price; null if unknown"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRecord:
    """Models on the same sections, whose titles and headings are asked and taken out."""

    sections: Annotated[Count, "sections drawn"]
    headings: Annotated[Count, "headings asked"]
    titles: Annotated[Count, "titles asked"]
    tokens: Annotated[Count, "estimated number of tokens that are sent to each server"]
    is_asked: Annotated[bool, "false: a server would be asked, and --yes is missing"]
    models: Annotated[
        tuple[TriedModelRecord, ...], "the models, in the order in which they were named"
    ]


@dataclass(frozen=True, slots=True)
class CompareRequest(Request[ComparisonRecord]):
    """Which models to compare: folders, ids of fetched models, or names at the user's server."""

    names: Annotated[
        tuple[str, ...],
        "models; by default the bundled one and the one in use",
        Option("Models to compare. Default: the bundled one and the one in use.", is_argument=True),
    ] = ()
    yes: Annotated[
        bool, "send the sample", Option("Send the sample to servers. Without it, show its size.")
    ] = False


def run(session: Session, request: CompareRequest) -> ComparisonRecord:
    """Return how well models find drawn sections by their own headings and titles.

    Raises:
        UsageError: the repository has no headings to ask.
        ModelNeededError: the libraries that run models are not installed.
        ModelError: a model does not exist, or cannot be used.
    """
    require_extra()
    from ubp.index.model_trial import sample_sections

    places = _find(session, request.names)
    sample = sample_sections(session.view())
    if not sample.headings and not sample.titles:
        raise UsageError(
            "There is nothing to compare models on.",
            cause="Pages have neither headings nor titles of their own.",
        )
    texts = (*(section.body for section in sample.sections), *sample.headings, *sample.titles)
    is_asked = request.yes or not any(isinstance(place, EndpointPlace) for place in places)
    models = []
    for place in places:
        host = place.host if isinstance(place, EndpointPlace) else None
        record = TriedModelRecord(name=place.name, host=host)
        models.append(_try(place, sample) if is_asked else record)
    return ComparisonRecord(
        sections=len(sample.sections),
        headings=len(sample.headings),
        titles=len(sample.titles),
        tokens=sum(map(estimate_tokens, texts)),
        is_asked=is_asked,
        models=tuple(models),
    )


def _find(session: Session, names: tuple[str, ...]) -> list[Place]:
    """Return where models are: a name without a local model is a server's."""
    used = session.model_place()
    bundled = find_model(None, session.environment)
    if not names:
        others = [] if used is None or used == bundled else [used]
        return [bundled, *others]
    places: list[Place] = []
    for name in names:
        try:
            places.append(
                find_model(
                    name, session.environment, session.repository.root or session.repository.git_dir
                )
            )
        except ModelError:
            if not isinstance(used, EndpointPlace):
                raise
            places.append(used._replace(endpoint=used.endpoint._replace(name=name)))
    return places


def _try(place: Place, sample: "Sample") -> TriedModelRecord:
    from ubp.index.embed.sample import measure

    start = time.monotonic()
    if isinstance(place, EndpointPlace):
        from ubp.index.embed.embeddings_api import probe
        from ubp.index.embed.endpoint import EndpointModel
        from ubp.index.embed.known import Known

        answer, _ = probe(place)
        server = EndpointModel(place, Known(len(answer.vectors[0])))
        recall = measure(server, sample)
        tokens = server.usage.tokens or None
        return TriedModelRecord(
            name=place.name,
            host=place.host,
            dimensions=server.dimensions,
            headings=recall.headings,
            titles=recall.titles,
            seconds=round(time.monotonic() - start, 2),
            tokens=tokens,
            cost=None if tokens is None else place.price_of(tokens),
        )
    from ubp.index.embed.model import load_model

    model = load_model(place)
    recall = measure(model, sample)
    return TriedModelRecord(
        name=place.name,
        host=None,
        dimensions=model.dimensions,
        headings=recall.headings,
        titles=recall.titles,
        seconds=round(time.monotonic() - start, 2),
    )


def text(record: ComparisonRecord, write: Writer) -> Iterator[str]:
    """Yield a row a model; or what would be sent."""
    if write.is_quiet:
        return
    asked = f"{count(record.headings, 'heading')} and {count(record.titles, 'title')}"
    yield f"{asked}, asked of {count(record.sections, 'section')} without them."
    if not record.is_asked:
        hosts = dict.fromkeys(model.host for model in record.models if model.host)
        shown = ", ".join(map(write.name, hosts))
        yield f"About {record.tokens} tokens would be sent for each model to {shown}."
        yield f"To send them, add --yes: {ubp_command('model', 'compare', '--yes')}"
        return
    rows: list[tuple[str, ...]] = [("", "headings", "titles", "numbers", "time", "tokens", "price")]
    rows += [_row(model, write) for model in record.models]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True)]
        yield "  ".join([f"{name:<{widths[0]}}", *padded]).rstrip()


def _row(model: TriedModelRecord, write: Writer) -> tuple[str, ...]:
    return (
        write.name(model.name),
        f"{model.headings or 0:.2f}",
        f"{model.titles or 0:.2f}",
        str(model.dimensions),
        f"{model.seconds or 0:.1f} s",
        "" if model.tokens is None else str(model.tokens),
        "" if model.cost is None else f"{model.cost:.4f}",
    )


COMPARE_MODELS = Answer(
    request=CompareRequest, record=ComparisonRecord, run=run, text=text, has_facts=False
)
