"""The files of a snapshot that documents may describe, and their names, words, identifiers."""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from ubp.bindings.path_words import (
    is_test,
    path_stem,
    path_words,
    public_name,
    records_past,
    tested_name,
)
from ubp.code.names import SourceNames
from ubp.code.symbols import program_language
from ubp.core.model import Entry, FilePath
from ubp.core.paths import PAGE_SUFFIXES, nfc, parent_folders
from ubp.index.view import View

Numbers = list[int]

# Files for readers, with or without generators, and Obsidian's views of pages.
PROSE = (*PAGE_SUFFIXES, ".rst", ".html", ".htm", ".canvas", ".base")

# A source with fewer identifiers counts as one with this many: none of them is significant.
MIN_IDENTIFIERS = 20

# Of every page's sources the same is asked: of most repositories' all are remembered.
MAX_JUDGED = 100_000

# Lock files change with every dependency and implement nothing; by file name, in lower case.
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
# Patterns that hooks do not need are compiled on first use.
# Files that projects have whatever they do; coverage does not ask for pages about them.
_ROUTINE = (
    r"(?:authors|changelog|changes|citation|code_of_conduct|codeowners|contributing|contributors"
    r"|copying|history|licen[cs]e|maintainers|notice|readme|security|unlicense)(?:[.-].*)?"
    r"|py\.typed"
)
# Settings of Git, editors and formatters, which list paths and describe nothing.
_SETTINGS = (
    r"\.(?:all-contributorsrc|dockerignore|editorconfig|gitattributes|gitignore|gitkeep|gitmodules"
    r"|keep|mailmap|npmignore|npmrc|nvmrc|python-version|tool-versions|git-blame-ignore-revs)"
    r"|\.(?:eslint|prettier)(?:rc(?:\..*)?|ignore)"
)
# Manifests and the configuration of documentation sites: pages mention those of their readers.
_SITE_FOLDERS = frozenset({".vitepress", ".vuepress", ".docusaurus", ".mdbook"})
_MANIFEST = (
    r"(?:build\.gradle(?:\.kts)?|cargo\.toml|composer\.json|deno\.jsonc?|gemfile|go\.mod|package\.json"
    r"|pipfile|pom\.xml|pyproject\.toml|requirements[^/]*\.txt|setup\.(?:cfg|py)|tsconfig[^/]*\.json"
    r"|mkdocs\.ya?ml|_config\.ya?ml|docusaurus\.config\.\w+|hugo\.(?:toml|ya?ml|json)|book\.toml"
    r"|mix\.exs|[\w.-]+\.gemspec|_meta\.(?:json|[jt]sx?)|\.readthedocs\.ya?ml|zensical\.toml|antora(?:-playbook)?\.ya?ml|_quarto\.ya?ml|_toc\.ya?ml"
    r"|sidebars\.(?:js|ts|json)|gatsby-config\.\w+|[\w-]+\.config\.[cm]?[jt]s|mint\.json)"
)
# Of 30 proposals that were read at first look 6 of 9 wrong ones named such a file.
_INCIDENTAL = (
    r"\.(?:snap|pot?)$|(?:^|/)(?:(?:__)?fixtures?(?:__)?|__snapshots__|testdata|test[-_]data)/"
    r"|^\.(?:github|gitlab|circleci|buildkite)/|^\.(?:gitlab-ci|travis)\.yml$|^azure-pipelines\.ya?ml$"
    r"|(?:^|/)(?:docs?|documentation|website|site)/(?:(?:main|hooks?|macros)\.py$"
    r"|(?:.*/)?(?:plugins?|hooks?|macros|_ext|_extensions|overrides|_?themes?|_templates)/)"
    r"|(?:^|/)mkdocs_\w+\.py$|(?:^|/)(?:\w+_)?versioned_docs/"
    r"|(?:^|/)\.(?:idea|obsidian|settings|vs|vscode)/"
    r"|(?:^|/)\.?(?:c(?:ode)?spell|spelling|word-?list|project-words)[\w-]*(?:\.config)?"
    r"(?:\.(?:txt|jsonc?|ya?ml|toml|cfg))?$|\.dic$"
    r"|(?:^|/)(?:\.?cspell|vocab|vocabularies)/(?:.*/)?[^/]+\.txt$"
)
_BY_SYSTEMS = frozenset({".ds_store", "desktop.ini", "thumbs.db"})
# Files without text, and images.
_BINARY = re.compile(
    r"\.(7z|a|avi|avif|bin|bmp|bz2|class|dat|db|dll|dylib|eot|exe|flac|gif|gz|heic|icns|ico|jar|jpe?g"
    r"|lib|m4a|mov?|mp[34]|np[yz]|o|ogg|onnx|otf|parquet|pdf|pickle|pkl|png|psd|pt|py[cd]|rar"
    r"|safetensors|so|sqlite3?|svgz?|tar|tflite|tgz|tiff?|ttf|wasm|wav|web[mp]|whl|woff2?|xz|zip|zst)",
    re.IGNORECASE,
)


