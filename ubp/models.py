"""Use case: another model fetched, for whoever wants one."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.seams import Progress


class Fetched(NamedTuple):
    """A model that was fetched: its name, its folder, how many numbers its vectors have."""

    name: str
    directory: str
    dimensions: int


def fetch_model(name: str, environment: Mapping[str, str], progress: Progress) -> Fetched:
    """Bring a model from the hub into the user's cache.

    Raises:
        UsageError: this is no hub id, or what runs a model is not installed.
        ModelError: it cannot be had, or is of another kind.
    """
    from ubp.embed.fetch import fetch
    from ubp.embed.files import dimensions
    from ubp.embed.place import require_extra

    require_extra()
    place = fetch(name, environment, progress)
    return Fetched(place.name, place.directory, dimensions(place))
