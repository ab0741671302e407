"""Narrower references: the symbols of a file that a document names, instead of the whole file.

A file that changes often makes the documents that describe a part of it stale each time. The
file's history tells whether a reference to that part would have been enough.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.code.symbols import find_language, parser_version
from ubp.core.model import FilePath, ObjectId, Pair
from ubp.core.source import PartSource, digest
from ubp.git.change_log import LoggedChange
from ubp.git.trees import entries_at, first_parents
from ubp.index.facts import FileContents
from ubp.index.history import History
from ubp.index.names import read_page_mentions
from ubp.index.parts import read_parts, symbol_spans
from ubp.index.view import View
from ubp.markdown.mentions import PageMentions

WINDOW = 30 * 86_400
"""In seconds: a document that changes a month after its source changes for other reasons."""

MIN_CHANGES = 10
"""A source that changed less often is not a nuisance, and its history says little."""

MAX_FIRINGS_LEFT = 0.5
"""A narrower binding that still fires at most changes is not worth three lines instead of one."""

MAX_SYMBOLS = 3
MAX_SHARE = 0.5
"""A document that names more symbols of a file, or more than this share of its lines, describes the
file."""

MAX_DOTS = 1  # members of classes, and no keys and functions within them

MAX_CHANGES_READ = 100
"""Of a file the newest changes: both versions of each are read, which takes 1 s for 100 changes of
a file of 4,000 lines."""

_HAS_KEYS = frozenset({"yaml", "json", "hcl"})  # a word of a document is hardly ever such a key
_IDENTIFIER_SHAPE = re.compile(r"[a-z0-9][A-Z]|\w_\w|^[A-Z]")


class Replay(NamedTuple):
    """What a reference would have done in some commits, which have numbers, the newest 0.

    It would have fired `fired` times, at changes of the source that left the document alone, and
    announced `edits` of the document: with a change of the source, or thirty days after one.
    """

    fired: int
    edits: frozenset[int]


class Narrowed(NamedTuple):
    """The effect of a narrower source: `fired` firings become `fired_left`.

    Of `edits` of the document, which came with a change of the source or within thirty days after
    one, the narrower source would have announced `edits_left`.
    """

    fired: int
    fired_left: int
    edits: int
    edits_left: int

    def __str__(self) -> str:
        """Return it in words: `fires 40 times → 6, keeps all 5 edits`."""
        fires = f"fires {self.fired} {'time' if self.fired == 1 else 'times'} → {self.fired_left}"
        if not self.edits:
            return f"{fires}; no edit of the page followed"
        edits = f"{self.edits_left} of {self.edits} edits"
        if self.edits_left == self.edits:
            edits = f"all {self.edits} edits" if self.edits > 1 else "the only edit"
        return f"{fires}, keeps {edits}"


class Narrowing(NamedTuple):
    """References to symbols, `path#name`, that announce the same edits as one to their file."""

    sources: tuple[FilePath, ...]
    effect: Narrowed


class FileHistory(NamedTuple):
    """The commits that changed a file and those that changed a document, by number."""

    changed: Sequence[int]
    page: Sequence[int]


def replay(changed: Iterable[int], page: Sequence[int], log: Sequence[LoggedChange]) -> Replay:
    """Return what a reference would have done; `page` are the document's commits, newest first."""
    fired = 0
    edits: set[int] = set()
    for number in changed:
        position = bisect_left(page, number)
        if position < len(page) and page[position] == number:
            edits.add(number)
            continue
        fired += 1
        if position and log[page[position - 1]].date - log[number].date <= WINDOW:
            edits.add(page[position - 1])
    return Replay(fired, frozenset(edits))


def find_older(
    pages: Collection[FilePath], log: Sequence[LoggedChange], limit: int, history: History
) -> frozenset[FilePath]:
    """Return the documents that existed at the oldest commit of a log of at most `limit`."""
    if len(log) < limit:
        return frozenset()
    entries = history.entries_at({log[-1].commit: pages})
    return frozenset(path for (_, path), entry in entries.items() if entry)


