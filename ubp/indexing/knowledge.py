"""What pages say, by their paths: from the store, from memory, read now where it is neither."""

from collections.abc import Mapping

from ubp.indexing.learning import Learning
from ubp.model import MODE_FILE, Entry, FilePath, Link, ObjectId, Section
from ubp.store.graph_facts import GraphFacts
from ubp.store.graph_rows import (
    NOTHING,
    PageNaming,
    PageRows,
    unpack_links,
    unpack_names,
    unpack_sections,
)
from ubp.targets import PageNames

Files = Mapping[FilePath, ObjectId | None]


class Knowledge:
    """The graph facts of a snapshot's pages. A page that cannot be had says nothing."""

    def __init__(self, learning: Learning) -> None:
        self._learning = learning
        self._anchors: dict[ObjectId, frozenset[str]] = {}

    @property
    def facts(self) -> GraphFacts:
        """Those in the store."""
        return self._learning.facts

    def learn(self, files: Files) -> None:
        """See that everything is known about these pages, as far as they can be had."""
        entries = {path: Entry(MODE_FILE, blob) for path, blob in files.items() if blob}
        self._learning.learn(entries)

    def is_known(self, blob: ObjectId) -> bool:
        """Whether the store has learned this page, or could."""
        return blob not in self._learning.passing and blob not in self._learning.absent

    def names(self, files: Files) -> dict[FilePath, PageNames]:
        """What links may call these pages."""
        blobs = {blob for blob in files.values() if blob}
        known = self.facts.naming(blobs)
        return {
            path: PageNames(path, *self._naming(blob, known))
            for path, blob in files.items()
            if blob is not None
        }

    def links(self, files: Files) -> dict[FilePath, tuple[Link, ...]]:
        """The links of these pages, in order."""
        blobs = {blob for blob in files.values() if blob}
        known = self.facts.links(blobs)
        return {
            path: known[blob] if blob in known else unpack_links(self._passing(blob).links)
            for path, blob in files.items()
            if blob is not None
        }

    def sections(self, files: Mapping[FilePath, ObjectId]) -> dict[FilePath, tuple[Section, ...]]:
        """The sections of these pages."""
        known = self.facts.sections(set(files.values()))
        return {
            path: known[blob] if blob in known else unpack_sections(self._passing(blob).sections)
            for path, blob in files.items()
        }

    def anchors(self, blob: ObjectId | None) -> frozenset[str]:
        """All that a link may name behind a page's path."""
        if blob is None:
            return frozenset()
        if blob not in self._anchors:
            known = self.facts.anchors([blob])
            passing = frozenset(unpack_names(self._passing(blob).anchors))
            self._anchors[blob] = known.get(blob, passing)
        return self._anchors[blob]

    def _naming(self, blob: ObjectId, known: Mapping[ObjectId, PageNaming]) -> PageNaming:
        if blob in known:
            return known[blob]
        rows = self._passing(blob)
        return PageNaming(rows.title, unpack_names(rows.aliases))

    def _passing(self, blob: ObjectId) -> PageRows:
        return self._learning.passing.get(blob, NOTHING)
