"""How probable it is that a page must change: a logistic model of few facts about a case.

What it gives is for a page that lists the source. Of one that only names what changed it is
multiplied with the confidence that the page describes the source.
"""

import math
from typing import NamedTuple

MIN_PROBABILITY = 0.02
"""The probability below which a page is only counted.

At 127 commits of ten repositories that edit sources and pages together, with their edits of pages
taken out, an edited page is among the first five cases of 93, and of 83 without those below it; of
10 pages a commit on average (`benchmarks/staleness/review.py`).
"""

LEAST_CONFIDENCE = 0.2
"""What the confidence of a binding counts at least, where a page names what changed.

With 0.1 and 0.15 an edited page is among the first five cases of 66 and 71 of these commits.
"""


class Features(NamedTuple):
    """The facts about a case that separate right alarms from wrong ones; 0 or 1 but `confidence`.

    `removed`, `changed`, `added`: the page has a name with which the change did this, the first of
    them that is true. `gone`: a source was deleted or moved. `small`: at most four changed lines;
    `additions`: only added lines; `prose`: all sources are text or data. `proposed`: the page does
    not list the source; `confidence` is then that of the binding. `dead_name`, `broken_link`,
    `translation`: the rule's finding. `value`: the page gives a value that the change replaces.
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
    value: float = 0.0
    broken_link: float = 0.0
    translation: float = 0.0


# Of pages that list what changed, judged by reading page and change, had to change: with a source
# gone 11 of 14, else with evidence 15 of 53 and without it 8 of 81; of those with at most four
# changed lines 0 of 22, with only additions 1 of 17, with sources that are text 3 of 27
# (benchmarks/data/firings.tsv, and 63 firings of eight repositories that are not published). Of
# names that no source has any more 41 of 68 were wrong. The weights are these shares as odds, drawn
# towards none where there are few: too few to fit them together (leaving out one repository, the
# order of firings.tsv is hardly better than chance). Of replaced numbers 16 of 19 were edited
# (ubp/staleness/numbers.py). How many broken links and translations must change was not measured.
BIAS = -2.1
WEIGHTS = Features(
    removed=1.7,
    changed=1.1,
    added=0.6,
    gone=3.0,
    small=-0.9,
    additions=-0.4,
    prose=-0.3,
    dead_name=2.5,
    value=2.5,
    broken_link=5.0,
    translation=2.1,
)


def probability(features: Features) -> float:
    """Return the probability that a page with these features must change."""
    odds = BIAS + sum(map(float.__mul__, WEIGHTS, map(float, features)))
    listed = 1 / (1 + math.exp(-odds))
    if not features.proposed:
        return listed
    return listed * (LEAST_CONFIDENCE + (1 - LEAST_CONFIDENCE) * features.confidence)
