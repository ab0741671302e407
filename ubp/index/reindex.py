"""Maintenance of a session's index: built anew, pruned, embedded; and the state of its model.

`ubp stale --json` imports the values that are defined here, so that the rest is imported where it
is used.
"""

import os
import stat
from contextlib import suppress
from typing import NamedTuple

from ubp.core.errors import ModelError
from ubp.git.repository import Repository
from ubp.index.session import Session
from ubp.index.store.store import Pruned, Statistics
from ubp.index.view import View

# What earlier versions kept in the work tree. It is not read.
OLD_NAMES = ("knowledge.db", "knowledge.db-wal", "knowledge.db-shm", "serve.log", "serve.log.1")
OLD_FILES = frozenset(f".ubp/{name}" for name in OLD_NAMES)


class IndexRun(NamedTuple):
    """What `ubp reindex` did: how many documents the index has, how many were parsed for it.

    `pruned` is None where nothing was to be pruned, `embedded` (sections) where nothing was to be
    embedded, or there is no model.
    """

    documents: int
    parsed: int
    pruned: Pruned | None
    embedded: int | None
    statistics: Statistics


class ModelStatus(NamedTuple):
    """The model in use, and how many sections have no vectors of it yet.

    Without a model everything but `sections` is None, and `why_none` is the reason.
    """

    name: str | None
    directory: str | None
    dimensions: int | None
    fingerprint: str | None
    sections: int
    pending: int | None
    why_none: str = ""


def reindex(session: Session, *, file: str | None, prune: bool, embed: bool) -> IndexRun:
    """Read every page anew, or one `file`; with `prune` only remove what is no longer needed.

    Raises:
        UsageError: `file` matches no page.
        ModelError: the configured model does not exist, or cannot be used.
    """
    from ubp.index.embedded import fingerprint_of
    from ubp.index.select import select_pages

    store = session.store
    if file is not None:
        view = session.view()
        paths = select_pages([file], view, session.repository)
        store.forget_pages({page.blob for path in paths if (page := view.page(path))})
    elif not prune:
        store.clear()
    session.forget()
    view = session.view()
    view.link_graph()
    pruned = None
    if prune:
        session.history.forget_unreachable()
        place = session.model_place()
        pruned = store.prune(place and fingerprint_of(store.database, place))
        freed = pruned.freed_bytes + _remove_old_files(session.repository)
        pruned = pruned._replace(freed_bytes=freed)
    embedded = embed_sections(session, view) if embed and not prune else None
    return IndexRun(view.count_documents(), view.parsed, pruned, embedded, store.statistics())


def embed_sections(session: Session, view: View) -> int | None:
    """Embed the sections that have no vector yet; return how many. None: there is no model.

    Raises:
        ModelError: the configured model does not exist, or cannot be used.
    """
    model = session.model()
    return None if model is None else view.semantic_index(model).embedded


def model_status(session: Session, view: View) -> ModelStatus:
    """Return the model in use, and how much is embedded; nothing is loaded."""
    from ubp.index.embed.locate import EXTRA, has_extra
    from ubp.index.embed.model_files import dimensions
    from ubp.index.embedded import fingerprint_of

    try:
        place = session.model_place()
        if place is not None:
            size, digest = dimensions(place), fingerprint_of(session.store.database, place)
            counts = view.count_embedded(digest, size)
            return ModelStatus(place.name, place.directory, size, digest.hex(), *counts)
    except ModelError as error:
        why = error.message
    else:
        from ubp.core.installation import install_command  # it takes 15 ms to import

        why = (
            'search.model is "none"' if has_extra() else f"not installed ({install_command(EXTRA)})"
        )
    sections, _ = view.count_embedded(b"", 0)
    return ModelStatus(None, None, None, None, sections, None, why)


def _remove_old_files(repository: Repository) -> int:
    """Remove OLD_FILES that Git ignores and does not track; return their bytes.

    Git lists nothing below a submodule or a symbolic link, and knows whether case matters.
    """
    if repository.root is None:
        return 0
    command = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ".ubp")
    ignored = os.fsdecode(repository.run(*command)).split("\0")
    freed = 0
    for name in OLD_FILES & set(ignored):
        path = os.path.join(repository.root, name)
        with suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                os.unlink(path)
                freed += status.st_size
    return freed
