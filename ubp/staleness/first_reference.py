"""Suggest a first source reference, where no page has any: a page and a source for it."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ubp.core.model import Entry, FilePath
from ubp.core.paths import normalize_path
from ubp.index.view import View

# Enough to find a page that names a file; a suggestion is not worth reading every page.
MAX_PAGES = 40
MAX_BYTES = 100_000

# A path with a folder, or a file name in backticks: `cli.py`, src/cli.py, ../src/cli.py.
_FILE_NAME = rb"`([\w.-]+\.\w+)`|((?:\.{0,2}/)?[\w.@-]+(?:/[\w.@\[\]-]+)+)"
# A page shows its pictures; it does not describe them.
_PICTURE = rb"!\[[^\]\n]*\]\([^)\n]*\)"
# Keys other than `source_refs` under which repositories list the sources of a page.
_OTHER_KEY = rb"^(related_(?:code|files)|source_files|source_paths|code_(?:refs|paths)|covers):"

ReadFile = Callable[[FilePath, Entry], bytes | None]


class FirstReference(NamedTuple):
    """A page and a source that it could reference; `is_named`: its text mentions the source.

    `other_key`: a front matter key of some page that seems to list sources.
    """

    page: FilePath
    source: FilePath
    is_named: bool
    has_front_matter: bool
    other_key: str | None = None


def find_first_reference(
    view: View,
    read: ReadFile,
    is_hidden: Callable[[FilePath], bool],
    pages: Iterable[FilePath] = (),
) -> FirstReference | None:
    """Return the first page whose text names a file, or else the first page and any file.

    `pages` limits the search. None: there is no page, or no file that is not a page.
    """
    documents = view.document_paths()
    document_paths = frozenset(documents)
    texts = {}
    for page in sorted(pages or documents, key=_sort_key)[:MAX_PAGES]:
        entry = view.entry(page)
        texts[page] = (read(page, entry) or b"")[:MAX_BYTES] if entry else b""

    def is_source(path: FilePath, entry: Entry | None) -> bool:
        is_other_file = entry is not None and entry.is_file and path not in document_paths
        return is_other_file and not is_hidden(path)

    other_key = _other_key(texts.values())
    for page, text in texts.items():
        for path in _mentions(page, text):
            if is_source(path, view.entry(path)):
                return FirstReference(
                    page,
                    path,
                    is_named=True,
                    has_front_matter=_has_front_matter(text),
                    other_key=other_key,
                )
    for page, text in islice(texts.items(), 1):
        for path, entry in view.files():
            if is_source(path, entry) and path[0] != ".":
                return FirstReference(
                    page,
                    path,
                    is_named=False,
                    has_front_matter=_has_front_matter(text),
                    other_key=other_key,
                )
    return None


def _sort_key(path: FilePath) -> tuple[bool, bool, FilePath]:
    """Sort pages in a visible directory first, since they describe something, then the root's."""
    return (path.startswith(".") or "/." in path, "/" not in path, path)


def _mentions(page: FilePath, text: bytes) -> Iterator[FilePath]:
    """Yield the paths that a page's text mentions, from the root and from the page's directory."""
    folder = page.rpartition("/")[0]
    for match in re.finditer(_FILE_NAME, re.sub(_PICTURE, b"", text)):
        written = (match[1] or match[2]).decode("utf-8", "replace").rstrip(".")
        for path in (normalize_path(written), normalize_path(f"{folder}/{written}".lstrip("/"))):
            if path:
                yield path


def _has_front_matter(text: bytes) -> bool:
    return text.removeprefix(b"\xef\xbb\xbf").startswith((b"---\n", b"---\r\n"))


def _other_key(texts: Iterable[bytes]) -> str | None:
    for text in texts:
        head = text.split(b"\n---", 1)[0] if _has_front_matter(text) else b""
        if match := re.search(_OTHER_KEY, head, re.MULTILINE):
            return match[1].decode("ascii")
    return None
