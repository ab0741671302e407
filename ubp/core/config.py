"""The configuration as a value: its defaults, and what it says of a path."""

import os
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import match_any, nfc

DEFAULT_INCLUDE = ("**/*.md", "**/*.markdown")
DEFAULT_KEYS = ("source_refs",)
DEFAULT_THRESHOLD_DAYS = 7.0
NO_MODEL = "none"
BUILT_IN_EXCLUDE = (
    "**/node_modules",  # the folder too, for a reference may name it
    "**/node_modules/**",
    "**/vendor",
    "**/vendor/**",
    "**/*.secret.md",
    "**/private",
    "**/private/**",
    "**/.env",
)


class Ignored(NamedTuple):
    """Findings of a rule that nobody wants to see in the files that one of the patterns matches."""

    patterns: tuple[str, ...]
    rule: str


class Config(NamedTuple):
    """What the configuration says: patterns normalised, the built-in exclusions among them.

    `docs_dir` is "" where the whole repository is searched for documents; `warnings` are
    sentences about settings that nobody knows; `severities` are pairs of a rule's name and its
    severity; `link_roots` are folders where links with a leading "/" may start; `model` is an
    embedding model's folder or hub id, NO_MODEL for none, None for the one that comes with UBP;
    `refused` are pairs of a page and a source that it does not describe.
    """

    docs_dir: FilePath = FilePath("")
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = BUILT_IN_EXCLUDE
    keys: tuple[str, ...] = DEFAULT_KEYS
    threshold_days: float = DEFAULT_THRESHOLD_DAYS
    warnings: tuple[str, ...] = ()
    severities: tuple[tuple[str, str], ...] = ()
    ignored: tuple[Ignored, ...] = ()
    link_roots: tuple[FilePath, ...] = ()
    model: str | None = None
    refused: frozenset[tuple[FilePath, FilePath]] = frozenset()


def has_config(config_dir: str) -> bool:
    """Tell whether there is a `<config_dir>/config.json` that `ubp.core.config_file` must read."""
    return os.path.lexists(os.path.join(config_dir, "config.json"))


def is_document(config: Config, path: FilePath) -> bool:
    """Tell whether a file is a document: included and not excluded."""
    return match_any(config.include, nfc(path)) and not is_excluded(config, path)


def is_excluded(config: Config, path: FilePath) -> bool:
    """Tell whether a file's content, differences and ids must not be shown."""
    return match_any(config.exclude, nfc(path))


def scope(config: Config) -> str:
    """All that decides which files are documents, as one text; no pattern holds a NUL."""
    text = "\0".join([*config.include, "", *config.exclude])
    return text.encode("ascii", "backslashreplace").decode()  # JSON can bring half a surrogate
