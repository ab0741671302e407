"""What is proposed: sources that a page seems to describe, and why."""

from typing import Literal, NamedTuple

from ubp.model import FilePath

EvidenceKind = Literal[
    "path", "file_name", "identifier", "link", "commit", "meaning", "sibling", "place"
]

MIN_CONFIDENCE = 0.75
"""What is written where nobody says otherwise.

Of 1,149 proposals for a newcomer's pages in five repositories 0.87 are right, and half of the pages
get one (benchmarks/bind_recovery.py).
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

    `confidence` from 0 to 1 is calibrated: of those at 0.9 nine in ten are right. The strongest
    evidence is first.
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
    `uses_meaning`: texts were compared by an embedding model too.
    """

    pages: tuple[PageSuggestions, ...]
    documents: int
    bound: int
    uses_meaning: bool
