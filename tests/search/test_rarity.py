"""Which terms of a query find chunks: the rarer ones, as long as they find enough."""

import pytest

from ubp.index.match import Phrase
from ubp.index.store.fulltext import RowMatch
from ubp.search.lexical import MAX_MATCHES, MIN_COMMON_ROWS, WEIGHTS, partition_by_idf
from ubp.search.terms import Term
from ubp.workspace import Workspace


class Counted:
    """A full text with given numbers of chunks and of occurrences of words."""

    def __init__(self, size, **frequencies):
        self.frequencies = {Term(word).phrase: n for word, n in frequencies.items()}
        self._size = size

    def size(self):
        return self._size

    def frequency(self, phrase, _table):
        return self.frequencies[phrase]


def shared(size, **frequencies):
    """The written terms that find, rank, tell."""
    shares = partition_by_idf(Counted(size, **frequencies), [Term(word) for word in frequencies])
    return tuple([term.written for term in terms] for terms in shares[:3])


@pytest.mark.parametrize(
    ("size", "frequencies", "finding", "ranking", "informative"),
    [
        (100_000, {"the": 90_000}, ["the"], ["the"], ["the"]),
        (100_000, {"the": 90_000, "pin": 9}, ["pin"], ["pin"], ["pin"]),
        (100_000, {"how": 30_000, "pin": 9}, ["pin"], ["how", "pin"], ["pin"]),
        (100_000, {"the": 90_000, "a": 80_000}, ["a"], ["a"], ["a", "the"]),
        (100_000, {"net": 900, "pin": 9}, ["net", "pin"], ["net", "pin"], ["pin", "net"]),
        (100_000, {"none": 0, "pin": 9}, ["pin"], ["pin"], ["pin"]),
        (100_000, {"none": 0, "the": 90_000}, ["the"], ["the"], ["the"]),
        (500, {"how": 250, "pin": 9}, ["how", "pin"], ["pin", "how"], ["pin"]),
    ],
)
def test_common_terms_find_nothing_beside_rarer_ones(
    size, frequencies, finding, ranking, informative
):
    found = shared(size, **frequencies)
    assert (found[0], sorted(found[1]), found[2]) == (finding, sorted(ranking), informative)


def test_score_of_a_chunk_never_exceeds_its_upper_bound(repository):
    repository.write("full.md", f"# Token pin\n\n{'token pin ' * 120}\n")
    for number in range(20):
        repository.write(f"{number}.md", f"Another page, number {number}.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        full_text = workspace.session.view().full_text()
        terms = [Term("token"), Term("pin"), Term("absent")]
        held, alone = (
            partition_by_idf(full_text, terms[:2]).max_score,
            partition_by_idf(full_text, terms[:1]).max_score,
        )
        best, *_ = full_text.search(RowMatch([Phrase("token"), Phrase("pin")], WEIGHTS.columns), 9)
        assert held == pytest.approx(2 * alone)
        assert 0.85 * held < -best.rank < held < partition_by_idf(full_text, terms).max_score


def test_ranking_stops_at_the_limit_of_matches():
    size = 10 * MAX_MATCHES
    words = {f"w{number}": MAX_MATCHES // 4 + number for number in range(9)}
    assert shared(size, **words)[0] == ["w0", "w1", "w2"]


def test_common_terms_are_used_where_rare_terms_find_too_little(repository, sections):
    for number in range(MIN_COMMON_ROWS + 50):
        repository.write(f"{number // 300}/{number}.md", f"common {number}.\n")
    repository.write("rare.md", "A rare word.\n")
    repository.write("both.md", "A rare word, and a common one.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        answer = sections(workspace.session.view(), "common rare", 40)
    paths = [hit.page.filepath for hit in answer.hits]
    assert (sorted(paths[:2]), len(paths)) == (["both.md", "rare.md"], 40)


def test_rare_phrase_is_looked_up_and_counted_once(repository, monkeypatch):
    repository.write("gone.md", "An older phrase.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        workspace.session.view().full_text()
        repository.remove("gone.md")
        for number in range(20):
            repository.write(
                f"{number}.md", f"{'Rare' if number < 3 else 'Common'} phrase {number}.\n"
            )
        repository.commit()
        full_text = workspace.session.view().full_text()
        asked = []
        matches = workspace.session.store.database.matches
        monkeypatch.setattr(
            workspace.session.store.database,
            "matches",
            lambda *counts: asked.append(counts) or matches(*counts),
        )
        counts = {
            words: (full_text.has(Phrase(words)), full_text.frequency(Phrase(words)), len(asked))
            for words in ("rare phrase", "phrase rare", "older phrase", "common phrase")
        }
    assert counts == {
        "rare phrase": (True, 3, 1),
        "phrase rare": (False, 0, 2),
        "older phrase": (False, 0, 3),
        "common phrase": (True, 17, 6),
    }
