"""A model's files, without any library: their digest, whether they changed, the vectors' shape."""

import json
import os
from typing import Any

from ubp.core.errors import ModelError
from ubp.index.embed.locate import ModelLocation

FINGERPRINT_BYTES = 16

MAX_HEADER_BYTES = 100_000_000  # as safetensors itself allows


def stamp(place: ModelLocation) -> str:
    """A text that is another one where the files may have changed: sizes, times, inodes.

    Raises:
        ModelError: they are gone.
    """
    parts = (
        (one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino, one.st_dev)
        for one in _stat(place)
    )
    return ";".join(",".join(map(str, part)) for part in parts)


def youngest(place: ModelLocation) -> float:
    """When one of the files was changed last, in seconds since the epoch.

    Raises:
        ModelError: they are gone.
    """
    return max(max(one.st_mtime, one.st_ctime) for one in _stat(place))


def fingerprint(place: ModelLocation) -> bytes:
    """A digest of the files that decide which vectors a model gives (10 ms for 20 MB).

    Raises:
        ModelError: they cannot be read.
    """
    from hashlib import file_digest, sha256

    whole = sha256()
    try:
        for path in paths(place):
            with open(path, "rb") as file:
                whole.update(file_digest(file, "sha256").digest())
    except OSError as error:
        raise _unreadable(place, error) from error
    return whole.digest()[:FINGERPRINT_BYTES]


def dimensions(place: ModelLocation) -> int:
    """How many numbers a vector has.

    Raises:
        ModelError: the files cannot be read, or do not tell.
    """
    try:
        tensors, _ = read_header(paths(place)[1])
        _, columns = tensors[place.layout.tensor]["shape"]
        return int(columns)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(place, error) from error


def read_header(path: str) -> tuple[dict[str, Any], int]:
    """What a safetensors file says of its tensors, and the offset at which they begin.

    Raises:
        ValueError: it is no such file.
    """
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > MAX_HEADER_BYTES:
            raise ValueError("no safetensors file")
        header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise ValueError("no safetensors file")  # noqa: TRY004  # of the file, not of an argument
    header.pop("__metadata__", None)
    return header, 8 + length


def paths(place: ModelLocation) -> tuple[str, str, str]:
    """Configuration, vectors, tokenizer."""
    config, weights, tokenizer, _ = place.layout
    return (
        os.path.join(place.directory, config),
        os.path.join(place.directory, weights),
        os.path.join(place.directory, tokenizer),
    )


def _stat(place: ModelLocation) -> list[os.stat_result]:
    try:
        return [os.stat(path) for path in paths(place)]
    except OSError as error:
        raise _unreadable(place, error) from error


def _unreadable(place: ModelLocation, error: Exception) -> ModelError:
    return ModelError(
        f"The model {place.name} cannot be read.",
        cause=f"{place.directory}: {error}",
        hint="Fetch it again, or choose another one (search.model in .ubp/config.json).",
    )
