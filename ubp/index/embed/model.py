"""A model in memory: loaded from its folder, never from the network.

model2vec's own loader, `StaticModel.from_pretrained`, imports the hub's client and takes a path
that is no folder for the name of a model to download; and it copies the tokenizer twice. What it
would give to `StaticModel` is given here instead, bit by bit the same, in half of the time: a
process takes 0.6 s of CPU and 152 MB for 1.2 s and 278 MB (`benchmarks/vector_speed.py`).
"""

import gc
import json
import mmap
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from model2vec import StaticModel
from tokenizers import Tokenizer

from ubp.core.errors import ModelError
from ubp.index.embed.locate import ModelLocation
from ubp.index.embed.model_files import fingerprint, paths, read_header, stamp
from ubp.index.embed.vectors import Matrix

DTYPES = {"I8": np.int8, "F16": np.float16, "F32": np.float32, "F64": np.float64, "I64": np.int64}
"""What safetensors calls numpy's types."""

# model2vec's, where the configuration does not say.
MAX_LENGTH, NORMALIZE = 512, False

_UNKNOWN_ID = re.compile(rb'(?<!\\)"unk_id"\s*:\s*(\d+|null)')


class Model:
    """Texts to vectors, in any thread. tokenizers spreads a call's texts over all cores."""

    def __init__(
        self, place: ModelLocation, static: StaticModel, fingerprint: bytes, stamp: str
    ) -> None:
        """`fingerprint` tells models apart that give other vectors; `stamp` is the files'."""
        self.place = place
        self.fingerprint = fingerprint
        self._stamp = stamp
        self._static = static

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.place.name

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self._static.dim)

    def is_current(self) -> bool:
        """Whether the files are still those that were loaded.

        Raises:
            ModelError: they are gone.
        """
        return stamp(self.place) == self._stamp

    def encode(self, texts: Sequence[str]) -> Matrix:
        """The vector of each text.

        Raises:
            ModelError: the model's files do not fit together.
        """
        if not texts:
            return Matrix(np.zeros((0, self.dimensions), dtype=np.float32))
        try:
            with np.errstate(all="ignore"):  # what is no number becomes a zero
                return Matrix(self._static.encode(list(texts), use_multiprocessing=False))
        except (IndexError, ValueError, TypeError) as error:
            raise _unusable(self.place, error) from error


# A model takes 100 MB: a server's threads have one together.
_LOADED: "WeakValueDictionary[tuple[ModelLocation, str], Model]" = WeakValueDictionary()
_LOADING = threading.Lock()


def load_model(place: ModelLocation, known_fingerprint: bytes | None = None) -> Model:
    """Load a model, or share it with whoever in this process has it already.

    `known_fingerprint` is that of its files, where somebody remembers it.

    Raises:
        ModelError: the files cannot be used, or are being changed.
    """
    with _LOADING:
        return _LOADED.get((place, stamp(place))) or _load_anew(place, known_fingerprint)


def _load_anew(place: ModelLocation, known_fingerprint: bytes | None) -> Model:
    before = stamp(place)
    digest = known_fingerprint or fingerprint(place)
    try:
        with _without_collecting():
            static = _load(place)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # whatever foreign files lead to; Rust's panics are no Exception
        raise _unusable(place, error) from error
    if stamp(place) != before:
        raise _unusable(place, ValueError("the files changed while they were read"))
    model = Model(place, static, digest, before)
    _LOADED[place, before] = model
    return model


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Spare the search for garbage in 72,000 tokens while they are made (60 ms of 350)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _load(place: ModelLocation) -> StaticModel:
    config_path, weights_path, tokenizer_path = paths(place)
    with open(config_path, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    with open(tokenizer_path, "rb") as file:
        text = file.read()
    tensors = _map_tensors(weights_path)
    if not tensors[place.layout.tensor].size:
        raise ValueError("it has no vectors")
    return StaticModel(
        vectors=tensors[place.layout.tensor],
        # It has all that is asked of a tokenizer.
        tokenizer=cast("Tokenizer", _SharedTokenizer(Tokenizer.from_buffer(text), text)),
        config=config,
        normalize=config.get("normalize", NORMALIZE),
        weights=tensors.get("weights"),
        token_mapping=tensors.get("mapping"),
        max_length=config.get("max_length", MAX_LENGTH),
    )


class _SharedTokenizer:
    """A tokenizer for `StaticModel`, which would copy it twice (0.3 s and 80 MB)."""

    def __init__(self, tokenizer: Tokenizer, text: bytes) -> None:
        self._tokenizer = tokenizer
        found = _UNKNOWN_ID.search(text)
        self._unknown_id = found[1].decode() if found else "null"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __deepcopy__(self, _: object) -> "_SharedTokenizer":
        return self

    def to_str(self) -> str:
        """As much of it as is asked for: which token stands for what a Unigram does not know."""
        return f'{{"model": {{"unk_id": {self._unknown_id}}}}}'


def _map_tensors(path: str) -> dict[str, npt.NDArray[Any]]:
    """The tensors of a file, read where they are used, shared with other processes."""
    header, begin = read_header(path)
    with open(path, "rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    tensors = {}
    for name, tensor in header.items():
        if tensor["dtype"] not in DTYPES:
            raise ValueError(f"its numbers are {tensor['dtype']}; numpy has no such type")
        dtype = np.dtype(DTYPES[tensor["dtype"]])
        start, end = tensor["data_offsets"]
        count = (end - start) // dtype.itemsize
        flat = np.frombuffer(content, dtype, count=count, offset=begin + start)
        tensors[name] = flat.reshape(tensor["shape"])
    return tensors


def _unusable(place: ModelLocation, error: BaseException) -> ModelError:
    return ModelError(
        f"The model {place.name} cannot be used.",
        cause=f"{type(error).__name__}: {error}",
        hint="Fetch it again, or choose another one (search.model in .ubp/config.json).",
    )