def find_narrowings(
    histories: Mapping[Pair, FileHistory], view: View, log: Sequence[LoggedChange]
) -> dict[Pair, Narrowing]:
    """Return for pairs of a document and a file the symbols to name instead, where that helps.

    The document names them, they are few, they would have announced every edit that the file
    announced, and fired at most half as often. None without the extra `symbols`.
    """
    histories = {
        pair: FileHistory(history.changed[:MAX_CHANGES_READ], history.page)
        for pair, history in histories.items()
        if len(history.changed) >= MIN_CHANGES
        and find_language(pair[1]) not in {None, *_HAS_KEYS}
        and parser_version()
    }
    choices = _find_choices(histories, view)
    wanted: defaultdict[FilePath, set[str]] = defaultdict(set)
    numbers: defaultdict[FilePath, set[int]] = defaultdict(set)
    for (page, path), symbol_sets in choices.items():
        wanted[path].update(*symbol_sets)
        numbers[path].update(histories[page, path].changed)
    sources = {
        path: [PartSource(path, "symbol", symbol) for symbol in sorted(symbols)]
        for path, symbols in wanted.items()
    }
    changes = find_part_changes(sources, numbers, view, log)
    narrowings = {}
    for pair, symbol_sets in choices.items():
        narrowing = _choose(pair[1], symbol_sets, histories[pair], changes, log)
        if narrowing:
            narrowings[pair] = narrowing
    return narrowings


def find_part_changes(
    sources: Mapping[FilePath, Sequence[PartSource]],
    numbers: Mapping[FilePath, Collection[int]],
    view: View,
    log: Sequence[LoggedChange],
) -> dict[PartSource, frozenset[int]]:
    """Return at which of these commits, which changed its file, each symbol or section changed.

    A version that a partial clone lacks counts as changed.
    """
    repository = view.context.repository
    commits = {log[number].commit for path in sources for number in numbers[path]}
    if not commits:
        return {}
    parents = first_parents(repository, commits)
    paths: defaultdict[ObjectId, set[FilePath]] = defaultdict(set)
    for path in sources:
        for number in numbers[path]:
            commit = log[number].commit
            paths[commit].add(path)
            if parent := parents.get(commit):
                paths[parent].add(path)
    entries = entries_at(repository, paths)

    def blob_at(commit: ObjectId | None, path: FilePath) -> ObjectId | None:
        entry = entries[commit, path] if commit else None
        return entry.id if entry and entry.is_file else None

    changes: dict[PartSource, frozenset[int]] = {}
    for done, (path, parts) in enumerate(sources.items(), 1):
        view.context.progress("Reading versions", done, len(sources))
        versions = [
            (
                number,
                blob_at(parents.get(log[number].commit), path),
                blob_at(log[number].commit, path),
            )
            for number in sorted(numbers[path], reverse=True)
        ]
        blobs = {blob for _, *pair in versions for blob in pair if blob}
        history = _PartHistory(parts, repository.read_blobs(blobs))
        changed: defaultdict[PartSource, set[int]] = defaultdict(set)
        for number, before, after in versions:  # the oldest first
            for part in history.changed(before, after):
                changed[part].add(number)
        changes |= {part: frozenset(changed[part]) for part in parts}
    return changes


class _Version(NamedTuple):
    """A part in a version of its file: its digest, None if it is absent, and its passages."""

    digest: str | None
    texts: tuple[bytes, ...] = ()


class _PartHistory:
    """The versions of some parts of a file; one with the same text as before is not parsed."""

    def __init__(
        self, parts: Sequence[PartSource], contents: Mapping[ObjectId, bytes | None]
    ) -> None:
        self._parts = parts
        self._contents = contents
        self._versions: dict[ObjectId, dict[PartSource, _Version]] = {}

    def changed(self, before: ObjectId | None, after: ObjectId | None) -> list[PartSource]:
        """Return the parts that differ; None is a version without the file."""
        if any(blob and self._contents.get(blob) is None for blob in (before, after)):
            return list(self._parts)
        old = self._read(before, {})
        new = self._read(after, old)
        return [part for part in self._parts if old[part].digest != new[part].digest]

    def _read(
        self, blob: ObjectId | None, earlier: Mapping[PartSource, _Version]
    ) -> dict[PartSource, _Version]:
        data = self._contents.get(blob) if blob else None
        if blob is None or data is None:
            return dict.fromkeys(self._parts, _Version(None))
        if blob not in self._versions:
            versions = {
                part: version
                for part, version in earlier.items()
                if version.texts and all(text in data for text in version.texts)
            }
            unread = [part for part in self._parts if part not in versions]
            lines = data.splitlines(keepends=True) if unread else []
            for part, found in read_parts(unread, data).items():
                texts = tuple(b"".join(lines[p.line_start - 1 : p.line_end]) for p in found)
                whole = digest(p.digest for p in found) if found else None
                versions[part] = _Version(whole, texts)
            self._versions[blob] = versions
        return self._versions[blob]


