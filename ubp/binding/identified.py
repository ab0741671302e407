"""Evidence in a page's identifiers: the sources that define them, and those that use them."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from ubp.binding.sources import SMALL, Sources
from ubp.parse.mentions import PageMentions

# What stands in fenced code alone may be an example's.
FENCED = 0.4
# Below it, an identifier stands in half of the sources.
LEAST_RARITY = 0.1
# A test names what it tests: half of what it says, its subject says.
SUBJECTS_SHARE = 0.5


class Identified(NamedTuple):
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


def find_identified(mentions: PageMentions, rarity: PageRarity, sources: Sources) -> Identified:
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
        if rare > LEAST_RARITY:
            share = weight * rare * rare
            for number in users:
                used[number] += share
    # A long source uses more of anything.
    shared = {
        number: value / math.log(SMALL + sources.identifiers[number])
        for number, value in enumerate(used)
        if value
    }
    return Identified(defined, _passed_on(shared, sources))


def _passed_on(values: Mapping[int, float], sources: Sources) -> Mapping[int, float]:
    passed = dict(values)
    for test, subjects in sources.subjects.items():
        for subject in subjects if test in values else ():
            whole = values.get(subject, 0.0) + SUBJECTS_SHARE * values[test]
            passed[subject] = max(passed.get(subject, 0.0), whole)
    return passed
