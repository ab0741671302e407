"""The summary by folder of a list or graph that does not show all pages."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import FilePath
from ubp.frame.fields import Count
from ubp.frame.writer import Writer
from ubp.search.folders import count_by_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRecord:
    """A folder, and the number of its pages."""

    folder: Annotated[str, "path of the folder from the root; empty: the root itself"]
    pages: Annotated[Count, "pages in it and below it, except those of folders listed besides"]


def folder_records(paths: Collection[FilePath], *, least: int = 2) -> tuple[FolderRecord, ...]:
    """Return the folders of these pages, largest first; none if there are fewer than `least`."""
    folders = count_by_folder(paths)
    if len(folders) < least:
        return ()
    return tuple(FolderRecord(folder=folder.path, pages=folder.documents) for folder in folders)


def folder_lines(folders: Sequence[FolderRecord], write: Writer) -> Iterator[str]:
    """Yield the folders on a line: `Pages by folder: docs/concepts 40, docs/guides 12`."""
    named = [f"{write.name(folder.folder or '.')} {folder.pages}" for folder in folders]
    if named:
        how = " (ubp_list_pages(folder) lists one)" if write.is_agent else ""
        yield write.style.dim(f"Pages by folder: {', '.join(named)}{how}")
