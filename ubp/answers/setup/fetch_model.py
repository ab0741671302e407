"""`ubp model fetch`: another embedding model, from the Hugging Face Hub."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.answer import Answer, Place, Request
from ubp.frame.fields import Line, Option
from ubp.frame.writer import Writer
from ubp.index.embed.fetch import fetch
from ubp.index.embed.locate import require_extra
from ubp.index.embed.model_files import dimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedModelRecord:
    """A model that was fetched."""

    name: Annotated[str, "value for search.model"]
    directory: Annotated[str, "absolute path of its directory"]
    dimensions: Annotated[Line, "number of dimensions of a vector"]


@dataclass(frozen=True, slots=True)
class FetchModelRequest(Request[FetchedModelRecord]):
    """Which model to download to the user's cache."""

    name: Annotated[
        str,
        "model id: OWNER/NAME",
        Option("Model id: OWNER/NAME.", name="ID", is_argument=True, missing="a model id"),
    ]


def run(place: Place, request: FetchModelRequest) -> FetchedModelRecord:
    """Download a model from the hub into the user's cache.

    Raises:
        UsageError: the name is not a hub id.
        ModelNeededError: the libraries that run a model are not installed.
        ModelError: the model cannot be downloaded, or is of another kind.
    """
    require_extra()
    fetched = fetch(request.name, place.environment, place.progress)
    return FetchedModelRecord(
        name=fetched.name, directory=fetched.directory, dimensions=dimensions(fetched)
    )


def text(record: FetchedModelRecord, write: Writer) -> Iterator[str]:
    """Yield what was fetched, and how to use it."""
    if write.is_quiet:
        return
    name = write.name(record.name)
    yield f"Fetched {name} ({record.dimensions} dimensions) to {write.name(record.directory)}."
    yield f'To use it, set "search": {{"model": "{name}"}} in .ubp/config.json'


FETCH_MODEL = Answer(
    request=FetchModelRequest,
    record=FetchedModelRecord,
    run=run,
    run_anywhere=run,
    text=text,
    has_facts=False,
)
