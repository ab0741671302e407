"""Evidence in sources: those that name a page, or the folder that it has to itself."""

import re
from collections.abc import Iterable, Mapping, Sequence

from ubp.model import FilePath
from ubp.parse.names import SourceNames
from ubp.paths import nfc

_UPWARDS = re.compile(r"^[./]+")
# A folder with more pages is named for none of them; so many pages of one name are any of them.
MOST_IN_FOLDER, MOST_OF_NAME = 3, 2


def find_naming(
    pages: Sequence[FilePath], names: Sequence[SourceNames]
) -> Mapping[FilePath, Sequence[int]]:
    """For each page the numbers of the sources that name it, in a comment for example."""
    known = {nfc(page): page for page in pages}
    by_name = _grouped((nfc(page).rpartition("/")[2], page) for page in pages)
    by_folder = _grouped((nfc(page).rpartition("/")[0], page) for page in pages)
    meant: dict[str, Sequence[FilePath]] = {}
    found: dict[FilePath, list[int]] = {}
    for number, one in enumerate(names):
        named: set[FilePath] = set()
        for written in one.paths:
            if written not in meant:
                meant[written] = _meant(written, known, by_name, by_folder)
            named.update(meant[written])
        for page in named:
            found.setdefault(page, []).append(number)
    return found


def _meant(
    written: str,
    known: Mapping[str, FilePath],
    by_name: Mapping[str, Sequence[FilePath]],
    by_folder: Mapping[str, Sequence[FilePath]],
) -> Sequence[FilePath]:
    text = _UPWARDS.sub("", nfc(written)).rstrip(".")
    if text in known:
        return [known[text]]
    if "/" in text and 0 < len(by_folder.get(text, ())) <= MOST_IN_FOLDER:
        return by_folder[text]
    same = by_name.get(text.rpartition("/")[2], ())
    if len(same) <= MOST_OF_NAME:
        return [page for page in same if nfc(page).endswith(text)]
    return []


def _grouped(pairs: Iterable[tuple[str, FilePath]]) -> Mapping[str, list[FilePath]]:
    grouped: dict[str, list[FilePath]] = {}
    for key, page in pairs:
        grouped.setdefault(key, []).append(page)
    return grouped
