"""The configuration as a value: defaults, and which paths it includes and excludes."""

import os
from typing import Literal, NamedTuple

from ubp.core.model import Alarms, FilePath
from ubp.core.paths import PAGE_SUFFIXES, match_any, nfc
from ubp.core.translations import TranslationRule

DEFAULT_INCLUDE = tuple(f"**/*{suffix}" for suffix in PAGE_SUFFIXES)
DEFAULT_KEYS = ("source_refs",)
DEFAULT_THRESHOLD_DAYS = 7.0
DEFAULT_ALARMS: Alarms = "named"
NO_MODEL = "none"
FULL_TEXT, EXCERPT_ONLY = "fulltext", "excerpt_only"
# At least two characters: `C:` is a drive of Windows. No `@`, `:` and `,`, which separate.
COLLECTION_NAME = r"[a-z0-9][a-z0-9._-]{1,63}"
COLLECTION_NAME_RULE = (
    "names have 2 to 64 lowercase letters, digits, dots, hyphens and underscores, and start with a "
    "letter or digit"
)
BUILT_IN_EXCLUDE = (
    "**/node_modules",  # the folder itself too: a reference may name it
    "**/node_modules/**",
    "**/vendor",
    "**/vendor/**",
    "**/*.secret.md",
    "**/private",
    "**/private/**",
    "**/.env",
)


class Ignored(NamedTuple):
    """A rule whose findings are suppressed in the files that one of the patterns matches."""

    patterns: tuple[str, ...]
    rule: str
    reason: str = ""


class CollectionSetting(NamedTuple):
    """A collection that the project uses, at a pinned version ("": whichever is current).

    `kind` is "mirror" (of a Git repository) or "import" (of web pages), which is pinned by the id
    of its tree; `remote` is a Git repository through which a team shares an import.
    """

    name: str
    kind: Literal["mirror", "import"]
    address: str
    at: str = ""
    include: tuple[str, ...] = ()
    language: str = ""
    policy: str = FULL_TEXT
    remote: str = ""


class SiteSetting(NamedTuple):
    """A site that the configuration describes: its generator, its folder and its pages' folder.

    `base` is the path that absolute links begin with. The generator "none": there is no site.
    """

    generator: str
    folder: FilePath
    root: FilePath
    base: str = ""


class EditSettings(NamedTuple):
    """What agents may propose: in which pages, how large, and how much in a minute."""

    paths: tuple[str, ...] = ()
    max_page_bytes: int = 500_000
    edits_per_minute: int = 30
    bytes_per_minute: int = 2_000_000


class Config(NamedTuple):
    """The settings, with normalized patterns; `exclude` contains the built-in exclusions.

    `docs_dir` is "" if the whole repository is searched for documents. `warnings` are sentences
    about unknown settings. `severities` are pairs of a rule's name and its severity. `link_roots`
    are folders that links with a leading "/" may be relative to. `model` is the folder or hub id of
    an embedding model, NO_MODEL for none, None for the bundled one. `refused` are pairs of a page
    (None: every page) and a source that it does not describe. `sites` replace those found in the
    same folders. `records` are patterns and doc_types of pages that are never stale; commits whose
    subject contains one of `ignored_commits` make none stale. `quiet_after` is the number of
    announcements after which a page is only mentioned, None for any. `pin_key` is the front matter
    key that pins sources without a pin of their own, None for none. `version` is the
    one whose pages come first in a search, None for the newest. `alarms` says for which drift a
    check fails.
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
    refused: frozenset[tuple[FilePath | None, FilePath]] = frozenset()
    collections: tuple[CollectionSetting, ...] = ()
    sites: tuple[SiteSetting, ...] = ()
    records: tuple[str, ...] = ()
    ignored_commits: tuple[str, ...] = ()
    quiet_after: int | None = None
    pin_key: str | None = None
    translations: tuple[TranslationRule, ...] = ()
    edit: EditSettings = EditSettings()
    version: str | None = None
    alarms: Alarms = DEFAULT_ALARMS

    @property
    def translation_pins(self) -> tuple[str, ...]:
        """The front matter keys that pin translations."""
        return tuple(dict.fromkeys(rule.pin for rule in self.translations if rule.pin))

    @property
    def facts_key(self) -> tuple[str, ...]:
        """What the facts of a page depend on besides its bytes; no key contains a tab."""
        pin = [f"\tpin {self.pin_key}"] if self.pin_key else []
        return *self.keys, *pin, *(f"\ttranslation {key}" for key in self.translation_pins)


def has_config(config_dir: str) -> bool:
    """Return whether `<config_dir>/config.json` exists, so that it must be read (`config_file`)."""
    return os.path.lexists(os.path.join(config_dir, "config.json"))


def is_document(config: Config, path: FilePath) -> bool:
    """Return whether a file is a document: included and not excluded."""
    return match_any(config.include, nfc(path)) and not is_excluded(config, path)


def is_excluded(config: Config, path: FilePath) -> bool:
    """Return whether a file's content, diffs and ids must not be shown."""
    return match_any(config.exclude, nfc(path))


def is_record(config: Config, path: FilePath, doc_type: str) -> bool:
    """Return whether a page records the past, so that it is never stale."""
    return doc_type in config.records or match_any(config.records, nfc(path))


def scope_key(config: Config) -> str:
    """Return a key of the settings that decide which files are documents; patterns have no NUL."""
    text = "\0".join([*config.include, "", *config.exclude])
    return text.encode("ascii", "backslashreplace").decode()  # JSON can contain lone surrogates


def is_narrower(scope: str, than: str) -> bool:
    """Return whether a scope may exclude files that are documents in another one."""
    include, exclude = _split_scope(scope)
    old_include, old_exclude = _split_scope(than)
    return not (old_include <= include and exclude <= old_exclude)


def _split_scope(scope: str) -> tuple[set[str], set[str]]:
    include, _, exclude = f"{scope}\0".partition("\0\0")
    return set(include.split("\0")), set(exclude.split("\0"))
