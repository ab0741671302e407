"""What is known of models of servers, in a file beside the index; it is read without numpy.

It is written when the user has the first vectors of a model made. Before that, nothing is sent for
a search.
"""

import json
import math
import os
from hashlib import blake2b
from typing import NamedTuple

from ubp.core.errors import ModelError
from ubp.core.files import read_regular_file, write_atomically
from ubp.index.embed.locate import MAX_DIMENSIONS, EndpointPlace
from ubp.index.embed.model_files import FINGERPRINT_BYTES
from ubp.index.store.schema import PAID

MODELS_FILE = "models.json"
MAX_FILE_BYTES = 1_000_000


class Scale(NamedTuple):
    """How cosines of a model are read as those of the bundled one, whose limits are measured."""

    slope: float = 1.0
    offset: float = 0.0

    def read(self, cosine: float) -> float:
        """Return the bundled model's cosine of about the same meaning."""
        return min(1.0, self.slope * cosine + self.offset)


class Known(NamedTuple):
    """What the first vectors of a model taught about it; `probe` is that of PROBE."""

    dimensions: int
    scale: Scale = Scale()
    probe: tuple[float, ...] = ()


def fingerprint_of_endpoint(place: EndpointPlace) -> bytes:
    """Return what identifies the vectors of a server's model.

    The address is part of it: servers of one's own have models of any name, or ignore the name.
    """
    parts = (place.endpoint.url, place.name, str(place.dimensions or ""), place.passage_prefix)
    digest = blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=FINGERPRINT_BYTES)
    return PAID + digest.digest()[len(PAID) :]


def read_known(place: EndpointPlace, folder: str) -> Known | None:
    """Return what is known of a model in the folder of an index."""
    entry = _read_models(folder).get(fingerprint_of_endpoint(place).hex())
    if not isinstance(entry, dict):
        return None
    dimensions, scale, vector = (entry.get(name) for name in ("dimensions", "scale", "probe"))
    if type(dimensions) is not int or not 0 < dimensions <= MAX_DIMENSIONS:
        return None
    known = Known(dimensions)
    if isinstance(scale, list) and is_vector(scale, 2):
        known = known._replace(scale=Scale(*scale))
    if isinstance(vector, list) and is_vector(vector, dimensions):
        known = known._replace(probe=tuple(vector))
    return known


def write_known(place: EndpointPlace, folder: str, known: Known) -> None:
    """Keep what is known of a model.

    Raises:
        ModelError: the folder cannot be written.
    """
    entry = {
        "name": place.name,
        "dimensions": known.dimensions,
        "scale": list(known.scale),
        "probe": [round(number, 5) for number in known.probe],
    }
    models = _read_models(folder) | {fingerprint_of_endpoint(place).hex(): entry}
    try:
        os.makedirs(folder, exist_ok=True)
        write_atomically(os.path.join(folder, MODELS_FILE), json.dumps(models, indent=1).encode())
    except OSError as error:
        raise ModelError("Cannot store what is known of the model.", cause=str(error)) from error


def _read_models(folder: str) -> dict[str, object]:
    try:
        models = json.loads(read_regular_file(os.path.join(folder, MODELS_FILE), MAX_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return models if isinstance(models, dict) else {}


def is_number(value: object) -> bool:
    """Return whether a value of JSON is a finite number."""
    return type(value) in {int, float} and math.isfinite(value)  # type: ignore[arg-type]  # checked


def is_vector(value: object, size: int) -> bool:
    """Return whether a value of JSON is a list of so many numbers."""
    return isinstance(value, list) and len(value) == size and all(map(is_number, value))
