"""How probable it is that a page must change: a logistic model of few facts about a case."""

import math
from typing import NamedTuple

MIN_PROBABILITY = 0.05


class Features(NamedTuple):
    """The facts about a case that separate right alarms from wrong ones; 0 or 1 but `confidence`.

    `removed`, `changed`, `added`: the page has a name with which the change did this, the first of
    them that is true. `gone`: a source was deleted or moved. `small`: at most four changed lines;
    `additions`: only added lines; `prose`: all sources are text or data. `proposed`: the page does
    not list the source; `confidence` is then that of the binding. `dead_name`, `broken_link`,
    `translation`: the rule's finding.
    """

    removed: float = 0.0
    changed: float = 0.0
    added: float = 0.0
    gone: float = 0.0
    small: float = 0.0
    additions: float = 0.0
    prose: float = 0.0
    proposed: float = 0.0
    confidence: float = 0.0
    dead_name: float = 0.0
    broken_link: float = 0.0
    translation: float = 0.0


BIAS = -3.3
WEIGHTS = Features(
    removed=2.9,
    changed=2.5,
    added=1.7,
    gone=2.4,
    small=-1.0,
    additions=-0.5,
    prose=-0.7,
    proposed=-0.8,
    confidence=1.6,
    dead_name=3.7,
    broken_link=6.2,
    translation=3.3,
)


def probability(features: Features) -> float:
    """Return the probability that a page with these features must change."""
    odds = BIAS + sum(map(float.__mul__, WEIGHTS, map(float, features)))
    return 1 / (1 + math.exp(-odds))
