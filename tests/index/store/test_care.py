"""The care of the file: counts, clearing, pruning."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ubp.core.model import (
    MODE_FILE,
    BaselineQuery,
    Commit,
    Drift,
    Entry,
    FilePath,
    LastChange,
    ObjectId,
    PageFacts,
)
from ubp.index.store.file import FILE_NAME
from ubp.index.store.links import EdgeTable, GraphPatch
from ubp.index.store.schema import FORMAT
from ubp.index.store.store import Statistics, Store

KEYS = ("source_refs",)
PAGE = PageFacts("One", "spec", (), (), (), ())
A = FilePath("a.md")


def name(number: int) -> ObjectId:
    return ObjectId(f"{number:040x}")


def fill(store: Store, git_dir: str) -> None:
    store.facts.save({name(n): PAGE for n in range(1, 500)}, KEYS)
    store.listings.save(git_dir, name(100), "s", {A: Entry(MODE_FILE, name(1))}, lambda *_: True)
    store.listings.save(
        "/gone/.git", name(101), "s", {A: Entry(MODE_FILE, name(2))}, lambda *_: True
    )
    store.history.save_last_changes(name(100), {A: LastChange(name(50), is_boundary=False)})
    drift = Drift((name(51),), is_complete=True, existed=True)
    store.history.save_drifts(name(100), {BaselineQuery(A, None, None, None): drift})
    store.history.save_commits({name(n): Commit(name(n), n, "Ann", "s") for n in (51, 52)})
    store.history.save_entries_at({(name(50), A): None, (name(53), A): None})


def test_statistics_count_all_rows(store: Store, data_dir: Path) -> None:
    fill(store, str(data_dir))
    statistics = store.statistics()
    assert statistics == Statistics(
        path=str(data_dir / FILE_NAME),
        why_in_memory="",
        format=FORMAT,
        size_bytes=statistics.size_bytes,
        written_at=statistics.written_at,
        pages=499,
        listings=2,
        heads=1,
    )
    assert statistics.size_bytes > 100_000
    assert statistics.written_at is not None
    assert abs(statistics.written_at - time.time()) < 60


def test_statistics_in_memory_have_no_file(open_here: Callable[[], Store], data_dir: Path) -> None:
    data_dir.write_text("in the way")
    why = f"{data_dir} is a file, not a folder."
    assert open_here().statistics() == Statistics(None, why, FORMAT, 0, None, 0, 0, 0)


def test_pruning_keeps_what_listings_and_history_reference(
    open_here: Callable[[], Store], data_dir: Path
) -> None:
    store = open_here()
    fill(store, str(data_dir))
    store.database.checkpoint()
    pruned = store.prune()
    assert (pruned.pages, pruned.listings) == (498, 1)
    assert pruned.freed_bytes > 10_000
    assert store.facts.read([name(1), name(2)], KEYS) == {name(1): PAGE}
    assert store.listings.of_work_tree("/gone/.git") is None
    assert set(store.history.commits([name(51), name(52)])) == {name(51)}
    assert store.history.entries_at({name(50): [A], name(53): [A]}) == {(name(50), A): None}
    assert len(store.history.last_changes(name(100))) == len(store.history.drifts(name(100))) == 1
    assert open_here().path


def test_clearing_removes_everything(store: Store, data_dir: Path) -> None:
    fill(store, str(data_dir))
    store.clear()
    statistics = store.statistics()
    assert (statistics.pages, statistics.listings, statistics.heads) == (0, 0, 0)
    assert store.database.rows(
        "SELECT (SELECT count(*) FROM entry) + (SELECT count(*) FROM last_change)"
        " + (SELECT count(*) FROM drift) + (SELECT count(*) FROM commit_entries)"
        " + (SELECT count(*) FROM commit_record)"
    ) == [(0,)]


def save_graphs(store: Store, generations: tuple[int, ...]) -> None:
    """Save a graph for a work tree at each of these generations."""
    graphs = EdgeTable(store.database)
    latest = 0
    for generation in generations:
        for _ in range(generation - latest):
            graphs.save(f"/{generation}/.git", name(100), "s", GraphPatch({}, {}))
        latest = generation


@pytest.mark.parametrize("generations", [(1, 2), (1, 3), (2, 3, 5), (1, 4, 8)])
def test_removing_pages_changes_all_graphs_and_keeps_their_order(
    store: Store, generations: tuple[int, ...]
) -> None:
    save_graphs(store, generations)
    for _ in range(100):
        store.forget_pages([name(1)])
    store.forget_excluded()
    rows = store.database.rows("SELECT git_dir, generation FROM graph ORDER BY generation")
    assert [git_dir for git_dir, _ in rows] == [f"/{number}/.git" for number in generations]
    assert rows[0][1] > generations[-1]


def test_forgetting_pages_often_changes_all_listings_and_keeps_their_order(store: Store) -> None:
    fill(store, "/here/.git")
    for _ in range(100):
        store.forget_pages([name(1)])
    rows = store.database.rows("SELECT git_dir, generation FROM listing ORDER BY generation")
    assert [git_dir for git_dir, _ in rows] == ["/here/.git", "/gone/.git"]
    assert 2 < rows[0][1] < rows[1][1] < 2**31
