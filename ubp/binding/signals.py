"""What all kinds of evidence say of a page and each source, as numbers that can be weighed."""

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from ubp.binding.identified import Identified
from ubp.binding.mentioned import Mentioned
from ubp.binding.placed import Placed
from ubp.binding.sources import Sources
from ubp.binding.together import Together
from ubp.model import FilePath

# Almost every source shares something with a page: those with most of each are considered.
MOST_USING, MOST_TOGETHER, MOST_PLACED = 60, 200, 200


class Testimony(NamedTuple):
    """All that is known of one page and the sources, by their numbers.

    `siblings`: the share of the page's siblings that name a source, and one that does;
    `has_history`: at least one commit says something about the page.
    """

    mentioned: Mentioned
    identified: Identified
    placed: Mapping[int, Placed]
    together: Mapping[int, Together]
    naming: Sequence[int]
    siblings: Mapping[int, tuple[float, FilePath]]
    has_history: bool


class Signals(NamedTuple):
    """What is weighed of one page and one source: 0 says nothing, most go up to 1.

    Those ending in `_most` are held against the page's strongest source, the others are as they
    are. A source that names the page (`link`) tells as much as one whose path the page names most;
    where each names the other, both are half as much.
    """

    path: float
    path_most: float
    name: float
    stem: float
    folder_most: float
    defined: float
    used: float
    used_most: float
    link: float
    commits_of_page: float
    commits_of_source: float
    birth: float
    heading_words: float
    path_words_most: float
    beside: float
    sibling: float
    is_test: float
    activity: float
    size: float
    without_history: float


def read_signals(
    said: Testimony, sources: Sources, activities: Sequence[float]
) -> dict[int, Signals]:
    """The signals of every source that anything but chance speaks for."""
    used, path = said.identified.used, said.mentioned.path
    considered = _considered(said)
    naming = frozenset(said.naming)
    most_path, most_used = _most(path), _most(used)
    most_folder = _most(said.mentioned.folder)
    most_commits = max((one.of_page for one in said.together.values()), default=0.0) or 1.0
    most_words = max((one.path for one in said.placed.values()), default=0.0) or 1.0
    nowhere, never = Placed(0.0, 0.0, 0.0, beside=False, words=()), Together(0.0, 0.0, 0.0, 0)
    found = {}
    for one in considered:
        placed, together = said.placed.get(one, nowhere), said.together.get(one, never)
        both = 0.5 if one in path else 0.0
        found[one] = Signals(
            path=both if one in naming else float(one in path),
            path_most=both if one in naming else path.get(one, 0.0) / most_path,
            name=min(said.mentioned.name.get(one, 0.0), 1.0),
            stem=min(said.mentioned.stem.get(one, 0.0), 1.0),
            folder_most=said.mentioned.folder.get(one, 0.0) / most_folder,
            defined=math.log1p(3 * said.identified.defined.get(one, 0.0)),
            used=math.log1p(used.get(one, 0.0)),
            used_most=used.get(one, 0.0) / most_used,
            link=1.0 - both if one in naming else 0.0,
            commits_of_page=together.of_page / most_commits**0.5,
            commits_of_source=together.of_source,
            birth=together.at_birth,
            heading_words=min(placed.heading, 1.0),
            path_words_most=placed.path / most_words,
            beside=float(placed.beside),
            sibling=said.siblings[one][0] if one in said.siblings else 0.0,
            is_test=float(sources.tests[one]),
            activity=activities[one],
            size=sources.sizes[one],
            without_history=float(not said.has_history),
        )
    return found


def _considered(said: Testimony) -> set[int]:
    used, defined = said.identified
    considered = set(nlargest(MOST_USING, used, key=used.__getitem__))
    considered.update(nlargest(MOST_USING, defined, key=defined.__getitem__))
    considered.update(said.mentioned.path, said.mentioned.name, said.mentioned.stem)
    considered.update(said.naming, said.siblings)
    together, placed = said.together, said.placed
    considered.update(nlargest(MOST_TOGETHER, together, key=together.__getitem__))
    named = {one: at.name + at.heading + at.beside for one, at in placed.items()}
    considered.update(nlargest(MOST_PLACED, named, key=named.__getitem__))
    return considered


def _most(shares: Mapping[int, float]) -> float:
    return max(shares.values(), default=0.0) or 1.0
