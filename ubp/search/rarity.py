"""What a query's terms are worth, and which of them find chunks: the commonest cost most."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from ubp.indexing.fulltext import FullText
from ubp.search.terms import Term
from ubp.store.fulltext import Table

# A match costs 0.7 to 1.2 µs to rank and 0.03 to count. A term in more than an eighth of the chunks
# says little (BM25 weighs it less than half of one in a thousandth), and is half of the matches of
# a natural question: it finds nothing, but ranks what the others find. Of the best 100 chunks for
# questions over 90,000 that were looked at, none was missed so, in a third of the time.
# Of fewer chunks than 2,400 the least number counts: beside 1,000 it takes a tenth of the time away
# (5,000 chunks), and over seven sets of headings and links changes Recall@5 by -0.0005 and MRR@10
# by +0.0004.
COMMON, MIN_COMMON = 1 / 8, 300
# FTS5's BM25 gives nothing for a term in more than half of the chunks.
WORTHLESS = 1 / 2
# Beside a rare term one that is worth less than that share of it is not worth showing: "is", "how".
LEAST_SHOWN = 1 / 3
# What FTS5's BM25 gives at most for a term of weight 1 (k1 + 1), and instead of no weight at all.
SATURATED, LEAST_WEIGHT = 2.2, 1e-6
# However many terms are left: 64 bigrams of a pasted sentence find half of 90,000 chunks.
MOST_MATCHES = 30_000


class Shares(NamedTuple):
    """The terms that find chunks, those that rank what is found, and (rarest first) tell why.

    `most` is the BM25 that a chunk comes near to that is full of all terms.
    """

    finding: tuple[Term, ...]
    ranking: tuple[Term, ...]
    telling: tuple[Term, ...]
    most: float


def share_out(full_text: FullText, terms: Sequence[Term], table: Table = "words") -> Shares:
    """Share a query's terms, any of which will do, out; a term alone does everything."""
    size = full_text.size()
    frequencies = {term: full_text.frequency(term.expression, table) for term in terms}
    most = SATURATED * sum(_weight(frequency, size) for frequency in frequencies.values())
    if len(terms) == 1:
        return Shares(tuple(terms), tuple(terms), tuple(terms), most)
    finding: list[Term] = []
    matches = 0
    held = [term for term in terms if frequencies[term]]
    for term in sorted(held or terms, key=lambda one: (frequencies[one], terms.index(one))):
        matches += frequencies[term]
        is_rare = frequencies[term] <= max(MIN_COMMON, size * COMMON)
        if finding and not (is_rare and matches <= MOST_MATCHES):
            break
        finding.append(term)
    ranking = [term for term in held if term in finding or frequencies[term] <= size * WORTHLESS]
    return Shares(
        tuple(term for term in terms if term in finding),
        tuple(ranking),
        _telling(held, [_worth(frequencies[term], size) for term in held]),
        most,
    )


def _weight(frequency: int, size: int) -> float:
    """A term's weight in FTS5's BM25."""
    return max(LEAST_WEIGHT, log(_odds(frequency, size)))


def _worth(frequency: int, size: int) -> float:
    """The same, above zero for every term."""
    return log(1 + _odds(frequency, size))


def _odds(frequency: int, size: int) -> float:
    return (max(size, frequency) - frequency + 0.5) / (frequency + 0.5)


def _telling(terms: Sequence[Term], worth: Sequence[float]) -> tuple[Term, ...]:
    least = max(worth, default=0.0) * LEAST_SHOWN
    ordered = sorted(zip(worth, terms, strict=True), key=lambda one: -one[0])
    return tuple(term for value, term in ordered if value >= least)
