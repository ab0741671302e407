"""Written collections: documents that agents import from folders or give as text.

Every change is one commit on the collection's branch, and is confirmed when it has reached the
disk. Which folders documents were imported from is a file in the tree, so that it is versioned
with them. A purge rewrites the history; what it began is completed before anything else is written.
"""

import json
import os
import re
import time
from collections.abc import Collection as AnyCollection
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha1
from types import MappingProxyType
from typing import NamedTuple

from ubp.core.config import BUILT_IN_EXCLUDE
from ubp.core.errors import CollectionError, UsageError
from ubp.core.files import read_regular_file, write_atomically
from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import PAGE_SUFFIXES, match_any, nfc
from ubp.git.output import MAX_BLOB_BYTES, blob_id
from ubp.git.purge import drop_unreachable, remove_from_history
from ubp.git.repository import Repository
from ubp.git.trees import list_tree
from ubp.git.write import Author, write_commit
from ubp.index.collections import (
    CURRENT,
    Collection,
    Problem,
    SyncResult,
    check_name,
    count_purge,
    open_collection,
    read_collection,
    repository_path,
    write_collection,
)
from ubp.index.store.file import replace_index
from ubp.markdown.new_page import read_metadata, split_page, write_page
from ubp.markdown.parse import parse_markdown
from ubp.sync.office import OFFICE_SUFFIXES, OfficeFile, is_office_file, read_office_files
from ubp.sync.repositories import (
    Context,
    collect_garbage,
    create_repository,
    locked,
    remove_stale_locks,
    write_config,
)

AUTHOR = Author("UBP", "ubp@localhost")
EXTERNAL, FILES = "external/", "files/"
SOURCES = FilePath("sources.json")
PURGING = "purging"  # in the collection's `ubp` folder, while bytes are being removed
# A commit takes some milliseconds, a purge of thousands of commits some seconds.
LOCK_SECONDS = 60.0
MAX_FILES = 20_000
MAX_OFFICE_BYTES = 64 << 20
MAX_METADATA_CHARACTERS = 20_000

HTML_SUFFIXES = (".html", ".htm", ".xhtml")
TEXT_SUFFIXES = (".txt", ".text", ".rst", ".adoc", ".org")
SUFFIXES = (*PAGE_SUFFIXES, *HTML_SUFFIXES, *TEXT_SUFFIXES, *OFFICE_SUFFIXES)

# Fields of external documents that callers do not set.
RESERVED = ("source_type", "source_url", "query", "created", "ttl_hours", "expires_at")

Fields = Mapping[str, object]
NO_FIELDS: Fields = MappingProxyType({})


class ExternalDocument(NamedTuple):
    """A text from elsewhere, as a caller gave it; the same `url` and `query` mean the same one."""

    source_type: str
    content: str
    url: str = ""
    query: str = ""
    ttl_hours: float | None = None
    fields: Fields = NO_FIELDS


class Stored(NamedTuple):
    """A document that was stored, and when it expires (ISO 8601 in UTC; "": never)."""

    path: FilePath
    expires_at: str


@dataclass(frozen=True, slots=True)
class ImportedFolder:
    """A folder that documents were imported from, below `prefix`: some `files` of it, or all.

    `fields` are what their front matter gets, `own` those of single documents by their paths.
    `deleted` are documents that were deleted since, though their files exist.
    """

    prefix: str
    folder: str
    is_recursive: bool = False
    files: tuple[str, ...] = ()
    fields: dict[str, object] = field(default_factory=dict)
    deleted: tuple[str, ...] = ()
    own: dict[str, dict[str, object]] = field(default_factory=dict)

    def fields_of(self, path: FilePath) -> dict[str, object]:
        """Return the fields that a document gets."""
        return self.own.get(path, self.fields)

    def with_fields(self, path: FilePath, fields: dict[str, object]) -> "ImportedFolder":
        """Return it with the fields of a document."""
        own = {other: given for other, given in self.own.items() if other != path}
        return replace(self, own=own if fields == self.fields else {**own, path: fields})

    def joined(self, other: "ImportedFolder", paths: Iterable[FilePath]) -> "ImportedFolder":
        """Return both: all files, if one of them has all; `paths` are the documents of the other.

        They have the fields of both, the rest those that they had.
        """
        is_whole = not other.files
        joined = replace(
            other,
            is_recursive=self.is_recursive or other.is_recursive,
            files=tuple(sorted({*self.files, *other.files})) if self.files and other.files else (),
            fields={**self.fields, **other.fields} if is_whole else self.fields,
            own=self.own,
            deleted=self.deleted,
        )
        for path in paths:
            joined = joined.with_fields(path, {**self.fields_of(path), **other.fields})
        return joined

    def without(self, paths: AnyCollection[FilePath]) -> "ImportedFolder":
        """Return it without documents that were deleted."""
        own = (path for path in paths if path.startswith(self.prefix))
        return replace(self, deleted=tuple(sorted({*self.deleted, *own})))


