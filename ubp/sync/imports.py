"""Imports: web pages, the files of a directory or bookmarks, in a repository of UBP's own.

Each synchronization that finds a difference is a commit; when and from where it was fetched is in
the commit's trailers, so that unchanged text keeps its blob id.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version as version_of
from typing import NamedTuple

from ubp.core.config import BUILT_IN_EXCLUDE, DEFAULT_INCLUDE
from ubp.core.errors import CollectionError
from ubp.core.files import read_regular_file
from ubp.core.model import FilePath, ObjectId, Progress
from ubp.core.paths import match_any, nfc
from ubp.core.shell import join
from ubp.git.output import MAX_BLOB_BYTES, blob_id
from ubp.git.repository import Repository
from ubp.git.trees import list_tree
from ubp.git.write import ABSENT, Author, update_ref, write_commit
from ubp.index.addresses import save_addresses
from ubp.index.collections import CURRENT, Collection, Outcome, Problem, SyncResult
from ubp.markdown.new_page import read_metadata
from ubp.sync.bookmarks import (
    MAX_EXPORT_BYTES,
    Bookmark,
    is_bookmark_file,
    is_export,
    read_export,
    write_note,
)
from ubp.sync.documents import HTML_SUFFIXES, TEXT_SUFFIXES
from ubp.sync.office import OFFICE_SUFFIXES, is_office_file

AUTHOR = Author("UBP", "ubp@localhost")
MAX_FILES = 20_000
SHOWN_PROBLEMS = 3
CONVERTED_SUFFIXES = frozenset({*HTML_SUFFIXES, *TEXT_SUFFIXES, *OFFICE_SUFFIXES})


def sync_import(  # noqa: PLR0913  # named, but for the first two
    repository: Repository,
    collection: Collection,
    *,
    cache: str,
    now: float,
    progress: Progress,
    is_dry: bool,
) -> SyncResult:
    """Fetch an import and commit what differs; what could not be fetched stays as it was.

    Raises:
        CollectionError: nothing could be fetched.
        RepositoryError: the commit could not be written.
    """
    notes: dict[FilePath, Bookmark] = {}
    if os.path.isabs(collection.address):
        found = read_files(collection, progress)
        files, notes, problems = found.files, found.notes, found.problems
        absent: dict[str, FilePath] = {}
        version, trailers = "", [f"Source: {collection.address}"]
        if found.left_out:
            trailers.append(f"Left-Out: {found.left_out} without a web address")
        if found.addresses:
            trailers.append(_converter())
        if not is_dry:
            save_addresses(repository, found.addresses)
    else:
        fetched = _fetch(collection, cache, progress)
        files, version, problems, absent, trailers = fetched[:5]
        if not is_dry:
            save_addresses(repository, fetched.addresses)
    before = repository.rev_parse(CURRENT)
    entries = list_tree(repository, before) if before else {}
    old = {path: entry.id for path, entry in entries.items() if entry.is_file}
    files |= _write_notes(repository, notes, old)
    # A page that is gone may be gone by mistake: while anything links to it, it is kept.
    problems += [
        Problem(url, "the server has it no more; the last version is kept")
        for url, path in absent.items()
        if path in old
    ]
    new = {path: blob_id(data) for path, data in files.items()}
    removed = [path for path in old if path not in new] if not problems else []
    added = [path for path in new if path not in old]
    changed = [path for path in new if path in old and old[path] != new[path]]
    after = before
    if (added or changed or removed) and not is_dry:
        summary = f"{len(added)} added, {len(changed)} changed, {len(removed)} removed"
        trailers += [f"Fetched-At: {_stamp(now, '%Y-%m-%dT%H:%M:%SZ')}"]
        message = f"Import {collection.address}\n\n{summary}\n\n" + "\n".join(trailers) + "\n"
        changes = {path: files[path] for path in [*added, *changed]} | dict.fromkeys(removed)
        after = write_commit(repository, CURRENT, changes, message=message, author=AUTHOR, when=now)
    tag = _tag(repository, after, version, now) if after and not is_dry else ""
    return SyncResult(
        collection.name,
        collection.kind,
        _outcome(is_dry=is_dry, has_problems=bool(problems), is_changed=after != before),
        before,
        after,
        repository.rev_parse(f"{after}^{{tree}}") or "" if after else "",
        tag,
        len(old.keys() | new.keys()) - len(removed),
        len(added),
        len(changed),
        len(removed),
        tuple(problems),
        tuple(url for url, path in absent.items() if path not in old),
    )


class ReadFiles(NamedTuple):
    """What a folder or an export has: documents and notes by path, and what is not in them.

    `addresses` are those of the files that documents were converted from, by the documents' paths.
    """

    files: dict[FilePath, bytes]
    notes: dict[FilePath, Bookmark]
    problems: list[Problem]
    left_out: int
    addresses: dict[FilePath, str]


def read_files(collection: Collection, progress: Progress) -> ReadFiles:
    """Return the documents of a folder, or the bookmarks of an export.

    Symbolic links are not followed. Exports in a folder are read if a pattern includes them; other
    HTML files are converted, as are Word documents, PDF files and notebooks.

    Raises:
        CollectionError: there are none, or the export cannot be read.
    """
    root = collection.address
    include = collection.include or DEFAULT_INCLUDE
    found = ReadFiles({}, {}, [], 0, {})
    pages: dict[FilePath, bytes] = {}
    if os.path.isfile(root):
        try:
            return _add_export(found, root)
        except OSError as error:
            raise CollectionError(f"Cannot read {root}.", cause=error.strerror or "") from error
    for path, full in _walk(root, include):
        try:
            found = _add_file(found, pages, path, full)
        except OSError as error:
            found.problems.append(Problem(full, error.strerror or str(error)))
        progress("Reading files", len(found.files) + len(found.notes) + len(pages), 0)
    if pages:
        _add_pages(found, pages, root, progress)
    if not (found.files or found.notes):
        raise CollectionError(
            f"No documents found in {root}.",
            cause="; ".join(
                f"{bad.address}: {bad.reason}" for bad in found.problems[:SHOWN_PROBLEMS]
            )
            or f"Expected files that match {', '.join(include)}.",
            hint=f"Convert its other files: {patterns_for(collection, left_out)}"
            if (left_out := count_left_out(collection))
            else "Use another directory, or other patterns with --include.",
        )
    return found


def _add_file(
    found: ReadFiles, pages: dict[FilePath, bytes], path: FilePath, full: str
) -> ReadFiles:
    """Return what was found with a file; what is to be converted is added to `pages`.

    Raises:
        OSError: it cannot be read.
    """
    is_html, is_office = path.lower().endswith(HTML_SUFFIXES), is_office_file(path)
    size, data = os.path.getsize(full), b""
    if (is_html or is_office) and size <= MAX_EXPORT_BYTES:
        data = read_regular_file(full, follows_link=False)
    if is_bookmark_file(data) if is_html else is_export(path):
        with suppress(CollectionError):  # another file of the same kind
            return _add_export(found, full)
    # Of Word and PDF files and notebooks most bytes are not text.
    most = MAX_EXPORT_BYTES if is_office else MAX_BLOB_BYTES
    if size > most or len(found.files) + len(pages) >= MAX_FILES:
        found.problems.append(Problem(full, "too large, or too many files"))
    elif is_html or is_office:
        pages[path] = data
    elif _is_utf_8(data := read_regular_file(full, follows_link=False)):
        found.files[path] = data
    else:
        found.problems.append(Problem(full, "not valid UTF-8"))
    return found


def count_left_out(collection: Collection) -> Mapping[str, int]:
    """Return how many files of a folder no pattern includes that could be converted, by suffix."""
    root = collection.address
    if collection.kind != "import" or not os.path.isdir(root):
        return {}
    include = collection.include or DEFAULT_INCLUDE
    paths = (path for path, _ in _walk(root, ("**/*",)) if not match_any(include, path))
    suffixes = (os.path.splitext(path)[1].lower() for path in paths)
    found = Counter(suffix for suffix in suffixes if suffix in CONVERTED_SUFFIXES)
    return {suffix: found[suffix] for suffix in sorted(found)}


def patterns_for(collection: Collection, left_out: Iterable[str]) -> str:
    """Return the options that import what a collection includes, and files with these suffixes."""
    patterns = collection.include or ("**/*.md",)
    added = (f"**/*{suffix}" for suffix in left_out)
    return " ".join(join(["--include", pattern]) for pattern in (*patterns, *added))


def _is_utf_8(data: bytes) -> bool:
    """Return whether a file is text as documents are read; another encoding is not guessed."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _add_pages(
    found: ReadFiles, pages: Mapping[FilePath, bytes], root: str, progress: Progress
) -> None:
    """Add HTML, Word and PDF files and notebooks to what was found, converted.

    Raises:
        CollectionError: the extra that converts them is not installed.
    """
    try:
        from ubp.sync.html_files import convert_files
    except ImportError as error:
        raise CollectionError("Converting HTML requires the extra `collections`.") from error
    converted = convert_files(pages, root, found.files.keys(), progress)
    found.files.update(converted.files)
    found.addresses.update(converted.addresses)
    found.problems.extend(converted.problems)


