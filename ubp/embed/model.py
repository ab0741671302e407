"""A model in memory: loaded from its folder by model2vec, never from the network."""

import json
import mmap
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from model2vec import StaticModel
from tokenizers import Tokenizer

from ubp.embed.matrix import Matrix
from ubp.embed.place import ModelPlace
from ubp.errors import ModelError

DTYPES = {"I8": np.int8, "F16": np.float16, "F32": np.float32, "F64": np.float64, "I64": np.int64}
"""What safetensors calls numpy's types."""

_UNKNOWN_ID = re.compile(rb'(?<!\\)"unk_id"\s*:\s*(\d+|null)')


class Model:
    """Texts to vectors."""

    def __init__(self, place: ModelPlace, static: StaticModel, fingerprint: bytes) -> None:
        self.place = place
        self.fingerprint = fingerprint
        self._static = static

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.place.name

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self._static.dim)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """The vector of each text."""
        if not texts:
            return Matrix(np.zeros((0, self.dimensions), dtype=np.float32))
        return Matrix(self._static.encode(list(texts), use_multiprocessing=False))


def load_model(place: ModelPlace) -> Model:
    """Load a model.

    model2vec's own loader imports the hub's client (0.3 s) and copies the tokenizer and the
    vectors; what it gives its `StaticModel` is given here without.

    Raises:
        ModelError: the files cannot be used.
    """
    layout, directory = place.layout, place.directory
    try:
        with open(os.path.join(directory, layout.config), encoding="utf-8") as file:
            config: dict[str, Any] = json.load(file)
        with open(os.path.join(directory, layout.tokenizer), "rb") as file:
            text = file.read()
        tensors = _map_tensors(os.path.join(directory, layout.weights))
        static = StaticModel(
            vectors=tensors[layout.tensor],
            tokenizer=_Lent(Tokenizer.from_buffer(text), text),  # type: ignore[arg-type]  # all of it that is asked for
            config=config,
            normalize=config.get("normalize", False),
            weights=tensors.get("weights"),
            token_mapping=tensors.get("mapping"),
            max_length=config.get("max_length", 512),
        )
    except Exception as error:  # whatever foreign files lead to
        raise ModelError(
            f"The model {place.name} cannot be loaded.",
            cause=f"{type(error).__name__}: {error}",
            hint="Fetch it again, or choose another one (search.model in .ubp/config.json).",
        ) from error
    return Model(place, static, fingerprint(place))


def fingerprint(place: ModelPlace) -> bytes:
    """A digest of the files that decide what vectors a model gives."""
    from hashlib import blake2b

    digest = blake2b(digest_size=16)
    for name in (place.layout.config, place.layout.weights, place.layout.tokenizer):
        with open(os.path.join(place.directory, name), "rb") as file:
            digest.update(blake2b(file.read(), digest_size=16).digest())
    return digest.digest()


class _Lent:
    """A tokenizer for `StaticModel`, which would copy it twice (0.3 s and 100 MB)."""

    def __init__(self, tokenizer: Tokenizer, text: bytes) -> None:
        self._tokenizer = tokenizer
        self._text = text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __deepcopy__(self, _: object) -> "_Lent":
        return self

    def to_str(self) -> str:
        """As much of it as is asked for: where a Unigram model's unknown token stands."""
        found = _UNKNOWN_ID.search(self._text)
        return f'{{"model": {{"unk_id": {found[1].decode() if found else "null"}}}}}'


def _map_tensors(path: str) -> dict[str, npt.NDArray[Any]]:
    """The tensors of a file, read as they are used, shared with other processes."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    tensors = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            dtype = np.dtype(DTYPES[tensor["dtype"]])
            start, end = tensor["data_offsets"]
            flat = np.frombuffer(
                content, dtype, count=(end - start) // dtype.itemsize, offset=8 + length + start
            )
            tensors[name] = flat.reshape(tensor["shape"])
    return tensors
