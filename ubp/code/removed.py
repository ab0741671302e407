"""Which names a change removes from sources, and which took their places."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from ubp.code.definitions import Language, find_definitions
from ubp.core.names import fold_name, name_key, name_words

# Shorter names occur in every program.
MIN_LETTERS = 5
# How much of two lines must be the same, so that one is the other with a new name; and how many
# of the names' words: with none in common a method is often taken for its neighbor.
MIN_LIKENESS = 0.6
MIN_SHARED = 0.3
# Words that are this long may be parts of others.
MIN_WORD = 4
# Libraries that make options from parameters and fields: clap, typer, go-flags and the like.
OPTION_MAKERS = (b"#[arg(", b"#[clap(", b"#[structopt(", b"typer.", b'long:"', b'kong:"')
# New definitions that are compared with a removed one; few changes have more.
MAX_ADDED = 2_000
# Lines that are compared for one change (10 µs each): of 300 renamed names each is compared with
# each. A change of more was made by a machine, and the names after that have no replacement.
MAX_COMPARED = 100_000
# Longer lines were made by machines.
MAX_LINE = 400

_LEXEME = r"[A-Za-z_]\w*(?:-+\w+)*|\S"
_OPTION = rb"(?<=--)[A-Za-z0-9][A-Za-z0-9-]*"
_QUOTED = rb"(?=([\"'`])([A-Za-z0-9-]+)\1)"
_NAME = r"-{0,2}[A-Za-z_]\w*(?:-\w+)*"


class ChangedSource(NamedTuple):
    """The bytes of a source before and after a change, and its language; None: no such file."""

    before: bytes | None
    after: bytes | None
    language: Language | None


class Removed(NamedTuple):
    """A name that the changed sources defined and no longer contain, and one that defined it.

    `is_key`: only as a key or field. `is_option`: the source has it as a command-line option.
    """

    name: str
    path: str
    language: Language
    is_key: bool = False
    is_option: bool = False


class Replacement(NamedTuple):
    """A name that took another's place, and the source that defines it now."""

    name: str
    path: str


class SourceChange:
    """The sources that a change touches."""

    def __init__(self, sources: Mapping[str, ChangedSource]) -> None:
        self._sources = sources
        self._replacements: dict[Removed, Replacement | None] = {}
        self._old_lines: dict[str, dict[str, list[str]]] = {}
        self._compared = 0

    @cached_property
    def defined(self) -> Mapping[int, Removed]:
        """The names that the sources defined before the change, by key."""
        defined: dict[int, Removed] = {}
        for path, source in self._sources.items():
            if source.before is None or source.language is None:
                continue
            definitions = find_definitions(source.before, source.language)
            for name in (*sorted(definitions.names), *sorted(definitions.keys)):
                folded = fold_name(name)
                if len(folded) >= MIN_LETTERS:
                    is_key = name in definitions.keys
                    new = Removed(name, path, source.language, is_key)
                    old = defined.setdefault(name_key(folded), new)
                    if old.is_key > is_key:
                        defined[name_key(folded)] = new
        return defined

    def find_definition(self, key: int) -> Removed | None:
        """Return the name of a key that the sources defined before the change."""
        found = self.defined.get(key)
        if found is None:
            return None
        return found._replace(is_option=self._makes_options or self._is_option(found.name))

    def find_replacement(self, removed: Removed) -> Replacement | None:
        """Return the name that a change writes where the removed one was; None: it shows none.

        A line of the old file and one that the change adds must be the same but for the name, and
        the new name must be new to the file that defines it.
        """
        if removed not in self._replacements:
            self._replacements[removed] = self._find_replacement(removed)
        return self._replacements[removed]

    def _find_replacement(self, removed: Removed) -> Replacement | None:
        old_lines = self._lines_with(removed)
        old_words = set(name_words(removed.name))
        best: tuple[float, Replacement] | None = None
        for path, line, name in self._added if old_lines else ():
            self._compared += len(old_lines)
            if self._compared > MAX_COMPARED:
                break
            shared = _share_words(old_words, set(name_words(name)))
            for old in old_lines if shared >= MIN_SHARED else ():
                likeness = _compare(old, removed.name, line, name)
                if likeness >= MIN_LIKENESS and (best is None or likeness + shared > best[0]):
                    best = likeness + shared, Replacement(name, path)
        return best[1] if best else None

    def _lines_with(self, removed: Removed) -> list[str]:
        """Return the lines of the old source that contain a removed name."""
        if removed.path not in self._old_lines:
            before = self._sources[removed.path].before or b""
            by_name: dict[str, list[str]] = {}
            for line in _lines(before):
                for name in dict.fromkeys(re.findall(_NAME, line)):
                    by_name.setdefault(name, []).append(line)
            self._old_lines[removed.path] = by_name
        return self._old_lines[removed.path].get(removed.name, [])

    @cached_property
    def _makes_options(self) -> bool:
        """Whether a source makes options from its names."""
        contents = (source.before for source in self._sources.values() if source.before)
        return any(maker in data for data in contents for maker in OPTION_MAKERS)

    def _is_option(self, name: str) -> bool:
        """Return whether a source has an option of this name, or one that begins with it."""
        option = "-".join(name_words(name)).encode()
        options, strings = self._options
        position = bisect_left(options, option)
        begins = position < len(options) and options[position].startswith(option)
        return begins or option in strings

    @cached_property
    def _options(self) -> tuple[list[bytes], frozenset[bytes]]:
        """The options in the sources, sorted and without dashes, and their quoted words."""
        options: set[bytes] = set()
        strings: set[bytes] = set()
        for source in self._sources.values():
            if source.before:
                options.update(re.findall(_OPTION, source.before))
                strings.update(word for _, word in re.findall(_QUOTED, source.before))
        return sorted(options), frozenset(strings)

    @cached_property
    def _added(self) -> list[tuple[str, str, str]]:
        """The path, the line and the name of each new definition."""
        added: list[tuple[str, str, str]] = []
        for path, source in self._sources.items():
            if source.after is None or source.language is None:
                continue
            before = source.before or b""
            new = _defined(source.after, source.language) - _defined(before, source.language)
            new = frozenset([name for name in new if len(fold_name(name)) >= MIN_LETTERS])
            old_lines = set(_lines(before)) if new else set()
            for line in _lines(source.after) if new else ():
                if line not in old_lines:
                    names = sorted(new.intersection(re.findall(_NAME, line)))
                    added += [(path, line, name) for name in names]
        return added[:MAX_ADDED]


def _defined(data: bytes, language: Language) -> frozenset[str]:
    definitions = find_definitions(data, language)
    return definitions.names | definitions.keys


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    return [line.strip() for line in lines if len(line) <= MAX_LINE]


def _share_words(old: set[str], new: set[str]) -> float:
    """Return the share of words that two names have in common: `aread` contains `read`."""
    common = {
        word
        for word in old
        if word in new
        or any(
            min(word, other, key=len) in max(word, other, key=len)
            for other in new
            if min(len(word), len(other)) >= MIN_WORD
        )
    }
    return len(common) / max(len(old), len(new))


def _compare(old: str, old_name: str, new: str, new_name: str) -> float:
    """Return the share of tokens that two lines have in common, the names left out."""
    before = Counter(re.findall(_LEXEME, old.replace(old_name, " ")))
    after = Counter(re.findall(_LEXEME, new.replace(new_name, " ")))
    size = max(before.total(), after.total())
    return (before & after).total() / size if size else 0.0
