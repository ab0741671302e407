"""The vectors of a snapshot's chunks: searched by meaning, computed where they are missing."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from collections.abc import Collection as Group
from itertools import islice

from ubp.core.interruption import with_checkpoints
from ubp.core.model import EMBEDDING, MODE_FILE, Entry, FilePath, ObjectId
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.embed.similar import most_similar_pairs
from ubp.index.embed.text import MAX_CHARACTERS, body_of, embedding_key, strip_markup
from ubp.index.embed.vectors import Floats, Matrix, VectorCollection, VectorHit, as_keys, quantize
from ubp.index.embedded import texts_of
from ubp.index.facts import FileContents, files_per_batch
from ubp.index.link_graph import LinkGraph
from ubp.index.semantic_hits import SemanticHit, SimilarChunk
from ubp.index.store.links import StoredGraphVersion
from ubp.index.store.page_facts import TextRows, TextTable
from ubp.index.store.vectors import VectorTable, split
from ubp.index.tree import IndexContext
from ubp.index.vector_cache import VectorCache

# An interruption loses less than a batch: 0.2 s of work.
PAGES_PER_BATCH = 64
PAGES_FOR_SERVER = 256  # so that several requests are under way; each answer is saved at once
PAIRS_PER_BATCH = 64  # located with one query
# Chunks of other snapshots are skipped: so many times more are examined when too few remain.
LIMIT_GROWTH = 4


class SemanticIndex:
    """The vectors of a snapshot's documents; missing ones are computed when it is created.

    `embedded` counts the texts that were embedded then, `pending` the chunks that still have no
    vector, because their pages' bytes are not available, or because they are more than the model
    may embed without being asked.
    """

    def __init__(self, context: IndexContext, links: LinkGraph, model: EmbeddingModel) -> None:
        self.model = model
        self.embedded = 0
        self.pending = 0
        self._context = context
        self._links = links
        self._stored = VectorTable(context.store.database, model.fingerprint, model.dimensions)
        self._texts = TextTable(context.store.database)
        common = context.cache.common
        with common.lock:
            if common.vectors is None or common.vectors.fingerprint != model.fingerprint:
                common.vectors = VectorCache(model)
            self._cache = common.vectors
        self._parts: list[VectorCollection] = []
        self._paths: dict[ObjectId, Sequence[FilePath]] = {}
        links.read_consistently(self._update)

    def search(
        self, text: str, limit: int, within: Group[FilePath] | None = None
    ) -> list[SemanticHit]:
        """Return what `nearest` does, with locations (0.03 ms each)."""

        def search() -> list[SemanticHit]:
            hits = self._locate(self.nearest(text, limit, within))
            self._links.blobs(())  # loads the graph again if it was lost meanwhile
            return hits

        return self._links.read_consistently(search)

    def nearest(
        self, text: str, limit: int, within: Group[FilePath] | None = None
    ) -> list[SimilarChunk]:
        """Return the chunks nearest in meaning to a text, best first.

        A page that exists at several paths is a hit at each of them, or of those in `within`. A
        text without any word that the model knows has no hits.
        """
        query = self.model.encode_query(text)
        if limit <= 0 or not query.rows.any():
            return []
        cosines = self._vectors.cosines(query)
        allowed = None if within is None else frozenset(within)
        blobs = None if within is None else set(self._links.blobs(within).values())
        candidate_limit = limit
        while True:
            candidates = self._best(cosines, candidate_limit, blobs)
            chunks = self._in_snapshot(candidates, allowed)
            if len(chunks) >= limit or len(candidates) < candidate_limit:
                read = self.model.scale.read
                return [chunk._replace(score=read(chunk.score)) for chunk in chunks[:limit]]
            candidate_limit *= LIMIT_GROWTH

    def similarity(self, text: str, names: Sequence[str]) -> list[float]:
        """Return the cosine of each name with a text; see `similarity`."""
        return similarity(self.model, text, names)

    def overlaps(self, text: str, passages: Sequence[str]) -> list[float]:
        """Return how much of a text each passage has, in its words or near ones; []: unknown."""
        return overlaps(self.model, text, passages)

    def similar_pairs(
        self,
        key: Callable[[FilePath], Hashable],
        min_margin: float,
        paths: Group[FilePath] | None = None,
    ) -> Iterator[tuple[SemanticHit, SemanticHit, float]]:
        """Yield pairs of chunks of different pages and their margins, the largest first.

        See `most_similar_pairs`. Pages with the same `key` count as one page. With `paths`, one of
        the two is a chunk of these.
        """
        chunks = self._all_chunks()
        page_paths = self._paths_of(set(chunks.pages))
        keys = [key(page_paths[page][0]) for page in with_checkpoints(chunks.pages)]
        mask = None if paths is None else chunks.mask(set(self._links.blobs(paths).values()))
        pairs = most_similar_pairs(chunks, self._vectors, keys, min_margin, mask)
        while batch := list(islice(pairs, PAIRS_PER_BATCH)):
            located: dict[VectorHit, list[SemanticHit]] = {}
            chunks_of_batch = [chunk for first, second, _ in batch for chunk in (first, second)]
            for hit in self._locate(self._in_snapshot(chunks_of_batch)):
                located.setdefault(VectorHit(hit.blob, hit.number, hit.score), []).append(hit)
            for first, second, margin in batch:
                for left in located.get(first, ()):
                    yield from ((left, right, margin) for right in located.get(second, ()))

    def missing_texts(self) -> Iterator[dict[bytes, str]]:
        """Yield the texts that have no vector, by their keys; unreadable pages have none."""
        embedder = Embedder(self._context, self.model, self._texts, self._stored, self._cache)
        return embedder.read_missing(self._prioritize(self._missing()))

    def with_vector(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the keys of those of these texts that have a vector."""
        rows = self._vectors.find(as_keys(b"".join(keys)))
        return [key for key, row in zip(keys, rows.tolist(), strict=True) if row >= 0]

    def vectors_of(self, keys: Sequence[bytes]) -> Matrix:
        """Return the vectors of texts that have one."""
        rows = self._vectors.find(as_keys(b"".join(keys)))
        return Matrix.of_unit_rows(self._vectors.select(rows).floats(slice(None)))

    def _all_chunks(self) -> VectorCollection:
        if len(self._parts) == 1 and not self._links.patched:
            return self._parts[0]
        return VectorCollection(texts_of(self._links, self._context.store.database))

    def _update(self) -> None:
        """Collect the snapshot's chunks, and embed those without a vector."""
        self._parts = self._collect()
        self._vectors = self._cache.read(self._stored)
        missing = self._missing()
        if missing and not self.model.is_local and not self._stored.sizes():
            self._adopt()
            missing = self._missing()
        most = self.model.max_unasked
        if missing and (most is None or sum(missing.values()) <= most):
            embedder = Embedder(self._context, self.model, self._texts, self._stored, self._cache)
            self.embedded += embedder.embed(self._prioritize(missing), sum(missing.values()))
            self._vectors = self._cache.read(self._stored)
        self.pending = sum(self._missing().values())

    def _adopt(self) -> None:
        """Take over what a version of UBP with another format of the index has paid for."""
        texts = texts_of(self._links, self._context.store.database)
        wanted = {key for keys in texts.values() for key in split(keys)}
        size = self.model.dimensions
        for block in self._stored.elsewhere():
            taken = [(n, key) for n, key in enumerate(split(block.keys)) if key in wanted]
            wanted.difference_update(key for _, key in taken)
            keys = b"".join(key for _, key in taken)
            self._stored.save(
                keys, b"".join(block.vectors[size * n : size * (n + 1)] for n, _ in taken)
            )
        self._vectors = self._cache.read(self._stored)

    def _prioritize(self, blobs: Group[ObjectId]) -> dict[ObjectId, FilePath]:
        """Return these pages with a path: changed ones first, then those in upper folders.

        An interruption then leaves embedded what is most likely to be needed.
        """
        patched = self._links.patched
        pages = [(blob, paths[0]) for blob, paths in self._paths_of(set(blobs)).items()]
        pages.sort(key=lambda page: (page[1] not in patched, page[1].count("/"), page[1]))
        return dict(pages)

    def _collect(self) -> list[VectorCollection]:
        texts = self._texts
        patched = {node.blob for node in self._links.patched.values() if node and node.blob}
        parts = [VectorCollection(texts.texts_of(patched))] if patched else []

        def collect_stored(graph: StoredGraphVersion) -> VectorCollection:
            key = (graph.commit, graph.scope)
            if not graph.is_complete:
                return VectorCollection(texts.texts(graph))
            return self._cache.collection(key) or self._cache.keep(key, texts.texts(graph))

        stored = self._links.query_stored(collect_stored)
        return [*parts, stored] if stored else parts

    def _missing(self) -> dict[ObjectId, int]:
        missing: dict[ObjectId, int] = {}
        for part in self._parts:
            missing.update(part.missing(self._vectors))
        paths = self._paths_of(set(missing))
        return {blob: count for blob, count in missing.items() if paths[blob]}

    def _best(self, cosines: Floats, limit: int, blobs: set[ObjectId] | None) -> list[VectorHit]:
        hits: list[VectorHit] = []
        for part in self._parts:
            mask = part.mask(blobs) if blobs is not None else None
            hits += part.best(cosines, self._vectors, limit, mask)
        return sorted(hits, key=lambda hit: (-hit.score, hit.page, hit.number))[:limit]

    def _in_snapshot(
        self, hits: Sequence[VectorHit], within: frozenset[FilePath] | None = None
    ) -> list[SimilarChunk]:
        """Return these chunks at each path of their page, those of other snapshots left out."""
        paths = self._paths_of({hit.page for hit in hits})
        return [
            SimilarChunk(path, *hit)
            for hit in dict.fromkeys(hits)
            for path in paths[hit.page]
            if within is None or path in within
        ]

    def _locate(self, chunks: Sequence[SimilarChunk]) -> list[SemanticHit]:
        places = self._texts.places(list({(chunk.blob, chunk.number): None for chunk in chunks}))
        return [
            SemanticHit._make((*chunk, *places[chunk.blob, chunk.number]))
            for chunk in chunks
            if (chunk.blob, chunk.number) in places
        ]

    def _paths_of(self, blobs: set[ObjectId]) -> dict[ObjectId, Sequence[FilePath]]:
        unknown = {blob for blob in blobs if blob not in self._paths}  # `-` copies all keys
        if unknown:
            paths = self._links.paths_of(unknown)
            self._paths.update((blob, paths.get(blob, ())) for blob in with_checkpoints(unknown))
        return {blob: self._paths[blob] for blob in with_checkpoints(blobs)}


