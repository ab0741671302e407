"""Versions, translations and copies of a page among what was found: they count as one. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ubp.core.languages import language_of, languages_of_text, without_language
from ubp.core.model import FilePath, repository_of
from ubp.core.versions import is_version, read_version, recency
from ubp.search.fusion import Fused

# A newer version represents an older one that fits better only if its score is this share of it.
# What has been removed is found in the version that has it.
MIN_SHARE = 0.9
# Pages of the same title that have so many of their lines in common are one page in two places.
SAME_LINES = 0.9


class Folded(NamedTuple):
    """The documents that represent what was found, best first.

    `translations` and `copies` (versions in the same language, and the same page elsewhere) are
    those that each represents.
    """

    found: Sequence[Fused]
    translations: Mapping[FilePath, tuple[FilePath, ...]] = {}
    copies: Mapping[FilePath, tuple[FilePath, ...]] = {}


class Preference(NamedTuple):
    """The question, in whose language a page is preferred, and the version that comes first."""

    question: str
    version: str | None = None


Titles = Callable[[Sequence[FilePath]], Mapping[FilePath, str | None]]
"""Returns the titles of documents."""


@lru_cache(maxsize=10_000)
def family_of(path: FilePath) -> str:
    """Return what the paths of all versions and translations of a page have in common."""
    return read_version(without_language(path)).family


def fold(found: Sequence[Fused], read_titles: Titles, preference: Preference) -> Folded:
    """Return what was found without those that a version or a translation represents.

    Versions of a page have the same title. The page in the question's language represents all,
    else the best one; of its versions the preferred one, else the newest. It has the place and the
    score of the best one.
    """
    families: dict[tuple[str, str], list[Fused]] = {}
    for document in found:
        family = repository_of(document.path), family_of(document.path)
        families.setdefault(family, []).append(document)
    if len(families) == len(found):
        return Folded(found)
    several = [document.path for some in families.values() if len(some) > 1 for document in some]
    titles = read_titles(several)
    folded: list[Fused] = []
    translations: dict[FilePath, tuple[FilePath, ...]] = {}
    copies: dict[FilePath, tuple[FilePath, ...]] = {}
    for members in families.values():
        if len(members) == 1:
            folded += members
            continue
        for group in _groups(members, titles):
            best = group[0]
            first = _first(group, titles, preference)
            folded.append(first._replace(score=best.score))
            language = language_of(first.path)
            others = [document.path for document in group if document is not first]
            other_versions = [path for path in others if language_of(path) == language]
            others = [path for path in others if path not in other_versions]
            other_versions.sort(key=lambda path: recency(read_version(path).version), reverse=True)
            if others:
                translations[first.path] = tuple(others)
            if other_versions:
                copies[first.path] = tuple(other_versions)
    folded.sort(key=lambda document: -document.score)  # stable: equal ones stay in their order
    return Folded(folded, translations, copies)


def is_copy(data: bytes, other: bytes) -> bool:
    """Return whether two pages have nearly the same lines."""
    lines, others = (frozenset(map(bytes.strip, text.splitlines())) for text in (data, other))
    return len(lines & others) >= SAME_LINES * max(len(lines), len(others))


def _groups(members: Sequence[Fused], titles: Mapping[FilePath, str | None]) -> list[list[Fused]]:
    """Return the members of a family that are one page: in a language no version occurs twice."""
    groups: list[list[Fused]] = []
    for document in members:
        for group in groups:
            if all(_is_same(document.path, other.path, titles) for other in group):
                group.append(document)
                break
        else:
            groups.append([document])
    return groups


def _is_same(path: FilePath, other: FilePath, titles: Mapping[FilePath, str | None]) -> bool:
    if language_of(path) != language_of(other):
        return True
    if read_version(path).version == read_version(other).version:
        return without_language(path) == without_language(other)
    return titles.get(path) == titles.get(other)


def _first(
    group: Sequence[Fused], titles: Mapping[FilePath, str | None], preference: Preference
) -> Fused:
    languages = languages_of_text(preference.question)
    spoken = _spoken(group, titles, languages)
    least = spoken[0].score * MIN_SHARE
    wanted = preference.version

    def order(document: Fused) -> tuple[bool, bool, tuple[int, tuple[int, ...]]]:
        version = read_version(document.path).version
        is_likeliest = language_of(document.path) == languages[0]
        is_wanted = wanted is not None and is_version(wanted, version)
        return is_likeliest, is_wanted, recency(version)

    # `max` returns the first of equal ones, which is the best.
    return max((document for document in spoken if document.score >= least), key=order)


def _spoken(
    group: Sequence[Fused], titles: Mapping[FilePath, str | None], languages: Sequence[str]
) -> Sequence[Fused]:
    """Return the versions in the question's language, else those in that of the best one.

    Where the script leaves open which language it is (Han), the score decides, and a page whose
    path names no language is in that of its title.
    """
    if "" not in languages and len(languages) > 1:
        named = {
            document.path: (language,)
            if (language := language_of(document.path))
            else languages_of_text(titles.get(document.path) or "")
            for document in group
        }
        if spoken := [document for document in group if {*languages} & {*named[document.path]}]:
            return spoken
    own = [language_of(document.path) for document in group]
    language = next((language for language in languages if language in own), own[0])
    return [document for document in group if language_of(document.path) == language]