class Imported(NamedTuple):
    """The paths of documents that are in the tree now as they are on disk, and their chunks.

    `below` is the number of files in folders of a folder that was imported without them.
    """

    paths: tuple[FilePath, ...]
    chunks: int
    problems: tuple[Problem, ...]
    below: int = 0


class Compared(NamedTuple):
    """What a comparison with the folders changed; `deleted` includes what had expired."""

    added: tuple[FilePath, ...]
    updated: tuple[FilePath, ...]
    deleted: tuple[FilePath, ...]
    unchanged: int
    problems: tuple[Problem, ...]


def create_written(name: str, context: Context) -> Collection:
    """Return a written collection, created if need be.

    Raises:
        UsageError: the name is not valid, or another kind of collection has it.
    """
    check_name(name)
    collection = read_collection(context.folder, name)
    if collection is not None and collection.kind != "written":
        raise UsageError(
            f"Nothing can be written to the collection {name}.",
            cause=f"It is a collection of kind {collection.kind}, of {collection.address}.",
            hint="Use another name.",
        )
    new = collection or Collection(name, "written", "")
    path = repository_path(context.folder, new)
    if collection is None or not os.path.isdir(path):
        with locked(context.folder, name, LOCK_SECONDS):
            if not os.path.isdir(path):
                create_repository(path, new, context.environment)
            with open_collection(context.folder, new, context.environment) as repository:
                if repository.rev_parse(CURRENT) is None:
                    _commit(repository, {}, "Create", context, is_empty_allowed=True)
            write_collection(context.folder, new)
    return new


def add_external(collection: Collection, document: ExternalDocument, context: Context) -> Stored:
    """Store a text, in place of the former one of the same source.

    Raises:
        UsageError: the text or its fields are too long.
        CollectionError: another process is writing.
        RepositoryError: it could not be written; nothing has changed.
    """
    now = context.clock()
    identity = f"{document.url}\0{document.query}" if document.url or document.query else ""
    digest = sha1((identity or document.content).encode("utf-8", "replace"), usedforsecurity=False)
    path = FilePath(f"{EXTERNAL}{document.source_type}/{digest.hexdigest()[:20]}.md")
    expires_at = "" if document.ttl_hours is None else stamp(now + document.ttl_hours * 3600)
    if len(json.dumps({**document.fields})) > MAX_METADATA_CHARACTERS:
        raise UsageError(f"The metadata is longer than {MAX_METADATA_CHARACTERS} characters.")
    with _writing(collection, context) as repository:
        old = _read(repository, path)
        created = read_metadata(old).get("created") if old else None
        given = {
            "source_type": document.source_type,
            "source_url": document.url,
            "query": document.query,
            "created": created or stamp(now),
            "ttl_hours": document.ttl_hours,
            "expires_at": expires_at,
        }
        fields = {key: value for key, value in document.fields.items() if key not in RESERVED}
        fields |= {key: value for key, value in given.items() if value}
        data = write_page(_text_of(document.content, document.url), fields)
        if len(data) > MAX_BLOB_BYTES:
            raise UsageError(f"The text is larger than {MAX_BLOB_BYTES >> 20} MB.")
        _commit(repository, {path: data}, "Store an external document", context)
    return Stored(path, expires_at)