def _find_choices(pairs: Collection[Pair], view: View) -> dict[Pair, list[tuple[str, ...]]]:
    """Return the symbols of each file that each document names: sets of few, the smaller first."""
    mentions = read_page_mentions(view, {page for page, _ in pairs})
    sources = view.entries({path for _, path in pairs})
    files = {path: entry for path, entry in sources.items() if entry and entry.is_file}
    contents = FileContents(view.context.repository, view.snapshot).read(files)
    definitions = {
        path: _Definitions(path, data) for path, data in contents.items() if data is not None
    }
    choices = {
        (page, path): definitions[path].named_by(mentions[page])
        for page, path in pairs
        if page in mentions and path in definitions
    }
    return {pair: symbol_sets for pair, symbol_sets in choices.items() if symbol_sets}


class _Definitions:
    """The definitions in a file: qualified names by simple name, and the lines of each."""

    def __init__(self, path: FilePath, data: bytes) -> None:
        self._lines: defaultdict[str, set[int]] = defaultdict(set)
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        self._length = data.count(b"\n") + 1
        for name, first, last in symbol_spans(path, data):
            if name.count(".") > MAX_DOTS:
                continue
            self._names[name.rpartition(".")[2]].add(name)
            self._lines[name].update(range(first, last + 1))

    def named_by(self, mentions: PageMentions) -> list[tuple[str, ...]]:
        """Return what a document names: the innermost definitions, and the outermost."""
        words = {mention.text for mention in mentions.identifiers} - mentions.fenced
        symbols: set[str] = set()
        for word in words:
            found = self._names.get(word, set())
            if word in found:
                symbols.add(word)
                continue
            if not _IDENTIFIER_SHAPE.search(word):  # a member `name` is a word of anybody's prose
                found = {name for name in found if name.split(".")[-2] in words}
            if found and not word.startswith("__"):
                symbols.add(next(iter(found)) if len(found) == 1 else word)
        innermost = {name for name in symbols if not any(o.startswith(f"{name}.") for o in symbols)}
        outermost = {name for name in symbols if not any(name.startswith(f"{o}.") for o in symbols)}
        choices = [tuple(sorted(innermost)), tuple(sorted(outermost))]
        return [choice for choice in dict.fromkeys(choices) if self._is_small(choice)]

    def _is_small(self, symbols: tuple[str, ...]) -> bool:
        """Return whether these are few definitions, and a part of the file."""
        lines: set[int] = set()
        for symbol in symbols:
            for name in [symbol] if symbol in self._lines else self._names[symbol]:
                lines |= self._lines[name]
        return 0 < len(symbols) <= MAX_SYMBOLS and len(lines) <= MAX_SHARE * self._length


def _choose(
    path: FilePath,
    symbol_sets: Sequence[tuple[str, ...]],
    history: FileHistory,
    changes: Mapping[PartSource, frozenset[int]],
    log: Sequence[LoggedChange],
) -> Narrowing | None:
    of_file = replay(history.changed, history.page, log)
    for symbols in symbol_sets:
        sources = [PartSource(path, "symbol", symbol) for symbol in symbols]
        changing = frozenset[int]().union(*(changes[source] for source in sources))
        changed = [number for number in history.changed if number in changing]
        narrow = replay(changed, history.page, log)
        if narrow.edits == of_file.edits and narrow.fired <= MAX_FIRINGS_LEFT * of_file.fired:
            names = tuple(source.name for source in sources)
            edits = len(of_file.edits)
            return Narrowing(names, Narrowed(of_file.fired, narrow.fired, edits, edits))
    return None
