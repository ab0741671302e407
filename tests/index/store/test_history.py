"""History: per head for the last heads, per commit for ever."""

from collections.abc import Callable

from ubp.core.model import (
    MODE_FILE,
    BaselineQuery,
    Commit,
    Drift,
    Entry,
    FilePath,
    LastChange,
    ObjectId,
)
from ubp.index.store.history import MAX_HEADS
from ubp.index.store.store import Store


def name(number: int) -> ObjectId:
    return ObjectId(f"{number:040x}")


A, B = FilePath("docs/a.md"), FilePath("docs/caf\udce9.md")
CHANGES = {A: LastChange(name(1), is_boundary=False), B: LastChange(name(2), is_boundary=True)}
SEARCH = BaselineQuery(A, None, "3f2a9c1d04ab", None)
GLOB = BaselineQuery(FilePath(""), "**/caf\udce9*", name(9), name(1))
DRIFT = Drift((name(5), name(4)), is_complete=True, existed=True)
NONE = Drift((), is_complete=False, existed=False)


def test_last_changes_are_saved_per_head(open_here: Callable[[], Store]) -> None:
    store = open_here()
    store.history.save_last_changes(name(100), CHANGES)
    store.history.save_last_changes(name(101), {A: LastChange(name(101), is_boundary=False)})
    assert open_here().history.last_changes(name(100)) == CHANGES
    assert store.history.last_changes(name(101)) == {A: LastChange(name(101), is_boundary=False)}
    assert store.history.last_changes(name(102)) == {}


def test_changes_saved_later_are_added(store: Store) -> None:
    store.history.save_last_changes(name(100), {A: CHANGES[A]})
    store.history.save_last_changes(name(100), {B: CHANGES[B]})
    store.history.save_drifts(name(100), {SEARCH: DRIFT})
    store.history.save_drifts(name(100), {GLOB: NONE})
    assert store.history.last_changes(name(100)) == CHANGES
    assert store.history.drifts(name(100)) == {SEARCH: DRIFT, GLOB: NONE}
    assert store.history.heads() == (name(100),)


def test_last_heads_are_kept_latest_first(store: Store) -> None:
    for number in range(MAX_HEADS + 2):
        store.history.save_last_changes(name(number), CHANGES)
        store.history.save_drifts(name(number), {SEARCH: DRIFT})
    assert store.history.heads() == tuple(name(n) for n in reversed(range(2, MAX_HEADS + 2)))
    assert store.history.last_changes(name(1)) == store.history.drifts(name(1)) == {}
    assert store.database.rows("SELECT count(*) FROM last_change") == [(2 * MAX_HEADS,)]


def test_entries_at_commits_are_found_once_saved(store: Store) -> None:
    entry = Entry(MODE_FILE, name(7))
    store.history.save_entries_at({(name(1), A): entry, (name(1), B): None, (name(2), A): None})
    assert store.history.entries_at(
        {name(1): [A, B, FilePath("c")], name(2): [A], name(3): [A]}
    ) == {
        (name(1), A): entry,
        (name(1), B): None,
        (name(2), A): None,
    }


def test_entries_saved_later_are_added_to_their_commit(store: Store) -> None:
    entries = [Entry(MODE_FILE, name(number)) for number in (7, 8, 9)]
    paths = [A, FilePath("caf\udce9"), FilePath("真.md")]  # one name that is not UTF-8
    for path, entry in zip(paths, entries, strict=True):
        store.history.save_entries_at({(name(1), path): entry, (name(1), B): None})
    found = store.history.entries_at({name(1): [*paths, B]})
    assert [found[name(1), path] for path in paths] == entries
    assert found[name(1), B] is None


def test_commits_are_found_once_saved(store: Store) -> None:
    commit = Commit(name(1), 1_700_000_000, "Ann", "Say what is 真")
    other = Commit(name(2), -1, "caf\udce9", "")
    store.history.save_commits({commit.id: commit, other.id: other})
    assert store.history.commits([name(1), name(2), name(3)]) == {
        name(1): commit,
        name(2): Commit(name(2), -1, "caf?", ""),
    }


def test_saving_nothing_writes_nothing(store: Store) -> None:
    before = store.database.rows("SELECT total_changes()")
    store.history.save_last_changes(name(1), {})
    store.history.save_drifts(name(1), {})
    store.history.save_entries_at({})
    store.history.save_commits({})
    store.facts.save({}, ("source_refs",))
    assert store.database.rows("SELECT total_changes()") == before
    assert store.history.heads() == ()
