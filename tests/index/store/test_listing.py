"""Listings: created, moved, joined with facts, and distinguished when other processes move them."""

from collections.abc import Callable, Mapping

import pytest

from ubp.core.errors import IndexDamagedError
from ubp.core.model import (
    MODE_FILE,
    MODE_SYMLINK,
    MODE_TREE,
    Entry,
    FilePath,
    ObjectId,
    Page,
    PageFacts,
    SourceReference,
)
from ubp.index.store.listings import MAX_LISTINGS, Listing, ListingMovedError
from ubp.index.store.store import Store

KEYS = ("source_refs",)
HERE = "/repository/.git"


def name(number: int) -> ObjectId:
    return ObjectId(f"{number:040x}")


def tree(**_: object) -> dict[FilePath, Entry]:
    return {
        FilePath(path): Entry(mode, name(number))
        for path, mode, number in (
            ("docs", MODE_TREE, 1),
            ("docs/a.md", MODE_FILE, 2),
            ("docs/b.md", MODE_FILE, 3),
            ("docs/link.md", MODE_SYMLINK, 4),
            ("docs-old.md", MODE_FILE, 2),
            ("docs/caf\udce9", MODE_TREE, 5),
            ("docs/caf\udce9/x.md", MODE_FILE, 6),
            ("docs/設計.md", MODE_FILE, 7),
        )
    }


def is_document(path: FilePath, entry: Entry) -> bool:
    return entry.is_file and path.endswith(".md")


def save(
    store: Store, commit: int = 100, entries: Mapping[FilePath, Entry] | None = None
) -> Listing:
    store.listings.save(
        HERE, name(commit), "scope", tree() if entries is None else entries, is_document
    )
    return found(store)


def found(store: Store, git_dir: str = HERE) -> Listing:
    listing = store.listings.of_work_tree(git_dir)
    assert listing is not None
    return listing


def test_listing_returns_files_and_folders(store: Store) -> None:
    listing = save(store)
    paths = [FilePath(path) for path in ("docs", "docs/a.md", "docs/caf\udce9/x.md", "gone")]
    assert store.listings.entries(listing, paths) == {
        path: entry for path, entry in tree().items() if path in paths
    }


def test_names_below_a_folder_may_have_any_bytes(store: Store) -> None:
    listing = save(store)
    files = {path: entry for path, entry in tree().items() if entry.mode != MODE_TREE}
    docs = {path: entry for path, entry in files.items() if path.startswith("docs/")}
    assert dict(store.listings.files(listing, FilePath(""))) == files
    assert dict(store.listings.files(listing, FilePath("docs"))) == docs
    assert [path for path, _ in store.listings.files(listing, FilePath("docs/caf\udce9"))] == [
        "docs/caf\udce9/x.md"
    ]


def test_children_are_directly_in_their_folder(store: Store) -> None:
    listing = save(store)
    assert {path for path, _ in store.listings.children(listing, FilePath(""))} == {
        "docs",
        "docs-old.md",
    }
    assert {path for path, _ in store.listings.children(listing, FilePath("docs"))} == {
        "docs/a.md",
        "docs/b.md",
        "docs/link.md",
        "docs/caf\udce9",
        "docs/設計.md",
    }


def test_path_beyond_ascii_is_listed(store: Store) -> None:
    assert store.listings.non_ascii_paths(save(store)) == ["docs/設計.md"]


def test_documents_are_regular_files_of_the_scope(store: Store) -> None:
    listing = save(store)
    documents = dict(store.listings.documents(listing))
    assert documents == {p: e.id for p, e in tree().items() if is_document(p, e)}
    assert store.listings.count_documents(listing) == len(documents) == 5


def test_moved_listing_equals_the_listing_of_the_other_commit(store: Store) -> None:
    listing = save(store)
    changes = {
        FilePath("docs/a.md"): None,
        FilePath("docs/b.md"): Entry(MODE_FILE, name(33)),
        FilePath("docs/c.md"): Entry(MODE_FILE, name(34)),
        FilePath("docs"): Entry(MODE_TREE, name(35)),
    }
    assert store.listings.move(listing, name(101), changes, is_document)
    expected = {path: entry for path, entry in (tree() | changes).items() if entry}
    moved = found(store)
    assert (moved.commit, moved.scope) == (name(101), "scope")
    assert store.listings.entries(moved, list(tree() | changes)) == expected
    assert dict(store.listings.documents(moved)) == {
        p: e.id for p, e in expected.items() if is_document(p, e)
    }


def test_listing_moved_meanwhile_gives_no_result(store: Store) -> None:
    listing = save(store)
    assert store.listings.move(listing, name(101), {}, is_document)
    assert store.listings.move(found(store), name(100), {}, is_document)
    with pytest.raises(ListingMovedError):
        store.listings.entries(listing, [FilePath("docs")])
    assert not store.listings.move(listing, name(102), {}, is_document)


