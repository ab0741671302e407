"""The tips of repositories as a process has them in memory, and those of a reader as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ubp.core.model import FilePath, Level, ObjectId
from ubp.hub.chunk_rows import MirroredRows, PageChunks, ReadableRows
from ubp.hub.frequencies import Versions
from ubp.index.store.fulltext import Extent
from ubp.index.store.tokenizer import Table
from ubp.search.lexical import FileNames, JoinedNames

# Searching the names of this many small repositories as one list takes a third of the time;
# making the list again after a push to one of them takes 10 ms.
GROUP, SMALL = 32, 1_000


@dataclass(frozen=True, slots=True)
class MirroredPage:
    """A page at the tip; facts and fields are packed. `changed_at` is in seconds."""

    blob: ObjectId
    level: Level
    owners: tuple[str, ...]
    changed_at: int | None
    facts: str
    fields: str


@dataclass(frozen=True, slots=True)
class Tip:
    """A repository at its tip: as a search sees it; `is_listed`: so are its words."""

    id: int
    name: str
    ref: int
    commit: str
    version: int
    chunks: int
    words: int
    stems: int
    is_listed: bool


@dataclass(frozen=True, slots=True)
class MirroredTip:
    """A tip with its pages, by path and blob, their chunks, and the names of files and fields."""

    tip: Tip
    pages: Mapping[FilePath, MirroredPage]
    paths: Mapping[ObjectId, Sequence[FilePath]]
    chunks: PageChunks
    names: FileNames
    field_names: frozenset[str]

    @property
    def group(self) -> int | None:
        """The number of the group whose names are searched together; None: it has many."""
        return self.tip.id // GROUP if len(self.pages) < SMALL else None


class ReadableTips:
    """The tips that a reader may see, and what a search asks about all of them."""

    def __init__(self, tips: Sequence[MirroredTip], rows: MirroredRows, names: JoinedNames) -> None:
        self.by_name = {mirrored.tip.name: mirrored for mirrored in tips}
        self.by_id = {mirrored.tip.id: mirrored for mirrored in tips}
        self.names = names
        self.chunks = ReadableRows(rows, {m.tip.id: m.chunks for m in tips})
        self.versions = Versions.of((mirrored.tip.id, mirrored.tip.version) for mirrored in tips)
        self.listed = frozenset(m.tip.id for m in tips if m.tip.is_listed)
        self.unlisted = self.by_id.keys() - self.listed
        # As PostgreSQL reads arrays: psycopg takes 1 µs for each number.
        self.parameters = {
            name: f"{{{','.join(map(str, numbers))}}}"
            for name, numbers in (
                ("repositories", self.by_id),
                ("listed", self.listed),
                ("unlisted", self.unlisted),
            )
        }
        self.field_names = frozenset[str]().union(*(m.field_names for m in tips))
        chunks = sum(mirrored.tip.chunks for mirrored in tips)
        self.extents: Mapping[Table, Extent] = {
            "words": Extent(chunks, sum(mirrored.tip.words for mirrored in tips)),
            "stems": Extent(chunks, sum(mirrored.tip.stems for mirrored in tips)),
        }
