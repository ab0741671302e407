"""Suggest a first source reference, where no page has any: a page and a source for it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ubp.core.model import Entry, FilePath
from ubp.core.paths import normalize_path
from ubp.index.view import View

# Enough to find a page that names a file; a suggestion is not worth reading every page.
MAX_PAGES = 40
MAX_BYTES = 100_000

# A path with a folder, or a file name in backticks: `cli.py`, src/cli.py, ../src/cli.py.
# It begins where no longer one does, so that a long word is read once.
_FILE_NAME = rb"`([\w.-]+\.\w+)`|(?<![\w.@-])((?:\.{0,2}/)?[\w.@-]+(?:/[\w.@\[\]-]+)+)"
# A page shows its pictures and what it includes; it does not describe them.
_SHOWN = (
    rb"!\[[^\[\]\n]*\]\([^()\n]*\)|\{\{[#!][^{}\n]*\}\}|\{[!%][^{}\n]*[!%]\}|--8<--.*|^<<<.*"
    rb"|\{literalinclude\}.*"
)
# Keys other than `source_refs` under which repositories list the sources of a page.
_OTHER_KEY = rb"^(related_(?:code|files)|source_files|source_paths|code_(?:refs|paths)|covers):"

ReadFile = Callable[[FilePath, Entry], bytes | None]
Likeness = Callable[[FilePath, FilePath], float | None]
"""How much a page's name has in common with that of a file; None: it cannot be its source."""


class FirstReference(NamedTuple):
    """A page and a source that it names and could reference; None: no page names a likely one.

    `other_key`: a front matter key of some page that seems to list sources.
    """

    page: FilePath | None = None
    source: FilePath | None = None
    has_front_matter: bool = False
    other_key: str | None = None


def find_first_reference(
    view: View, read: ReadFile, likeness: Likeness, pages: Iterable[FilePath] = ()
) -> FirstReference:
    """Return the page and the file named by its text that are most alike, else named most.

    `pages` limits the search.
    """
    documents = view.document_paths()
    document_paths = frozenset(documents)
    texts = {}
    for page in sorted(pages or documents, key=_sort_key)[:MAX_PAGES]:
        entry = view.entry(page)
        texts[page] = (read(page, entry) or b"")[:MAX_BYTES] if entry else b""
    best, most = FirstReference(other_key=_other_key(texts.values())), (0.0, 0)
    for page, text in texts.items():
        for path, times in Counter(_mentions(page, text)).items():
            entry = view.entry(path)
            if path in document_paths or entry is None or not entry.is_file:
                continue
            alike = likeness(page, path)
            # A bare name is most often that of the reader's own file: `Taskfile.yml`.
            if alike is not None and (alike or "/" in path) and (alike, times) > most:
                most = alike, times
                best = best._replace(
                    page=page, source=path, has_front_matter=_has_front_matter(text)
                )
    return best


def _sort_key(path: FilePath) -> tuple[bool, bool, FilePath]:
    """Sort pages in a visible directory first, since they describe something, then the root's."""
    return (path.startswith(".") or "/." in path, "/" not in path, path)


def _mentions(page: FilePath, text: bytes) -> Iterator[FilePath]:
    """Yield the paths that a page's text mentions, from the root and from the page's directory."""
    folder = page.rpartition("/")[0]
    for match in re.finditer(_FILE_NAME, re.sub(_SHOWN, b"", text, flags=re.MULTILINE)):
        written = (match[1] or match[2]).decode("utf-8", "replace").rstrip(".")
        paths = (normalize_path(written), normalize_path(f"{folder}/{written}".lstrip("/")))
        yield from {path for path in paths if path}


def _has_front_matter(text: bytes) -> bool:
    return text.removeprefix(b"\xef\xbb\xbf").startswith((b"---\n", b"---\r\n"))


def _other_key(texts: Iterable[bytes]) -> str | None:
    for text in texts:
        head = text.split(b"\n---", 1)[0] if _has_front_matter(text) else b""
        if match := re.search(_OTHER_KEY, head, re.MULTILINE):
            return match[1].decode("ascii")
    return None
