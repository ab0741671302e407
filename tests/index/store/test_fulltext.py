"""The best chunks of a full text, those of equal rank in order, all from one scan if it may be."""

import pytest

from ubp.index.store import fulltext
from ubp.index.store.fulltext import FullTextIndex, RowMatch
from ubp.workspace import Workspace

EQUAL = 40


def all_count(blobs):
    return blobs


@pytest.fixture
def database(repository):
    for number in range(EQUAL):
        repository.write(f"{number}.md", f"A tie, number {number:02}.\n")
    repository.write("long.md", "A tie and much else, which makes it longer than the others are.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        workspace.session.view().full_text()
        yield workspace.session.store.database


@pytest.fixture
def scans(database, monkeypatch):
    """What FTS5 was asked to rank."""
    asked = []
    matches = database.matches

    def count(sql, arguments):
        asked.append(arguments[0])
        return matches(sql, arguments)

    monkeypatch.setattr(database, "matches", count)
    return asked


@pytest.fixture
def every(database):
    """All chunks that hold the word, as they must be ordered: the long one last."""
    found = FullTextIndex(database).search(RowMatch('"tie"'), 100, all_count)
    assert len({row.rank for row in found[:EQUAL]}) == 1
    assert found[EQUAL].rank > found[0].rank
    assert found[:EQUAL] == sorted(found[:EQUAL])
    return found


@pytest.mark.parametrize("limit", [1, 7, EQUAL, EQUAL + 1, 100])
def test_equal_ranks_at_the_limit_are_ordered(database, scans, every, limit):
    scans.clear()
    assert FullTextIndex(database).search(RowMatch('"tie"'), limit, all_count) == every[:limit]
    assert len(scans) == 1


@pytest.mark.parametrize("equals", [256, 0])
def test_excluded_rows_are_skipped(database, scans, every, monkeypatch, equals):
    monkeypatch.setattr(fulltext, "MAX_TIES", equals)
    last = every[-3:]
    counting = {row.blob for row in last}
    scans.clear()
    found = FullTextIndex(database).search(RowMatch('"tie"'), 2, counting.intersection)
    assert (found, len(scans)) == (last[:2], 1 if equals else 2)


def test_rows_that_another_order_may_raise_are_kept_behind_equal_ranks(database, every):
    match = RowMatch('"tie"', adding=['"longer"'])
    best, *others = FullTextIndex(database).search(match, 5, all_count)
    assert best.blob == every[-1].blob
    assert [row.blob for row in others] == [row.blob for row in every[:4]]