def find_candidates(view: View, is_hidden: Callable[[FilePath], bool]) -> Mapping[FilePath, Entry]:
    """Return the files that a document may describe, sorted by path.

    Tracked files, and untracked ones that are not ignored; no documents, hidden or binary files,
    lock files, symlinks, submodules, and no files of UBP itself.
    """
    documents = frozenset(view.document_paths())
    return {
        path: entry
        for path, entry in view.files()
        if entry.is_file and path not in documents and is_source_path(path) and not is_hidden(path)
    }


def is_routine(path: str) -> bool:
    """Return whether a file needs no page: a test, a license, a readme, Git's own settings."""
    name = path.rpartition("/")[2]
    return is_test(path) or is_setting(path) or bool(re.fullmatch(_ROUTINE, name, re.IGNORECASE))


@lru_cache(maxsize=MAX_JUDGED)
def is_incidental(path: str) -> bool:
    """Return whether a file hardly ever is what a page is about, whatever it shares with it.

    Snapshots and fixtures of tests, catalogues of translated messages, word lists of spelling
    checkers, workflows of a CI, settings of editors, programs that build the documentation, and
    files of its earlier versions.
    """
    return re.search(_INCIDENTAL, path, re.IGNORECASE) is not None


def likeness(page: FilePath, source: FilePath) -> float | None:
    """Return the share of a source's own words that a page's name has; None: it cannot describe it.

    A page describes no manifest, lock file, test, license and the like, nor prose.
    """
    if (
        records_past(page)
        or is_routine(page)
        or is_routine(source)
        or is_manifest(source)
        or is_incidental(source)
        or not is_source_path(source)
        or source.lower().endswith(PROSE)
        or source.startswith(".")
    ):
        return None
    own = path_words(public_name(source))
    return len(own & path_words(public_name(page))) / len(own) if own else 0.0


@lru_cache(maxsize=MAX_JUDGED)
def is_manifest(path: str) -> bool:
    """Return whether a file lists a project's dependencies, or configures its documentation."""
    *folders, name = path.split("/")
    return (
        re.fullmatch(_MANIFEST, name, re.IGNORECASE) is not None
        or not _SITE_FOLDERS.isdisjoint(folders)
        or (name == "conf.py" and folders[-1:] in (["docs"], ["doc"], ["source"]))  # of Sphinx
    )


@lru_cache(maxsize=MAX_JUDGED)
def is_setting(path: str) -> bool:
    """Return whether a file has settings of Git, of editors or of formatters."""
    return re.fullmatch(_SETTINGS, path.rpartition("/")[2], re.IGNORECASE) is not None


