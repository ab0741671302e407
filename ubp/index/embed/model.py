"""An embedding model in memory, loaded from its folder and never from the network.

model2vec's own loader, `StaticModel.from_pretrained`, imports the hub's client, treats a path that
is not a folder as the name of a model to download, and copies the tokenizer twice. Here the files
are read without it, and `StaticModel` gets exactly the same arguments once many texts are embedded.

Importing model2vec and making a `StaticModel` take 0.15 s of CPU, most of it for progress bars and
lists of 72,000 tokens. A search of an index that has all vectors needs neither: the vector of a
query is the mean of its tokens' vectors, which is made here, and is model2vec's bit for bit.
"""

import gc
import json
import mmap
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from ubp.core.errors import ModelError
from ubp.index.embed.known import Scale
from ubp.index.embed.locate import ModelLocation
from ubp.index.embed.model_files import fingerprint, paths, read_header, stamp
from ubp.index.embed.text import strip_markup, text_to_embed
from ubp.index.embed.vectors import Floats, Matrix

if TYPE_CHECKING:
    from model2vec import StaticModel

DTYPES = {"I8": np.int8, "F16": np.float16, "F32": np.float32, "F64": np.float64, "I64": np.int64}
"""numpy's types by their safetensors names."""

# model2vec's defaults for values that the configuration lacks.
MAX_LENGTH, NORMALIZE = 512, False

_UNKNOWN_ID = re.compile(rb'(?<!\\)"unk_id"\s*:\s*(\d+|null)')


class _Parts(NamedTuple):
    """What a model's files contain.

    `mapping` has the row of each token's vector; of a text `max_length` tokens count, None: all.
    """

    vectors: npt.NDArray[Any]
    tokenizer: "_SharedTokenizer"
    config: dict[str, Any]
    weights: npt.NDArray[Any] | None
    mapping: npt.NDArray[Any] | None
    normalize: bool
    max_length: int | None


class Model:
    """A loaded model, for any thread; `tokenizers` spreads the texts of a call over all cores."""

    def __init__(self, place: ModelLocation, parts: _Parts, fingerprint: bytes, stamp: str) -> None:
        """Models with equal fingerprints give equal vectors; `stamp` is that of the files."""
        self.is_local = True
        self.max_unasked: int | None = None
        self.scale = Scale()
        self.place = place
        self.fingerprint = fingerprint
        self._stamp = stamp
        self._parts = parts

    @cached_property
    def _static(self) -> "StaticModel":
        from model2vec import StaticModel

        parts = self._parts
        with _no_garbage_collection():
            return StaticModel(
                vectors=parts.vectors,
                # It has every method that StaticModel calls.
                tokenizer=cast("Tokenizer", parts.tokenizer),
                config=parts.config,
                normalize=parts.normalize,
                weights=parts.weights,
                token_mapping=parts.mapping,
                max_length=parts.max_length,
            )

    @property
    def name(self) -> str:
        """The name as configured."""
        return self.place.name

    @property
    def dimensions(self) -> int:
        """The number of components of a vector."""
        return int(self._parts.vectors.shape[1])

    def is_current(self) -> bool:
        """Return whether the files are still those that were loaded.

        Raises:
            ModelError: they no longer exist.
        """
        return stamp(self.place) == self._stamp

    def text_of(self, title: str | None, heading_path: Sequence[str], body: str) -> str:
        """Return the text that is embedded for a chunk."""
        return text_to_embed(title, heading_path, body)

    def encode_query(self, text: str) -> Matrix:
        """Return the vector of a query; errors as `encode`."""
        return self.encode_queries([text])

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of several queries; errors as `encode`."""
        stripped = list(map(strip_markup, texts))
        limit = self._parts.max_length
        if limit is not None and any(len(text) > limit for text in stripped):
            return self.encode(stripped)  # model2vec cuts long texts before it reads their tokens
        try:
            with np.errstate(all="ignore"):
                rows = [self._mean_vector(text) for text in stripped]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Rust's panics are not Exceptions
            raise _unusable(self.place, error) from error
        return Matrix(np.array(rows).reshape(len(rows), self.dimensions))

    def _mean_vector(self, text: str) -> npt.NDArray[Any]:
        """Return the mean of the vectors of a text's tokens, as `StaticModel.encode` does."""
        parts = self._parts
        (encoding,) = parts.tokenizer.encode_batch_fast([text], add_special_tokens=False)
        kept = encoding.ids[: parts.max_length]
        ids = [token for token in kept if token != parts.tokenizer.unknown_id]
        dtype = np.dtype(np.float32) if parts.vectors.dtype == np.int8 else parts.vectors.dtype
        if not ids:
            return np.zeros(self.dimensions, dtype=dtype)
        found = parts.vectors[ids if parts.mapping is None else parts.mapping[ids]]
        if parts.weights is not None:
            found = found * parts.weights[ids][:, None]
        mean: npt.NDArray[Any] = found.mean(axis=0).astype(dtype)
        if not parts.normalize:
            return mean
        single = mean.astype(np.float32)[None]
        length = np.linalg.norm(single, axis=1, keepdims=True) + 1e-32
        normalized: npt.NDArray[Any] = (single / length).astype(dtype)[0]
        return normalized

    def encode_parts(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Matrix]]:
        """Yield the vectors of all texts, and their numbers; errors as `encode`."""
        yield range(len(texts)), self.encode(texts)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of these texts.

        Raises:
            ModelError: the model's files do not fit together, or its tokenizer panics.
        """
        if not texts:
            return Matrix(np.zeros((0, self.dimensions), dtype=np.float32))
        try:
            with np.errstate(all="ignore"):  # NaN and infinity become zeros
                return Matrix(self._static.encode(list(texts), use_multiprocessing=False))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Rust's panics are not Exceptions
            raise _unusable(self.place, error) from error

    def overlaps(self, text: str, passages: Sequence[str]) -> list[float]:
        """Return how much of a text each passage has, in its words or words near them, 0 to 1.

        Each token of the text counts with the length of its vector, which is long where the token
        tells much, times the cosine of the nearest token of the passage.

        Raises:
            ModelError: the model's files do not fit together, or its tokenizer panics.
        """
        try:
            (wanted, lengths), *present = self._token_vectors([text, *passages])
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Rust's panics are not Exceptions
            raise _unusable(self.place, error) from error
        total = float(lengths.sum()) or 1.0
        return [
            float((wanted @ tokens.T).max(axis=1, initial=0).clip(0, 1) @ lengths) / total
            for tokens, _ in present
        ]

    def _token_vectors(self, texts: Sequence[str]) -> Iterator[tuple[Floats, Floats]]:
        """Yield the vectors of each text's different tokens, with length 1, and their lengths."""
        parts = self._parts
        weights, mapping = parts.weights, parts.mapping
        for encoding in parts.tokenizer.encode_batch_fast(texts, add_special_tokens=False):
            ids = sorted(set(encoding.ids[: parts.max_length]))
            rows = ids if mapping is None else mapping[ids]
            vectors = parts.vectors[rows].astype(np.float32).reshape(len(ids), self.dimensions)
            lengths = np.linalg.norm(vectors, axis=1)
            vectors /= np.where(lengths > 0, lengths, 1)[:, None]
            yield vectors, lengths if weights is None else lengths * weights[ids]


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
            parts = _read_parts(place)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # any file may fail to load; Rust's panics are not Exceptions
        raise _unusable(place, error) from error
    if stamp(place) != before:
        raise _unusable(place, ValueError("the files changed while being read"))
    model = Model(place, parts, digest, before)
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


