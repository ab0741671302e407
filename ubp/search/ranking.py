"""The words leg: the chunks that hold a query's words, the best first."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.indexing.fulltext import FullText, WordHit
from ubp.model import FilePath
from ubp.search.boolean import Or
from ubp.search.file_names import FileNames
from ubp.search.language import is_foreign
from ubp.search.query import Cut, Query, any_of, write_match
from ubp.search.rarity import Shares, share_out
from ubp.search.terms import Term
from ubp.store.fulltext import Match as Asked
from ubp.store.fulltext import Table


class Weights(NamedTuple):
    """How much a word counts in title, headings, body and aliases; what one in a name adds."""

    columns: tuple[float, float, float, float]
    file_name: float


# benchmarks/search_weights.py: mean reciprocal rank of the page that is meant, for 300 titles, 147
# headings and 300 labels of links in obsidian-hub, and 300 titles and 170 headings in
# external_brain_in_markdown (Japanese). Names help whoever looks for a page, and hurt whoever
# looks for a place in one. Questions of XQuAD and JSQuAD are answered alike by all of them.
#   1, 1, 1, 1 and 0     0.953 0.598 0.892   0.868 0.802
#   4, 2, 1, 4 and 0     0.962 0.592 0.910   0.963 0.806
#   4, 8, 1, 4 and 0     0.962 0.705 0.906   0.959 0.850
#   4, 8, 1, 4 and 0.25  0.968 0.620 0.967
#   4, 4, 1, 4 and 0.25  0.970 0.597 0.968   0.986 0.810
#   4, 4, 1, 4 and 1     0.969 0.578 0.971   0.995 0.801
WEIGHTS = Weights((4.0, 8.0, 1.0, 4.0), 0.25)

# Among so many best ones by their words, names of files may change the order. Each costs 20 µs.
FETCHED = 30


class Ranked(NamedTuple):
    """A place that answers; `chunk` is None where only the file's name does."""

    path: FilePath
    rank: float
    chunk: WordHit | None


class Ranking(NamedTuple):
    """Places, the best first; `is_cut`: there may be more.

    `expression` is what was looked for in FTS5's language, `terms` what places may hold of it,
    `telling` what of that tells them apart, `cuts` what was looked for in pieces; `most` is the
    BM25 that the best place could have, 0 where that is not known; `is_foreign`: the words are of
    another language than the pages.
    """

    places: tuple[Ranked, ...] = ()
    is_cut: bool = False
    expression: str = ""
    terms: tuple[Term, ...] = ()
    telling: tuple[Term, ...] = ()
    cuts: tuple[Cut, ...] = ()
    most: float = 0.0
    is_foreign: bool = False


class Corpus(NamedTuple):
    """What is asked: the words of pages, the names of their files; of those `within`, None: all."""

    full_text: FullText
    names: FileNames
    within: Collection[FilePath] | None = None


def rank(corpus: Corpus, query: Query, limit: int, weights: Weights = WEIGHTS) -> Ranking:
    """Find at least the `limit` best places."""
    if query.tree is None or limit < 1:
        return Ranking()
    match = write_match(
        query.tree,
        lambda term: corpus.full_text.has(term.expression),
        has_pieces=query.has_pieces,
    )
    is_plain = isinstance(query.tree, Or)
    table: Table = "stems" if query.is_stemmed else "words"
    shares = share_out(corpus.full_text, match.terms, table) if is_plain else None
    fetched = max(limit, FETCHED)
    asked = Asked(match.expression, weights.columns, table=table)
    chunks = _find_chunks(corpus, asked, fetched, shares)
    bonus = _bonus(corpus, match.terms, weights.file_name)
    found = [Ranked(c.path, c.rank - bonus.get(c.path, 0.0), c) for c in chunks]
    # A page that the query excludes must not come back because of its name.
    unseen = _by_name_alone(bonus, found) if is_plain else []
    places = tuple(sorted([*found, *unseen], key=lambda one: (one.rank, one.path)))
    is_cut = len(chunks) >= fetched
    telling, most = (shares.telling, shares.most) if shares else (match.terms, 0.0)
    found_by = Ranking(places, is_cut, match.expression, match.terms, telling, match.cuts, most)
    return found_by._replace(is_foreign=is_foreign(corpus.full_text, query))


def _find_chunks(corpus: Corpus, asked: Asked, limit: int, shares: Shares | None) -> list[WordHit]:
    full_text, _, within = corpus
    if shares:
        finding = any_of(shares.finding)
        if finding != asked.expression:
            known = {term.expression for term in shares.finding}
            more = dict.fromkeys(term.expression for term in shares.ranking)
            adding = [expression for expression in more if expression not in known]
            some = asked._replace(expression=finding, adding=adding)
            found = full_text.search(some, limit, within)
            if len(found) >= min(limit, FETCHED):
                return found
    return full_text.search(asked, limit, within)


def _bonus(corpus: Corpus, terms: Sequence[Term], weight: float) -> dict[FilePath, float]:
    """What words in its file's name add to a page."""
    scores = corpus.names.score(terms) if weight else {}
    within = corpus.within
    return {
        path: weight * score for path, score in scores.items() if within is None or path in within
    }


def _by_name_alone(bonus: Mapping[FilePath, float], places: Sequence[Ranked]) -> list[Ranked]:
    seen = {place.path for place in places}
    unseen = [Ranked(path, -score, None) for path, score in bonus.items() if path not in seen]
    return sorted(unseen, key=lambda one: (one.rank, one.path))[:FETCHED]
