"""Which files of a snapshot can be a page's source."""

import re
from collections.abc import Callable, Mapping

from ubp.index import View
from ubp.model import Entry, FilePath

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
