"""Use case: another model fetched, for whoever wants one."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.model import Progress


class FetchedModel(NamedTuple):
    """A model that was fetched: its name, its folder, how many numbers its vectors have."""

    name: str
    directory: str
    dimensions: int


def fetch_model(name: str, environment: Mapping[str, str], progress: Progress) -> FetchedModel:
    """Bring a model from the hub into the user's cache.

    Raises:
        UsageError: this is no hub id, or what runs a model is not installed.
        ModelError: it cannot be had, or is of another kind.
    """
    from ubp.index.embed.fetch import fetch
    from ubp.index.embed.locate import require_extra
    from ubp.index.embed.model_files import dimensions

    require_extra()
    place = fetch(name, environment, progress)
    return FetchedModel(place.name, place.directory, dimensions(place))
