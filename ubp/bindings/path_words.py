"""The words in paths, and the name that identifies a file."""

import re
from functools import lru_cache

from ubp.core.paths import nfc

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# Words in every repository's paths, which distinguish nothing.
_COMMON = frozenset(
    {"and", "app", "doc", "docs", "for", "from", "index", "init", "lib", "main", "mod", "page"}
    | {"pages", "readme", "src", "test", "tests", "the", "this", "with"}
)
# Files that are named after their folder.
_FOLDER_FILES = frozenset(
    {"__init__", "anatomy", "contract", "goal", "index", "lib", "main", "mod", "overview", "plan"}
    | {"readme", "skill"}
)
_PRIVATE = re.compile(r"_[^_]")
_TEST_FOLDER = re.compile(r"(?:^|/)(?:tests?|__tests__|testing|test[-_]?apps?)/|^t/", re.IGNORECASE)
# In these languages a folder `spec` has tests; elsewhere it may have what specifies something.
_SPEC = re.compile(
    r"(?:^|/)specs?/(?:.*\.(?:rb|cr|[cm]?[jt]sx?|coffee|lua|exs?|clj\w*|scala|php))$", re.IGNORECASE
)
_TEST_NAME = re.compile(r"(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.[^/.]+$|[a-z]Tests?\.\w+$")
_TEST_AFFIX = re.compile(r"^test_|[._-](?:test|spec)s?$|(?<=[a-z])Tests?$")

# Not compiled: a hook needs them only where many pages are read.
_PAST_NAME = (
    r"(?i)(?:change(?:s|log)?s?|history|news|releases?|release[-_]?notes|relnotes|upgrad\w*"
    r"|migrat\w*|deprecat\w*|[\w.-]*announce\w*|v?\d+(?:[.-]\d+)+|whats[-_]?new"
    r"|breaking[-_]changes|adr[-_]?\d)"
    r".*\.\w+$"
)
_PAST_FOLDER = (
    r"(?i)(?:^|/)(?:blog|posts?|news|changelogs?|releases?|release[-_]notes|relnotes|adrs?|decisions?"
    r"|(?:rfcs?|proposals?)(?:[-_](?:accepted|approved|done|draft|implemented|open|rejected))?"
    r"|newsfragments|changes|\.changes|\.changeset|versioned_docs|archive|old|legacy"
    r"|migration|upgrading|\.github|fixtures?|testdata|v?\d+(?:\.(?:\d+|x))+)/"
)
# GitHub shows these as if they were at the root.
_FRONT_PAGE = r"(?i)\.github/(?:readme|contributing)[^/]*$"


def path_words(text: str) -> frozenset[str]:
    """Return the words of a name, in lower case and singular: `AuthTokens` has auth, token."""
    return frozenset(written_words(text))


def written_words(text: str) -> dict[str, str]:
    """Return the words of a name as they are written there, by their singular."""
    parts = [part.lower() for part in _PART.findall(nfc(text)) if len(part) > 1]
    words = {_singular(part): part for part in parts}
    return {word: part for word, part in words.items() if word not in _COMMON}


def path_stem(path: str) -> str:
    """Return a file's name up to its first dot: `auth` of `src/auth.test.ts` and `src/_auth.py`."""
    name = path.rpartition("/")[2]
    stem = name.split(".")[0] or name
    return stem[1:] if _PRIVATE.match(stem) else stem


def public_name(path: str) -> str:
    """Return the name that identifies a file: its stem, or its folder's name for an index."""
    stem = path_stem(path)
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return folder if folder and stem.lower() in _FOLDER_FILES else stem


def is_test(path: str) -> bool:
    """Return whether a source is a test, by its path."""
    return any(pattern.search(path) for pattern in (_TEST_FOLDER, _TEST_NAME, _SPEC))


def records_past(path: str) -> bool:
    """Return whether a page records what was.

    Changelogs, migration guides, decisions, posts and old versions of a documentation do.
    """
    if re.match(_FRONT_PAGE, path):
        return False
    folder, slash, name = path.rpartition("/")
    return _is_folder_of_past(folder + slash) or re.match(_PAST_NAME, name) is not None


@lru_cache(maxsize=10_000)
def _is_folder_of_past(folder: str) -> bool:
    return re.search(_PAST_FOLDER, folder) is not None


def tested_name(path: str) -> str:
    """Return the stem of the source that a test covers, by its name."""
    return _TEST_AFFIX.sub("", path.rpartition("/")[2].rpartition(".")[0])


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word  # noqa: PLR2004  # "bus", "gas"
