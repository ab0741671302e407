"""Directories that a page describes as a whole, in the place of the files in them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.path_words import parent_folders, path_words, public_name
from ubp.bindings.sources import CandidateSources, Numbers
from ubp.core.model import FilePath
from ubp.core.paths import nfc
from ubp.markdown.mentions import Mention

# A directory is as sure as its files are on average, which is modest: of all directories with a
# mean above 0.5 nine in ten are right in five repositories. Few are proposed for their pages, as
# hardly one label in sixty is a directory: five, and all of them are right
# (benchmarks/bind_folders.py).
LEAST_FILES, FAIR, SURE = 3, 0.3, 0.65
# Of directories that a page names, without a file in them that says more, three in a hundred are
# right; three in ten where a word of their name is in the page's.
NAMED, NAMED_ALIKE = 0.03, 0.2
# What is larger, or touched by more of the commits, fires so often that nobody looks any more.
MAX_FILES = 40
MOST_COMMITS, FEW_COMMITS = 0.05, 5


class Folder(NamedTuple):
    """A directory to propose: its sources, those of them that speak for it, where it is named."""

    path: str
    confidence: float
    inside: Numbers
    likely: Numbers
    mention: Mention | None


class CoChange(NamedTuple):
    """In how many commits any of some sources changed, and how many commits there are."""

    count: Callable[[Sequence[int]], int]
    commits: int


def find_folders(
    page: FilePath,
    confidences: Mapping[int, float],
    named: Mapping[str, Mention],
    sources: CandidateSources,
    touched: CoChange,
) -> list[Folder]:
    """The directories that say more than the files in them, surest first; none within another.

    `confidences` are those of the files; `named` the directories that the page mentions.
    """
    named = _named_alone(named)
    found = []
    for path in {**_holding_several(confidences, sources), **named}:
        inside = sources.by_folder[path]
        # One that holds the page could not be pinned: the pin would change what it tells.
        if 1 < len(inside) <= MAX_FILES and not page.startswith(f"{path}/"):
            folder = _judged(page, path, confidences, named.get(path), inside)
            if folder and not _fires_often(inside, touched):
                found.append(folder)
    chosen: list[Folder] = []
    for one in sorted(found, key=lambda one: (-one.confidence, -len(one.path), one.path)):
        if not any(_overlap(one.path, other.path) for other in chosen):
            chosen.append(one)
    return chosen


def _named_alone(named: Mapping[str, Mention]) -> dict[str, Mention]:
    """Without those of which a mention is only the end, as it is of others: `/api/users`."""
    counts = Counter(mention.text for mention in named.values())
    return {
        path: mention
        for path, mention in named.items()
        if counts[mention.text] == 1 or nfc(mention.text).strip("./") == nfc(path)
    }


def _holding_several(
    confidences: Mapping[int, float], sources: CandidateSources
) -> dict[str, None]:
    counts = Counter(
        folder
        for number, confidence in confidences.items()
        if confidence >= FAIR
        for folder in parent_folders(sources.paths[number])
    )
    return {folder: None for folder, count in counts.items() if count >= LEAST_FILES}


def _judged(
    page: FilePath,
    path: str,
    confidences: Mapping[int, float],
    mention: Mention | None,
    inside: Numbers,
) -> Folder | None:
    sureness = [confidences.get(number, 0.0) for number in inside]
    likely = [one for one, sure in zip(inside, sureness, strict=True) if sure >= FAIR]
    mean = sum(sureness) / len(sureness)
    if len(likely) >= LEAST_FILES and mean >= SURE:
        return Folder(path, mean, inside, likely, mention)
    is_alike = path_words(path.rpartition("/")[2]) & path_words(public_name(page))
    confidence = NAMED_ALIKE if is_alike else NAMED
    if mention and max(sureness) < confidence:
        return Folder(path, confidence, inside, likely, mention)
    return None


def _fires_often(inside: Numbers, touched: CoChange) -> bool:
    return touched.count(inside) > max(MOST_COMMITS * touched.commits, FEW_COMMITS)


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
