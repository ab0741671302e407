"""What a process keeps in memory of the tips: pages by path, chunks and vectors, of each version.

A search begins with one statement that returns the readable repositories and the versions of their
texts. Only what has another version than in memory is read again: a push is found by the first
search after its commit, in every process.
"""

import gc
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from threading import Lock
from typing import NamedTuple

import numpy as np

from ubp.core.model import FilePath, Level, ObjectId, in_repository
from ubp.hub.chunk_rows import ChunkRows, ChunkTable, PageChunks
from ubp.hub.database import Connection
from ubp.hub.read_text import TEXT_FORMAT
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.store.codec import unpack_fields
from ubp.search.lexical import FileNames, JoinedNames

CHUNKS_AT_ONCE = 20_000  # are read: their rows take 30 MB
# Searching the names of this many small repositories as one list takes a third of the time;
# making the list again after a push to one of them takes 10 ms.
GROUP, SMALL = 32, 1_000
_PACKED_BYTES = 8  # of the two lengths of a chunk

_READABLE = """
select r.id, r.name, ref.id, encode(ref.commit, 'hex'), s.version, s.chunks, s.words, s.stems,
    s.listed = s.version
from readable(%(reader)s) v
join repository r on r.id = v.repository
join ref on ref.id = r.tip and ref.commit is not null
join search_state s on s.repository = r.id
where %(name)s::text is null or r.name = %(name)s
order by r.name collate "C"
"""

_PAGES = """
select given.repository, p.path, f.oid, p.level, p.owners, f.changed_at, t.facts, t.fields
from unnest(%(repositories)s::int[], %(refs)s::int[]) as given (repository, ref)
join page p on p.ref = given.ref
join file f on f.ref = p.ref and f.path = p.path
join text t on t.repository = given.repository and t.blob = f.oid and t.format = %(format)s
where t.repository = any(%(repositories)s)
order by given.repository, p.path collate "C"
"""

_CHUNKS = """
select repository, encode(blob, 'hex'),
    string_agg(int4send(length) || int4send(stem_length), ''::bytea order by number)
from chunk where repository = any(%(repositories)s)
group by repository, blob order by repository, blob
"""

_VECTORS = """
select c.repository, c.id, c.blob, c.number, c.vector
from unnest(%(repositories)s::int[], %(last)s::bigint[]) as given (repository, id)
join chunk c on c.repository = given.repository and c.id > given.id
join text t on t.repository = c.repository and t.blob = c.blob and t.model = %(model)s
    and t.format = %(format)s
where c.repository = any(%(repositories)s) and c.vector is not null
order by c.repository, c.id
"""


@dataclass(frozen=True, slots=True)
class MirroredPage:
    """A page at the tip; facts and fields are packed. `changed_at` is in seconds."""

    blob: ObjectId
    level: Level
    owners: tuple[str, ...]
    changed_at: int | None
    facts: str
    fields: str


@dataclass(frozen=True, slots=True)
class Tip:
    """A repository at its tip: as a search sees it; `is_listed`: so are its words."""

    id: int
    name: str
    ref: int
    commit: str
    version: int
    chunks: int
    words: int
    stems: int
    is_listed: bool


@dataclass(frozen=True, slots=True)
class MirroredTip:
    """A tip with its pages, by path and blob, their chunks, and the names of files and fields."""

    tip: Tip
    pages: Mapping[FilePath, MirroredPage]
    paths: Mapping[ObjectId, Sequence[FilePath]]
    chunks: PageChunks
    names: FileNames
    field_names: frozenset[str]

    @property
    def group(self) -> int | None:
        """The number of the group whose names are searched together; None: it has many."""
        return self.tip.id // GROUP if len(self.pages) < SMALL else None


class NamesOfGroup(NamedTuple):
    """The names of the files of a group's tips, as these were."""

    tips: Sequence[Tip]
    names: FileNames


class Followed(NamedTuple):
    """The tips that a reader may see, and the rows of the chunks of all."""

    tips: Sequence[MirroredTip]
    rows: ChunkRows


