"""The workspace's care for its index: built anew, pruned, embedded; and for the model in use."""

import os
import stat
from contextlib import suppress

from ubp.errors import ModelError
from ubp.git.repository import Repository
from ubp.index import View
from ubp.proposing import Proposing
from ubp.status import IndexRun, ModelStatus

# What earlier versions kept in the work tree. It is not read.
OLD_NAMES = ("knowledge.db", "knowledge.db-wal", "knowledge.db-shm", "serve.log", "serve.log.1")
OLD_FILES = frozenset(f".ubp/{name}" for name in OLD_NAMES)


class Upkeep(Proposing):
    """The part of a workspace that looks after what is derived."""

    def reindex(
        self, *, file: str | None = None, prune: bool = False, embed: bool = True
    ) -> IndexRun:
        """Read every page anew, or one `file`; with `prune` forget only what is no longer needed.

        `prune` also removes an index that an earlier version left in `.ubp/`, unless Git tracks it.
        `embed` has the sections embedded, too, where there is a model.

        Raises:
            UsageError: `file` names no page.
            ModelError: the configured model is not there, or cannot be used.
        """
        from ubp.selection import select_pages

        if file is not None:
            view = self.view()
            paths = select_pages([file], view, self.repository)
            self.store.forget_facts({page.blob for path in paths if (page := view.page(path))})
        elif not prune:
            self.store.clear()
        view = self.view()
        view.learn_graph()
        if prune:
            self.history.forget_unreachable()
        pruned = self.store.prune(self._fingerprint()) if prune else None
        if pruned is not None:
            freed = pruned.freed_bytes + _remove_old_files(self.repository)
            pruned = pruned._replace(freed_bytes=freed)
        embedded = self.embed(view) if embed and not prune else None
        return IndexRun(
            view.count_documents(), view.parsed, pruned, embedded, self.store.statistics()
        )

    def embed(self, view: View) -> int | None:
        """Embed what has no vector yet; tell how many sections. None: there is no model.

        Raises:
            ModelError: the configured model is not there, or cannot be used.
        """
        model = self.model()
        return None if model is None else view.meaning(model).embedded

    def model_status(self, view: View) -> ModelStatus:
        """The model in use, and how much is embedded; nothing is loaded for it."""
        from ubp.embed.files import dimensions
        from ubp.embed.place import INSTALL, has_extra
        from ubp.indexing.models import fingerprint_of

        try:
            place = self.model_place()
            if place is not None:
                size, digest = dimensions(place), fingerprint_of(self.store, place)
                counts = view.count_embedded(digest, size)
                return ModelStatus(place.name, place.directory, size, digest.hex(), *counts)
        except ModelError as error:
            why = error.message
        else:
            why = 'search.model is "none"' if has_extra() else f"not installed ({INSTALL})"
        sections, _ = view.count_embedded(b"", 0)
        return ModelStatus(None, None, None, None, sections, None, why)

    def _fingerprint(self) -> bytes | None:
        from ubp.indexing.models import fingerprint_of

        place = self.model_place()
        return place and fingerprint_of(self.store, place)


def _remove_old_files(repository: Repository) -> int:
    """Remove OLD_FILES that Git ignores and does not track; return their bytes.

    Git lists nothing below a submodule or a symbolic link, and knows whether case matters.
    """
    if repository.root is None:
        return 0
    question = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ".ubp")
    ignored = os.fsdecode(repository.run(*question)).split("\0")
    freed = 0
    for name in OLD_FILES & set(ignored):
        path = os.path.join(repository.root, name)
        with suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                os.unlink(path)
                freed += status.st_size
    return freed
