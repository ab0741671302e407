"""The keys of the names in sources and documents, by blob: what the rule removed-name compares.

A key is four bytes. All those of 2,000 sources are 4 MB, which are searched in milliseconds.
"""

import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import accumulate
from typing import Generic, NamedTuple, Self, TypeVar, get_args

from ubp.code.definitions import (
    NO_DEFINITIONS,
    Language,
    find_definitions,
    find_keys,
    find_keys_of_versions,
    language_of,
)
from ubp.core.interruption import with_checkpoints
from ubp.core.model import MODE_FILE, Entry, FilePath, ObjectId
from ubp.core.names import fold_name, name_key
from ubp.git.output import blob_id
from ubp.index.facts import BlobFacts, Contents, FileContents
from ubp.index.store.facts import BlobTable
from ubp.index.tree import IndexContext
from ubp.index.view import View
from ubp.markdown.code_names import read_code_names

Holder = TypeVar("Holder", bound=str)  # a path or a blob

KEY_BYTES = 4
# Making a set of a million keys takes as long as so many searches for one.
MAX_SEARCHES = 50
MAX_VERSIONS = 64  # that are in memory at once, of a file with more all of them
# Raise it with what `find_keys`, `find_definitions` or `read_code_names` return.
VERSION = 13


class SourceKeys(NamedTuple):
    """The packed keys of the names that occur in a source, and of those that it defines."""

    occurring: bytes
    defined: bytes


class PageKeys(NamedTuple):
    """The packed keys of the names in a page's code, and of its words and options as spelled."""

    names: bytes
    spellings: bytes


class UnreadError(Exception):
    """More files would have to be read than the caller allows."""

    def __init__(self, files: int) -> None:
        super().__init__(files)
        self.files = files


def read_source_keys(
    context: IndexContext, sources: Mapping[FilePath, Entry], limit: int | None = None
) -> dict[FilePath, SourceKeys]:
    """Return the keys in each of these sources that can be read; their entries must be hashed.

    Raises:
        UnreadError: the index lacks more than `limit` of them in one language.
    """
    keys: dict[FilePath, SourceKeys] = {}
    for language, files in _by_language(sources).items():
        packed = _read(context, files, _Parser.of_source(language), limit)
        keys |= {
            path: _unpack_source(packed[entry.id])
            for path, entry in files.items()
            if entry.id in packed
        }
    return keys


def read_stored_keys(view: View) -> tuple[dict[ObjectId, bytes], dict[FilePath, Entry]] | None:
    """Return the packed keys that occur in stored blobs, and a view's files that must be read.

    See `View.stored_names`. With 2,000 sources it takes a fifth of the time of `read_source_keys`.
    """
    kinds = [_Parser.of_source(language).kind for language in (*get_args(Language), None)]
    names = view.stored_names(kinds)
    if names is None:
        return None
    stored, missing = names
    return {blob: _occurring(packed) for blob, packed in stored.items()}, missing


def read_version_keys(
    context: IndexContext, versions: Mapping[ObjectId, FilePath], limit: int | None = None
) -> dict[ObjectId, SourceKeys]:
    """Return the keys in committed versions of sources that can be read, given with their paths.

    Raises:
        UnreadError: the index lacks more than `limit` of them in one language.
    """
    by_language: dict[Language | None, dict[FilePath, Entry]] = {}
    for blob, path in versions.items():
        # A path has many versions. No file has an id as its path, so that Git's bytes are read.
        version = {FilePath(blob): Entry(MODE_FILE, blob)}
        by_language.setdefault(language_of(path), {}).update(version)
    keys: dict[ObjectId, SourceKeys] = {}
    for language, files in by_language.items():
        packed = _read(context, files, _Parser.of_source(language), limit)
        keys |= {blob: _unpack_source(content) for blob, content in packed.items()}
    return keys


def select_versions(
    context: IndexContext,
    versions: Mapping[FilePath, Collection[ObjectId]],
    wanted: AbstractSet[int],
    limit: int | None = None,
) -> dict[ObjectId, FilePath]:
    """Return the versions of each source that has one of these keys in any of its versions.

    Versions are committed blobs. A source is returned, too, if one of them cannot be read. In the
    history of astral-sh/uv (3,666 versions, 121 MB) five sources of 611 are left, in a tenth of the
    time that it takes to read the keys of each version.

    Raises:
        UnreadError: the index lacks the keys of more than `limit` versions.
    """
    table = BlobTable(context.store.database, f"keys {VERSION} versions")
    # All versions of a source have one row, whose key is a digest of their ids.
    paths = {blob_id("".join(sorted(blobs)).encode()): path for path, blobs in versions.items()}
    keys = table.read(paths)
    unread = {digest: versions[path] for digest, path in paths.items() if digest not in keys}
    total = sum(map(len, unread.values()))
    if limit is not None and total > limit:
        raise UnreadError(total)
    unreadable = set[ObjectId]()
    done = 0
    for batch in _batches(unread):
        context.progress("Reading earlier versions", done, total)
        blobs = {blob for digest in batch for blob in unread[digest]}
        contents = context.repository.read_blobs(blobs)
        found = {}
        for digest in batch:
            texts = [data for blob in unread[digest] if (data := contents[blob]) is not None]
            if len(texts) < len(unread[digest]):
                unreadable.add(digest)
            else:
                found[digest] = pack_keys(find_keys_of_versions(texts))
        table.save(found)
        keys |= found
        done += sum(len(unread[digest]) for digest in batch)
    if total:
        context.progress("Reading earlier versions", total, total)
    return {
        blob: path
        for digest, path in paths.items()
        if digest in unreadable or not wanted.isdisjoint(unpack_keys(keys[digest]))
        for blob in versions[path]
    }


