"""What found pages consist of: read for those that are shown, all together."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.index import View
from ubp.model import Chunk, FilePath, ObjectId, Page, Section

# To read a page, its sections and its chunks takes 0.2 ms, and who asks again is shown much of the
# same: so many bytes of pages are remembered, a section and a chunk as so many.
MOST_REMEMBERED, BYTES_A_PART = 8 << 20, 500


class Text(NamedTuple):
    """A page; `data` are its bytes, empty where they cannot be had."""

    page: Page
    sections: Sequence[Section]
    chunks: Sequence[Chunk]
    data: bytes

    def cut(self, part: Section | Chunk) -> str:
        """The text of a part of it."""
        return self.data[part.byte_start : part.byte_end].decode("utf-8", "replace")

    def section_at(self, line: int) -> int | None:
        """The number of the section that a line lies in."""
        for number, section in enumerate(self.sections):
            if section.line_start <= line <= section.line_end:
                return number
        return None


def read_texts(view: View, paths: Collection[FilePath]) -> dict[FilePath, Text]:
    """Read these pages; those that are gone meanwhile are left out."""
    pages = view.pages_at(paths)
    remembered = view.ground.kept.derived("texts", _Remembered)
    known = {path: remembered.text(page) for path, page in pages.items()}
    read = _read(view, {path: page for path, page in pages.items() if not known[path]})
    for path, text in read.items():
        # What differs from the commit may have come through Git's filters.
        if text.data and text.chunks and not view.is_changed(path):
            remembered.add(text)
    return {path: known[path] or read[path] for path in pages}


def _read(view: View, pages: Mapping[FilePath, Page]) -> dict[FilePath, Text]:
    if not pages:
        return {}
    sections = view.learn_graph().sections_of(pages)
    chunks = view.full_text().chunks({page.blob for page in pages.values()})
    contents = view.read(pages)
    return {
        path: Text(
            page, sections.get(path, ()), chunks.get(page.blob, ()), contents.get(path) or b""
        )
        for path, page in pages.items()
    }


class _Remembered:
    """Pages by their blobs, those that were asked for last."""

    def __init__(self) -> None:
        self._texts: dict[ObjectId, Text] = {}
        self._size = 0

    def text(self, page: Page) -> Text | None:
        text = self._texts.pop(page.blob, None)
        if text is None:
            return None
        self._texts[page.blob] = text
        return text if text.page == page else text._replace(page=page)

    def add(self, text: Text) -> None:
        if text.page.blob in self._texts:
            return
        self._texts[text.page.blob] = text
        self._size += _size(text)
        while self._size > MOST_REMEMBERED:
            self._size -= _size(self._texts.pop(next(iter(self._texts))))


def _size(text: Text) -> int:
    return len(text.data) + BYTES_A_PART * (len(text.sections) + len(text.chunks))