class Mirror:
    """The tips of all repositories that anybody asked about; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tips: dict[int, MirroredTip] = {}
        self._groups: dict[int, NamesOfGroup] = {}
        self.chunks = ChunkTable(0)
        self._last: dict[int, int] = {}  # the id of the last chunk that was read
        self._model: bytes | None = None

    def follow(
        self,
        connection: Connection,
        reader: str,
        name: str | None,
        model: EmbeddingModel | None,
    ) -> Followed:
        """Return the tips that a reader may see, as they are now; `name`: this one alone."""
        rows = connection.execute(_READABLE, {"reader": reader, "name": name}).fetchall()
        tips = [Tip(*row) for row in rows]
        with self._lock:
            if model is not None and self._model != model.fingerprint:
                self.chunks, self._model = ChunkTable(model.dimensions), model.fingerprint
                self._last.clear()
                self._tips.clear()
            changed = [tip for tip in tips if self._is_changed(tip)]
            new = sum(tip.chunks for tip in changed if tip.id not in self._tips)
            for batch in _batches(changed):
                self._read(connection, batch)
            if new > CHUNKS_AT_ONCE:  # a process has started
                # Millions of objects that stay: searching them for garbage takes 0.3 s.
                gc.collect()
                gc.freeze()
            return Followed([self._mirrored(tip) for tip in tips], self.chunks.rows())

    def size(self) -> int:
        """Return the number of chunks of the tips."""
        with self._lock:
            return sum(tip.tip.chunks for tip in self._tips.values())

    def names(self, tips: Sequence[MirroredTip]) -> JoinedNames:
        """Return the names of the files of some tips."""
        groups: dict[int | None, list[MirroredTip]] = {}
        for tip in tips:
            groups.setdefault(tip.group, []).append(tip)
        with self._lock:
            sizes = Counter(tip.group for tip in self._tips.values())
            parts = [tip.names for tip in groups.pop(None, ())]
            for group, members in groups.items():
                if group is not None and len(members) == sizes[group]:
                    parts.append(self._names_of(group, members))
                else:  # a reader who may read some of them
                    parts += [tip.names for tip in members]
        return JoinedNames(parts)

    def _names_of(self, group: int, members: Sequence[MirroredTip]) -> FileNames:
        tips = [member.tip for member in members]
        known = self._groups.get(group)
        if known is None or known.tips != tips:
            paths = (path for member in members for path in member.pages)
            known = self._groups[group] = NamesOfGroup(tips, FileNames(paths, is_indexed=True))
        return known.names

    def _mirrored(self, tip: Tip) -> MirroredTip:
        """Return a tip as it is in memory, where it may be newer than this search reads it."""
        known = self._tips[tip.id]
        is_same = known.tip.version == tip.version
        return known if is_same else replace(known, tip=replace(known.tip, is_listed=False))

    def _is_changed(self, tip: Tip) -> bool:
        known = self._tips.get(tip.id)
        return known is None or (
            known.tip != tip and not (known.tip.ref == tip.ref and known.tip.version > tip.version)
        )

    def _read(self, connection: Connection, tips: Sequence[Tip]) -> None:
        ids = [tip.id for tip in tips]
        names = {tip.id: tip.name for tip in tips}
        pages: dict[int, dict[FilePath, MirroredPage]] = {tip.id: {} for tip in tips}
        rows = connection.execute(
            _PAGES,
            {"repositories": ids, "refs": [tip.ref for tip in tips], "format": TEXT_FORMAT},
        )
        for repository, path, blob, level, owners, changed_at, facts, fields in rows:
            pages[repository][in_repository(names[repository], path)] = MirroredPage(
                ObjectId(bytes(blob).hex()),
                level,
                tuple(owners),
                None if changed_at is None else int(changed_at.timestamp()),
                facts,
                fields,
            )
        chunks = self._read_chunks(connection, pages)
        for tip in tips:
            paths: dict[ObjectId, list[FilePath]] = {}
            for path, page in pages[tip.id].items():
                paths.setdefault(page.blob, []).append(path)
            fields = {page.fields for page in pages[tip.id].values()}
            self._tips[tip.id] = MirroredTip(
                tip,
                pages[tip.id],
                paths,
                chunks[tip.id],
                FileNames(pages[tip.id].keys()),
                frozenset(name for text in fields for name in unpack_fields(text)),
            )

    def _read_chunks(
        self, connection: Connection, pages: Mapping[int, Mapping[FilePath, MirroredPage]]
    ) -> dict[int, PageChunks]:
        """Read which chunks repositories have, and the vectors that are new, of these pages."""
        blobs: dict[int, list[ObjectId]] = {repository: [] for repository in pages}
        lengths: dict[int, list[bytes]] = {repository: [] for repository in pages}
        with connection.cursor(binary=True) as cursor:
            for repository, blob, packed in cursor.execute(_CHUNKS, {"repositories": [*pages]}):
                blobs[repository].append(ObjectId(blob))
                lengths[repository].append(bytes(packed))
        vectors = self._read_vectors(connection, [*pages])
        found = {}
        for repository, some in pages.items():
            sizes = (len(packed) // _PACKED_BYTES for packed in lengths[repository])
            firsts = array("i", accumulate(sizes, initial=0))
            packed = np.frombuffer(b"".join(lengths[repository]), dtype=">i4")
            found[repository] = PageChunks(blobs[repository], firsts)
            present = {page.blob for page in some.values()}
            of_blobs = vectors[repository]
            of_blobs |= {blob: {} for blob in blobs[repository] if blob not in present}
            self.chunks.update(
                repository, found[repository], packed.astype(np.int32).reshape(-1, 2), of_blobs
            )
        return found

    def _read_vectors(
        self, connection: Connection, ids: Sequence[int]
    ) -> dict[int, dict[ObjectId, dict[int, bytes]]]:
        found: dict[int, dict[ObjectId, dict[int, bytes]]] = {number: {} for number in ids}
        if self._model is None:
            return found
        values = {
            "repositories": list(ids),
            "last": [self._last.get(repository, 0) for repository in ids],
            "model": self._model,
            "format": TEXT_FORMAT,
        }
        with connection.cursor(binary=True) as cursor:
            for repository, row, blob, number, vector in cursor.execute(_VECTORS, values):
                of_page = found[repository].setdefault(ObjectId(bytes(blob).hex()), {})
                of_page[number] = bytes(vector)
                self._last[repository] = row
        return found


def _batches(tips: Sequence[Tip]) -> Iterator[list[Tip]]:
    """Yield tips in groups of at most CHUNKS_AT_ONCE chunks, or of one."""
    batch: list[Tip] = []
    chunks = 0
    for tip in tips:
        chunks += tip.chunks
        if batch and chunks > CHUNKS_AT_ONCE:
            yield batch
            batch, chunks = [], tip.chunks
        batch.append(tip)
    if batch:
        yield batch
