"""What found pages consist of: read for those that are shown, all together."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ubp.index import View
from ubp.model import Chunk, FilePath, Page, Section


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
    sections = view.learn_graph().sections_of(pages)
    chunks = view.full_text().chunks({page.blob for page in pages.values()})
    contents = view.read(pages)
    return {
        path: Text(
            page, sections.get(path, ()), chunks.get(page.blob, ()), contents.get(path) or b""
        )
        for path, page in pages.items()
    }