def _batches(versions: Mapping[ObjectId, Collection[ObjectId]]) -> Iterator[list[ObjectId]]:
    """Yield the keys in lists whose versions are read at once."""
    batch: list[ObjectId] = []
    size = 0
    for digest, blobs in with_checkpoints(versions.items()):
        batch.append(digest)
        size += len(blobs)
        if size >= MAX_VERSIONS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def read_page_keys(
    context: IndexContext, pages: Mapping[FilePath, Entry], limit: int | None = None
) -> dict[FilePath, PageKeys]:
    """Return the packed keys of the names and paths in the code of each of these documents.

    Raises:
        UnreadError: the index lacks more than `limit` of them.
    """
    packed = _read(context, pages, PAGE_PARSER, limit)
    return {
        path: PageKeys(*_unpack(packed[entry.id]))
        for path, entry in with_checkpoints(pages.items())
        if entry.id in packed
    }


def unpack_keys(packed: bytes) -> "array[int]":
    """Return packed keys as numbers."""
    keys = array("I")
    keys.frombytes(packed)
    return keys


class PackedKeys(Generic[Holder]):
    """The packed keys of many files or blobs, searched as one text.

    This is much faster than one by one.
    """

    def __init__(self, contents: Mapping[Holder, bytes]) -> None:
        self._holders: Sequence[Holder] = list(contents)
        self._ends = list(accumulate(map(len, contents.values())))
        self._joined = b"".join(contents.values())

    def holders(self, keys: Collection[int]) -> dict[int, list[Holder]]:
        """Return the files that have each of these keys, keys without any left out."""
        return {key: [*self._holders_of(key)] for key in self._present(keys)}

    def _present(self, keys: Collection[int]) -> set[int]:
        if len(keys) > MAX_SEARCHES:
            return set(unpack_keys(self._joined)).intersection(keys)
        return {key for key in keys if next(self._positions(key), None) is not None}

    def _holders_of(self, key: int) -> Iterator[Holder]:
        return (self._holders[bisect_right(self._ends, p)] for p in self._positions(key))

    def _positions(self, key: int) -> Iterator[int]:
        packed = pack_keys([key])
        position = self._joined.find(packed)
        while position >= 0:
            if position % KEY_BYTES == 0:
                yield position
            position = self._joined.find(packed, position + 1)


def spelling_key(spelling: str) -> int:
    """Return the key of a word or option (without dashes) in this very spelling."""
    return name_key(f"={spelling}")


def pack_keys(keys: Iterable[int]) -> bytes:
    """Return keys as four bytes each."""
    return array("I", keys).tobytes()


def _pack_source(data: bytes, language: Language | None) -> bytes:
    occurring = find_keys(data)
    definitions = find_definitions(data, language) if language else NO_DEFINITIONS
    defined = {name_key(fold_name(name)) for name in definitions.names | definitions.keys}
    return _pack(occurring, defined)


def _pack(first: Collection[int], second: Collection[int]) -> bytes:
    return pack_keys([len(first), *sorted(first), *sorted(second)])


def _unpack(packed: bytes) -> tuple[bytes, bytes]:
    first = _occurring(packed)
    return first, packed[KEY_BYTES + len(first) :]


def _unpack_source(packed: bytes) -> SourceKeys:
    return SourceKeys(*_unpack(packed))


def _occurring(packed: bytes) -> bytes:
    count = int.from_bytes(packed[:KEY_BYTES], sys.byteorder)
    return packed[KEY_BYTES : KEY_BYTES * (count + 1)]


def _pack_page(data: bytes) -> bytes:
    names = read_code_names(data).names
    return _pack(
        {name.key for name in names},
        {spelling_key(name.spelling) for name in names if name.spelling},
    )


def _by_language(sources: Mapping[FilePath, Entry]) -> dict[Language | None, dict[FilePath, Entry]]:
    files: dict[Language | None, dict[FilePath, Entry]] = {}
    for path, entry in sources.items():
        files.setdefault(language_of(path), {})[path] = entry
    return files


class _Parser(NamedTuple):
    """How keys are read from bytes, under which name they are stored, and what progress shows."""

    kind: str
    title: str
    parse: Callable[[bytes], bytes]

    @classmethod
    def of_source(cls, language: Language | None) -> Self:
        kind = f"keys {VERSION} {language or 'text'}"
        return cls(kind, "Reading sources", partial(_pack_source, language=language))


PAGE_PARSER = _Parser(f"keys {VERSION} page", "Reading pages", _pack_page)


def _read(
    context: IndexContext,
    files: Mapping[FilePath, Entry],
    parser: _Parser,
    limit: int | None = None,
) -> dict[ObjectId, bytes]:
    table = BlobTable(context.store.database, parser.kind)
    blobs = {entry.id for entry in with_checkpoints(files.values())}
    stored = table.read(blobs)
    missing = blobs - stored.keys()
    if limit is not None and len(missing) > limit:
        raise UnreadError(len(missing))
    if not missing:
        return stored

    def parse_batches(batches: Iterator[Contents], total: int) -> Iterator[dict[ObjectId, bytes]]:
        context.progress(parser.title, 0, total)
        for batch in batches:
            yield {blob: parser.parse(data) for blob, data in batch.items()}

    facts = BlobFacts(
        FileContents(context.repository, context.snapshot),
        parse_batches,
        table.save,
        lambda done, total: context.progress(parser.title, done, total),
    )
    unread = {path: entry for path, entry in files.items() if entry.id in missing}
    return stored | facts.get(unread, table.read)
