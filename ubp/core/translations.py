"""Rules that say which page is the translation of which: patterns with `{lang}` and `{path}`."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from ubp.core.model import FilePath

LANGUAGE, PATH = "{lang}", "{path}"


class TranslationRule(NamedTuple):
    """A rule: the patterns of translations and of their originals, both with `{path}` once.

    `page` has `{lang}` once, `source` has none. `pin` is the front matter key of the commit or blob
    that a translation was made from, None: what was there when the page last changed. `languages`
    are the only ones; empty: every code of a language.
    """

    page: str
    source: str
    pin: str | None = None
    languages: tuple[str, ...] = ()

    def match(self, path: str) -> tuple[str, FilePath] | None:
        """Return the language of a translation and the path of its original, None: it is none.

        >>> TranslationRule("docs/{lang}/{path}", "docs/en/{path}").match("docs/ja/a/b.md")
        ('ja', 'docs/en/a/b.md')
        """
        found = _compile(self.page, self.languages).fullmatch(path)
        if found is None:
            return None
        original = FilePath(self.source.replace(PATH, found["path"]))
        return None if original == path else (found["lang"], original)

    def is_original(self, path: str) -> bool:
        """Return whether a path matches the pattern of the originals."""
        return _compile(self.source, ()).fullmatch(path) is not None


def find_original(
    rules: Collection[TranslationRule], path: FilePath
) -> tuple[TranslationRule, str, FilePath] | None:
    """Return the first rule that a translation matches, its language, and its original's path."""
    for rule in rules:
        if found := rule.match(path):
            return rule, *found
    return None


def find_originals(
    rules: Collection[TranslationRule], paths: Collection[FilePath]
) -> dict[TranslationRule, list[FilePath]]:
    """Return those of these paths that are originals, for each rule."""
    return {
        rule: [
            path for path in paths if rule.is_original(path) and find_original(rules, path) is None
        ]
        for rule in rules
    }


@lru_cache
def _compile(pattern: str, languages: tuple[str, ...]) -> re.Pattern[str]:
    from ubp.core.languages import LANGUAGE_CODE  # compiles patterns that the hook does not need

    codes = "|".join(map(re.escape, languages)) if languages else LANGUAGE_CODE
    text = re.escape(pattern)
    text = text.replace(re.escape(LANGUAGE), f"(?P<lang>{codes})")
    return re.compile(text.replace(re.escape(PATH), "(?P<path>.+)"), re.DOTALL)
