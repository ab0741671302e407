"""Folders with the numbers of their documents: the summary of a list that is too long to show."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ubp.core.model import FilePath

MAX_FOLDERS = 12  # a line of 12 folders takes about 120 tokens


class Folder(NamedTuple):
    """A folder, and how many documents are in it and below it; "" is the root alone."""

    path: str
    documents: int


def count_by_folder(paths: Collection[FilePath], most: int = MAX_FOLDERS) -> tuple[Folder, ...]:
    """Return at most `most` folders in which all documents are, most documents first.

    The largest folder is replaced by its own folders as long as there is room for them. Documents
    that are directly in a folder with such folders count for the folder itself.
    """
    folders = {"": [*paths]}
    settled: set[str] = set()
    while len(settled) < len(folders):
        largest = min(folders.keys() - settled, key=lambda name: (-len(folders[name]), name))
        parts = _split(largest, folders[largest])
        if len(folders) - 1 + len(parts) > most or parts.keys() == {largest}:
            settled.add(largest)
            continue
        del folders[largest]
        folders |= parts
        if largest in parts:
            settled.add(largest)
    counted = (Folder(name, len(inside)) for name, inside in folders.items() if inside)
    return tuple(sorted(counted, key=lambda folder: (-folder.documents, folder.path)))


def folder_of(path: FilePath, folders: Collection[str]) -> str:
    """Return the nearest of these folders that a document is in; "" is the root."""
    folder = path
    while folder:
        folder = FilePath(folder.rpartition("/")[0])
        if folder in folders:
            return folder
    return ""


def is_below(path: FilePath, folder: str) -> bool:
    """Return whether a document is in a folder or below it; "" is the root."""
    name = folder.strip("/").removeprefix("./")
    return not name or path.startswith(f"{name}/")


def _split(folder: str, paths: Iterable[FilePath]) -> dict[str, list[FilePath]]:
    parts: dict[str, list[FilePath]] = {}
    start = f"{folder}/" if folder else ""
    for path in paths:
        name, slash, _ = path.removeprefix(start).partition("/")
        parts.setdefault(f"{start}{name}" if slash else folder, []).append(path)
    return parts