def test_listing_rebuilt_meanwhile_gives_no_result_for_the_old_one(store: Store) -> None:
    old = save(store)
    new = save(store, 100, {})
    assert new != old
    with pytest.raises(ListingMovedError):
        store.listings.count_documents(old)


def test_listing_of_another_scope_has_other_documents(store: Store) -> None:
    listing = save(store)
    assert store.listings.rescope(listing, "only a", lambda path, _: path.endswith("a.md"))
    moved = found(store)
    assert (moved.scope, moved.commit) == ("only a", name(100))
    assert store.listings.documents(moved) == [("docs/a.md", name(2))]
    assert not store.listings.rescope(listing, "again", is_document)


def test_bound_pages_are_documents_joined_with_their_facts(store: Store) -> None:
    reference = SourceReference("a.py", FilePath("a.py"), FilePath("a.py"), None, "source_refs", 2)
    bound = PageFacts("A", "spec", (), (), (reference,), ())
    plain = PageFacts("B", "spec", (), (), (), ())
    listing = save(store)
    assert {path for path, _ in store.listings.documents_without_facts(listing, KEYS)} == set(
        dict(store.listings.documents(listing))
    )
    store.facts.save({name(2): bound, name(3): plain, name(6): plain, name(999): bound}, KEYS)
    assert sorted(store.listings.bound_pages(listing, KEYS)) == [
        Page(FilePath("docs-old.md"), name(2), bound),
        Page(FilePath("docs/a.md"), name(2), bound),
    ]
    assert store.listings.documents_without_facts(listing, KEYS) == [("docs/設計.md", name(7))]
    assert store.listings.bound_pages(listing, ("other",)) == []


def test_listing_is_complete_once_every_document_has_facts(store: Store) -> None:
    plain = PageFacts("B", "spec", (), (), (), ())
    listing = save(store)
    store.facts.save({name(n): plain for n in (2, 3, 6)}, KEYS)
    store.listings.mark_complete(listing, KEYS)
    assert not found(store).is_complete(KEYS)
    store.facts.save({name(7): plain}, KEYS)
    store.listings.mark_complete(listing, KEYS)
    assert found(store).is_complete(KEYS)
    assert not found(store).is_complete(("other",))
    store.listings.count_documents(listing)  # marking moves nothing
    store.forget_pages([name(7)])
    assert not found(store).is_complete(KEYS)
    with pytest.raises(ListingMovedError):
        store.listings.bound_pages(listing, KEYS)


def test_oldest_listing_beyond_the_limit_is_removed(store: Store) -> None:
    for number in range(MAX_LISTINGS):
        store.listings.save(f"/{number}/.git", name(number), "scope", tree(), is_document)
    oldest = found(store, "/0/.git")
    assert store.listings.move(oldest, name(50), {}, is_document)
    store.listings.save("/new/.git", name(60), "scope", tree(), is_document)
    kept = [
        number for number in range(MAX_LISTINGS) if store.listings.of_work_tree(f"/{number}/.git")
    ]
    assert kept == [0, *range(2, MAX_LISTINGS)]
    assert len(store.database.rows("SELECT DISTINCT listing FROM entry")) == MAX_LISTINGS


def test_listing_is_found_by_its_commit(store: Store) -> None:
    listing = save(store)
    assert store.listings.at_commit(name(100)) == listing
    assert store.listings.at_commit(name(101)) is None


def test_work_tree_with_an_undecodable_name_has_a_listing(store: Store) -> None:
    store.listings.save("/caf\udce9/.git", name(1), "scope", {}, is_document)
    assert found(store, "/caf\udce9/.git").commit == name(1)


def test_concurrent_move_waits_for_the_first(open_here: Callable[[], Store]) -> None:
    store, other = open_here(), open_here()
    listing = save(store)
    assert other.listings.move(found(other), name(101), {}, is_document)
    assert not store.listings.move(listing, name(102), {}, is_document)
    assert found(store).commit == name(101)


@pytest.mark.parametrize(
    "damage", ["DELETE FROM entry WHERE path = 'docs/b.md'", "DELETE FROM entry"]
)
def test_missing_entry_is_damage(store: Store, damage: str) -> None:
    save(store)
    listing = store.listings.of_work_tree(HERE)
    assert listing is not None
    a, b = FilePath("docs/a.md"), FilePath("docs/b.md")
    assert store.listings.move(
        listing, name(2), {a: None, b: Entry(MODE_FILE, name(9))}, is_document
    )
    moved = store.listings.of_work_tree(HERE)
    assert moved is not None
    assert store.listings.rescope(moved, "none", lambda *_: False)
    assert store.listings.of_work_tree(HERE) is not None
    store.database.write(lambda connection: connection.execute(damage))
    with pytest.raises(IndexDamagedError):
        store.listings.of_work_tree(HERE)