def import_files(
    collection: Collection, source: ImportedFolder, context: Context, *, is_updating: bool
) -> Imported:
    """Import the documents of a folder: Markdown as it is, HTML converted, text below a title.

    Without `is_updating`, documents that differ from those in the tree are problems. The folder is
    compared again by `compare_folders`.

    Raises:
        CollectionError: another process is writing.
        RepositoryError: it could not be written; nothing has changed.
    """
    listed, problems, _ = _list_files(source)
    below = 0
    if not source.files and not source.is_recursive:
        below = len(_list_files(replace(source, is_recursive=True)).files.keys() - listed.keys())
    with _writing(collection, context) as repository:
        tree = _tree(repository)
        sources = {known.prefix: known for known in _sources(repository)}
        before = sources.get(source.prefix, replace(source, fields={}))
        after = before.joined(source, listed)
        read, unread = _read_sources(after, listed, {}, context)
        problems += unread
        changes: dict[FilePath, bytes | None] = {}
        for path, data in read.items():
            if path in tree and tree[path] != blob_id(data) and not is_updating:
                problems.append(
                    Problem(path, "another version is indexed; pass update to replace it")
                )
                after = after.with_fields(path, before.fields_of(path))
            else:
                changes[path] = data
        if read:
            deleted = tuple(path for path in after.deleted if path not in read)
            sources[source.prefix] = replace(after, deleted=deleted)
            changes[SOURCES] = _pack_sources(sources.values())
        _commit(repository, changes, f"Import files: {len(read)}", context)
    imported = tuple(path for path in changes if path != SOURCES)
    chunks = sum(len(parse_markdown(changes[path] or b"").chunks) for path in imported)
    return Imported(imported, chunks, tuple(problems), below)


def compare_folders(  # noqa: PLR0913  # named, but for the first two
    collection: Collection,
    context: Context,
    *,
    within: str = "",
    is_full: bool = False,
    removes: bool = True,
    is_dry: bool = False,
) -> Compared:
    """Update the documents of imported folders, and remove those that have expired.

    Files are compared by their blob ids. `within` narrows it to the folders and files below a path
    on disk; `is_full` converts unchanged files again; `removes`: documents whose files are gone are
    removed, too. What could not be listed stays.

    Raises:
        CollectionError: another process is writing.
        RepositoryError: it could not be written; nothing has changed.
    """
    problems: list[Problem] = []
    changes: dict[FilePath, bytes | None] = {}
    unchanged = 0
    with _writing(collection, context) as repository:
        tree = _tree(repository)
        for source in _sources(repository):
            listed, unlisted, unknown = _list_files(source)
            listed = {path: file for path, file in listed.items() if path not in source.deleted}
            problems += unlisted
            wanted = {path: file for path, file in listed.items() if _is_within(file, within)}
            known = {} if is_full else _known_sources(repository, tree, wanted)
            read, unread = _read_sources(source, wanted, known, context)
            problems += unread
            unchanged += len(wanted) - len(read) - len(unread)
            unreadable = {problem.address for problem in unread}
            for path, data in read.items():
                if tree.get(path) == blob_id(data):
                    unchanged += 1
                else:
                    changes[path] = data
            if removes:
                changes |= {
                    path: None
                    for path in tree
                    if path.startswith(source.prefix)
                    and path not in listed
                    and path not in unreadable
                    and not any(path.startswith(folder) for folder in unknown)
                    and _is_within(_file_of(source, path), within)
                }
        now = stamp(context.clock())
        external = [path for path in tree if path.startswith(EXTERNAL)]
        expired = {path for path, at in _expiries(repository, tree, external).items() if at <= now}
        unchanged += len(external) - len(expired)
        changes |= dict.fromkeys(expired)
        if not is_dry:
            _commit(repository, changes, f"Synchronize documents: {len(changes)}", context)
            collect_garbage(repository)
    return Compared(
        tuple(sorted(path for path, data in changes.items() if data and path not in tree)),
        tuple(sorted(path for path, data in changes.items() if data and path in tree)),
        tuple(sorted(path for path, data in changes.items() if data is None)),
        unchanged,
        tuple(problems),
    )


def sync_written(collection: Collection, context: Context, *, is_dry: bool) -> SyncResult:
    """Return what `compare_folders` changed as the result of a synchronization."""
    compared = compare_folders(collection, context, is_dry=is_dry)
    with open_collection(context.folder, collection, context.environment) as repository:
        after = repository.rev_parse(CURRENT)
        files = len(_documents(_tree(repository)))
    is_changed = bool(compared.added or compared.updated or compared.deleted)
    if not is_dry:
        write_collection(context.folder, replace(collection, synced_at=int(context.clock())))
    outcome = "partial" if compared.problems else "updated" if is_changed else "unchanged"
    return SyncResult(
        collection.name,
        collection.kind,
        "planned" if is_dry else outcome,  # type: ignore[arg-type]  # one of the outcomes
        after=after,
        at=after or "",
        files=files,
        added=len(compared.added),
        changed=len(compared.updated),
        removed=len(compared.deleted),
        problems=compared.problems,
    )


