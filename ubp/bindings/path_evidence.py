"""Evidence in names and places: the words of a page's path and headings in a source's path.

Evidence in other pages' bindings: of translations, of the same folder, of the same name.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ubp.bindings.path_words import path_words, public_name
from ubp.bindings.sources import CandidateSources
from ubp.core.model import FilePath


class PathSimilarity(NamedTuple):
    """How much of a source's place a page has in its own, each from 0 to 1 but for `path`.

    `name`: the words of the page's name that are the source's too; `heading`: the words of the
    source's name that stand in headings; `path`: the rarity of all words that both paths have;
    `beside`: the source lies in the page's folder; `words`: those that both paths have.
    """

    name: float
    heading: float
    path: float
    beside: bool
    words: tuple[str, ...]


def find_similar_paths(
    page: FilePath, headings: str, sources: CandidateSources
) -> dict[int, PathSimilarity]:
    """The sources whose names or places have words of the page's."""
    named = path_words(public_name(page))
    whole = sum(map(sources.rarity, named)) or 1.0
    in_name = _summed(named, sources, sources.by_own_word)
    in_heading = _summed(path_words(headings), sources, sources.by_own_word)
    words = path_words(page.rpartition(".")[0])
    in_path = _summed(words, sources, sources.by_path_word)
    folder = page.rpartition("/")[0]
    inside = sources.by_folder.get(folder, ()) if folder else range(sources.count)
    beside = {one for one in inside if sources.paths[one].rpartition("/")[0] == folder}
    found = in_name.keys() | in_heading.keys() | in_path.keys() | beside
    return {
        number: PathSimilarity(
            in_name.get(number, 0.0) / whole,
            in_heading.get(number, 0.0) / sources.own_weight(number),
            in_path.get(number, 0.0),
            number in beside,
            tuple(sorted(words & sources.path_words[number])),
        )
        for number in found
    }


def _summed(
    words: Iterable[str], sources: CandidateSources, having: Mapping[str, Collection[int]]
) -> dict[int, float]:
    summed: dict[int, float] = {}
    for word in words:
        weight = sources.rarity(word)
        for number in having.get(word, ()):
            summed[number] = summed.get(number, 0.0) + weight
    return summed


# `auth.ja.md`, `auth-zh-CN.md`, `docs/ja/auth.md`.
_LANGUAGE = re.compile(
    r"(?:[._-]|(?<=/)|^)(?:ar|de|en|es|fr|hi|id|it|ja|jp|ko|nl|pl|pt|ru|tr|uk|vi|zh)"
    r"(?:[-_](?:[a-z]{2}|hans|hant))?(?=\.(?:md|markdown)$|/)",
    re.IGNORECASE,
)
# A translation has the same sources; a page of the same folder or name often some of them.
TRANSLATION, SAME_NAME, SAME_FOLDER = 8.0, 1.0, 1.0
# One page alone tells less than several that agree.
PRIOR = 1.0


class SiblingBindings:
    """What the bound pages name, found by what a page has in common with them."""

    def __init__(self, bound: Mapping[FilePath, Iterable[int]]) -> None:
        self._bound = {page: frozenset(sources) for page, sources in bound.items()}
        self._groups: dict[tuple[str, str], list[FilePath]] = {}
        for page in self._bound:
            for kind, _, key in _kin(page):
                self._groups.setdefault((kind, key), []).append(page)

    def of_siblings(self, page: FilePath) -> dict[int, tuple[float, FilePath]]:
        """The share of a page's siblings that name each source, and one that does."""
        summed: dict[int, float] = {}
        example: dict[int, FilePath] = {}
        whole = PRIOR
        for kind, weight, key in _kin(page):
            others = [one for one in self._groups.get((kind, key), ()) if one != page]
            if not others:
                continue
            whole += weight
            for other in others:
                for number in self._bound[other]:
                    summed[number] = summed.get(number, 0.0) + weight / len(others)
                    example.setdefault(number, other)
        return {number: (value / whole, example[number]) for number, value in summed.items()}


def without_language(page: str) -> str:
    """A page's path without the language in it: equal for translations of each other."""
    return _LANGUAGE.sub("", page)


def _kin(page: FilePath) -> Iterable[tuple[str, float, str]]:
    folder, _, name = page.rpartition("/")
    yield "translation", TRANSLATION, without_language(page)
    yield "name", SAME_NAME, name
    yield "folder", SAME_FOLDER, folder
