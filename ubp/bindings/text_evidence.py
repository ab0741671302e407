"""Evidence in a page's identifiers: the sources that define them, and those that use them.

Evidence in a page's text: the paths, file names and folders that it mentions.

Evidence in sources: those that name a page, or the folder that it has to itself.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.sources import SMALL, CandidateSources
from ubp.code.names import SourceNames
from ubp.core.model import FilePath
from ubp.core.paths import nfc, normalize_path
from ubp.markdown.mentions import Mention, PageMentions

# What stands in fenced code alone may be an example's.
FENCED = 0.4
# Below it, an identifier stands in half of the sources.
MIN_RARITY = 0.1
# A test names what it tests: half of what it says, its subject says.
SUBJECTS_SHARE = 0.5


class IdentifierMatch(NamedTuple):
    """How much a page's identifiers say of each source, two ways.

    `defined`: it defines them; `used`: it uses them, those counting more that few sources use.
    """

    defined: Mapping[int, float]
    used: Mapping[int, float]


class PageRarity:
    """How much an identifier tells of a page, by the number of pages that mention it."""

    def __init__(self, counts: Mapping[str, int], pages: int) -> None:
        self.counts = counts
        self._pages = pages

    def __call__(self, identifier: str) -> float:
        """From 0 to 1: 1 where one page has it."""
        having = self.counts.get(identifier, 1)
        return math.log(1 + self._pages / having) / math.log(1 + self._pages)


def find_identifier_matches(
    mentions: PageMentions, rarity: PageRarity, sources: CandidateSources
) -> IdentifierMatch:
    """What the identifiers of a page say of each source."""
    defined: dict[int, float] = {}
    used = [0.0] * sources.count
    for mention in mentions.identifiers:
        users = sources.users.get(mention.text)
        if not users:
            continue
        weight = (FENCED if mention.text in mentions.fenced else 1.0) * rarity(mention.text)
        rare = sources.identifier_rarity(mention.text)
        definers = sources.definers.get(mention.text, ())
        for number in definers:
            defined[number] = defined.get(number, 0.0) + weight * rare / len(definers)
        if rare > MIN_RARITY:
            share = weight * rare * rare
            for number in users:
                used[number] += share
    # A long source uses more of anything.
    shared = {
        number: value / math.log(SMALL + sources.identifiers[number])
        for number, value in enumerate(used)
        if value
    }
    return IdentifierMatch(defined, _passed_on(shared, sources))


def _passed_on(values: Mapping[int, float], sources: CandidateSources) -> Mapping[int, float]:
    passed = dict(values)
    for test, subjects in sources.subjects.items():
        for subject in subjects if test in values else ():
            whole = values.get(subject, 0.0) + SUBJECTS_SHARE * values[test]
            passed[subject] = max(passed.get(subject, 0.0), whole)
    return passed


_UPWARDS = re.compile(r"^(?:\.{1,2}/)+|^/")
MIN_NAME_LENGTH = 3

Shares = dict[int, float]


class TextMention(NamedTuple):
    """How often a page mentions each source: by its path, its name, its stem, its folder.

    A mention that fits several sources is shared among them. `first` is the first mention of each.
    """

    path: Shares
    name: Shares
    stem: Shares
    folder: Shares
    first: dict[int, Mention]
    folders: dict[str, Mention]


def find_text_mentions(
    page: FilePath, mentions: PageMentions, sources: CandidateSources
) -> TextMention:
    """The sources that a page mentions."""
    found = TextMention({}, {}, {}, {}, {}, {})
    folder = page.rpartition("/")[0]
    for one in mentions.paths:
        written = nfc(one.text).rstrip("/.,-")
        text = _UPWARDS.sub("", written)
        if one.text.endswith("/") and text in sources.folders:
            found.folders.setdefault(sources.folders[text], one)
        if len(text) >= MIN_NAME_LENGTH:
            _find(one, text, normalize_path(f"{folder}/{written}") or "", sources, found)
    for one in mentions.identifiers:
        same = sources.by_stem.get(one.text)
        if same and len(one.text) > MIN_NAME_LENGTH and one.text not in mentions.fenced:
            _share(found.stem, same, 1, one, found.first)
    return found


def _find(
    one: Mention, text: str, relative: str, sources: CandidateSources, found: TextMention
) -> None:
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


def _at(path: str, sources: CandidateSources) -> list[int]:
    number = sources.numbers.get(FilePath(path))
    return [] if number is None else [number]


def _ending(numbers: Iterable[int], text: str, sources: CandidateSources) -> list[int]:
    exact = _at(text, sources)
    return exact or [one for one in numbers if nfc(sources.paths[one]).endswith("/" + text)]


def _folders(text: str, sources: CandidateSources) -> Sequence[str]:
    if text in sources.folders:
        return [sources.folders[text]]
    named = sources.folders_called.get(text.rpartition("/")[2], ())
    return [folder for folder in named if nfc(folder).endswith("/" + text)]


def _modules(text: str, sources: CandidateSources) -> list[int]:
    """Sources whose path ends so but for its suffix: `auth/session` means src/auth/session.py."""
    same = sources.by_stem.get(text.rpartition("/")[2].split(".")[0], ())
    return [one for one in same if f"/{sources.paths[one].rpartition('.')[0]}".endswith("/" + text)]


def _dotted(text: str, sources: CandidateSources) -> list[int]:
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


_PARENT_STEPS = re.compile(r"^[./]+")
# A folder with more pages is named for none of them; so many pages of one name are any of them.
MOST_IN_FOLDER, MOST_OF_NAME = 3, 2


def find_back_references(
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
    text = _PARENT_STEPS.sub("", nfc(written)).rstrip(".")
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