def similarity(model: EmbeddingModel, text: str, names: Sequence[str]) -> list[float]:
    """Return the cosine of each name with a text; 0 where the model knows none of its words.

    A server is not asked for it: it would be asked in each search.
    """
    if not model.is_local:
        return [0.0] * len(names)
    cosines: list[float] = (
        model.encode(list(map(strip_markup, names)))
        .cosines(model.encode([strip_markup(text)]))
        .tolist()
    )
    return cosines


def overlaps(model: EmbeddingModel, text: str, passages: Sequence[str]) -> list[float]:
    """Return how much of a text each passage has, in its words or near ones; []: unknown."""
    read = [strip_markup(passage[:MAX_CHARACTERS]) for passage in passages]
    return model.overlaps(strip_markup(text), read)


class Embedder:
    """Embeds the chunks of one snapshot's pages, and saves each batch as soon as it is ready."""

    def __init__(
        self,
        context: IndexContext,
        model: EmbeddingModel,
        texts: TextTable,
        stored: VectorTable,
        cache: VectorCache,
    ) -> None:
        self._context = context
        self._model = model
        self._texts = texts
        self._stored = stored
        self._cache = cache
        self._contents = FileContents(context.repository, context.snapshot)

    def embed(self, pages: Mapping[ObjectId, FilePath], total: int) -> int:
        """Embed the texts of these pages that have no vector; return how many there were.

        `total` chunks are expected. A text is skipped if another process has embedded it meanwhile.
        """
        done = 0
        for new in self.read_missing(pages):
            keys = list(new)
            for part, vectors in self._model.encode_parts(list(new.values())) if new else ():
                self._stored.save(b"".join(keys[number] for number in part), quantize(vectors))
                done += len(part)
                self._context.progress(EMBEDDING, min(done, total), total)
        return done

    def read_missing(self, pages: Mapping[ObjectId, FilePath]) -> Iterator[dict[bytes, str]]:
        """Yield the texts of each batch of pages that have no vector, by their keys."""
        for texts in self._read(pages):
            known = self._cache.read(self._stored)
            found = known.find(as_keys(b"".join(texts))).tolist()
            yield {
                key: text for (key, text), row in zip(texts.items(), found, strict=True) if row < 0
            }

    def _read(self, pages: Mapping[ObjectId, FilePath]) -> Iterator[dict[bytes, str]]:
        """Yield the texts of each batch of pages by their keys; unreadable pages have none."""
        remaining = iter(pages.items())
        most = PAGES_PER_BATCH if self._model.is_local else PAGES_FOR_SERVER
        size = most
        while read := list(islice(remaining, size)):  # several batches with one call to git
            entries = {path: Entry(MODE_FILE, blob) for blob, path in read}
            contents = self._contents.read(entries)
            for start in range(0, len(read), most):
                batch = dict(read[start : start + most])
                rows = self._texts.text_rows(batch)
                texts: dict[bytes, str] = {}
                for blob, path in batch.items():
                    data = contents[path]
                    if data is not None and blob in rows:
                        texts.update(_texts_to_embed(rows[blob], data, self._model))
                yield texts
            size = files_per_batch([data for data in contents.values() if data is not None])


def _texts_to_embed(
    rows: TextRows, data: bytes, model: EmbeddingModel
) -> Iterator[tuple[bytes, str]]:
    for key, (heading_path, start, end) in zip(split(rows.keys), rows.places, strict=False):
        chunk = (rows.title, heading_path, body_of(data, start, end))
        # The key is another one where the bytes are not the blob's own (a file changed meanwhile).
        if embedding_key(*chunk) == key:
            yield key, model.text_of(*chunk)
