"""What is proposed: sources that a page seems to describe, and why."""

from typing import Literal, NamedTuple

from ubp.model import FilePath

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
