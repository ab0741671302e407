"""Which files of a snapshot can be a page's source.

The sources that can be proposed, and who among them answers to which name, word, identifier.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ubp.bindings.path_words import (
    is_test,
    parent_folders,
    path_stem,
    path_words,
    public_name,
    tested_name,
)
from ubp.code.names import SourceNames
from ubp.core.model import Entry, FilePath
from ubp.core.paths import nfc
from ubp.index.view import View

# They change with every dependency and describe nothing; by file name, in lower case.
LOCK_FILES = frozenset(
    {
        "bun.lock",
        "bun.lockb",
        "cargo.lock",
        "composer.lock",
        "deno.lock",
        "flake.lock",
        "gemfile.lock",
        "go.sum",
        "mix.lock",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "packages.lock.json",
        "pdm.lock",
        "pipfile.lock",
        "pnpm-lock.yaml",
        "podfile.lock",
        "poetry.lock",
        "pubspec.lock",
        "uv.lock",
        "yarn.lock",
    }
)
# No text that a page could describe.
_BINARY = re.compile(
    r"\.(7z|a|avi|avif|bin|bmp|bz2|class|dat|db|dll|dylib|eot|exe|flac|gif|gz|heic|icns|ico|jar|jpe?g"
    r"|lib|m4a|mov?|mp[34]|np[yz]|o|ogg|onnx|otf|parquet|pdf|pickle|pkl|png|psd|pt|py[cd]|rar"
    r"|safetensors|so|sqlite3?|tar|tflite|tgz|tiff?|ttf|wasm|wav|web[mp]|whl|woff2?|xz|zip|zst)",
    re.IGNORECASE,
)


def find_candidates(view: View, is_hidden: Callable[[FilePath], bool]) -> Mapping[FilePath, Entry]:
    """The files that a page may describe, in the order of their paths.

    Tracked files, or such that could be: no documents, nothing hidden, ignored, binary, no lock
    files, no symlinks and submodules, and nothing of what UBP itself keeps.
    """
    documents = frozenset(view.document_paths())
    return {
        path: entry
        for path, entry in view.files()
        if entry.is_file and path not in documents and _is_source(path) and not is_hidden(path)
    }


def _is_source(path: FilePath) -> bool:
    if path.startswith(".ubp/"):
        return False
    name = path.rpartition("/")[2].lower()
    return name not in LOCK_FILES and not _BINARY.fullmatch(name[name.rfind(".") :])


Numbers = list[int]

# A source of few identifiers is as one of so many: below, none is telling.
SMALL = 20


class CandidateSources:
    """The candidates by number, in the order of their paths, and their names turned round."""

    def __init__(
        self, paths: Sequence[FilePath], names: Sequence[SourceNames], asked: AbstractSet[str]
    ) -> None:
        """`asked` are the identifiers that pages mention; others are unknown until `ask`.

        What sources name is not held: it is ten times as much as all else.
        """
        self.paths = paths
        self.count = len(paths)
        self.numbers = {path: number for number, path in enumerate(paths)}
        self.by_name = _turned((_last_name(path),) for path in paths)
        self.by_stem = _turned((path_stem(path),) for path in paths)
        self.by_folder = _turned(parent_folders(path) for path in paths)
        self.folders = {nfc(folder): folder for folder in self.by_folder}
        self.folders_called = _named_folders(self.by_folder)
        self.own_words = [path_words(public_name(path)) for path in paths]
        self.path_words = [path_words(path.rpartition(".")[0] or path) for path in paths]
        self.by_own_word = _turned(self.own_words)
        self.by_path_word = _turned(self.path_words)
        self.users: dict[str, Numbers] = {}
        self.definers: dict[str, Numbers] = {}
        self._asked: set[str] = set()
        self.ask(names, asked)
        self.identifiers = [len(one.used) for one in names]
        sizes = [math.log(SMALL + size) for size in self.identifiers]
        self.sizes = [size - sum(sizes) / (len(sizes) or 1) for size in sizes]
        """How much larger a source is than usual, in logarithms of its identifiers."""
        self.tests = [is_test(path) for path in paths]
        self.subjects = self._find_subjects()
        self._log_count = math.log(self.count + 1)
        self._own_weights = [sum(map(self.rarity, words)) or 1.0 for words in self.own_words]

    def unknown(self, identifiers: AbstractSet[str]) -> AbstractSet[str]:
        """Those of these identifiers that have not been asked about."""
        return identifiers - self._asked

    def ask(self, names: Sequence[SourceNames], identifiers: AbstractSet[str]) -> None:
        """Look up who uses and defines identifiers that are unknown yet."""
        self._asked |= identifiers
        self.users |= _turned(identifiers & one.used for one in names)
        self.definers |= _turned(identifiers & one.defined for one in names)

    def uses(self, number: int, identifier: str) -> bool:
        """Whether a source uses an identifier."""
        return _has(self.users.get(identifier, ()), number)

    def defines(self, number: int, identifier: str) -> bool:
        """Whether a source defines an identifier."""
        return _has(self.definers.get(identifier, ()), number)

    def rarity(self, word: str) -> float:
        """How much a word tells of a path: 1 where one path has it, 0 where all have it."""
        having = len(self.by_path_word.get(word, ())) or 1
        return math.log(1 + self.count / having) / math.log(2 + self.count)

    def identifier_rarity(self, identifier: str) -> float:
        """How much an identifier tells of the sources that use it, from 0 to 1."""
        users = len(self.users.get(identifier, ()))
        return math.log((self.count + 1) / users) / self._log_count if users else 0.0

    def own_weight(self, number: int) -> float:
        """The rarity of all words of a source's own name together."""
        return self._own_weights[number]

    def _find_subjects(self) -> Mapping[int, Numbers]:
        subjects: dict[int, Numbers] = {}
        for number, path in enumerate(self.paths):
            if self.tests[number]:
                found = self.by_stem.get(tested_name(path), ())
                subjects[number] = [one for one in found if not self.tests[one]]
        return subjects


def _has(numbers: Sequence[int], number: int) -> bool:
    """Whether a number is among these, which ascend."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


def _last_name(path: str) -> str:
    return nfc(path.rpartition("/")[2])


def _named_folders(folders: Iterable[str]) -> Mapping[str, list[str]]:
    named: dict[str, list[str]] = {}
    for folder in folders:
        named.setdefault(_last_name(folder), []).append(folder)
    return named


def _turned(keys: Iterable[Iterable[str]]) -> dict[str, Numbers]:
    turned: dict[str, Numbers] = {}
    for number, several in enumerate(keys):
        for key in several:
            turned.setdefault(key, []).append(number)
    return turned
