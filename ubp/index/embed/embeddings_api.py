"""OpenAI's API for embeddings, as the servers that have it understand it.

How they differ was read in their documentation: how many texts one request may have (TEI 32, Voyage
1,000, OpenAI 2,048), what a number of dimensions is called, and what an error looks like. Nothing
is sent that one of them may not know, such as the encoding of the answer.
"""

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from ubp.core.errors import ModelError
from ubp.core.http import MAX_REASON, EndpointClient, EndpointError, Limits
from ubp.core.shell import ubp_command
from ubp.index.embed.known import is_vector
from ubp.index.embed.locate import MAX_DIMENSIONS, EndpointPlace

MAX_ANSWER_BYTES = 64_000_000  # 64 vectors of 8,192 numbers, written in 20 characters each: 10 MB
PROBING = Limits(seconds=60.0, max_bytes=MAX_ANSWER_BYTES, attempts=2, max_wait=5.0)
VOYAGE_HOST = "voyageai.com"
PROBE = "The page explains how to install the program, and what its options mean."


class Answer(NamedTuple):
    """The vectors of a request, and the tokens that the server counted; 0 where it did not."""

    vectors: list[list[float]]
    tokens: int


def probe(place: EndpointPlace, texts: Sequence[str] = (PROBE,)) -> tuple[Answer, float]:
    """Return the vectors of texts that no user wrote, and the seconds they took.

    Raises:
        ModelError: the server does not answer, or with something else than vectors.
    """
    client = EndpointClient(place.endpoint, PROBING)
    start = time.monotonic()
    try:
        return ask(client, place, texts, is_query=False), time.monotonic() - start
    except EndpointError as error:
        raise unusable(place, error) from error
    finally:
        client.close()


def ask(
    client: EndpointClient, place: EndpointPlace, texts: Sequence[str], *, is_query: bool
) -> Answer:
    """Return the vectors of texts, all with the same number of numbers.

    Raises:
        EndpointError: the server does not answer, or with something else.
    """
    prefix = place.query_prefix if is_query else place.passage_prefix
    is_voyage = place.host.partition(":")[0].endswith(VOYAGE_HOST)
    body: dict[str, Any] = {
        "model": place.name,
        "input": [plain(prefix + text) or " " for text in texts],
    }
    if place.dimensions is not None:
        body["output_dimension" if is_voyage else "dimensions"] = place.dimensions
    if is_voyage:
        body["input_type"] = "query" if is_query else "document"
    answer = _read_answer(client.post("/embeddings", body), len(texts))
    if place.dimensions not in {None, len(answer.vectors[0])}:
        size = len(answer.vectors[0])
        raise EndpointError(f"its vectors have {size} numbers, not {place.dimensions} as asked for")
    return answer


def _read_answer(data: bytes, count: int) -> Answer:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EndpointError("its answer is not JSON") from error
    entries = value.get("data") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        said = value.get("error") if isinstance(value, dict) else None
        message = said.get("message") if isinstance(said, dict) else said
        about = f": {' '.join(str(message).split())[:MAX_REASON]}" if message else ""
        raise EndpointError(f"its answer has no vectors{about}")
    if len(entries) != count or not all(isinstance(entry, dict) for entry in entries):
        raise EndpointError(f"it answered {len(entries)} vectors for {count} texts")
    numbers = [entry.get("index", place) for place, entry in enumerate(entries)]
    if sorted(map(str, numbers)) != sorted(map(str, range(count))):
        raise EndpointError("its vectors are not numbered like the texts")
    ordered = sorted(zip(numbers, entries, strict=True), key=lambda pair: int(pair[0]))
    vectors = [entry.get("embedding") for _, entry in ordered]
    size = len(vectors[0]) if isinstance(vectors[0], list) else 0
    if not 0 < size <= MAX_DIMENSIONS or not all(is_vector(vector, size) for vector in vectors):
        raise EndpointError("its vectors are not lists of as many numbers")
    usage = value.get("usage")
    counts = [usage.get(name) for name in ("prompt_tokens", "total_tokens")] if usage else []
    tokens = next((n for n in counts if type(n) is int and 0 <= n < MAX_ANSWER_BYTES), 0)
    return Answer(vectors, tokens)


def unusable(place: EndpointPlace, error: EndpointError) -> ModelError:
    """Return the error of a server that was asked in vain."""
    return ModelError(
        f"Cannot use the model {place.name}.",
        cause=f"{place.host}: {error}.",
        hint=f"Test it: {ubp_command('model', 'test')}",
    )


def plain(text: str) -> str:
    """Return a text that JSON can have: lone surrogates are none."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
