"""The meaning of one snapshot: the vectors of its documents' chunks."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Group
from itertools import islice
from typing import NamedTuple

from ubp.embed.closest import find_close
from ubp.embed.collection import Collection, Found
from ubp.embed.matrix import Floats
from ubp.embed.model import Model
from ubp.embed.text import bare
from ubp.indexing.base import Ground
from ubp.indexing.holding import Held
from ubp.indexing.laying import ATTEMPTS
from ubp.indexing.linked import Linked
from ubp.indexing.texts import texts_of
from ubp.model import FilePath, ObjectId
from ubp.store.edges import StoredGraph
from ubp.store.texts import StoredTexts
from ubp.store.vectors import StoredVectors

PAIRS_AT_ONCE = 64  # whose places are looked up
# Chunks of other versions are passed over: so many more are looked at when too few are left.
GROWTH = 4


class Near(NamedTuple):
    """A chunk of a document, and how near in meaning it is: a cosine, from -1 to 1."""

    path: FilePath
    blob: ObjectId
    number: int
    score: float


class MeaningHit(NamedTuple):
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


class Meaning:
    """The vectors of a snapshot's documents; made, as far as they are missing, on the way in.

    `embedded` counts the chunks' texts for which that was done, `pending` the chunks that have no
    vector still, because their pages' bytes cannot be had.
    """

    def __init__(self, ground: Ground, linked: Linked, model: Model) -> None:
        self.model = model
        self.embedded = 0
        self.pending = 0
        self._ground = ground
        self._linked = linked
        self._stored = StoredVectors(ground.store, model.fingerprint, model.dimensions)
        self._texts = StoredTexts(ground.store)
        self._held = _held(ground, model)
        self._paths: dict[ObjectId, Sequence[FilePath]] = {}
        for _ in range(ATTEMPTS):
            before = linked.times_laid
            self._bring()
            if linked.times_laid == before:
                break

    def search(
        self, text: str, limit: int, within: Group[FilePath] | None = None
    ) -> list[MeaningHit]:
        """What `nearest` finds, with its places (0.03 ms each)."""
        for _ in range(ATTEMPTS):
            before = self._linked.times_laid
            hits = self._placed(self.nearest(text, limit, within))
            self._linked.blobs(())  # whether what was asked about went meanwhile
            if self._linked.times_laid == before:
                break
        return hits

    def nearest(self, text: str, limit: int, within: Group[FilePath] | None = None) -> list[Near]:
        """The chunks that mean most nearly the same as a text, best first.

        A page that stands at several paths is there at each of them; `within` names the paths that
        count. A text of which the model knows no word is near to nothing.
        """
        query = self.model.encode([bare(text)])
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

    def likeness(self, text: str, names: Sequence[str]) -> list[float]:
        """The cosine of each of these names with a text; 0 where the model knows no word of it."""
        cosines: list[float] = (
            self.model.encode(list(map(bare, names)))
            .cosines(self.model.encode([bare(text)]))
            .tolist()
        )
        return cosines

    def closest(
        self, key: Callable[[FilePath], str], least: float, paths: Group[FilePath] | None = None
    ) -> Iterator[tuple[MeaningHit, MeaningHit, float]]:
        """Chunks of different pages that stand out by so much (see `find_close`), the most first.

        Pages with the same `key` are as one page. With `paths` one of the two is a chunk of these.
        """
        chunks = Collection(texts_of(self._linked, self._ground.store))
        standing = self._paths_of(set(chunks.pages))
        keys = [key(standing[page][0]) for page in chunks.pages]
        of = None if paths is None else chunks.mask(set(self._linked.blobs(paths).values()))
        found = find_close(chunks, self._held.vectors, keys, least, of)
        while some := list(islice(found, PAIRS_AT_ONCE)):
            hits: dict[Found, list[MeaningHit]] = {}
            for hit in self._placed(self._standing([one for pair in some for one in pair[:2]])):
                hits.setdefault(Found(hit.blob, hit.number, hit.score), []).append(hit)
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
            from ubp.indexing.embedding import Embedding  # markdown-it takes 70 ms of CPU

            embedding = Embedding(self._ground, self.model, self._texts, self._stored)
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

    def _collect(self) -> list[Collection]:
        linked, texts = self._linked, self._texts
        blobs = {node.blob for node in linked.patched.values() if node and node.blob}
        parts = [Collection(texts.texts_of(blobs))] if blobs else []

        def base(graph: StoredGraph) -> Collection:
            key = (graph.commit, graph.scope)
            if not graph.is_complete:
                return Collection(texts.texts(graph))
            return self._held.collection(key) or self._held.keep(key, texts.texts(graph))

        of_base = linked.of_stored(base)
        return [*parts, of_base] if of_base else parts

    def _missing(self) -> dict[ObjectId, int]:
        missing: dict[ObjectId, int] = {}
        for part in self._parts:
            missing.update(part.missing(self._held.vectors))
        there = self._paths_of(set(missing))
        return {blob: count for blob, count in missing.items() if there[blob]}

    def _best(self, cosines: Floats, limit: int, blobs: set[ObjectId] | None) -> list[Found]:
        found: list[Found] = []
        for part in self._parts:
            mask = part.mask(blobs) if blobs is not None else None
            found += part.best(cosines, self._held.vectors, limit, mask)
        return sorted(found, key=lambda one: (-one.score, one.page, one.number))[:limit]

    def _standing(
        self, found: Sequence[Found], within: frozenset[FilePath] | None = None
    ) -> list[Near]:
        """These chunks at each path where their page stands, those of other versions left out."""
        paths = self._paths_of({one.page for one in found})
        return [
            Near(path, *one)
            for one in dict.fromkeys(found)
            for path in paths[one.page]
            if within is None or path in within
        ]

    def _placed(self, near: Sequence[Near]) -> list[MeaningHit]:
        places = self._texts.places(list({(one.blob, one.number): None for one in near}))
        return [
            MeaningHit._make((*one, *places[one.blob, one.number]))
            for one in near
            if (one.blob, one.number) in places
        ]

    def _paths_of(self, blobs: set[ObjectId]) -> dict[ObjectId, Sequence[FilePath]]:
        unknown = blobs - self._paths.keys()
        if unknown:
            found = self._linked.paths_of(unknown)
            self._paths.update((blob, found.get(blob, ())) for blob in unknown)
        return {blob: self._paths[blob] for blob in blobs}


def _held(ground: Ground, model: Model) -> Held:
    kept = ground.kept
    if kept.vectors is None or kept.vectors.fingerprint != model.fingerprint:
        kept.vectors = Held(model)
    return kept.vectors
