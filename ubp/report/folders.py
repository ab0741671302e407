"""Levels by folder: as fine as fits into a table."""

from collections.abc import Mapping

from ubp.model import FilePath, Level
from ubp.report.values import Folder, Levels

# A table of so many rows is still read; deeper folders stand in their parents' rows.
MOST_FOLDERS = 20
# What divides fewer pages than these tells of single pages, and the list of pages does that.
LEAST_PAGES = 6


def count_folders(pages: Mapping[FilePath, Level]) -> tuple[Folder, ...]:
    """The levels below each folder, the largest folders divided first, in order of their paths."""
    groups: dict[tuple[str, bool], list[FilePath]] = {("", False): list(pages)}
    closed: set[tuple[str, bool]] = set()
    while open_groups := groups.keys() - closed:
        largest = max(open_groups, key=lambda group: (len(groups[group]), group))
        parts = _divide(largest[0], groups[largest])
        if parts and len(groups) - 1 + len(parts) <= MOST_FOLDERS:
            del groups[largest]
            groups |= parts
            closed |= {group for group in parts if group[1]}
        else:
            closed.add(largest)
    return tuple(
        Folder(FilePath(path), is_rest, Levels.of(pages[page] for page in found))
        for (path, is_rest), found in sorted(groups.items())
    )


def _divide(folder: str, pages: list[FilePath]) -> dict[tuple[str, bool], list[FilePath]]:
    """The folders below it, and its own files; nothing where that is no division."""
    if len(pages) < LEAST_PAGES:
        return {}
    start = len(folder) + 1 if folder else 0
    parts: dict[tuple[str, bool], list[FilePath]] = {}
    for page in pages:
        name, slash, _ = page[start:].partition("/")
        key = (page[: start + len(name)], False) if slash else (folder, True)
        parts.setdefault(key, []).append(page)
    return {} if parts.keys() == {(folder, True)} else parts