def delete_documents(
    collection: Collection, paths: AnyCollection[FilePath], context: Context, *, purge: bool
) -> tuple[FilePath, ...]:
    """Remove documents from the tree, and return those that were there.

    `purge` also removes them from the history, and their bytes from the repository and the index.

    Raises:
        CollectionError: another process is writing.
        RepositoryError: it could not be written. A purge that has begun is completed by the next
            change, synchronization or purge.
    """
    with _writing(collection, context) as repository:
        tree = _tree(repository)
        removed = tuple(sorted(path for path in set(paths) if path in tree))
        changes: dict[FilePath, bytes | None] = dict.fromkeys(removed)
        sources = _sources(repository)
        without = [source.without(removed) for source in sources]
        if without != sources:
            changes[SOURCES] = _pack_sources(without)
        _commit(repository, changes, f"Delete documents: {len(removed)}", context)
        if purge and paths:
            marker = _marker(repository)
            write_atomically(marker, b"")
            count_purge(context.folder)
            is_empty = not _documents(_tree(repository))
            remove_from_history(repository, {*paths, SOURCES} if is_empty else paths)
            _finish_purge(repository, context)
    return removed


def former_paths(collection: Collection, context: Context) -> tuple[FilePath, ...]:
    """Return the paths of all documents that are in the tree, or were in an earlier one."""
    with open_collection(context.folder, collection, context.environment) as repository:
        listing = repository.run("log", "--format=", "--name-only", "-z", CURRENT)
    names = {FilePath(os.fsdecode(name)) for name in listing.replace(b"\n", b"").split(b"\0")}
    return tuple(sorted(names - {SOURCES, ""}))


def stamp(seconds: float) -> str:
    """Return a time as the fields of documents have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@contextmanager
def _writing(collection: Collection, context: Context) -> Iterator[Repository]:
    with locked(context.folder, collection.name, LOCK_SECONDS):
        path = repository_path(context.folder, collection)
        with open_collection(context.folder, collection, context.environment) as repository:
            if os.path.lexists(_marker(repository)):
                remove_stale_locks(path)
                _finish_purge(repository, context)
            write_config(path, collection)
            yield repository


def _finish_purge(repository: Repository, context: Context) -> None:
    """Delete the bytes that no reference leads to, and the index, which may have some of them."""
    drop_unreachable(repository)
    replace_index(repository.data_dir)
    os.unlink(_marker(repository))
    count_purge(context.folder)


def _marker(repository: Repository) -> str:
    return os.path.join(repository.data_dir, PURGING)


def _commit(
    repository: Repository,
    changes: Mapping[FilePath, bytes | None],
    subject: str,
    context: Context,
    *,
    is_empty_allowed: bool = False,
) -> None:
    """Commit changes; the message has no names, which a purge could not remove from it."""
    write_commit(
        repository,
        CURRENT,
        changes,
        message=f"{subject}\n",
        author=AUTHOR,
        when=context.clock(),
        is_empty_allowed=is_empty_allowed,
    )


def _tree(repository: Repository) -> dict[FilePath, ObjectId]:
    tip = repository.rev_parse(CURRENT)
    entries = list_tree(repository, tip) if tip else {}
    return {path: entry.id for path, entry in entries.items() if entry.is_file}


def _documents(paths: Iterable[FilePath]) -> list[FilePath]:
    return [path for path in paths if path != SOURCES]


def _read(repository: Repository, path: FilePath) -> bytes | None:
    blob = _tree(repository).get(path)
    return repository.read_blobs({blob})[blob] if blob else None


# Front matter that `add_external` wrote: no value of it can contain this at the start of a line.
_EXPIRY = re.compile(rb"^expires_at: '?([0-9T:Z-]+)'?$", re.MULTILINE)


def _expiries(
    repository: Repository, tree: Mapping[FilePath, ObjectId], paths: Sequence[FilePath]
) -> dict[FilePath, str]:
    blobs = repository.read_blobs({tree[path] for path in paths}) if paths else {}
    found = {path: _EXPIRY.search(_head(blobs[tree[path]] or b"")) for path in paths}
    return {path: match[1].decode() for path, match in found.items() if match}


def _head(data: bytes) -> bytes:
    return data.partition(b"\n---\n")[0]


# Imported folders


def _sources(repository: Repository) -> list[ImportedFolder]:
    data = _read(repository, SOURCES)
    if data is None:
        return []
    return [
        ImportedFolder(
            **{**source, "files": tuple(source["files"]), "deleted": tuple(source["deleted"])}
        )
        for source in json.loads(data)["folders"]
    ]


def _pack_sources(sources: Iterable[ImportedFolder]) -> bytes:
    return (
        json.dumps({"folders": [asdict(source) for source in sources]}, indent=1) + "\n"
    ).encode()


def prefix_of(folder: str) -> str:
    """Return where a folder's documents are in the tree: its name, and a digest of its path."""
    digest = sha1(os.fsencode(folder), usedforsecurity=False).hexdigest()[:8]
    name = re.sub(r"[^\w.-]+", "-", os.path.basename(folder)).strip(".-") or "folder"
    return f"{FILES}{nfc(name)}-{digest}/"


