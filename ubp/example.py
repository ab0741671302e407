"""Use case: where nothing is verified yet, one of the user's pages and a source for it."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ubp.index import View
from ubp.model import Entry, FilePath
from ubp.paths import normalise

# Enough to find a page that names a file; a suggestion is not worth reading a whole tree for.
MOST_PAGES = 40
MOST_BYTES = 100_000

# A path with a folder, or a file name in backticks: `cli.py`, src/cli.py, ../src/cli.py.
_NAMED = rb"`([\w.-]+\.\w+)`|((?:\.{0,2}/)?[\w.@-]+(?:/[\w.@\[\]-]+)+)"

Read = Callable[[FilePath, Entry], bytes | None]


class Example(NamedTuple):
    """A page and a source that it might name; `is_named`: its text does so already."""

    page: FilePath
    source: FilePath
    is_named: bool
    has_front_matter: bool


def find_example(
    view: View, read: Read, is_hidden: Callable[[FilePath], bool], pages: Iterable[FilePath] = ()
) -> Example | None:
    """The first of these pages (else of all) whose text names a file, else any page and file.

    None where there is no page, or no file beside the pages.
    """
    documents = view.document_paths()
    chosen = sorted(pages or documents, key=lambda path: (path.count("/") == 0, path))
    others = frozenset(documents)
    first: tuple[FilePath, bytes] | None = None
    for page in chosen[:MOST_PAGES]:
        entry = view.entry(page)
        text = (read(page, entry) or b"")[:MOST_BYTES] if entry else b""
        first = first or (page, text)
        for path in _mentions(page, text):
            source = view.entry(path)
            if source and source.is_file and path not in others and not is_hidden(path):
                return Example(page, path, is_named=True, has_front_matter=_has_front_matter(text))
    if first is None:
        return None
    return next(
        (
            Example(first[0], path, is_named=False, has_front_matter=_has_front_matter(first[1]))
            for path, entry in view.files()
            if entry.is_file and path not in others and not is_hidden(path) and path[0] != "."
        ),
        None,
    )


def _mentions(page: FilePath, text: bytes) -> Iterator[FilePath]:
    folder = page.rpartition("/")[0]
    for match in re.finditer(_NAMED, text):
        written = (match[1] or match[2]).decode("utf-8", "replace").rstrip(".")
        for path in (normalise(written), normalise(f"{folder}/{written}".lstrip("/"))):
            if path:
                yield path


def _has_front_matter(text: bytes) -> bool:
    return text.removeprefix(b"\xef\xbb\xbf").startswith((b"---\n", b"---\r\n"))
