"""From signals to a confidence: a logistic model with few weights, fitted on people's bindings."""

import math

from ubp.binding.signals import Signals
from ubp.binding.suggestion import EvidenceKind

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
