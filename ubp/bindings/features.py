"""What all kinds of evidence say of a page and each source, as numbers that can be weighed.

What is proposed: sources that a page seems to describe, and why.

From signals to a confidence: a logistic model with few weights, fitted on people's bindings.
"""

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Literal, NamedTuple

from ubp.bindings.history_evidence import CoChangeCount
from ubp.bindings.path_evidence import PathSimilarity
from ubp.bindings.sources import CandidateSources
from ubp.bindings.text_evidence import IdentifierMatch, TextMention
from ubp.core.model import FilePath

# Almost every source shares something with a page: those with most of each are considered.
MOST_USING, MOST_TOGETHER, MOST_PLACED = 60, 200, 200


class RawSignals(NamedTuple):
    """All that is known of one page and the sources, by their numbers.

    `siblings`: the share of the page's siblings that name a source, and one that does;
    `has_history`: at least one commit says something about the page.
    """

    mentioned: TextMention
    identified: IdentifierMatch
    placed: Mapping[int, PathSimilarity]
    together: Mapping[int, CoChangeCount]
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
    said: RawSignals, sources: CandidateSources, activities: Sequence[float]
) -> dict[int, Signals]:
    """The signals of every source that anything but chance speaks for."""
    used, path = said.identified.used, said.mentioned.path
    considered = _considered(said)
    naming = frozenset(said.naming)
    most_path, most_used = _most(path), _most(used)
    most_folder = _most(said.mentioned.folder)
    most_commits = max((one.of_page for one in said.together.values()), default=0.0) or 1.0
    most_words = max((one.path for one in said.placed.values()), default=0.0) or 1.0
    nowhere, never = (
        PathSimilarity(0.0, 0.0, 0.0, beside=False, words=()),
        CoChangeCount(0.0, 0.0, 0.0, 0),
    )
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


def _considered(said: RawSignals) -> set[int]:
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


EvidenceKind = Literal["path", "file_name", "identifier", "link", "commit", "sibling", "place"]

MIN_CONFIDENCE = 0.7
"""What is written where nobody says otherwise.

In repositories that nothing was fitted on 0.84 of it is right, and 0.46 of a newcomer's pages get
one; where the other pages are bound already, 0.84 and 0.65. On those that it was fitted on 0.85 and
0.52, 0.86 and 0.80 (benchmarks/bind_weights.py). Above 0.9 not more than 0.87 of them are right.
"""


class Evidence(NamedTuple):
    """A reason; `detail` is for people, `line` where it stands in the page (from 1).

    `weight` is its share of the score.
    """

    kind: EvidenceKind
    detail: str
    line: int | None
    weight: float


class Suggestion(NamedTuple):
    """A source that a page seems to describe; a directory's path ends in "/".

    `confidence` from 0 to 1 is calibrated on repositories that nothing was fitted on: of those at
    0.75 three in four are right. The strongest evidence is first.
    """

    source_path: str
    confidence: float
    evidence: tuple[Evidence, ...]


class PageSuggestions(NamedTuple):
    """The sources that a page seems to describe, the best first."""

    filepath: FilePath
    suggestions: tuple[Suggestion, ...]


class BindingSuggestions(NamedTuple):
    """The pages that were asked about, in the order of their paths, those without a proposal too.

    `documents` counts all pages of the repository, `bound` those that name sources already.
    """

    pages: tuple[PageSuggestions, ...]
    documents: int
    bound: int


# Fitted by benchmarks/bind_weights.py on 807 pages of five repositories, each counting the same.
# Of repositories that were left out a newcomer's pages get 0.76 of their sources among the first
# ten, and in 0.67 a right one first (0.78 and 0.74 where all five are fitted on); where the other
# pages are bound 0.86 and 0.82 (0.88 and 0.83). A link weighs what a path does, as one repository
# alone has any: fitted by itself, it was 0.55 where that one was left out, and a right source first
# there in 0.65 instead of 0.85. `name` and `without_history` are held, for reasons told there.
BIAS = -6.69
WEIGHTS = Signals(
    path=1.65,
    path_most=2.07,
    name=0.5,
    stem=0.86,
    folder_most=0.93,
    defined=0.38,
    used=0.91,
    used_most=1.62,
    link=3.71,
    commits_of_page=3.43,
    commits_of_source=2.73,
    birth=0.65,
    heading_words=1.06,
    path_words_most=2.18,
    beside=1.03,
    sibling=6.85,
    is_test=-0.92,
    activity=0.71,
    size=-0.57,
    without_history=0.5,
)
# Where it is sure, it is less often right in repositories that were left out: of proposals at 0.96
# there, 0.86 are. Where it is not, it is right more often than it says, most of all where pages say
# much; pages that say little get no more than they deserve, so that stays.
SCALE, SHIFT = 0.60, 0.26

# What a source is, whatever the page says, is no evidence: it has no row here.
KINDS: dict[str, EvidenceKind] = {
    "path": "path",
    "path_most": "path",
    "folder_most": "path",
    "name": "file_name",
    "stem": "file_name",
    "defined": "identifier",
    "used": "identifier",
    "used_most": "identifier",
    "link": "link",
    "commits_of_page": "commit",
    "commits_of_source": "commit",
    "birth": "commit",
    "heading_words": "place",
    "path_words_most": "place",
    "beside": "place",
    "sibling": "sibling",
}


def score(signals: Signals) -> float:
    """The logarithm of the odds that the page describes the source."""
    return BIAS + sum(map(float.__mul__, WEIGHTS, signals))


def confidence(odds: float) -> float:
    """The probability for such a logarithm of odds, as it is in repositories never seen before."""
    return 0.5 + math.tanh(min(odds, SCALE * odds + SHIFT) / 2) / 2


def shares(signals: Signals) -> dict[EvidenceKind, float]:
    """What each kind of evidence has of the score, together 1; the strongest first."""
    summed: dict[EvidenceKind, float] = {}
    for name, weight, value in zip(Signals._fields, WEIGHTS, signals, strict=True):
        if name in KINDS and weight * value > 0:
            summed[KINDS[name]] = summed.get(KINDS[name], 0.0) + weight * value
    whole = sum(summed.values())
    ranked = sorted(summed.items(), key=lambda one: -one[1])
    return {kind: value / whole for kind, value in ranked}