class _Listing(NamedTuple):
    """The files of a source by the paths of their documents, and what could not be listed.

    `unknown` are the beginnings of the paths of documents in folders that could not be listed.
    """

    files: dict[FilePath, str]
    problems: list[Problem]
    unknown: list[str]


def _list_files(source: ImportedFolder) -> _Listing:
    if source.files:
        files = (os.path.join(source.folder, name) for name in source.files)
        existing = [file for file in files if os.path.isfile(file) and not os.path.islink(file)]
        unknown = [] if os.path.isdir(source.folder) else [source.prefix]
        return _Listing({_path_of(source, file): file for file in existing}, [], unknown)

    listing = _Listing({}, [], [])

    def cannot_list(error: OSError) -> None:
        folder = os.fsdecode(error.filename or source.folder)
        relative = _relative(source, folder)
        prefix = source.prefix if relative == "." else f"{source.prefix}{relative}/"
        listing.unknown.append(prefix)
        listing.problems.append(Problem(relative, error.strerror or "cannot be listed"))

    for folder, folders, names in os.walk(source.folder, onerror=cannot_list):
        folders[:] = sorted(name for name in folders if name != ".git" and source.is_recursive)
        for name in sorted(names):
            file = os.path.join(folder, name)
            relative = _relative(source, file)
            is_wanted = name.lower().endswith(SUFFIXES)
            if not is_wanted or match_any(BUILT_IN_EXCLUDE, relative):
                continue
            if os.path.islink(file):
                reason = "a symbolic link, which is not followed"
                listing.problems.append(Problem(relative, reason))
            elif len(listing.files) >= MAX_FILES:
                listing.problems.append(Problem(relative, f"more than {MAX_FILES} files"))
            else:
                listing.files[_path_of(source, file)] = file
    return listing


def _relative(source: ImportedFolder, file: str) -> FilePath:
    return FilePath(nfc(os.path.relpath(file, source.folder).replace(os.sep, "/")))


def _path_of(source: ImportedFolder, file: str) -> FilePath:
    relative = _relative(source, file)
    suffix = "" if relative.lower().endswith(PAGE_SUFFIXES) else ".md"
    return FilePath(f"{source.prefix}{relative}{suffix}")


def _file_of(source: ImportedFolder, path: FilePath) -> str:
    relative = path.removeprefix(source.prefix)
    stem = relative.removesuffix(".md")
    is_converted = stem != relative and "." in stem.rpartition("/")[2]
    return os.path.join(source.folder, stem if is_converted else relative)


def _is_within(file: str, within: str) -> bool:
    return not within or file == within or file.startswith(within.rstrip(os.sep) + os.sep)


_SOURCE_BLOB = re.compile(rb"^source_blob: '?([0-9a-f]{40})'?$", re.MULTILINE)


def _known_sources(
    repository: Repository, tree: Mapping[FilePath, ObjectId], files: AnyCollection[FilePath]
) -> dict[FilePath, str]:
    """Return the blob ids of the files that documents in the tree were made from."""
    present = [path for path in files if path in tree]
    blobs = repository.read_blobs({tree[path] for path in present}) if present else {}
    known: dict[FilePath, str] = {}
    for path in present:
        match = _SOURCE_BLOB.search(_head(blobs[tree[path]] or b""))
        known[path] = match[1].decode() if match else tree[path]
    return known


