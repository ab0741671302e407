"""Digests of files: known as long as their stamps are the same."""

from ubp.index.store.digests import known_digest, save_digests
from ubp.index.store.store import Store

ONE, TWO = b"1" * 20, b"2" * 20


def test_digest_is_kept_while_the_files_are_unchanged(store: Store) -> None:
    assert known_digest(store.database, "/models/a", "1") is None
    save_digests(store.database, {("/models/a", "1"): ONE})
    assert known_digest(store.database, "/models/a", "1") == ONE
    assert known_digest(store.database, "/models/a", "2") is None
    save_digests(store.database, {("/models/a", "2"): TWO})
    assert known_digest(store.database, "/models/a", "1") is None
    assert known_digest(store.database, "/models/a", "2") == TWO
