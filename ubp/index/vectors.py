"""Chunks without a vector given one, in batches, each kept as soon as it is there.

The meaning of one snapshot: the vectors of its documents' chunks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Group
from itertools import islice
from typing import NamedTuple

from ubp.core.model import EMBEDDING, MODE_FILE, Entry, FilePath, ObjectId
from ubp.index.embed.model import Model
from ubp.index.embed.similar import most_similar_pairs
from ubp.index.embed.text import embedding_key, strip_markup, text_to_embed
from ubp.index.embed.vectors import Floats, VectorCollection, VectorHit, quantise
from ubp.index.embedded import texts_of
from ubp.index.facts import FileContents
from ubp.index.link_graph import LinkGraph
from ubp.index.link_updates import MAX_ATTEMPTS
from ubp.index.store.links import StoredGraphVersion
from ubp.index.store.page_facts import TextRows, TextTable
from ubp.index.store.vectors import VectorTable, split
from ubp.index.tree import IndexContext
from ubp.index.vector_cache import VectorCache
from ubp.index.worker import body_of

# Whatever is interrupted loses less than a batch: 0.2 s of work.
PAGES_A_BATCH = 64


class Embedder:
    """Embeds the chunks of one snapshot's pages."""

    def __init__(
        self, context: IndexContext, model: Model, texts: TextTable, stored: VectorTable
    ) -> None:
        self._context = context
        self._model = model
        self._texts = texts
        self._stored = stored
        self._contents = FileContents(context.repository, context.snapshot)

    def embed(self, pages: Mapping[ObjectId, FilePath], total: int) -> int:
        """Embed these pages, which have so many chunks without a vector; tell how many texts."""
        done = 0
        known = _Known(self._stored)
        for batch in _batches(pages):
            texts = known.leave_out(self._read(batch))
            if texts:
                vectors = self._model.encode(list(texts.values()))
                self._stored.save(b"".join(texts), quantise(vectors))
            done += len(texts)
            self._context.progress(EMBEDDING, min(done, total), total)
        return done

    def _read(self, pages: Mapping[ObjectId, FilePath]) -> dict[bytes, str]:
        """The texts of pages by their keys; of what cannot be had none."""
        entries = {path: Entry(MODE_FILE, blob) for blob, path in pages.items()}
        contents = self._contents.read(entries)
        rows = self._texts.text_rows(pages)
        found: dict[bytes, str] = {}
        for blob, path in pages.items():
            data = contents[path]
            if data is not None and blob in rows:
                found.update(_texts_of(rows[blob], data))
        return found


class _Known:
    """The keys that have a vector already, those by other processes too."""

    def __init__(self, stored: VectorTable) -> None:
        self._stored = stored
        self._sizes: dict[int, int] = {}
        self._keys: set[bytes] = set()

    def leave_out(self, texts: dict[bytes, str]) -> dict[bytes, str]:
        """Those of these texts that have none."""
        sizes = self._stored.sizes()
        changed = [block for block, size in sizes.items() if self._sizes.get(block) != size]
        self._keys |= self._stored.keys(changed)
        self._sizes = sizes
        return {key: text for key, text in texts.items() if key not in self._keys}


def _texts_of(rows: TextRows, data: bytes) -> Iterator[tuple[bytes, str]]:
    for key, (heading_path, start, end) in zip(split(rows.keys), rows.places, strict=False):
        chunk = (rows.title, heading_path, body_of(data, start, end))
        # Of bytes that are not the blob's own (a file changed meanwhile) nothing is kept.
        if embedding_key(*chunk) == key:
            yield key, text_to_embed(*chunk)


def _batches(pages: Mapping[ObjectId, FilePath]) -> Iterator[dict[ObjectId, FilePath]]:
    items = iter(pages.items())
    while batch := dict(islice(items, PAGES_A_BATCH)):
        yield batch


PAIRS_AT_ONCE = 64  # whose places are looked up
# Chunks of other versions are passed over: so many more are looked at when too few are left.
GROWTH = 4


class SimilarChunk(NamedTuple):
    """A chunk of a document, and how near in meaning it is: a cosine, from -1 to 1."""

    path: FilePath
    blob: ObjectId
    number: int
    score: float


