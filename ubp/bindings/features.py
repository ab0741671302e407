"""The features of a document and a source, and the logistic model of their confidence.

The model has few weights, fitted on bindings that people wrote.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest
from typing import Literal, NamedTuple

from ubp.bindings.history_evidence import CoChangeCount
from ubp.bindings.path_evidence import PathSimilarity
from ubp.bindings.sources import CandidateSources
from ubp.bindings.text_evidence import IdentifierMatch, TextMention
from ubp.core.model import FilePath

# Almost every source shares something with a document: only the best of each kind are considered.
MAX_BY_IDENTIFIERS, MAX_BY_CO_CHANGES, MAX_BY_PATH = 60, 200, 200

EvidenceKind = Literal[
    "path", "file_name", "identifier", "link", "commit", "sibling", "place", "symbol"
]

MIN_CONFIDENCE = 0.7
"""The default confidence from which suggestions are written.

In repositories that were not fitted on, 0.84 of them are right, and 0.46 of a newcomer's pages get
one; if the other pages are bound already, 0.84 and 0.65. In those that were, 0.85 and 0.52, 0.86
and 0.80 (benchmarks/bindings/bind_weights.py). Above 0.9 not more than 0.87 of them are right.
"""


class RawSignals(NamedTuple):
    """All evidence about a document and the sources, by their numbers.

    `siblings`: the share of the document's siblings that name a source, and one that does;
    `has_history`: the commits of the document are evidence; `language`: the only programming
    language of its fenced code.
    """

    text_mentions: TextMention
    identifier_matches: IdentifierMatch
    similar_paths: Mapping[int, PathSimilarity]
    co_changes: Mapping[int, CoChangeCount]
    back_references: Sequence[int]
    siblings: Mapping[int, tuple[float, FilePath]]
    has_history: bool
    language: str | None


class Signals(NamedTuple):
    """The features of a document and a source: 0 is not evidence, most go up to 1.

    Those ending in `_most` are relative to the document's strongest source, the others absolute. A
    source that names the document (`link`) counts as much as one whose path the document names
    most; if each names the other, both count half.
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


class Evidence(NamedTuple):
    """A reason; `detail` is for people, `line` its line in the document (from 1).

    `weight` is its share of the score.
    """

    kind: EvidenceKind
    detail: str
    line: int | None
    weight: float


class Suggestion(NamedTuple):
    """A source that a document seems to describe; a directory's path ends in "/".

    `confidence` from 0 to 1 is calibrated on repositories that were not fitted on: of suggestions
    at 0.75 three in four are right. The strongest evidence is first.
    """

    source_path: str
    confidence: float
    evidence: tuple[Evidence, ...]


class PageSuggestions(NamedTuple):
    """The sources that a document seems to describe, best first."""

    filepath: FilePath
    suggestions: tuple[Suggestion, ...]


class BindingSuggestions(NamedTuple):
    """The requested documents, sorted by path, including those without suggestions.

    `documents` is the number of documents in the repository, `bound` of those with references,
    `left_out` of requested ones that were left out, such as records of the past and fixtures.
    """

    pages: tuple[PageSuggestions, ...]
    documents: int
    bound: int
    left_out: int = 0


# Fitted by benchmarks/bindings/bind_weights.py on 807 pages of five repositories, each counting the
# same. Of repositories that were left out a newcomer's pages get 0.76 of their sources among the
# first ten, and in 0.67 a right one first (0.78 and 0.74 where all five are fitted on); where the
# other pages are bound 0.86 and 0.82 (0.88 and 0.83). A link weighs what a path does, as one
# repository alone has any: fitted by itself, it was 0.55 where that one was left out, and a right
# source first there in 0.65 instead of 0.85. `name` and `without_history` are fixed, for reasons
# given there.
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
# The model is overconfident in repositories that were left out: of suggestions at 0.96 there, 0.86
# are right. At low confidence it is right more often than predicted, most of all for long pages;
# for short ones the prediction is correct, so it is not raised.
SCALE, SHIFT = 0.60, 0.26

# Signals about the source alone are not evidence: they have no row here.
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


