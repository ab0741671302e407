"""The listing of a snapshot's commit made ready to stand on: made, moved, given up."""

from contextlib import suppress

from ubp.config import Config, scope
from ubp.errors import RepositoryError
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees, list_tree
from ubp.indexing.base import Base, tells_documents
from ubp.indexing.overlay import Changes
from ubp.model import ObjectId, Snapshot
from ubp.store.listing import Listing
from ubp.store.store import Store

# Other processes may move the listing to their commit as often as this one moves it to its own.
LISTING_ATTEMPTS = 4


def lay_base(
    repository: Repository, store: Store, config: Config, snapshot: Snapshot
) -> tuple[Base, Changes, bool]:
    """The files to stand on, what differs from them, and whether that tells folders too.

    Only HEAD's listing is kept and moved. Another commit is what differs from a stored listing:
    `--ref` and `--base` leave the store as it is.
    """
    commit = snapshot.commit
    if commit is None or snapshot.kind != "commit" or commit == repository.head():
        listing = _bring_listing(repository, store, config, commit) if commit else None
        return Base(repository, store, config, commit, listing), snapshot.changes, False
    for listing in (store.listing_at(commit), store.listing(repository.git_dir)):
        if listing is None or listing.scope != scope(config):
            continue
        if listing.commit == commit:
            return Base(repository, store, config, commit, listing), {}, False
        with suppress(RepositoryError):  # its commit is gone: garbage-collected, or a new clone
            changes = diff_trees(repository, listing.commit, commit)
            return Base(repository, store, config, listing.commit, listing), changes, True
    return Base(repository, store, config, commit, None), {}, False


def _bring_listing(
    repository: Repository, store: Store, config: Config, commit: ObjectId
) -> Listing | None:
    """The work tree's listing, made for this commit or moved to it.

    None: other processes keep moving it away.
    """
    wanted = scope(config)
    for _ in range(LISTING_ATTEMPTS):
        listing = store.listing(repository.git_dir)
        if listing is None:
            _make_listing(repository, store, config, commit)
        elif listing.scope != wanted:
            store.rescope_listing(listing, wanted, tells_documents(config))
        elif listing.commit != commit:
            _move_listing(repository, store, config, listing, commit)
        else:
            return listing
    return None


def _make_listing(repository: Repository, store: Store, config: Config, commit: ObjectId) -> None:
    tree = list_tree(repository, commit)
    is_document = tells_documents(config)
    store.save_listing(repository.git_dir, commit, scope(config), tree, is_document)


def _move_listing(
    repository: Repository, store: Store, config: Config, listing: Listing, commit: ObjectId
) -> None:
    try:
        changes = diff_trees(repository, listing.commit, commit)
    except RepositoryError:  # its commit is gone: garbage-collected, or the repository made anew
        _make_listing(repository, store, config, commit)
        return
    store.move_listing(listing, commit, changes, tells_documents(config))
