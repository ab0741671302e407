"""Compare two versions of documents by sections: added, changed, moved and removed ones.

Sections are compared by their words, as references to them are: markup, case and line breaks make
no difference. A section does not count as changed where only one below it did.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from ubp.core.config import FULL_TEXT
from ubp.core.errors import UsageError
from ubp.core.model import Entry, FilePath, ObjectId
from ubp.core.policy import EXCERPT_CHARACTERS, excerpt
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees, list_tree
from ubp.index.collections import resolve_version
from ubp.index.session import Session, Target
from ubp.index.tree import document_filter
from ubp.markdown.outline import OutlineSection, find_section, read_outline

ChangeKind = Literal["added", "changed", "moved", "removed"]
WordKind = Literal["equal", "added", "removed"]

# Of a section that moved and changed, at least this share of the words is the same.
MIN_SIMILARITY = 0.5
# Fewer words are alike by chance: "See above.", "Example".
MIN_MOVED_WORDS = 5
# Comparing two sections takes 10 µs; beyond this many pairs only equal words identify a section.
MAX_SIMILAR_PAIRS = 100_000
# Comparing two texts of this many words takes 0.5 s; longer ones are not compared.
MAX_COMPARED_WORDS = 4000
# Of a section that is added, removed or not compared; more than anybody reads.
MAX_SHOWN_WORDS = 10_000


@dataclass(frozen=True, slots=True)
class Words:
    """Consecutive words that both versions have, or only one of them."""

    kind: WordKind
    text: str


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """Where a section is in one version; `id` is "" before the first heading."""

    filepath: FilePath
    id: str
    heading_path: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class SectionChange:
    """A section that differs; of a moved one, `words` are empty where only its place changed."""

    kind: ChangeKind
    old: SectionPlace | None
    new: SectionPlace | None
    words: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """What changed from one commit to another, in the order of the new version.

    `sections` is how many sections the compared documents of the new version have.
    """

    old: ObjectId
    new: ObjectId
    changes: tuple[SectionChange, ...]
    sections: int


@dataclass(frozen=True, slots=True)
class _Unit:
    place: SectionPlace
    section: OutlineSection

    @property
    def keys(self) -> tuple[str, ...]:
        return self.section.keys


def compare_versions(
    session: Session,
    old: str,
    new: str,
    path: FilePath | None = None,
    section: str | None = None,
) -> VersionComparison:
    """Compare two versions of a session's documents; `path` and `section` narrow it.

    Of a collection whose policy allows only excerpts, the words of each change are cut.

    Raises:
        RevisionNotFoundError: there is no such version.
        CollectionError: the collection has no such version.
        UsageError: neither version has this path or section.
    """
    repository, collection = session.repository, session.collection
    before, after = (
        resolve_version(repository, collection, name) if collection else repository.resolve(name)
        for name in (old, new)
    )
    is_document, expired = document_filter(session.config), set[FilePath]()
    if collection is not None and collection.is_stored:
        for commit in (before, after):
            expired.update(session.view(Target(commit)).snapshot.changes)

    def is_compared(path: FilePath, entry: Entry) -> bool:
        return path not in expired and is_document(path, entry)

    old_files = _documents(repository, before, after, is_compared, path)
    new_files = _documents(repository, after, before, is_compared, path)
    if path is not None and not old_files and not new_files:
        _check_path(repository, (before, after), path)
    old_units = list(_units(repository, old_files))
    new_units = list(_units(repository, new_files))
    if section is not None:
        old_units, new_units = _narrow(old_units, section), _narrow(new_units, section)
        if not old_units and not new_units and (old_files or new_files):
            raise UsageError(
                f"{path} has no section {section} in either version.",
                hint="Use the id or the words of a heading.",
            )
    changes = _compare(old_units, new_units)
    if collection is not None and collection.policy != FULL_TEXT:
        policy = collection.policy
        changes = (replace(change, words=_excerpt(change.words, policy)) for change in changes)
    return VersionComparison(before, after, tuple(changes), len(new_units))


def _excerpt(words: tuple[Words, ...], policy: str) -> tuple[Words, ...]:
    """Return the words as far as they fit in an excerpt, those that differ first."""
    shown: list[Words] = []
    rest = EXCERPT_CHARACTERS
    for part in words:
        text = excerpt(part.text, policy)[:rest]
        if part.kind != "equal" and text:
            shown.append(Words(part.kind, text))
            rest -= len(text)
    return tuple(shown)


def _documents(
    repository: Repository,
    commit: ObjectId,
    other: ObjectId,
    is_document: Callable[[FilePath, Entry], bool],
    path: FilePath | None,
) -> dict[FilePath, ObjectId]:
    """Return the documents of a commit that differ from the other one, by path."""
    changed = diff_trees(repository, other, commit)
    return {
        name: entry.id
        for name, entry in sorted(changed.items())
        if entry is not None and entry.is_file and is_document(name, entry) and path in {None, name}
    }


def _check_path(repository: Repository, commits: tuple[ObjectId, ObjectId], path: FilePath) -> None:
    if not any(path in list_tree(repository, commit) for commit in commits):
        raise UsageError(
            f"Neither version has a page {path}.",
            hint="List the pages: ubp list-pages",
        )


def _units(repository: Repository, files: Mapping[FilePath, ObjectId]) -> Iterator[_Unit]:
    contents = repository.read_blobs(set(files.values()))
    for path, blob in files.items():
        for section in read_outline(contents[blob] or b""):
            place = SectionPlace(path, section.id, section.path, section.line_start)
            yield _Unit(place, section)


def _narrow(units: list[_Unit], name: str) -> list[_Unit]:
    """Return the section of this name with those below it."""
    found = find_section(tuple(unit.section for unit in units), name)
    if found is None:
        return []
    return [unit for unit in units if found.line_start <= unit.section.line_start <= found.line_end]


def _compare(old_units: Sequence[_Unit], new_units: Sequence[_Unit]) -> Iterator[SectionChange]:
    pairs = _pair(old_units, new_units)
    removed = [unit for number, unit in enumerate(old_units) if number not in pairs.values()]
    for number, unit in enumerate(new_units):
        if number not in pairs:
            yield SectionChange("added", None, unit.place, _all_words("added", unit))
            continue
        before = old_units[pairs[number]]
        is_moved = _where(before) != _where(unit)
        if before.keys != unit.keys:
            kind: ChangeKind = (
                "moved" if before.place.filepath != unit.place.filepath else "changed"
            )
            yield SectionChange(kind, before.place, unit.place, _compare_words(before, unit))
        elif is_moved:
            yield SectionChange("moved", before.place, unit.place, ())
    for unit in removed:
        yield SectionChange("removed", unit.place, None, _all_words("removed", unit))


def _pair(old_units: Sequence[_Unit], new_units: Sequence[_Unit]) -> dict[int, int]:
    """Return for each new section its old one: by id, else by equal words, else by similar ones."""
    pairs: dict[int, int] = {}

    def pair_by(key: Callable[[_Unit], object], *, is_enough: Callable[[_Unit], bool]) -> None:
        unpaired: dict[object, list[int]] = {}
        taken = set(pairs.values())
        for number, unit in enumerate(old_units):
            if number not in taken and is_enough(unit):
                unpaired.setdefault(key(unit), []).append(number)
        for number, unit in enumerate(new_units):
            if number not in pairs and is_enough(unit) and unpaired.get(key(unit)):
                pairs[number] = unpaired[key(unit)].pop(0)

    pair_by(lambda unit: (unit.place.filepath, unit.place.id), is_enough=lambda _: True)
    pair_by(lambda unit: unit.keys, is_enough=lambda unit: len(unit.keys) >= MIN_MOVED_WORDS)
    taken = set(pairs.values())
    counts = {
        number: Counter(unit.keys)
        for number, unit in enumerate(old_units)
        if number not in taken and len(unit.keys) >= MIN_MOVED_WORDS
    }
    others = [number for number, unit in enumerate(new_units) if number not in pairs]
    if len(others) * len(counts) > MAX_SIMILAR_PAIRS:
        return pairs
    for number in others:
        unit = new_units[number]
        if len(unit.keys) < MIN_MOVED_WORDS or not counts:
            continue
        words = Counter(unit.keys)
        score, best = max((_similarity(words, counts[other]), -other) for other in counts)
        if score >= MIN_SIMILARITY:
            pairs[number] = -best
            del counts[-best]
    return pairs


def _where(unit: _Unit) -> tuple[FilePath, tuple[str, ...]]:
    return unit.place.filepath, unit.place.heading_path[:-1]


def _similarity(words: Counter[str], others: Counter[str]) -> float:
    larger = max(words.total(), others.total())
    if min(words.total(), others.total()) < MIN_SIMILARITY * larger:
        return 0.0
    return (words & others).total() / larger


def _all_words(kind: WordKind, unit: _Unit) -> tuple[Words, ...]:
    words = unit.section.words
    text = " ".join(words[:MAX_SHOWN_WORDS]) + (" …" if len(words) > MAX_SHOWN_WORDS else "")
    return (Words(kind, text),) if words else ()


def _compare_words(before: _Unit, after: _Unit) -> tuple[Words, ...]:
    old, new = before.section.words, after.section.words
    if len(old) > MAX_COMPARED_WORDS or len(new) > MAX_COMPARED_WORDS:
        return (*_all_words("removed", before), *_all_words("added", after))
    matcher = SequenceMatcher(None, before.keys, after.keys, autojunk=False)
    words: list[Words] = []
    for operation, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if operation == "equal":
            words.append(Words("equal", " ".join(new[new_start:new_end])))
            continue
        if old_end > old_start:
            words.append(Words("removed", " ".join(old[old_start:old_end])))
        if new_end > new_start:
            words.append(Words("added", " ".join(new[new_start:new_end])))
    return tuple(words)