class SemanticHit(NamedTuple):
    """The same with its place.

    Lines count from 1, both ends included; the bytes from `byte_start` to `byte_end` are its text.
    """

    path: FilePath
    blob: ObjectId
    number: int
    score: float
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class SemanticIndex:
    """The vectors of a snapshot's documents; made, as far as they are missing, on the way in.

    `embedded` counts the chunks' texts for which that was done, `pending` the chunks that have no
    vector still, because their pages' bytes cannot be had.
    """

    def __init__(self, context: IndexContext, linked: LinkGraph, model: Model) -> None:
        self.model = model
        self.embedded = 0
        self.pending = 0
        self._context = context
        self._linked = linked
        self._stored = VectorTable(context.store.database, model.fingerprint, model.dimensions)
        self._texts = TextTable(context.store.database)
        self._held = _held(context, model)
        self._paths: dict[ObjectId, Sequence[FilePath]] = {}
        for _ in range(MAX_ATTEMPTS):
            before = linked.load_count
            self._bring()
            if linked.load_count == before:
                break

    def search(
        self, text: str, limit: int, within: Group[FilePath] | None = None
    ) -> list[SemanticHit]:
        """What `nearest` finds, with its places (0.03 ms each)."""
        for _ in range(MAX_ATTEMPTS):
            before = self._linked.load_count
            hits = self._placed(self.nearest(text, limit, within))
            self._linked.blobs(())  # whether what was asked about went meanwhile
            if self._linked.load_count == before:
                break
        return hits

    def nearest(
        self, text: str, limit: int, within: Group[FilePath] | None = None
    ) -> list[SimilarChunk]:
        """The chunks that mean most nearly the same as a text, best first.

        A page that stands at several paths is there at each of them; `within` names the paths that
        count. A text of which the model knows no word is near to nothing.
        """
        query = self.model.encode([strip_markup(text)])
        if limit <= 0 or not query.rows.any():
            return []
        cosines = self._held.vectors.cosines(query)
        that_count = None if within is None else frozenset(within)
        blobs = None if within is None else set(self._linked.blobs(within).values())
        wanted = limit
        while True:
            found = self._best(cosines, wanted, blobs)
            near = self._standing(found, that_count)
            if len(near) >= limit or len(found) < wanted:
                return near[:limit]
            wanted *= GROWTH

    def similarity(self, text: str, names: Sequence[str]) -> list[float]:
        """The cosine of each of these names with a text; 0 where the model knows no word of it."""
        cosines: list[float] = (
            self.model.encode(list(map(strip_markup, names)))
            .cosines(self.model.encode([strip_markup(text)]))
            .tolist()
        )
        return cosines

    def similar_pairs(
        self, key: Callable[[FilePath], str], least: float, paths: Group[FilePath] | None = None
    ) -> Iterator[tuple[SemanticHit, SemanticHit, float]]:
        """Chunks of different pages that stand out by so much (see `find_close`), the most first.

        Pages with the same `key` are as one page. With `paths` one of the two is a chunk of these.
        """
        chunks = VectorCollection(texts_of(self._linked, self._context.store.database))
        standing = self._paths_of(set(chunks.pages))
        keys = [key(standing[page][0]) for page in chunks.pages]
        of = None if paths is None else chunks.mask(set(self._linked.blobs(paths).values()))
        found = most_similar_pairs(chunks, self._held.vectors, keys, least, of)
        while some := list(islice(found, PAIRS_AT_ONCE)):
            hits: dict[VectorHit, list[SemanticHit]] = {}
            for hit in self._placed(self._standing([one for pair in some for one in pair[:2]])):
                hits.setdefault(VectorHit(hit.blob, hit.number, hit.score), []).append(hit)
            for one, other, margin in some:
                for left in hits.get(one, ()):
                    yield from ((left, right, margin) for right in hits.get(other, ()))

    def _bring(self) -> None:
        """Know the snapshot's chunks, and see that they have vectors."""
        self._parts = self._collect()
        held = self._held
        held.refresh(self._stored)
        missing = self._missing()
        if missing:
            embedding = Embedder(self._context, self.model, self._texts, self._stored)
            self.embedded += embedding.embed(self._in_order(missing), sum(missing.values()))
            held.refresh(self._stored)
        self.pending = sum(self._missing().values())

    def _in_order(self, blobs: Group[ObjectId]) -> dict[ObjectId, FilePath]:
        """These pages and where they stand: first what is new in the snapshot, then what is on top.

        Whoever interrupts the work, or only asks in passing, has what he is most likely to want.
        """
        patched = self._linked.patched
        places = [(blob, paths[0]) for blob, paths in self._paths_of(set(blobs)).items()]
        places.sort(key=lambda one: (one[1] not in patched, one[1].count("/"), one[1]))
        return dict(places)

    def _collect(self) -> list[VectorCollection]:
        linked, texts = self._linked, self._texts
        blobs = {node.blob for node in linked.patched.values() if node and node.blob}
        parts = [VectorCollection(texts.texts_of(blobs))] if blobs else []

        def base(graph: StoredGraphVersion) -> VectorCollection:
            key = (graph.commit, graph.scope)
            if not graph.is_complete:
                return VectorCollection(texts.texts(graph))
            return self._held.collection(key) or self._held.keep(key, texts.texts(graph))

        of_base = linked.query_stored(base)
        return [*parts, of_base] if of_base else parts

    def _missing(self) -> dict[ObjectId, int]:
        missing: dict[ObjectId, int] = {}
        for part in self._parts:
            missing.update(part.missing(self._held.vectors))
        there = self._paths_of(set(missing))
        return {blob: count for blob, count in missing.items() if there[blob]}

    def _best(self, cosines: Floats, limit: int, blobs: set[ObjectId] | None) -> list[VectorHit]:
        found: list[VectorHit] = []
        for part in self._parts:
            mask = part.mask(blobs) if blobs is not None else None
            found += part.best(cosines, self._held.vectors, limit, mask)
        return sorted(found, key=lambda one: (-one.score, one.page, one.number))[:limit]

    def _standing(
        self, found: Sequence[VectorHit], within: frozenset[FilePath] | None = None
    ) -> list[SimilarChunk]:
        """These chunks at each path where their page stands, those of other versions left out."""
        paths = self._paths_of({one.page for one in found})
        return [
            SimilarChunk(path, *one)
            for one in dict.fromkeys(found)
            for path in paths[one.page]
            if within is None or path in within
        ]

    def _placed(self, near: Sequence[SimilarChunk]) -> list[SemanticHit]:
        places = self._texts.places(list({(one.blob, one.number): None for one in near}))
        return [
            SemanticHit._make((*one, *places[one.blob, one.number]))
            for one in near
            if (one.blob, one.number) in places
        ]

    def _paths_of(self, blobs: set[ObjectId]) -> dict[ObjectId, Sequence[FilePath]]:
        unknown = blobs - self._paths.keys()
        if unknown:
            found = self._linked.paths_of(unknown)
            self._paths.update((blob, found.get(blob, ())) for blob in unknown)
        return {blob: self._paths[blob] for blob in blobs}


def _held(context: IndexContext, model: Model) -> VectorCache:
    kept = context.cache
    if kept.vectors is None or kept.vectors.fingerprint != model.fingerprint:
        kept.vectors = VectorCache(model)
    return kept.vectors
