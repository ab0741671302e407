"""Word documents, PDF files and notebooks as HTML or Markdown.

The libraries that read them run in a child process with limits: an archive may unpack to gigabytes,
a page refer to itself. HTML goes through `convert`, as web pages do, so that characters which mean
something in Markdown are escaped, and what a reader does not see is left out.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import Any, NamedTuple

from ubp.core.child import Limits, call_limited

EXTRA = "documents"
# For each suffix, the library that reads it; notebooks are JSON.
LIBRARIES: Mapping[str, str] = {".docx": "mammoth", ".pdf": "pypdf", ".ipynb": ""}
OFFICE_SUFFIXES = tuple(LIBRARIES)

# For each file: what a damaged or hostile one may take before the next is read.
LIMITS = Limits(cpu_seconds=60, memory=1 << 30)
MAX_CHARACTERS = 4_000_000
BATCH_BYTES = 64 << 20  # that a child is given at once
MAX_CELLS = 20_000

# Of a PDF's own title: what programs write that were given none.
_NO_TITLE = re.compile(r"(?i)untitled|microsoft word - |.*\.(?:docx?|indd|tex|dvi|pdf|pptx?|odt)$")
_FENCE = re.compile(r"(?m)^ {0,3}(`{3,})")
_CLASSES = re.compile(r"[^\w+#.-]+")


class OfficeFile(NamedTuple):
    """A file as HTML or as Markdown, or why it is neither."""

    html: str = ""
    markdown: str = ""
    problem: str = ""


def is_office_file(path: str) -> bool:
    """Return whether a file is one of these, by its suffix."""
    return path.lower().endswith(OFFICE_SUFFIXES)


def read_office_files(files: Sequence[tuple[str, bytes]]) -> list[OfficeFile]:
    """Return the files, each a path and bytes, as HTML or Markdown.

    The headings of a PDF are its pages, whose ids are what a viewer takes: `#page=3`.
    """
    found: list[OfficeFile | None] = []
    for path, _ in files:
        library = LIBRARIES[_suffix(path)]
        is_missing = bool(library) and find_spec(library) is None
        found.append(_missing(path) if is_missing else None)
    wanted = [file for file, known in zip(files, found, strict=True) if known is None]
    answers = (
        _answer(answer)
        for batch in _batches(wanted)
        for answer in call_limited(read_office_file, batch, LIMITS)
    )
    return [known or next(answers) for known in found]


def _batches(files: Sequence[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for file in files:
        if batch and size + len(file[1]) > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += len(file[1])
    if batch:
        yield batch


def _missing(path: str) -> OfficeFile:
    from ubp.core.installation import install_command

    command = install_command(EXTRA)
    return OfficeFile(
        problem=f"reading {_suffix(path)} needs the extra `{EXTRA}`; install it: {command}"
    )


def _answer(answer: tuple[str, str, str] | None) -> OfficeFile:
    if answer is None:
        seconds, memory = LIMITS
        reason = f"it takes more than {seconds} s or {memory >> 30} GB to read, or it is damaged"
        return OfficeFile(problem=reason)
    return OfficeFile(*answer)


def _suffix(path: str) -> str:
    return path[path.rindex(".") :].lower()


def read_office_file(file: tuple[str, bytes]) -> tuple[str, str, str]:
    """Return a file as HTML, or as Markdown, or why it cannot be read: in a child process."""
    path, data = file
    try:
        if _suffix(path) == ".ipynb":
            html, markdown = "", _from_notebook(data, path)
        else:
            html, markdown = (_from_pdf if _suffix(path) == ".pdf" else _from_word)(data), ""
    except MemoryError:
        raise
    except _UnreadableError as error:
        return "", "", str(error)
    except Exception as error:  # noqa: BLE001  # whatever the library raises for a damaged file
        return "", "", f"it is damaged, or no {_suffix(path)} file ({type(error).__name__})"
    if len(html) + len(markdown) > MAX_CHARACTERS:
        return "", "", f"it has more than {MAX_CHARACTERS:,} characters"
    return html, markdown, ""


class _UnreadableError(Exception):
    """Why a file cannot be read, for people."""


def _from_word(data: bytes) -> str:
    import mammoth

    style_map = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
    no_image = mammoth.images.img_element(lambda _: {"src": ""})
    result = mammoth.convert_to_html(BytesIO(data), style_map=style_map, convert_image=no_image)
    if not re.search(r">[^<\s]", result.value):
        raise _UnreadableError("it has no text")
    return f"<body>{result.value}</body>"


def _from_pdf(data: bytes) -> str:
    import logging

    import pypdf

    logging.disable()  # it warns of each deviation from the standard
    reader = pypdf.PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise _UnreadableError("it is encrypted")
    names = _chapters(reader)
    pages, is_text = [], False
    size = 0
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text()
        is_text = is_text or bool(text.strip())
        size += len(text)
        if size > MAX_CHARACTERS:
            raise _UnreadableError(f"it has more than {MAX_CHARACTERS:,} characters")
        chapter = f": {names[number]}" if number in names else ""
        heading = f'<h2 id="page={number}">Page {number}{escape(chapter)}</h2>'
        if text.strip():
            pages.append(heading + "".join(_paragraphs(text)))
    if not is_text:
        raise _UnreadableError("it has no text: its pages are probably scanned images")
    title = " ".join(str((reader.metadata and reader.metadata.title) or "").split())
    title = "" if _NO_TITLE.match(title) else title
    return f"<title>{escape(title)}</title><body>{''.join(pages)}</body>"


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a page, their lines as they are."""
    for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        lines = (escape(" ".join(line.split()), quote=False) for line in paragraph.split("\n"))
        if content := "<br>".join(filter(None, lines)):
            yield f"<p>{content}</p>"


