"""Evidence in names and places: the words of a page's path and headings in a source's path."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ubp.binding.path_words import called, words_of
from ubp.binding.sources import Sources
from ubp.model import FilePath


class Placed(NamedTuple):
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


def find_placed(page: FilePath, headings: str, sources: Sources) -> dict[int, Placed]:
    """The sources whose names or places have words of the page's."""
    named = words_of(called(page))
    whole = sum(map(sources.rarity, named)) or 1.0
    in_name = _summed(named, sources, sources.by_own_word)
    in_heading = _summed(words_of(headings), sources, sources.by_own_word)
    words = words_of(page.rpartition(".")[0])
    in_path = _summed(words, sources, sources.by_path_word)
    folder = page.rpartition("/")[0]
    inside = sources.by_folder.get(folder, ()) if folder else range(sources.count)
    beside = {one for one in inside if sources.paths[one].rpartition("/")[0] == folder}
    found = in_name.keys() | in_heading.keys() | in_path.keys() | beside
    return {
        number: Placed(
            in_name.get(number, 0.0) / whole,
            in_heading.get(number, 0.0) / sources.own_weight(number),
            in_path.get(number, 0.0),
            number in beside,
            tuple(sorted(words & sources.path_words[number])),
        )
        for number in found
    }


def _summed(
    words: Iterable[str], sources: Sources, having: Mapping[str, Collection[int]]
) -> dict[int, float]:
    summed: dict[int, float] = {}
    for word in words:
        weight = sources.rarity(word)
        for number in having.get(word, ()):
            summed[number] = summed.get(number, 0.0) + weight
    return summed
