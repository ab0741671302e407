"""An embedding model in memory, loaded from its folder and never from the network.

Models are in model2vec's format: a text's vector is the mean of its tokens' vectors. Of that
library only the arithmetic was needed, which is `_StaticVectors`: for 25,770 paragraphs and pages
of four repositories the vectors are equal bit by bit. `StaticModel` sorts the whole vocabulary and
imports joblib, without which a process's first search takes 0.48 s of CPU instead of 0.87.
"""

import gc
import json
import mmap
import re
import statistics
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from ubp.core.errors import ModelError
from ubp.index.embed.locate import ModelLocation
from ubp.index.embed.model_files import fingerprint, paths, read_header, stamp
from ubp.index.embed.vectors import Matrix

DTYPES = {"I8": np.int8, "F16": np.float16, "F32": np.float32, "F64": np.float64, "I64": np.int64}
"""numpy's types by their safetensors names."""

# model2vec's defaults for values that the configuration lacks.
MAX_LENGTH, NORMALIZE = 512, False
BATCH_SIZE = 1024

_UNKNOWN_ID = re.compile(rb'(?<!\\)"unk_id"\s*:\s*(\d+|null)')


class Model:
    """A loaded model, for any thread; `tokenizers` spreads the texts of a call over all cores."""

    def __init__(
        self, place: ModelLocation, static: "_StaticVectors", fingerprint: bytes, stamp: str
    ) -> None:
        """Models with equal fingerprints give equal vectors; `stamp` is that of the files."""
        self.place = place
        self.fingerprint = fingerprint
        self._stamp = stamp
        self._static = static

    @property
    def name(self) -> str:
        """The name as configured."""
        return self.place.name

    @property
    def dimensions(self) -> int:
        """The number of components of a vector."""
        return self._static.dimensions

    def is_current(self) -> bool:
        """Return whether the files are still those that were loaded.

        Raises:
            ModelError: they no longer exist.
        """
        return stamp(self.place) == self._stamp

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of these texts.

        Raises:
            ModelError: the model's files do not fit together, or its tokenizer panics.
        """
        if not texts:
            return Matrix(np.zeros((0, self.dimensions), dtype=np.float32))
        try:
            with np.errstate(all="ignore"):  # NaN and infinity become zeros
                return Matrix(self._static.encode(texts))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Rust's panics are not Exceptions
            raise _unusable(self.place, error) from error


# A model takes 100 MB: the threads of a server share it.
_LOADED: "WeakValueDictionary[tuple[ModelLocation, str], Model]" = WeakValueDictionary()
_LOADING = threading.Lock()


def load_model(place: ModelLocation, known_fingerprint: bytes | None = None) -> Model:
    """Load a model, or return the one that this process has loaded already.

    `known_fingerprint` is that of its files, if it is known.

    Raises:
        ModelError: the files cannot be used, or are being changed.
    """
    with _LOADING:
        return _LOADED.get((place, stamp(place))) or _load_model(place, known_fingerprint)


def _load_model(place: ModelLocation, known_fingerprint: bytes | None) -> Model:
    before = stamp(place)
    digest = known_fingerprint or fingerprint(place)
    try:
        with _no_garbage_collection():
            static = _load_static_model(place)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # any file may fail to load; Rust's panics are not Exceptions
        raise _unusable(place, error) from error
    if stamp(place) != before:
        raise _unusable(place, ValueError("the files changed while being read"))
    model = Model(place, static, digest, before)
    _LOADED[place, before] = model
    return model


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Switch the garbage collector off while 72,000 tokens are created (saves 60 ms of 350)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _load_static_model(place: ModelLocation) -> "_StaticVectors":
    config_path, weights_path, tokenizer_path = paths(place)
    with open(config_path, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    with open(tokenizer_path, "rb") as file:
        text = file.read()
    tensors = _map_tensors(weights_path)
    return _StaticVectors(
        Tokenizer.from_buffer(text),
        _unknown_id(text),
        tensors[place.layout.tensor],
        mapping=tensors.get("mapping"),
        weights=tensors.get("weights"),
        max_length=config.get("max_length", MAX_LENGTH),
        is_normalized=config.get("normalize", NORMALIZE),
    )


def _unknown_id(text: bytes) -> int | None:
    """Return the id of a Unigram's unknown token; other models name the token."""
    match = _UNKNOWN_ID.search(text)
    return int(match[1]) if match and match[1] != b"null" else None


