"""An embedding model of a server that the user names."""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Self

import numpy as np

from ubp.core.errors import ModelError
from ubp.core.http import EndpointClient, EndpointError, Limits
from ubp.core.interruption import checkpoint
from ubp.core.text import estimate_tokens
from ubp.index.embed.embeddings_api import (
    MAX_ANSWER_BYTES,
    Answer,
    ask,
    plain,
    unusable,
)
from ubp.index.embed.known import Known, Scale, fingerprint_of_endpoint, read_known
from ubp.index.embed.locate import EndpointPlace
from ubp.index.embed.text import MAX_CHARACTERS
from ubp.index.embed.vectors import Matrix

# A request for vectors; servers refuse larger ones, which are then sent in halves.
MAX_TEXTS, MAX_TOKENS = 64, 8_000
REQUESTS_AT_ONCE = 4
EMBEDDING = Limits(
    seconds=120.0,
    max_bytes=MAX_ANSWER_BYTES,
    attempts=6,
    max_wait=60.0,
    retried=frozenset({408, 429, 500, 502, 503, 504}),
    retries_network=True,
)
# A search waits for the vector of its query, and a server that is down costs it nothing for a
# while: words answer then.
ASKING = Limits(seconds=10.0, max_bytes=MAX_ANSWER_BYTES, attempts=1)
PAUSE_SECONDS = 30.0
MAX_QUERIES = 256  # whose vectors are kept
# A search embeds so many new texts without being asked: those of edited pages.
UNASKED_TEXTS = 200
# After Ctrl-C, answers that are on their way, and will be paid for, are waited for.
GRACE_SECONDS = 10.0
WAKING_SECONDS = 0.5  # to look whether the call was cancelled
# Too many texts, too long ones, or both: servers answer with any of these. llama.cpp answers 500.
TOO_LARGE = frozenset({400, 413, 422})
# A text that is refused alone is cut in half so often, and then has no vector.
HALVINGS = 3
MIN_SPREAD = 0.01  # with less the closest text is no closer than any other: no model to scale


class Usage:
    """What a model was asked for: requests, texts, and the tokens that the server counted."""

    def __init__(self) -> None:
        self.requests = 0
        self.texts = 0
        self.tokens = 0
        self.refused = 0  # texts that the server took in no length
        self._lock = threading.Lock()

    def add(self, *, texts: int = 0, tokens: int = 0, refused: int = 0) -> None:
        """Count an answer, or texts that were refused."""
        with self._lock:
            self.requests += bool(texts)
            self.texts += texts
            self.tokens += tokens
            self.refused += refused


Part = tuple[list[int], Matrix]
"""Some of the texts, by their numbers, and their vectors."""


