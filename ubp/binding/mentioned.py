"""Evidence in a page's text: the paths, file names and folders that it mentions."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ubp.binding.sources import Sources
from ubp.model import FilePath
from ubp.parse.mentions import Mention, PageMentions
from ubp.paths import nfc, normalise

_UPWARDS = re.compile(r"^(?:\.{1,2}/)+|^/")
SHORTEST = 3

Shares = dict[int, float]


class Mentioned(NamedTuple):
    """How often a page mentions each source: by its path, its name, its stem, its folder.

    A mention that fits several sources is shared among them. `first` is the first mention of each.
    """

    path: Shares
    name: Shares
    stem: Shares
    folder: Shares
    first: dict[int, Mention]
    folders: dict[str, Mention]


def find_mentioned(page: FilePath, mentions: PageMentions, sources: Sources) -> Mentioned:
    """The sources that a page mentions."""
    found = Mentioned({}, {}, {}, {}, {}, {})
    folder = page.rpartition("/")[0]
    for one in mentions.paths:
        written = nfc(one.text).rstrip("/.,-")
        text = _UPWARDS.sub("", written)
        if one.text.endswith("/") and text in sources.folders:
            found.folders.setdefault(sources.folders[text], one)
        if len(text) >= SHORTEST:
            _find(one, text, normalise(f"{folder}/{written}") or "", sources, found)
    for one in mentions.identifiers:
        same = sources.by_stem.get(one.text)
        if same and len(one.text) > SHORTEST and one.text not in mentions.fenced:
            _share(found.stem, same, 1, one, found.first)
    return found


def _find(one: Mention, text: str, relative: str, sources: Sources, found: Mentioned) -> None:
    name = text.rpartition("/")[2]
    if name in sources.by_name:
        if "/" in text:
            same = _ending(sources.by_name[name], text, sources) or _at(relative, sources)
            _share(found.path, same, one.times, one, found.first)
        else:
            same = _at(relative, sources) or sources.by_name[name]
            _share(found.name, same, one.times, one, found.first)
    elif "/" in text:
        folders = _folders(text, sources)
        for folder in folders:
            inside = sources.by_folder[folder]
            weight = one.times / len(inside) ** 0.5 / len(folders)
            found.folders.setdefault(folder, one)
            for number in inside:
                found.folder[number] = found.folder.get(number, 0.0) + weight
        if not folders:
            _share(found.path, _modules(text, sources), one.times, one, found.first)
    else:
        _share(found.path, _dotted(text, sources), one.times, one, found.first)


def _at(path: str, sources: Sources) -> list[int]:
    number = sources.numbers.get(FilePath(path))
    return [] if number is None else [number]


def _ending(numbers: Iterable[int], text: str, sources: Sources) -> list[int]:
    exact = _at(text, sources)
    return exact or [one for one in numbers if nfc(sources.paths[one]).endswith("/" + text)]


def _folders(text: str, sources: Sources) -> Sequence[str]:
    if text in sources.folders:
        return [sources.folders[text]]
    named = sources.folders_called.get(text.rpartition("/")[2], ())
    return [folder for folder in named if nfc(folder).endswith("/" + text)]


def _modules(text: str, sources: Sources) -> list[int]:
    """Sources whose path ends so but for its suffix: `auth/session` means src/auth/session.py."""
    same = sources.by_stem.get(text.rpartition("/")[2].split(".")[0], ())
    return [one for one in same if f"/{sources.paths[one].rpartition('.')[0]}".endswith("/" + text)]


def _dotted(text: str, sources: Sources) -> list[int]:
    """`auth.session.Session.close` means the module auth/session."""
    parts = text.split(".")
    for end in range(len(parts), max(1, len(parts) - 3), -1):
        if found := _modules("/".join(parts[:end]), sources):
            return found
    return []


def _share(
    shares: Shares,
    numbers: Sequence[int],
    count: float,
    mention: Mention,
    first: dict[int, Mention],
) -> None:
    for number in numbers:
        shares[number] = shares.get(number, 0.0) + count / len(numbers)
        known = first.get(number)
        if known is None or known.line > mention.line:
            first[number] = mention
