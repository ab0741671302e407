"""Folders with the numbers of their documents: the summary of a list that is too long to show."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import ancestors

MAX_FOLDERS = 12  # a line of 12 folders takes about 120 tokens


class Folder(NamedTuple):
    """A folder, and how many documents are in it and below it; "" is the root alone."""

    path: str
    documents: int


def count_by_folder(paths: Collection[FilePath], most: int = MAX_FOLDERS) -> tuple[Folder, ...]:
    """Return at most `most` folders in which all documents are, most documents first.

    The largest folder is split into the folders in it. If there is no room for all of them, only
    the largest are split off, as long as these have half of its documents; the rest stay in it.
    """
    folders = {"": [*paths]}
    settled: set[str] = set()
    while len(settled) < len(folders):
        largest = min(folders.keys() - settled, key=lambda name: (-len(folders[name]), name))
        parts = _fitting(_split(largest, folders[largest]), largest, most - len(folders) + 1)
        if parts.keys() == {largest}:
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
    return next((folder for folder in ancestors(path) if folder in folders), "")


def is_below(path: FilePath, folder: str) -> bool:
    """Return whether a document is in a folder or below it; "" is the root, "." the root alone."""
    name = folder.strip("/").removeprefix("./")
    return "/" not in path if name == "." else not name or path.startswith(f"{name}/")


def _split(folder: str, paths: Iterable[FilePath]) -> dict[str, list[FilePath]]:
    parts: dict[str, list[FilePath]] = {}
    start = f"{folder}/" if folder else ""
    for path in paths:
        name, slash, _ = path.removeprefix(start).partition("/")
        parts.setdefault(f"{start}{name}" if slash else folder, []).append(path)
    return parts


def _fitting(parts: dict[str, list[FilePath]], folder: str, room: int) -> dict[str, list[FilePath]]:
    """Return the parts of a folder, of too many the largest if they have half of its documents.

    What the folder's other parts have is its own then.
    """
    if len(parts) <= room:
        return parts
    below = sorted(parts.keys() - {folder}, key=lambda name: (-len(parts[name]), name))
    shown = {name: parts[name] for name in below[: room - 1]}
    rest = [path for name, inside in parts.items() if name not in shown for path in inside]
    return {**shown, folder: rest} if sum(map(len, shown.values())) >= len(rest) else {folder: rest}