class EndpointModel:
    """A model of a server. Threads may share it.

    `max_unasked` is None where the user has seen what any number of texts costs.
    """

    def __init__(self, place: EndpointPlace, known: Known, max_unasked: int | None = None) -> None:
        """Use what is known of the model from its first answer."""
        self.is_local = False
        self.place = place
        self.dimensions = known.dimensions
        self.scale = known.scale
        self.fingerprint = fingerprint_of_endpoint(place)
        self.max_unasked = max_unasked
        self.usage = Usage()
        self._queries: OrderedDict[str, Matrix] = OrderedDict()
        self._failed: tuple[float, ModelError] | None = None
        self._max_texts = MAX_TEXTS
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name as configured."""
        return self.place.name

    def is_current(self) -> bool:
        """Return True: what a server runs is not looked at."""
        return True

    def text_of(self, title: str | None, heading_path: Sequence[str], body: str) -> str:
        """Return what is sent of a chunk: title, headings and text as they are written.

        Models that read sentences are made for these; what `text_to_embed` leaves out helps a model
        that sums words.
        """
        above = [name for name in dict.fromkeys((title or "", *heading_path)) if name]
        first = body.lstrip().partition("\n")[0]
        parts = [name for name in above if name not in first]
        return plain("\n".join([*parts, body[:MAX_CHARACTERS]]))

    def encode_query(self, text: str) -> Matrix:
        """Return the vector of a query; a wrong or silent server is asked again after a while.

        Raises:
            ModelError: the server does not answer, or with something else than vectors.
        """
        with self._lock:
            if known := self._queries.get(text):
                self._queries.move_to_end(text)
                return known
            if self._failed and time.monotonic() - self._failed[0] < PAUSE_SECONDS:
                raise self._failed[1]
        try:
            matrix = self._encode_queries([text], ASKING)
        except ModelError as error:
            self._failed = time.monotonic(), error
            raise
        with self._lock:
            self._failed = None
            self._queries[text] = matrix
            if len(self._queries) > MAX_QUERIES:
                self._queries.popitem(last=False)
        return matrix

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of several queries; errors as `encode_query`."""
        rows = [
            self._encode_queries(texts[start : start + self._max_texts], EMBEDDING).rows
            for start in range(0, len(texts), self._max_texts)
        ]
        return Matrix(np.concatenate(rows) if rows else np.zeros((0, self.dimensions)))

    def _encode_queries(self, texts: Sequence[str], limits: Limits) -> Matrix:
        client = EndpointClient(self.place.endpoint, limits)
        try:
            answer = self._ask(client, texts, is_query=True)
        except EndpointError as error:
            raise unusable(self.place, error) from error
        finally:
            client.close()
        return Matrix(np.array(answer.vectors, dtype=np.float32))

    def overlaps(self, text: str, passages: Sequence[str]) -> list[float]:  # noqa: ARG002  # as the protocol has it
        """Return []: the vectors of tokens are not known."""
        return []

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of these texts, which are passages.

        Raises:
            ModelError: the server does not answer, or with something else than vectors.
        """
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for part, vectors in self.encode_parts(texts):
            rows[part] = vectors.rows
        return Matrix(rows)

    def encode_parts(self, texts: Sequence[str]) -> Iterator[Part]:
        """Yield the vectors of these texts as they arrive, with the numbers of their texts.

        Several requests are under way at once. After an interruption or an error their answers are
        yielded still, before it is raised.

        Raises:
            ModelError: the server does not answer, or with something else than vectors.
        """
        batches = batch_by_tokens(texts, self._max_texts)
        with _Workers(self) as workers:
            for batch in batches:
                yield from workers.finished(REQUESTS_AT_ONCE - 1)
                workers.submit(batch, [texts[number] for number in batch])
            yield from workers.finished(0)

    def embed_batch(
        self,
        client: EndpointClient,
        texts: Sequence[str],
        numbers: list[int],
        *,
        halvings: int = HALVINGS,
    ) -> Part:
        """Return the vectors of one request, which is sent in halves where it is too large."""
        try:
            answer = self._ask(client, texts, is_query=False)
        except EndpointError as error:
            if error.status not in TOO_LARGE and "too large" not in str(error):
                raise
            if len(texts) > 1:
                self._max_texts = max(1, min(self._max_texts, len(texts) // 2))
                half = len(texts) // 2
                first = self.embed_batch(client, texts[:half], numbers[:half])
                second = self.embed_batch(client, texts[half:], numbers[half:])
                rows = np.concatenate([first[1].rows, second[1].rows])
                return [*first[0], *second[0]], Matrix.of_unit_rows(rows)
            if halvings and len(texts[0]) > 1:
                shorter = texts[0][: len(texts[0]) // 2]
                return self.embed_batch(client, [shorter], numbers, halvings=halvings - 1)
            if not self.usage.texts:
                raise  # it takes no text at all
            self.usage.add(refused=1)
            return numbers, Matrix(np.zeros((1, self.dimensions), dtype=np.float32))
        return numbers, Matrix(np.array(answer.vectors, dtype=np.float32))

    def _ask(self, client: EndpointClient, texts: Sequence[str], *, is_query: bool) -> Answer:
        answer = ask(client, self.place, texts, is_query=is_query)
        if len(answer.vectors[0]) != self.dimensions:
            size = len(answer.vectors[0])
            raise EndpointError(f"its vectors have {size} numbers, not {self.dimensions} as before")
        self.usage.add(texts=len(texts), tokens=answer.tokens)
        return answer


class _Workers:
    """Threads with a connection each, which embed batches."""

    def __init__(self, model: EndpointModel) -> None:
        self._model = model
        self._stop = threading.Event()
        self._local = threading.local()
        self._clients: list[EndpointClient] = []
        self._threads = ThreadPoolExecutor(REQUESTS_AT_ONCE)
        self._running: set[Future[Part]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._running:
            for client in self._clients:
                client.abort()
            wait(self._running, WAKING_SECONDS)
        for client in self._clients:
            client.close()

    def submit(self, numbers: list[int], texts: list[str]) -> None:
        """Embed a batch."""
        self._running.add(self._threads.submit(self._run, numbers, texts))

    def finished(self, limit: int) -> Iterator[Part]:
        """Yield what has been embedded, until at most `limit` batches are under way.

        After an interruption or an error it yields what arrives still, then raises it.
        """
        try:
            while len(self._running) > limit:
                checkpoint()
                yield from self._take(WAKING_SECONDS)
        except EndpointError as error:
            yield from self._rest()
            raise unusable(self._model.place, error) from error
        except GeneratorExit:
            raise
        except BaseException:  # Ctrl-C, or a call that was cancelled
            yield from self._rest()
            raise

    def _take(self, timeout: float) -> Iterator[Part]:
        done, self._running = wait(self._running, timeout, FIRST_COMPLETED)
        failed: EndpointError | None = None
        for future in done:
            try:
                part = future.result()
            except EndpointError as error:
                failed = error
            else:
                yield part
        if failed is not None:
            raise failed

    def _rest(self) -> Iterator[Part]:
        """Yield what is under way, and will be paid for; wait for it for a while."""
        self._stop.set()
        end = time.monotonic() + GRACE_SECONDS
        while self._running and (left := end - time.monotonic()) > 0:
            with suppress(EndpointError):
                yield from self._take(left)

    def _run(self, numbers: list[int], texts: list[str]) -> Part:
        if not hasattr(self._local, "client"):
            self._local.client = EndpointClient(
                self._model.place.endpoint, EMBEDDING, wait=self._pause
            )
            self._clients.append(self._local.client)
        return self._model.embed_batch(self._local.client, texts, numbers)

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise EndpointError("interrupted")


def load_endpoint_model(place: EndpointPlace, folder: str) -> EndpointModel | None:
    """Return a server's model; None: no vectors of it were made in this folder yet."""
    known = read_known(place, folder)
    return known and EndpointModel(place, known, UNASKED_TEXTS)


def batch_by_tokens(texts: Sequence[str], max_texts: int = MAX_TEXTS) -> Iterator[list[int]]:
    """Yield the numbers of texts in batches that one request may have."""
    batch: list[int] = []
    tokens = 0
    for number, text in enumerate(texts):
        size = estimate_tokens(text)
        if batch and (len(batch) >= max_texts or tokens + size > MAX_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(number)
        tokens += size
    if batch:
        yield batch


def fit_scale(own: Matrix, bundled: Matrix, queries: Matrix, bundled_queries: Matrix) -> Scale:
    """Return the scale on which cosines of a model are those of the bundled one.

    The rows are vectors of the same texts, and of the same queries. The mean cosine, and the mean
    of each query's best, are made equal.
    """
    low, high = _levels(own, queries)
    bundled_low, bundled_high = _levels(bundled, bundled_queries)
    if high - low < MIN_SPREAD:
        return Scale()
    slope = (bundled_high - bundled_low) / (high - low)
    return Scale(slope, bundled_low - slope * low)


def _levels(texts: Matrix, queries: Matrix) -> tuple[float, float]:
    cosines = queries.rows @ texts.rows.T
    return float(cosines.mean()), float(cosines.max(axis=1).mean())