def read_signals(
    raw: RawSignals,
    sources: CandidateSources,
    activities: Sequence[float],
    wanted: AbstractSet[int] | None = None,
) -> dict[int, Signals]:
    """Return the signals of every source, or `wanted` one, with more than chance evidence."""
    mentions, (defined, used) = raw.text_mentions, raw.identifier_matches
    linking = frozenset(raw.back_references)
    max_path, max_used = _max(mentions.path.values()), _max(used.values())
    max_folder = _max(mentions.folder.values())
    max_commits = _max(count.of_page for count in raw.co_changes.values())
    max_words = _max(similarity.path for similarity in raw.similar_paths.values())
    no_similarity = PathSimilarity(0.0, 0.0, 0.0, beside=False)
    no_co_change = CoChangeCount(0.0, 0.0, 0.0, 0)
    signals = {}
    candidates = _candidates(raw)
    for number in candidates if wanted is None else candidates & wanted:
        similarity = raw.similar_paths.get(number, no_similarity)
        co_change = raw.co_changes.get(number, no_co_change)
        is_named, is_linking = number in mentions.path, number in linking
        half = 0.5 if is_named else 0.0
        signals[number] = Signals(
            path=half if is_linking else float(is_named),
            path_most=half if is_linking else mentions.path.get(number, 0.0) / max_path,
            name=min(mentions.name.get(number, 0.0), 1.0),
            stem=min(mentions.stem.get(number, 0.0), 1.0),
            folder_most=mentions.folder.get(number, 0.0) / max_folder,
            defined=math.log1p(3 * defined.get(number, 0.0)),
            used=math.log1p(used.get(number, 0.0)),
            used_most=used.get(number, 0.0) / max_used,
            link=1.0 - half if is_linking else 0.0,
            commits_of_page=co_change.of_page / max_commits**0.5,
            commits_of_source=co_change.of_source,
            birth=co_change.at_birth,
            heading_words=min(similarity.heading, 1.0),
            path_words_most=similarity.path / max_words,
            beside=float(similarity.beside),
            sibling=raw.siblings[number][0] if number in raw.siblings else 0.0,
            is_test=float(sources.tests[number]),
            activity=activities[number],
            size=sources.sizes[number],
            without_history=float(not raw.has_history),
        )
    return signals


def score(signals: Signals) -> float:
    """Return the logarithm of the odds that the document describes the source."""
    return BIAS + sum(map(float.__mul__, WEIGHTS, signals))


def confidence(odds: float) -> float:
    """Return the probability for log odds, calibrated on repositories that were not fitted on."""
    return 0.5 + math.tanh(min(odds, SCALE * odds + SHIFT) / 2) / 2


def shares(signals: Signals) -> dict[EvidenceKind, float]:
    """Return the share of each kind of evidence in the score (sum 1), the strongest first."""
    summed: dict[EvidenceKind, float] = {}
    for name, weight, value in zip(Signals._fields, WEIGHTS, signals, strict=True):
        if name in KINDS and weight * value > 0:
            summed[KINDS[name]] = summed.get(KINDS[name], 0.0) + weight * value
    total = sum(summed.values())
    ranked = sorted(summed.items(), key=lambda pair: -pair[1])
    return {kind: value / total for kind, value in ranked}


def _candidates(raw: RawSignals) -> set[int]:
    defined, used = raw.identifier_matches
    candidates = set(nlargest(MAX_BY_IDENTIFIERS, used, key=used.__getitem__))
    candidates.update(nlargest(MAX_BY_IDENTIFIERS, defined, key=defined.__getitem__))
    mentions = raw.text_mentions
    candidates.update(mentions.path, mentions.name, mentions.stem)
    candidates.update(raw.back_references, raw.siblings)
    co_changes = raw.co_changes
    candidates.update(nlargest(MAX_BY_CO_CHANGES, co_changes, key=co_changes.__getitem__))
    by_path = {
        number: similarity.name + similarity.heading + similarity.beside
        for number, similarity in raw.similar_paths.items()
    }
    candidates.update(nlargest(MAX_BY_PATH, by_path, key=by_path.__getitem__))
    return candidates


def _max(values: Iterable[float]) -> float:
    return max(values, default=0.0) or 1.0
