"""Fetch an embedding model: what `ubp model fetch` does."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.model import Progress


class FetchedModel(NamedTuple):
    """A fetched model: its name, its folder, the number of components of its vectors."""

    name: str
    directory: str
    dimensions: int


def fetch_model(name: str, environment: Mapping[str, str], progress: Progress) -> FetchedModel:
    """Download a model from the hub into the user's cache.

    Raises:
        UsageError: the name is not a hub id.
        ModelNeededError: the libraries that run a model are not installed.
        ModelError: the model cannot be downloaded, or is of another kind.
    """
    from ubp.index.embed.fetch import fetch
    from ubp.index.embed.locate import require_extra
    from ubp.index.embed.model_files import dimensions

    require_extra()
    place = fetch(name, environment, progress)
    return FetchedModel(place.name, place.directory, dimensions(place))
