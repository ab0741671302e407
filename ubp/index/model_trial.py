"""Models tried on a snapshot: what the missing vectors cost, the scale of cosines, recall."""

import random
import time
from typing import NamedTuple

from ubp.core.model import MODE_FILE, Entry
from ubp.core.text import estimate_tokens
from ubp.index.embed.embeddings_api import PROBE, probe
from ubp.index.embed.endpoint import (
    MAX_TEXTS,
    MAX_TOKENS,
    REQUESTS_AT_ONCE,
    EndpointModel,
    Usage,
    fit_scale,
)
from ubp.index.embed.known import Known, read_known, write_known
from ubp.index.embed.locate import EndpointPlace, find_model
from ubp.index.embed.model import load_model
from ubp.index.embed.sample import SEED, Sample, Section, draw, without_headings
from ubp.index.embed.text import body_of
from ubp.index.facts import FileContents
from ubp.index.store.page_facts import TextTable
from ubp.index.store.vectors import split
from ubp.index.view import View

MAX_PAGES = 600  # read for a sample
SCALE_TEXTS, SCALE_QUERIES = 400, 60
PROBES = 32  # of a sentence: about what a small request has


class Estimate(NamedTuple):
    """What the missing vectors of a server's model cost.

    `tokens` are estimated; `seconds` follow from the time of one request.
    """

    known: Known
    sections: int
    texts: int
    tokens: int
    seconds: float


class Embedded(NamedTuple):
    """What was embedded, in how many seconds."""

    texts: int
    seconds: float
    usage: Usage


def estimate_embedding(view: View, place: EndpointPlace, folder: str) -> Estimate:
    """Return what the missing vectors of a model cost; only a sentence of ours is sent.

    Raises:
        ModelError: the server does not answer.
    """
    answer, seconds = probe(place, (PROBE,) * PROBES)
    size = len(answer.vectors[0])
    known = read_known(place, folder)
    if known is None or known.dimensions != size:
        known = Known(size, probe=tuple(answer.vectors[0]))
    index = view.semantic_index(EndpointModel(place, known, max_unasked=0))
    texts = dict[bytes, int]()
    for batch in index.missing_texts():
        texts.update((key, estimate_tokens(text)) for key, text in batch.items())
    model = index.model
    sections, _ = view.count_embedded(model.fingerprint, model.dimensions)
    tokens = sum(texts.values())
    expected = estimate_seconds(len(texts), tokens, seconds)
    return Estimate(known, sections, len(texts), tokens, expected)


def estimate_seconds(texts: int, tokens: int, probe_seconds: float) -> float:
    """Return how long it takes about to embed texts, by the time of the probe.

    A server far away needs the same time for each request, one that computes a time for each token:
    whichever is longer counts.
    """
    requests = max(-(-texts // MAX_TEXTS), -(-tokens // MAX_TOKENS))
    by_requests = -(-requests // REQUESTS_AT_ONCE) * probe_seconds
    by_tokens = probe_seconds * tokens / (estimate_tokens(PROBE) * PROBES) / REQUESTS_AT_ONCE
    return max(by_requests, by_tokens)


def embed(view: View, place: EndpointPlace, known: Known, folder: str) -> Embedded:
    """Make the missing vectors of a model, and the scale of its cosines.

    Raises:
        ModelError: the server does not answer; what was made before is kept.
    """
    write_known(place, folder, known)
    start = time.monotonic()
    model = EndpointModel(place, known)
    embedded = view.semantic_index(model).embedded
    if embedded:
        write_known(place, folder, scale_of(view, model, known))
    return Embedded(embedded, time.monotonic() - start, model.usage)


def sample_sections(view: View) -> Sample:
    """Return sections of a snapshot's documents that a model can be tried on."""
    return draw([section for section, _ in _read_sections(view)])


def scale_of(view: View, model: EndpointModel, known: Known) -> Known:
    """Return what is known of a model with the scale of its cosines in these documents.

    Raises:
        ModelError: the server does not answer.
    """
    sections = {key: section for section, key in _read_sections(view) if section.heading}
    index = view.semantic_index(model)
    keys = index.with_vector(list(sections))[:SCALE_TEXTS]
    chosen = {key: sections[key] for key in keys}
    headings = list(dict.fromkeys(section.heading for section in chosen.values()))[:SCALE_QUERIES]
    if not headings:
        return known
    bundled = load_model(find_model(None, {}))
    texts = [
        bundled.text_of(section.title, (section.heading,), section.body)
        for section in chosen.values()
    ]
    scale = fit_scale(
        index.vectors_of(keys),
        bundled.encode(texts),
        model.encode_queries(headings),
        bundled.encode_queries(headings),
    )
    return known._replace(scale=scale)


def _read_sections(view: View) -> list[tuple[Section, bytes]]:
    """Return the chunks of some documents, always the same ones, with the keys of their texts."""
    pages = sorted(view.pages(), key=lambda page: page.filepath)
    random.Random(SEED).shuffle(pages)  # noqa: S311  # not a secret
    drawn = pages[:MAX_PAGES]
    context = view.context
    contents = FileContents(context.repository, context.snapshot).read(
        {page.filepath: Entry(MODE_FILE, page.blob) for page in drawn}
    )
    view.full_text()  # the chunks of every page are in the store then
    rows = TextTable(context.store.database).text_rows({page.blob for page in drawn})
    found = []
    for page in drawn:
        data, texts = contents.get(page.filepath), rows.get(page.blob)
        if data is None or texts is None:
            continue
        for (heading_path, start, end), key in zip(texts.places, split(texts.keys), strict=False):
            heading = heading_path[-1] if heading_path else ""
            body = without_headings(body_of(data, start, end))
            own_heading = "" if heading == texts.title else heading
            section = Section(page.filepath, texts.title or "", own_heading, body)
            found.append((section, key))
    return found
