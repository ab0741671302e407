"""Directories that a document describes as a whole, suggested instead of the files in them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.path_words import path_words, public_name
from ubp.bindings.sources import CandidateSources, Numbers
from ubp.core.model import FilePath
from ubp.core.paths import is_within, nfc, overlaps, parent_folders
from ubp.markdown.mentions import Mention

# The confidence of a directory is the mean of its files', which is modest: of all directories with
# a mean above 0.5 nine in ten are right in five repositories. Few are suggested for their
# documents, as hardly one label in sixty is a directory: five, and all of them are right
# (benchmarks/bindings/bind_folders.py).
MIN_FILES, LIKELY, SURE = 3, 0.3, 0.65
# Of directories that a document names, without better evidence for a file in them, three in a
# hundred are right; three in ten if a word of their name is in the document's name.
NAMED, NAMED_ALIKE = 0.03, 0.2
# A larger directory, or one changed by more of the commits, fires so often that nobody cares.
MAX_FILES = 40
MAX_COMMITS_SHARE, MAX_FEW_COMMITS = 0.05, 5


class Folder(NamedTuple):
    """A directory to suggest; `sources` are its files, `likely` those with evidence of their own.

    `mention` is where the document names the directory.
    """

    path: str
    confidence: float
    sources: Numbers
    likely: Numbers
    mention: Mention | None


class CoChange(NamedTuple):
    """`count` returns in how many commits any of some sources changed; `commits` is their total."""

    count: Callable[[Sequence[int]], int]
    commits: int


def find_folders(
    page: FilePath,
    confidences: Mapping[int, float],
    named: Mapping[str, Mention],
    sources: CandidateSources,
    co_change: CoChange,
) -> list[Folder]:
    """Return the directories to suggest instead of their files, best first; none inside another.

    `confidences` are those of the files; `named` the directories that the document mentions.
    """
    named = _drop_ambiguous(named)
    folders = []
    for path in {**_with_several_files(confidences, sources), **named}:
        inside = sources.by_folder[path]
        # A directory that contains the document cannot be pinned: the pin would change its tree.
        if 1 < len(inside) <= MAX_FILES and not is_within(page, path):
            folder = _assess(page, path, confidences, named.get(path), inside)
            max_commits = max(MAX_COMMITS_SHARE * co_change.commits, MAX_FEW_COMMITS)
            if folder and co_change.count(inside) <= max_commits:
                folders.append(folder)
    folders.sort(key=lambda folder: (-folder.confidence, -len(folder.path), folder.path))
    chosen: list[Folder] = []
    for folder in folders:
        if not any(overlaps(folder.path, other.path) for other in chosen):
            chosen.append(folder)
    return chosen


def _drop_ambiguous(named: Mapping[str, Mention]) -> dict[str, Mention]:
    """Drop the directories whose mention is only the end of several paths: `/api/users`."""
    counts = Counter(mention.text for mention in named.values())
    return {
        path: mention
        for path, mention in named.items()
        if counts[mention.text] == 1 or nfc(mention.text).strip("./") == nfc(path)
    }


def _with_several_files(
    confidences: Mapping[int, float], sources: CandidateSources
) -> dict[str, None]:
    counts = Counter(
        folder
        for number, confidence in confidences.items()
        if confidence >= LIKELY
        for folder in parent_folders(sources.paths[number])
    )
    return {folder: None for folder, count in counts.items() if count >= MIN_FILES}


def _assess(
    page: FilePath,
    path: str,
    confidences: Mapping[int, float],
    mention: Mention | None,
    inside: Numbers,
) -> Folder | None:
    of_files = [confidences.get(number, 0.0) for number in inside]
    likely = [number for number in inside if confidences.get(number, 0.0) >= LIKELY]
    mean = sum(of_files) / len(of_files)
    if len(likely) >= MIN_FILES and mean >= SURE:
        return Folder(path, mean, inside, likely, mention)
    is_alike = path_words(path.rpartition("/")[2]) & path_words(public_name(page))
    confidence = NAMED_ALIKE if is_alike else NAMED
    if mention and max(of_files) < confidence:
        return Folder(path, confidence, inside, likely, mention)
    return None