def _read_parts(place: ModelLocation) -> _Parts:
    config_path, weights_path, tokenizer_path = paths(place)
    with open(config_path, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    with open(tokenizer_path, "rb") as file:
        text = file.read()
    tensors = _map_tensors(weights_path)
    vectors, mapping = tensors[place.layout.tensor], tensors.get("mapping")
    if not vectors.size:
        raise ValueError("the model has no vectors")
    tokenizer = Tokenizer.from_buffer(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokens = tokenizer.get_vocab_size()
    if mapping is None and len(vectors) != tokens:
        raise ValueError(f"the model has {tokens} tokens, and {len(vectors)} vectors")
    return _Parts(
        vectors,
        _SharedTokenizer(tokenizer, text),
        config,
        tensors.get("weights"),
        mapping,
        normalize=config.get("normalize", NORMALIZE),
        max_length=config.get("max_length", MAX_LENGTH),
    )


class _SharedTokenizer:
    """A tokenizer that `StaticModel` cannot copy, as it does twice (0.3 s and 80 MB).

    `unknown_id` is the id of the token for what it does not know, which counts nowhere.
    """

    def __init__(self, tokenizer: Tokenizer, text: bytes) -> None:
        self._tokenizer = tokenizer
        match = _UNKNOWN_ID.search(text)
        self._unknown_id = match[1].decode() if match else "null"
        unknown = getattr(tokenizer.model, "unk_token", None)
        self.unknown_id: int | None
        if hasattr(tokenizer.model, "unk_token"):
            self.unknown_id = None if unknown is None else tokenizer.token_to_id(unknown)
        else:
            self.unknown_id = None if self._unknown_id == "null" else int(self._unknown_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __deepcopy__(self, _: object) -> "_SharedTokenizer":
        return self

    def to_str(self) -> str:
        """Return the only part that StaticModel reads: the id of a Unigram's unknown token."""
        return f'{{"model": {{"unk_id": {self._unknown_id}}}}}'


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
