"""What a process keeps in memory of the tips: pages by path, chunks and vectors, of each version.

A search begins with one statement that returns the readable repositories and the versions of their
texts. Only what has another version than in memory is read again: a push is found by the first
search after its commit, in every process.
"""

import gc
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ubp.core.model import FilePath, ObjectId, in_repository
from ubp.hub.chunk_rows import ChunkTable, PageChunks
from ubp.hub.database import Connection
from ubp.hub.read_text import TEXT_FORMAT
from ubp.hub.tips import MirroredPage, MirroredTip, ReadableTips, Tip
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.store.codec import unpack_fields
from ubp.search.lexical import FileNames, JoinedNames

CHUNKS_AT_ONCE = 20_000  # are read: their rows take 30 MB
MAX_SEEN = 64  # readers whose tips are kept together: 2,000 tips take 0.5 MB
_PACKED_BYTES = 8  # of the two lengths of a chunk

_SEEN = """
select sha256(string_agg(int4send(r.id) || int4send(ref.id) || int8send(s.version)
    || int8send(s.listed) || ref.commit || convert_to(r.name, 'UTF8'), '/'::bytea
    order by r.name collate "C"))
"""
_TIPS = """
select r.id, r.name, ref.id, encode(ref.commit, 'hex'), s.version, s.chunks, s.words, s.stems,
    s.listed = s.version
"""
_FROM = """
from readable(%(reader)s) v
join repository r on r.id = v.repository
join ref on ref.id = r.tip and ref.commit is not null
join search_state s on s.repository = r.id
where %(name)s::text is null or r.name = %(name)s
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


Seen = tuple[bytes | None, bytes | None]
"""A digest of all that a reader may see, and the fingerprint of the model."""


class NamesOfGroup(NamedTuple):
    """The names of the files of a group's tips, as these were."""

    tips: Sequence[Tip]
    names: FileNames


class Mirror:
    """The tips of all repositories that anybody asked about; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tips: dict[int, MirroredTip] = {}
        self._groups: dict[int, NamesOfGroup] = {}
        # What readers saw, by reader and name of a repository; the last one saw it last.
        self._seen: dict[tuple[str, str | None], tuple[Seen, ReadableTips]] = {}
        self.chunks = ChunkTable(0)
        self._generation = self.chunks.generation
        self._last: dict[int, int] = {}  # the id of the last chunk that was read
        self._model: bytes | None = None

    def follow(
        self,
        connection: Connection,
        reader: str,
        name: str | None,
        model: EmbeddingModel | None,
    ) -> ReadableTips:
        """Return the tips that a reader may see, as they are now; `name`: this one alone."""
        values = {"reader": reader, "name": name}
        ((digest,),) = connection.execute(_SEEN + _FROM, values).fetchall()
        seen = digest, None if model is None else model.fingerprint
        with self._lock:
            before, tips = self._seen.pop((reader, name), (None, None))
            if tips is None or seen != before:
                tips = self._follow(connection, values, model)
            self._seen[reader, name] = seen, tips
            if len(self._seen) > MAX_SEEN:
                del self._seen[next(iter(self._seen))]
        return tips

    def size(self) -> int:
        """Return the number of chunks of the tips."""
        with self._lock:
            return len(self.chunks)

    def _follow(
        self, connection: Connection, values: Mapping[str, Any], model: EmbeddingModel | None
    ) -> ReadableTips:
        """Read what has changed."""
        sql = f'{_TIPS}{_FROM}order by r.name collate "C"'
        tips = [Tip(*row) for row in connection.execute(sql, values).fetchall()]
        if model is not None and self._model != model.fingerprint:
            self.chunks, self._model = ChunkTable(model.dimensions), model.fingerprint
            for old in (self._last, self._tips, self._seen):
                old.clear()
        changed = [tip for tip in tips if self._is_changed(tip)]
        new = sum(tip.chunks for tip in changed if tip.id not in self._tips)
        for batch in _batches(changed):
            self._read(connection, batch)
        if new > CHUNKS_AT_ONCE:  # a process has started
            # Millions of objects that stay: searching them for garbage takes 0.3 s.
            gc.collect()
            gc.freeze()
        if self._generation != self.chunks.generation:
            self._seen.clear()  # it has the old arrays
            self._generation = self.chunks.generation
        mirrored = [self._mirrored(tip) for tip in tips]
        return ReadableTips(mirrored, self.chunks.rows(), self._names(mirrored))

    def _names(self, tips: Sequence[MirroredTip]) -> JoinedNames:
        """Return the names of the files of some tips."""
        groups: dict[int | None, list[MirroredTip]] = {}
        for tip in tips:
            groups.setdefault(tip.group, []).append(tip)
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
        if known.tip.version == tip.version:
            return known
        return replace(known, tip=replace(known.tip, version=tip.version, is_listed=False))

    def _is_changed(self, tip: Tip) -> bool:
        known = self._tips.get(tip.id)
        return known is None or (known.tip != tip and known.tip.version <= tip.version)

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
        chunks = self._read_chunks(connection, ids)
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

    def _read_chunks(self, connection: Connection, ids: Sequence[int]) -> dict[int, PageChunks]:
        """Read which chunks repositories have, and the vectors that are new."""
        blobs: dict[int, list[ObjectId]] = {repository: [] for repository in ids}
        lengths: dict[int, list[bytes]] = {repository: [] for repository in ids}
        with connection.cursor(binary=True) as cursor:
            for repository, blob, packed in cursor.execute(_CHUNKS, {"repositories": [*ids]}):
                blobs[repository].append(ObjectId(blob))
                lengths[repository].append(bytes(packed))
        vectors = self._read_vectors(connection, ids)
        found = {}
        for repository in ids:
            numbers = (len(packed) // _PACKED_BYTES for packed in lengths[repository])
            firsts = array("i", accumulate(numbers, initial=0))
            packed = np.frombuffer(b"".join(lengths[repository]), dtype=">i4")
            found[repository] = PageChunks(blobs[repository], firsts)
            sizes = packed.astype(np.int32).reshape(-1, 2)
            self.chunks.update(repository, found[repository], sizes, vectors[repository])
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
