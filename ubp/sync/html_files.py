"""Convert the files of a folder together, so that links between them lead to the documents.

They are HTML, Word documents, PDF files and notebooks.
"""

import posixpath
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag, urlsplit

from ubp.core.model import FilePath, Progress
from ubp.git.output import MAX_BLOB_BYTES
from ubp.index.collections import Problem
from ubp.markdown.new_page import write_page
from ubp.sync.convert import HtmlPage, decode, is_too_deep, relative_link, undecodable
from ubp.sync.office import OfficeFile, is_office_file, read_office_files


class ConvertedFiles(NamedTuple):
    """Documents by path, the addresses of their files, and the files that are not converted."""

    files: dict[FilePath, bytes]
    addresses: dict[FilePath, str]
    problems: list[Problem]


def convert_files(
    pages: Mapping[FilePath, bytes], root: str, taken: Collection[FilePath], progress: Progress
) -> ConvertedFiles:
    """Return files as Markdown: `a.html` as `a.md`, or as `a.html.md` where that is `taken`.

    The keys of `pages` are paths below the absolute path `root`.
    """
    converted = ConvertedFiles({}, {}, [])
    paths = _new_paths(pages, taken)
    texts: dict[FilePath, tuple[str, str]] = {}
    office = {name: data for name, data in pages.items() if is_office_file(name)}
    progress("Reading documents", 0, len(office))
    read = dict(zip(office, read_office_files([*office.items()]), strict=True))
    for name, data in pages.items():
        html, markdown, reason = read[name] if name in read else _read_html(data)
        if html and is_too_deep(html):
            reason = "its elements are nested too deeply"
        address = (Path(root) / name).as_uri()
        if reason:
            converted.problems.append(Problem(name, reason))
        elif markdown:
            converted.files[paths[name]] = write_page(markdown, {"original": name})
            converted.addresses[paths[name]] = address
        else:
            texts[name] = html, address
    documents = {unquote(urlsplit(texts[name][1]).path): paths[name] for name in texts}
    targets: dict[FilePath, set[str]] = {}
    for html, address in texts.values():
        for link in HtmlPage(html, address).links:
            path, fragment = _document(documents, link)
            if path and fragment:
                targets.setdefault(path, set()).add(unquote(fragment))
    for done, (name, (html, address)) in enumerate(texts.items()):
        progress("Converting pages", done, len(texts))
        path = paths[name]
        page = HtmlPage(html, address, original=name)
        markdown = page.convert(_Resolver(documents, path), targets.get(path, set()))
        data = markdown.encode("utf-8", "replace")
        if len(data) > MAX_BLOB_BYTES:
            converted.problems.append(Problem(name, f"its text is over {MAX_BLOB_BYTES >> 20} MB"))
            continue
        converted.files[path] = data
        converted.addresses[path] = address
    return converted


def _read_html(data: bytes) -> OfficeFile:
    reason = "not a text file" if b"\0" in data and not _is_utf_16(data) else undecodable(data)
    return OfficeFile(problem=reason) if reason else OfficeFile(html=decode(data, "text/html"))


def _is_utf_16(data: bytes) -> bool:
    return data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _new_paths(
    names: Collection[FilePath], taken: Collection[FilePath]
) -> dict[FilePath, FilePath]:
    """Return the paths of the documents that files become, each another one."""
    short = {name: FilePath(f"{posixpath.splitext(name)[0]}.md") for name in names}
    uses = Counter([*short.values(), *taken])
    return {
        name: path if uses[path] == 1 else FilePath(f"{name}.md") for name, path in short.items()
    }


def _document(documents: Mapping[str, FilePath], address: str) -> tuple[FilePath | None, str]:
    """Return the document that an address leads to, None if it is none, and the fragment."""
    url, fragment = urldefrag(address)
    parts = urlsplit(url)
    if parts.scheme != "file":
        return None, ""
    path = unquote(parts.path)
    candidates = (path, f"{path.removesuffix('/')}/index.html")
    return next((documents[name] for name in candidates if name in documents), None), fragment


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Rewrites an address to a document of the folder; other files are not there to link to."""

    documents: Mapping[str, FilePath]
    current: FilePath

    def __call__(self, address: str) -> str:
        path, fragment = _document(self.documents, address)
        if path is None:
            return address if urlsplit(address).scheme in {"http", "https"} else ""
        return relative_link(self.current, path, fragment)
