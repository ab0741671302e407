"""The organisation's embedding model: that of a server which UBP_EMBED_URL names, or the bundled.

What is known of a server's model is in the database, for all processes. Another model needs other
vectors: `make_vectors` makes those of the texts that are stored.
"""

import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from ubp.answers.setup.embed_model import EmbedRecord
from ubp.core.errors import ModelError, UbpError
from ubp.core.model import Progress
from ubp.core.text import estimate_tokens
from ubp.hub.database import Connection, Database
from ubp.hub.read_text import read_chunks
from ubp.hub.store_texts import reread_texts
from ubp.index.embed.known import Known, Scale, fingerprint_of_endpoint
from ubp.index.embed.locate import (
    EndpointPlace,
    find_endpoint_model,
    find_model,
    has_extra,
    require_extra,
)
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.embed.vectors import Matrix

if TYPE_CHECKING:
    from ubp.index.embed.endpoint import EndpointModel

SCALE_TEXTS, SCALE_QUERIES = 400, 60
TEXTS_READ = 200  # at a time, to estimate their tokens

_OTHER = "select body from text where model is distinct from %s"
_COUNT = """
select (select count(*) from text where model is distinct from %s),
       (select count(*) from text)
"""
_SAMPLE = "select body from text where model = %s order by md5(blob) limit %s"


class HubModel:
    """The model of a process, for any thread."""

    def __init__(self, place: EndpointPlace | None = None) -> None:
        """Use a server's model, or the bundled one."""
        self.place = place
        self._lock = Lock()
        self._model: EmbeddingModel | None = None
        self._is_loaded = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "HubModel":
        """Return the model that the environment names.

        Raises:
            ModelError: its address is not safe, or a value is none.
        """
        return cls(find_endpoint_model(environment, {}))

    def get(self, connection: Connection) -> EmbeddingModel | None:
        """Return the model, loaded at the first use.

        None: its libraries are not installed, or nothing is known of the server's model yet.
        """
        with self._lock:
            if self.place is not None and self._model is None:
                known = _read_known(connection, self.place)
                self._model = known and _endpoint_model(self.place, known)
            elif self.place is None and not self._is_loaded:
                self._model, self._is_loaded = bundled_model(), True
            return self._model

    def fingerprint(self, connection: Connection) -> bytes | None:
        """Return the fingerprint of the model; None: there is none."""
        model = self.get(connection)
        return None if model is None else model.fingerprint


def bundled_model() -> EmbeddingModel | None:
    """Return the bundled model; None: the libraries that run it are not installed."""
    if not has_extra():
        return None
    from ubp.index.embed.model import load_model

    try:
        return load_model(find_model(None, {}))
    except UbpError:
        return None  # a search finds words and links without it


def make_vectors(
    database: Database, chosen: HubModel, progress: Progress, *, is_dry: bool
) -> EmbedRecord:
    """Make the missing vectors of a model, or `is_dry` return what they cost.

    Texts are read again and replaced some at a time, in the order of their repositories: until
    then a search finds them by their words and links. What was made before an error is kept.

    Raises:
        ModelError: the model cannot be used, or its server does not answer.
    """
    if chosen.place is not None:
        return _make_of_server(database, chosen.place, progress, is_dry=is_dry)
    require_extra()
    with database.connection() as connection:
        model = chosen.get(connection)
        if model is None:
            raise ModelError("The bundled model cannot be used.")
        texts, total = _count(connection, model.fingerprint)
    record = EmbedRecord(name=model.name, host=None, sections=total, texts=texts)
    if is_dry:
        return record
    return replace(record, embedded=_read_again(database, model, progress, texts))


def _make_of_server(
    database: Database, place: EndpointPlace, progress: Progress, *, is_dry: bool
) -> EmbedRecord:
    started = time.monotonic()
    with database.connection() as connection:
        record, known = _estimate(connection, place)
        if is_dry:
            return record
        _write_known(connection, place, known)
    model = _endpoint_model(place, known)
    embedded = _read_again(database, model, progress, record.texts)
    with database.connection() as connection:
        scale = _scale_of(connection, model)
        _write_known(connection, place, known._replace(scale=scale))
    usage = model.usage
    return replace(
        record,
        embedded=embedded,
        refused=usage.refused,
        counted_tokens=usage.tokens or None,
        spent_seconds=round(time.monotonic() - started, 1),
        spent=place.price_of(usage.tokens) if usage.tokens else None,
    )