class _StaticVectors:
    """The vectors of tokens, of which the mean is a text's vector.

    `mapping` has the row of each token, `weights` a factor. Tokens beyond `max_length` are ignored.
    """

    def __init__(  # noqa: PLR0913  # the parts of a model
        self,
        tokenizer: Tokenizer,
        unknown_id: int | None,
        vectors: npt.NDArray[Any],
        *,
        mapping: npt.NDArray[Any] | None,
        weights: npt.NDArray[Any] | None,
        max_length: int | None,
        is_normalized: bool,
    ) -> None:
        """Raise ValueError if the parts do not fit together."""
        tokens = tokenizer.get_vocab_size()
        if not vectors.size:
            raise ValueError("the model has no vectors")
        if mapping is None and len(vectors) != tokens:
            raise ValueError(f"the model has {tokens} tokens, but {len(vectors)} vectors")
        self.dimensions = int(vectors.shape[1])
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        if max_length is None:
            self._tokenizer.no_truncation()
        else:
            self._tokenizer.enable_truncation(max_length)
        unknown = getattr(tokenizer.model, "unk_token", None)
        self._unknown_id = tokenizer.token_to_id(unknown) if unknown else unknown_id
        self._vectors = vectors
        self._mapping = mapping
        self._weights = weights
        self._max_length = max_length
        self._is_normalized = is_normalized

    def encode(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """Return the vector of each text; zeros where no token is known."""
        batches = (texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE))
        return np.concatenate([self._encode(list(map(self._cut, batch))) for batch in batches])

    def _encode(self, texts: list[str]) -> npt.NDArray[Any]:
        by_length: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        for number, encoding in enumerate(
            self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        ):
            known = [token for token in encoding.ids if token != self._unknown_id]
            by_length[len(known)].append((number, known))
        by_length.pop(0, None)
        dtype = np.dtype(np.float32) if self._vectors.dtype == np.int8 else self._vectors.dtype
        rows = np.zeros((len(texts), self.dimensions), dtype)
        for pairs in by_length.values():
            numbers, tokens_of_texts = zip(*pairs, strict=True)
            tokens = np.array(tokens_of_texts)
            vectors = self._vectors[tokens if self._mapping is None else self._mapping[tokens]]
            if self._weights is not None:
                vectors = vectors * self._weights[tokens][..., None]
            rows[list(numbers)] = vectors.mean(axis=1)
        if self._is_normalized:
            floats = rows.astype(np.float32)
            lengths = np.linalg.norm(floats, axis=1, keepdims=True) + np.float32(1e-32)
            rows = (floats / lengths).astype(dtype)
        return rows

    def _cut(self, text: str) -> str:
        """Cut off what is very likely beyond `max_length` tokens, as model2vec does."""
        if self._max_length is None or len(text) <= self._max_length:
            return text
        return text[: self._max_length * self._median_token_length]

    @cached_property
    def _median_token_length(self) -> int:
        return int(statistics.median(map(len, self._tokenizer.get_vocab())))


def _map_tensors(path: str) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors of a file, mapped into memory: read on use, shared between processes."""
    header, begin = read_header(path)
    with open(path, "rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    tensors = {}
    for name, tensor in header.items():
        if tensor["dtype"] not in DTYPES:
            raise ValueError(f"unsupported number type: {tensor['dtype']}")
        dtype = np.dtype(DTYPES[tensor["dtype"]])
        start, end = tensor["data_offsets"]
        count = (end - start) // dtype.itemsize
        flat = np.frombuffer(content, dtype, count=count, offset=begin + start)
        tensors[name] = flat.reshape(tensor["shape"])
    return tensors


def _unusable(place: ModelLocation, error: BaseException) -> ModelError:
    return ModelError(
        f"Cannot use the model {place.name}.",
        cause=f"{type(error).__name__}: {error}",
        hint="Fetch it again, or choose another model (search.model in .ubp/config.json).",
    )