def _chapters(reader: Any) -> dict[int, str]:
    """Return what the table of contents names the pages, by their numbers."""
    names: dict[int, str] = {}

    def add(entries: Iterable[Any]) -> None:
        for entry in entries:
            if isinstance(entry, list):
                add(entry)
                continue
            number = reader.get_destination_page_number(entry)
            title = " ".join(str(entry.title or "").split())
            if number is not None and number >= 0 and title:
                names.setdefault(number + 1, title)

    try:
        add(reader.outline)
    except Exception:  # noqa: BLE001  # the text of the pages does not depend on it
        return names
    return names


def _from_notebook(data: bytes, path: str) -> str:
    """Return the cells of a notebook: Markdown as it is, code in fences, no results."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        raise _UnreadableError("it is not valid JSON") from None
    if not isinstance(notebook, dict):
        raise _UnreadableError("it is not a notebook")
    cells = notebook.get("cells")
    if cells is None:  # the format before version 4
        sheets = notebook.get("worksheets") or []
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
    if not isinstance(cells, list) or len(cells) > MAX_CELLS:
        raise _UnreadableError("it is not a notebook, or it has too many cells")
    metadata = notebook.get("metadata") or {}
    info = metadata.get("language_info") or metadata.get("kernelspec") or {}
    language = _CLASSES.sub("", str(info.get("name" if "version" in info else "language") or ""))
    parts = [part for cell in cells if (part := _cell(cell, language or str(info.get("name", ""))))]
    has_title = bool(parts) and re.match(r"# \S", parts[0])
    return "\n\n".join(parts if has_title else [f"# {path.rpartition('/')[2]}", *parts])


def _cell(cell: Mapping[str, Any], language: str) -> str:
    kind = cell.get("cell_type")
    source = cell.get("source", cell.get("input", ""))
    text = ("".join(source) if isinstance(source, list) else str(source)).strip("\n")
    if not text.strip():
        return ""
    if kind == "heading":
        return f"{'#' * min(6, int(cell.get('level', 1)))} {text}"
    if kind != "code":
        return text
    fences = [len(match[1]) for match in _FENCE.finditer(text)]
    fence = "`" * max([3, *(length + 1 for length in fences)])
    return f"{fence}{_CLASSES.sub('', language)}\n{text}\n{fence}"