class CandidateSources:
    """The candidates by number, in the order of their paths, and inverted indexes of their names.

    Attributes ending in a name of a key (`by_stem`, `users`, …) map the key to ascending numbers.
    """

    def __init__(
        self,
        paths: Sequence[FilePath],
        identifiers: Sequence[int],
        users: Mapping[str, Numbers],
        definers: Mapping[str, Numbers],
    ) -> None:
        """Index these paths; `look_up` adds users and definers of other identifiers.

        `identifiers` are the numbers of identifiers of each source: these themselves are not kept,
        as they take ten times the memory of all the rest.
        """
        self.paths = paths
        self.count = len(paths)
        self.numbers = {path: number for number, path in enumerate(paths)}
        self.by_name = invert((_last_name(path),) for path in paths)
        self.by_stem = invert((path_stem(path),) for path in paths)
        self._languages: dict[str, set[str | None]] = {}  # of the files with a stem
        self.by_folder = invert(parent_folders(path) for path in paths)
        self.folders = {nfc(folder): folder for folder in self.by_folder}
        self.folders_by_name: dict[str, list[str]] = {}
        for folder in self.by_folder:
            self.folders_by_name.setdefault(_last_name(folder), []).append(folder)
        self.own_words = [path_words(public_name(path)) for path in paths]
        self.path_words = [path_words(path.rpartition(".")[0] or path) for path in paths]
        self.by_own_word = invert(self.own_words)
        self.by_path_word = invert(self.path_words)
        self.users = dict(users)
        self.definers = dict(definers)
        self.identifiers = identifiers
        sizes = [math.log(MIN_IDENTIFIERS + size) for size in self.identifiers]
        self.sizes = [size - sum(sizes) / (len(sizes) or 1) for size in sizes]
        """How much larger each source is than average, in logarithms of its identifiers."""
        self.tests = [is_test(path) for path in paths]
        self.tested = {
            number: [
                source
                for source in self.by_stem.get(tested_name(path), ())
                if not self.tests[source]
            ]
            for number, path in enumerate(paths)
            if self.tests[number]
        }
        """The sources that each test covers."""
        self._log_count = math.log(self.count + 1)
        self._own_weights = [sum(map(self.rarity, words)) or 1.0 for words in self.own_words]

    def look_up(self, names: Sequence[SourceNames], identifiers: AbstractSet[str]) -> None:
        """Find the users and definers of identifiers."""
        self.users |= invert(identifiers & source_names.used for source_names in names)
        self.definers |= invert(identifiers & source_names.defined for source_names in names)

    def uses(self, number: int, identifier: str) -> bool:
        """Return whether a source uses an identifier."""
        return _contains(self.users.get(identifier, ()), number)

    def defines(self, number: int, identifier: str) -> bool:
        """Return whether a source defines an identifier."""
        return _contains(self.definers.get(identifier, ()), number)

    def has_namesake(self, number: int, language: str) -> bool:
        """Return whether a source in another language has the name of one in this language.

        Names that files of many folders have, as `main`, do not count.
        """
        path = self.paths[number]
        stem = path_stem(path)
        if stem != public_name(path) or program_language(_suffix(path)) in {None, language}:
            return False
        if stem not in self._languages:
            namesakes = (self.paths[other] for other in self.by_stem[stem])
            self._languages[stem] = {program_language(_suffix(other)) for other in namesakes}
        return language in self._languages[stem]

    def rarity(self, word: str) -> float:
        """Return how rare a word is in paths: 1 if one path has it, 0 if all have it."""
        count = len(self.by_path_word.get(word, ())) or 1
        return math.log(1 + self.count / count) / math.log(2 + self.count)

    def identifier_rarity(self, identifier: str) -> float:
        """Return how rare an identifier is in sources, from 0 to 1."""
        users = len(self.users.get(identifier, ()))
        return math.log((self.count + 1) / users) / self._log_count if users else 0.0

    def own_weight(self, number: int) -> float:
        """Return the sum of the rarities of the words in a source's own name."""
        return self._own_weights[number]


def is_source_path(path: str) -> bool:
    """Return whether a file may be a source, by its path: no lock file, binary, or file of UBP."""
    if path.startswith(".ubp/"):
        return False
    name = path.rpartition("/")[2].lower()
    return name not in LOCK_FILES | _BY_SYSTEMS and not is_binary(name)


def is_binary(path: str) -> bool:
    """Return whether a file has no text or is an image, by its suffix."""
    return _BINARY.fullmatch(path[path.rfind(".") :]) is not None


def _contains(numbers: Sequence[int], number: int) -> bool:
    """Return whether a number is in an ascending sequence."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2]


def _last_name(path: str) -> str:
    return nfc(path.rpartition("/")[2])


def invert(keys: Iterable[Iterable[str]]) -> dict[str, Numbers]:
    """Return the numbers of the items that have each key; `keys` are those of each item."""
    inverted: dict[str, Numbers] = {}
    for number, item_keys in enumerate(keys):
        for key in item_keys:
            inverted.setdefault(key, []).append(number)
    return inverted