def _read_sources(
    source: ImportedFolder,
    files: Mapping[FilePath, str],
    known: Mapping[FilePath, str],
    context: Context,
) -> tuple[dict[FilePath, bytes], list[Problem]]:
    """Return the documents of files, but of those whose bytes are `known`; and unreadable files."""
    read: dict[FilePath, bytes] = {}
    problems: list[Problem] = []
    office: dict[FilePath, tuple[str, bytes]] = {}
    for done, (path, file) in enumerate(files.items(), 1):
        context.progress("Importing files", done, len(files))
        try:
            data = _read_file(file)
            if known.get(path) == blob_id(data):
                continue
            if is_office_file(file):
                office[path] = file, data
            else:
                read[path] = _convert(file, data, source.fields_of(path))
        except OSError as error:
            problems.append(Problem(path, f"{os.path.basename(file)}: {error.strerror or error}"))
        except CollectionError as error:
            problems.append(Problem(path, f"{os.path.basename(file)}: {error.message}"))
    contents = read_office_files([*office.values()])
    for (path, (file, data)), content in zip(office.items(), contents, strict=True):
        try:
            read[path] = _convert_office(file, data, content, source.fields_of(path))
        except CollectionError as error:
            problems.append(Problem(path, f"{os.path.basename(file)}: {error.message}"))
    return read, problems


def _read_file(file: str) -> bytes:
    """Return the bytes of a file; a link in its place is not followed."""
    most = MAX_OFFICE_BYTES if is_office_file(file) else MAX_BLOB_BYTES
    data = read_regular_file(file, most + 1, follows_link=False)
    if len(data) > most:
        raise CollectionError(f"larger than {most >> 20} MB")
    return data


def _convert_office(file: str, data: bytes, content: OfficeFile, fields: Fields) -> bytes:
    """Return a Word document, a PDF file or a notebook as Markdown.

    Raises:
        CollectionError: it cannot be read, or is too large.
    """
    if content.problem:
        raise CollectionError(content.problem)
    name = os.path.basename(file)
    own: Fields = {"original": name}
    body = content.markdown
    if content.html:
        own, body = split_page(_page_of_html(content.html, "", name))
    written = write_page(body, {**fields, **own, "source_blob": blob_id(data)})
    if len(written) > MAX_BLOB_BYTES:
        raise CollectionError(f"its text is larger than {MAX_BLOB_BYTES >> 20} MB")
    return written


def _convert(file: str, data: bytes, fields: Fields) -> bytes:
    """Return a file as Markdown: as it is unless it has to have fields, converted, or titled.

    Raises:
        CollectionError: it is not text.
    """
    name = os.path.basename(file)
    is_page = name.lower().endswith(PAGE_SUFFIXES)
    if b"\0" in data and (is_page or not data.startswith((b"\xff\xfe", b"\xfe\xff"))):
        raise CollectionError("not a text file")
    if is_page and not fields:
        return data
    source = {"source_blob": blob_id(data)}
    if name.lower().endswith(HTML_SUFFIXES):
        return write_page(_from_html(data), {**fields, **source})
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CollectionError("not valid UTF-8") from None
    if is_page:
        own, body = split_page(text)
        return write_page(body, {**fields, **own, **source})
    return write_page(f"# {name}\n\n{text}", {"title": name, **fields, **source})


def _from_html(data: bytes, url: str = "") -> str:
    return _page_of_html(data, url).partition("\n---\n")[2].strip("\n")


def _page_of_html(data: bytes | str, url: str, original: str = "") -> str:
    """Return HTML as Markdown, with front matter that names its address or its file.

    Raises:
        CollectionError: it is nested too deeply, or the extra that converts it is missing.
    """
    try:
        from ubp.sync.convert import HtmlPage, decode, is_too_deep
    except ImportError as error:
        raise CollectionError("converting HTML requires the extra `collections`") from error
    html = data if isinstance(data, str) else decode(data, "text/html")
    if is_too_deep(html):
        raise CollectionError("its elements are nested too deeply")
    return HtmlPage(html, url, original=original).convert(lambda address: address, ())


def _text_of(content: str, url: str) -> str:
    """Return a text that was given: HTML pages as Markdown, everything else as it is."""
    text = content.encode("utf-8", "replace").decode()
    if text.lstrip()[:15].lower().startswith(("<!doctype html", "<html")):
        with suppress(CollectionError):
            return _from_html(text.encode(), url)
    return text