def _read_again(
    database: Database, model: EmbeddingModel, progress: Progress, expected: int
) -> int:
    """Read the texts without vectors of a model again, and return their number."""
    done = 0
    while True:
        with database.connection() as connection:
            number = reread_texts(connection, model, of_other_models=True)
        if not number:
            return done
        done += number
        progress("Embedding", done, expected)


def _estimate(connection: Connection, place: EndpointPlace) -> tuple[EmbedRecord, Known]:
    """Return what the missing vectors cost; only a sentence of ours is sent."""
    from ubp.index.embed.embeddings_api import PROBE, probe
    from ubp.index.model_trial import PROBES, estimate_seconds

    answer, seconds = probe(place, (PROBE,) * PROBES)
    size = len(answer.vectors[0])
    known = _read_known(connection, place)
    if known is None or known.dimensions != size:
        known = Known(size)
    fingerprint = fingerprint_of_endpoint(place)
    texts, total = _count(connection, fingerprint)
    tokens = 0
    with connection.cursor(name="other_model") as cursor:
        cursor.itersize = TEXTS_READ
        cursor.execute(_OTHER, [fingerprint])
        for (body,) in cursor:
            tokens += estimate_tokens(zlib.decompress(body).decode("utf-8", "replace"))
    record = EmbedRecord(
        name=place.name,
        host=place.host,
        sections=total,
        texts=texts,
        tokens=tokens,
        seconds=round(estimate_seconds(texts, tokens, seconds), 1),
        cost=place.price_of(tokens),
    )
    return record, known


def _count(connection: Connection, fingerprint: bytes) -> tuple[int, int]:
    """Return the number of texts that have no vectors of a model, and of all."""
    ((texts, total),) = connection.execute(_COUNT, [fingerprint]).fetchall()
    return int(texts), int(total)


def _scale_of(connection: Connection, model: EmbeddingModel) -> Scale:
    """Return how the cosines of a model are read, by sections of some pages and their headings."""
    from ubp.index.embed.endpoint import fit_scale

    bundled = bundled_model()
    rows = connection.execute(_SAMPLE, [model.fingerprint, SCALE_TEXTS]).fetchall()
    sections = [section for (body,) in rows for section in _headed(zlib.decompress(body))]
    sections = sections[:SCALE_TEXTS]
    headings = list(dict.fromkeys(heading for _, heading, _ in sections))[:SCALE_QUERIES]
    if bundled is None or not headings:
        return Scale()

    def encode(by: EmbeddingModel) -> Matrix:
        return by.encode([by.text_of(title, (name,), body) for title, name, body in sections])

    return fit_scale(
        encode(model),
        encode(bundled),
        model.encode_queries(headings),
        bundled.encode_queries(headings),
    )


def _headed(data: bytes) -> Iterator[tuple[str | None, str, str]]:
    """Yield the title of a page with the heading and the text of each chunk that has one."""
    title, chunks = read_chunks(data)
    for path, body in chunks:
        if path:
            yield title, path[-1], body


def _endpoint_model(place: EndpointPlace, known: Known) -> "EndpointModel":
    from ubp.index.embed.endpoint import EndpointModel

    return EndpointModel(place, known)


def _read_known(connection: Connection, place: EndpointPlace) -> Known | None:
    row = connection.execute(
        "select dimensions, slope, shift from search_model where fingerprint = %s",
        [fingerprint_of_endpoint(place)],
    ).fetchone()
    return None if row is None else Known(row[0], Scale(*row[1:]))


def _write_known(connection: Connection, place: EndpointPlace, known: Known) -> None:
    connection.execute(
        "insert into search_model (fingerprint, dimensions, slope, shift) values (%s, %s, %s, %s)"
        " on conflict (fingerprint) do update set dimensions = excluded.dimensions,"
        " slope = excluded.slope, shift = excluded.shift",
        [fingerprint_of_endpoint(place), known.dimensions, *known.scale],
    )