def _converter() -> str:
    return f"Converter: html-to-markdown {version_of('html-to-markdown')}"


def _walk(root: str, include: tuple[str, ...]) -> Iterator[tuple[FilePath, str]]:
    """Yield the wanted files of a directory: paths from it, and whole ones."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            full = os.path.join(folder, name)
            path = FilePath(nfc(os.path.relpath(full, root).replace(os.sep, "/")))
            is_wanted = match_any(include, path) and not match_any(BUILT_IN_EXCLUDE, path)
            if is_wanted and not os.path.islink(full):
                yield path, full


def _add_export(found: ReadFiles, file: str) -> ReadFiles:
    """Return what was found with the bookmarks of an export; an address is one note."""
    if os.path.getsize(file) > MAX_EXPORT_BYTES:
        raise CollectionError(f"Cannot read {file}.", cause="It is too large.")
    export = read_export(read_regular_file(file), file)
    for path, bookmark in export.notes.items():
        known = found.notes.get(path)
        found.notes[path] = known.joined(bookmark) if known else bookmark
    return found._replace(left_out=found.left_out + export.left_out)


def _write_notes(
    repository: Repository, notes: Mapping[FilePath, Bookmark], old: Mapping[FilePath, ObjectId]
) -> dict[FilePath, bytes]:
    """Return the notes of bookmarks; what the export lacks is kept from those that exist."""
    blobs = {path: old[path] for path in notes if path in old}
    texts = repository.read_blobs(set(blobs.values()))
    return {
        path: write_note(bookmark, read_metadata((blobs.get(path) and texts[blobs[path]]) or b""))
        for path, bookmark in notes.items()
    }


class _Fetched(NamedTuple):
    """Converted pages by path, the version that they state, and the addresses of the pages."""

    files: dict[FilePath, bytes]
    version: str
    problems: list[Problem]
    absent: dict[str, FilePath]
    trailers: list[str]
    addresses: dict[FilePath, str]


def _fetch(collection: Collection, cache: str, progress: Progress) -> _Fetched:
    from ubp.sync import fetch
    from ubp.sync.crawl import convert_pages, crawl

    fetcher = fetch.Fetcher(fetch.open_transport(), cache)
    try:
        result = crawl(fetcher, collection.address, collection.include, progress)
    except fetch.FetchError as error:
        raise CollectionError(
            f"Cannot fetch {collection.address}.",
            cause=f"{error.reason[0].upper()}{error.reason[1:]}.",
            hint="Try again later." if error.may_pass else "",
        ) from error
    finally:
        fetcher.close()
    files, version = convert_pages(result, progress)
    first = result.pages[result.start]
    trailers = [
        f"Source: {first.url}",
        *([f"ETag: {first.etag}"] if first.etag.isprintable() and first.etag else []),
        _converter(),
    ]
    addresses = {path: response.url for path, response in result.pages.items()}
    return _Fetched(files, version, result.problems, result.absent, trailers, addresses)


def _outcome(*, is_dry: bool, has_problems: bool, is_changed: bool) -> Outcome:
    if is_dry:
        return "planned"
    if has_problems:
        return "partial"
    return "updated" if is_changed else "unchanged"


def _tag(repository: Repository, commit: ObjectId, version: str, now: float) -> str:
    """Return the tag of a commit, which is made if a killed process left it without one.

    It is the version that the page states, else `snapshot-` and the date.
    """
    tagged = repository.run("tag", "--points-at", commit).decode("utf-8", "replace").split()
    if tagged:
        return tagged[0]
    snapshot = f"snapshot-{_stamp(now, '%Y%m%d')}"
    stated = re.sub(r"[^\w.-]+", "-", version).strip(".-")
    names = [stated] if stated and ".." not in stated and not stated.endswith(".lock") else []
    names += [snapshot, *(f"{snapshot}.{number}" for number in range(2, 1000))]
    for name in names:
        if update_ref(repository, f"refs/tags/{name}", commit, ABSENT, "sync"):
            return name
    return ""


def _stamp(seconds: float, pattern: str) -> str:
    return time.strftime(pattern, time.gmtime(seconds))
