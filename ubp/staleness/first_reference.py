"""Use case: where nothing is verified yet, one of the user's pages and a source for it."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ubp.core.model import Entry, FilePath
from ubp.core.paths import normalize_path
from ubp.index.view import View

# Enough to find a page that names a file; a suggestion is not worth reading a whole tree for.
MAX_PAGES = 40
MAX_BYTES = 100_000

# A path with a folder, or a file name in backticks: `cli.py`, src/cli.py, ../src/cli.py.
_NAMED = rb"`([\w.-]+\.\w+)`|((?:\.{0,2}/)?[\w.@-]+(?:/[\w.@\[\]-]+)+)"
# What repositories call the list of a page's sources, apart from `source_refs`.
_OTHER_KEY = rb"^(related_(?:code|files)|source_files|source_paths|code_(?:refs|paths)|covers):"

Read = Callable[[FilePath, Entry], bytes | None]


class FirstReference(NamedTuple):
    """A page and a source that it might name; `is_named`: its text does so already.

    `other_key`: a key of some page's front matter that seems to name sources.
    """

    page: FilePath
    source: FilePath
    is_named: bool
    has_front_matter: bool
    other_key: str | None = None


def find_first_reference(
    view: View, read: Read, is_hidden: Callable[[FilePath], bool], pages: Iterable[FilePath] = ()
) -> FirstReference | None:
    """The first of these pages (else of all) whose text names a file, else any page and file.

    None where there is no page, or no file beside the pages.
    """
    documents = view.document_paths()
    others = frozenset(documents)
    texts = {}
    for page in sorted(pages or documents, key=_strangeness)[:MAX_PAGES]:
        entry = view.entry(page)
        texts[page] = (read(page, entry) or b"")[:MAX_BYTES] if entry else b""

    def is_source(path: FilePath, entry: Entry | None) -> bool:
        return bool(entry and entry.is_file and path not in others and not is_hidden(path))

    key = _other_key(texts.values())
    for page, text in texts.items():
        for path in _mentions(page, text):
            if is_source(path, view.entry(path)):
                return FirstReference(page, path, True, _has_front_matter(text), key)  # noqa: FBT003
    for page, text in islice(texts.items(), 1):
        for path, entry in view.files():
            if is_source(path, entry) and path[0] != ".":
                return FirstReference(page, path, False, _has_front_matter(text), key)  # noqa: FBT003
    return None


def _strangeness(path: FilePath) -> tuple[bool, bool, FilePath]:
    """Pages of a visible folder first: they describe something; then those of the root."""
    return (path.startswith(".") or "/." in path, "/" not in path, path)


def _mentions(page: FilePath, text: bytes) -> Iterator[FilePath]:
    folder = page.rpartition("/")[0]
    for match in re.finditer(_NAMED, text):
        written = (match[1] or match[2]).decode("utf-8", "replace").rstrip(".")
        for path in (normalize_path(written), normalize_path(f"{folder}/{written}".lstrip("/"))):
            if path:
                yield path


def _has_front_matter(text: bytes) -> bool:
    return text.removeprefix(b"\xef\xbb\xbf").startswith((b"---\n", b"---\r\n"))


def _other_key(texts: Iterable[bytes]) -> str | None:
    for text in texts:
        head = text.split(b"\n---", 1)[0] if _has_front_matter(text) else b""
        if found := re.search(_OTHER_KEY, head, re.MULTILINE):
            return found[1].decode("ascii")
    return None
