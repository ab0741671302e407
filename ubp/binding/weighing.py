"""From signals to a confidence: a logistic model with few weights, fitted on people's bindings."""

import math

from ubp.binding.signals import Signals
from ubp.binding.suggestion import EvidenceKind

# Fitted by benchmarks/bind_weights.py on 807 pages of five repositories, each counting the same.
# A newcomer's pages get 0.78 of their sources among the first ten, and in 0.75 a right one first;
# where the other pages are bound, 0.89 and 0.82. Of repositories that were left out it is 0.73
# and 0.60, and 0.84 and 0.76. Two weights were set by hand. The fit gives meaning 0.07; with 0.5
# a right one is first in 0.77, and nothing else changes. And where no commit tells of a page,
# what it says must do: without all history it is 0.70 and 0.71, and no proposal would reach the
# confidence that it deserves.
BIAS = -6.6
WEIGHTS = Signals(
    path=1.37,
    path_most=1.65,
    name=1.81,
    stem=0.61,
    folder_most=0.8,
    defined=0.39,
    used=0.75,
    used_most=1.84,
    link=3.56,
    commits_of_page=3.59,
    commits_of_source=2.34,
    birth=0.66,
    own_words=0.12,
    heading_words=1.08,
    path_words_most=2.15,
    beside=1.0,
    sibling=6.83,
    meaning=0.5,
    is_test=-0.96,
    activity=0.68,
    size=-0.58,
    without_history=1.0,
)

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
    "own_words": "place",
    "heading_words": "place",
    "path_words_most": "place",
    "beside": "place",
    "sibling": "sibling",
    "meaning": "meaning",
}


def score(signals: Signals) -> float:
    """The logarithm of the odds that the page describes the source."""
    return BIAS + sum(map(float.__mul__, WEIGHTS, signals))


def confidence(odds: float) -> float:
    """The probability for such a logarithm of odds."""
    return 0.5 + math.tanh(odds / 2) / 2


def shares(signals: Signals) -> dict[EvidenceKind, float]:
    """What each kind of evidence has of the score, together 1; the strongest first."""
    summed: dict[EvidenceKind, float] = {}
    for name, weight, value in zip(Signals._fields, WEIGHTS, signals, strict=True):
        if name in KINDS and weight * value > 0:
            summed[KINDS[name]] = summed.get(KINDS[name], 0.0) + weight * value
    whole = sum(summed.values())
    ranked = sorted(summed.items(), key=lambda one: -one[1])
    return {kind: value / whole for kind, value in ranked}
