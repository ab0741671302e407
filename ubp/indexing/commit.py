"""The listing of a snapshot's commit made ready to stand on: made, moved, given up."""

from contextlib import suppress

from ubp.config import Config, scope
from ubp.errors import RepositoryError
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees, entries_at, list_tree
from ubp.indexing.base import Base, tells_documents
from ubp.indexing.overlay import Changes
from ubp.model import FilePath, ObjectId, Snapshot
from ubp.store.listed import ListingMovedError
from ubp.store.listing import Listing
from ubp.store.store import Store

# Other processes may move the listing to their commit as often as this one moves it to its own.
LISTING_ATTEMPTS = 4

# Git checks files out over ignored ones: a repository may bring a database that lies. And where
# it was committed by mistake, writing to it would show in `git status`.
DATABASE_FILES = tuple(FilePath(".ubp/knowledge.db" + suffix) for suffix in ("", "-wal", "-shm"))
TRACKED = "Git tracks .ubp/knowledge.db (git rm --cached .ubp/knowledge.db)."


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
    head = repository.head()
    if head and repository.root is not None and store.path is not None:
        there = entries_at(repository, {head: DATABASE_FILES})
        _give_up_tracked(repository, store, {path: entry for (_, path), entry in there.items()})
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
        elif _is_suspect(repository, store, listing):
            continue
        elif listing.scope != wanted:
            store.rescope_listing(listing, wanted, tells_documents(config))
        elif listing.commit != commit:
            _move_listing(repository, store, config, listing, commit)
        else:
            return listing
    return None


def _make_listing(repository: Repository, store: Store, config: Config, commit: ObjectId) -> None:
    tree = list_tree(repository, commit)
    _give_up_tracked(repository, store, tree)
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
    if not _give_up_tracked(repository, store, changes):
        store.move_listing(listing, commit, changes, tells_documents(config))


def _is_suspect(repository: Repository, store: Store, listing: Listing) -> bool:
    if store.path is None:
        return False
    try:
        return _give_up_tracked(repository, store, store.listed(listing, DATABASE_FILES))
    except ListingMovedError:
        return False


def _give_up_tracked(repository: Repository, store: Store, entries: Changes) -> bool:
    """Give the file up where a commit brings the database that is being asked about it.

    No database can name a commit that holds it. So a listing of an older commit is all that it can
    pretend to know, and the differences to that show it.
    """
    if repository.root is None or not any(entries.get(path) for path in DATABASE_FILES):
        return False
    store.give_up_file(TRACKED)
    return True
