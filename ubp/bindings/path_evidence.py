"""Evidence in paths: words that a document's path and headings share with a source's path.

And the bindings of a document's siblings: translations, documents of the same folder or name.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ubp.bindings.path_words import path_words, public_name, written_words
from ubp.bindings.sources import CandidateSources
from ubp.core.languages import without_language
from ubp.core.model import FilePath

# A translation has the same sources; a document of the same folder or name often some of them.
TRANSLATION, SAME_NAME, SAME_FOLDER = 8.0, 1.0, 1.0
# One document is weaker evidence than several that agree.
PRIOR = 1.0


class PathSimilarity(NamedTuple):
    """How similar the path of a source is to a document's, each from 0 to 1 except `path`.

    `name`: the share of the words of the document's name that are in the source's; `heading`: the
    share of the words of the source's name that are in headings; `path`: the rarity of all words
    that both paths have; `beside`: the source is in the document's folder.
    """

    name: float
    heading: float
    path: float
    beside: bool


def find_similar_paths(
    page: FilePath, headings: str, sources: CandidateSources
) -> dict[int, PathSimilarity]:
    """Return the sources whose paths share words, or the folder, with a document."""
    name_words = path_words(public_name(page))
    name_weight = sum(map(sources.rarity, name_words)) or 1.0
    in_name = _sum_rarity(name_words, sources, sources.by_own_word)
    in_heading = _sum_rarity(path_words(headings), sources, sources.by_own_word)
    in_path = _sum_rarity(_own_words(page), sources, sources.by_path_word)
    folder = page.rpartition("/")[0]
    inside = sources.by_folder.get(folder, ()) if folder else range(sources.count)
    beside = {number for number in inside if sources.paths[number].rpartition("/")[0] == folder}
    similar = in_name.keys() | in_heading.keys() | in_path.keys() | beside
    return {
        number: PathSimilarity(
            in_name.get(number, 0.0) / name_weight,
            in_heading.get(number, 0.0) / sources.own_weight(number),
            in_path.get(number, 0.0),
            number in beside,
        )
        for number in similar
    }


def shared_words(page: FilePath, number: int, sources: CandidateSources) -> list[str]:
    """Return the words that the paths of a document and a source have, as the document has them."""
    words = _own_words(page)
    return sorted(words[word] for word in words.keys() & sources.path_words[number])


class SiblingBindings:
    """The source references of bound documents, by what siblings have in common."""

    def __init__(self, bound: Mapping[FilePath, Iterable[int]]) -> None:
        self._bound = {page: frozenset(sources) for page, sources in bound.items()}
        self._groups: dict[tuple[str, str], list[FilePath]] = {}
        for page in self._bound:
            for kind, _, key in _groups_of(page):
                self._groups.setdefault((kind, key), []).append(page)

    def of_siblings(self, page: FilePath) -> dict[int, tuple[float, FilePath]]:
        """Return the share of a document's siblings that name each source, and one that does."""
        summed: dict[int, float] = {}
        example: dict[int, FilePath] = {}
        total = PRIOR
        for kind, weight, key in _groups_of(page):
            siblings = [path for path in self._groups.get((kind, key), ()) if path != page]
            if not siblings:
                continue
            total += weight
            for sibling in siblings:
                for number in self._bound[sibling]:
                    summed[number] = summed.get(number, 0.0) + weight / len(siblings)
                    example.setdefault(number, sibling)
        return {number: (value / total, example[number]) for number, value in summed.items()}


def _own_words(page: FilePath) -> dict[str, str]:
    return written_words(page.rpartition(".")[0])


def _sum_rarity(
    words: Iterable[str], sources: CandidateSources, by_word: Mapping[str, Collection[int]]
) -> dict[int, float]:
    summed: dict[int, float] = {}
    for word in words:
        rarity = sources.rarity(word)
        for number in by_word.get(word, ()):
            summed[number] = summed.get(number, 0.0) + rarity
    return summed


def _groups_of(page: FilePath) -> Iterable[tuple[str, float, str]]:
    """Yield the kind, weight and key of each group of siblings."""
    folder, _, name = page.rpartition("/")
    yield "translation", TRANSLATION, without_language(page)
    yield "name", SAME_NAME, name
    yield "folder", SAME_FOLDER, folder
