"""The words leg: the chunks that hold a query's words, the best first."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.indexing.fulltext import FullText, WordHit
from ubp.model import FilePath
from ubp.search.boolean import Or
from ubp.search.file_names import FileNames
from ubp.search.query import Cut, Query, write_match
from ubp.search.terms import Term


class Weights(NamedTuple):
    """How much a word counts in title, headings, body and aliases; what one in a name adds."""

    columns: tuple[float, float, float, float]
    file_name: float


WEIGHTS = Weights((4.0, 8.0, 1.0, 4.0), 0.25)

# Among so many best ones by their words, names of files may change the order.
FETCHED = 50
# Counting costs 5 µs a chunk, and nobody reads the thousandth.
COUNTED = 200


class Ranked(NamedTuple):
    """A place that answers; `chunk` is None where only the file's name does."""

    path: FilePath
    rank: float
    chunk: WordHit | None


class Ranking(NamedTuple):
    """Places, the best first; `total` is how many there are, at least that many if not `is_exact`.

    `terms` is what they may hold, `cuts` what was looked for in pieces.
    """

    places: tuple[Ranked, ...] = ()
    total: int = 0
    is_exact: bool = True
    terms: tuple[Term, ...] = ()
    cuts: tuple[Cut, ...] = ()


def rank(
    full_text: FullText, names: FileNames, query: Query, limit: int, weights: Weights = WEIGHTS
) -> Ranking:
    """Find at least the `limit` best places."""
    if query.tree is None or limit < 1:
        return Ranking()
    match = write_match(
        query.tree, lambda term: bool(full_text.search(term.expression, 1, weights.columns))
    )
    fetched = max(limit, FETCHED)
    chunks = full_text.search(match.expression, fetched, weights.columns)
    scores = names.score(match.terms) if weights.file_name else {}
    bonus = {path: weights.file_name * score for path, score in scores.items()}
    found = [Ranked(c.path, c.rank - bonus.get(c.path, 0.0), c) for c in chunks]
    # A page that the query excludes must not come back because of its name.
    unseen = _by_name_alone(bonus, found) if isinstance(query.tree, Or) else []
    places = tuple(sorted([*found, *unseen], key=lambda one: (one.rank, one.path)))
    if len(chunks) < fetched:
        return Ranking(places, len(places), True, match.terms, match.cuts)  # noqa: FBT003
    counted = full_text.count(match.expression, COUNTED)
    total = max(counted, len(places))
    return Ranking(places, total, total < COUNTED, match.terms, match.cuts)


def _by_name_alone(bonus: Mapping[FilePath, float], places: Sequence[Ranked]) -> list[Ranked]:
    seen = {place.path for place in places}
    unseen = [Ranked(path, -score, None) for path, score in bonus.items() if path not in seen]
    return sorted(unseen, key=lambda one: (one.rank, one.path))[:FETCHED]
