"""Languages in the paths of translated pages, and of what people ask.

Patterns of names, not a configuration: `auth.ja.md`, `auth-zh-CN.md`, `docs/ja/auth.md`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_LANGUAGE = (
    r"(?i)(?:[._-]|(?<=/)|^)(?P<language>ar|de|en|es|fr|hi|id|it|ja|jp|ko|nl|pl|pt|ru|tr|uk|vi|zh)"
    r"(?:[-_](?:[a-z]{2}|hans|hant))?(?=\.(?:md|mdx|markdown)$|/)"
)
# ISO 639-1 codes of the languages that documentation is translated into, with an optional country
# or script.
LANGUAGE_CODE = (
    r"(?:ar|az|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|hy|id|it|ja|ka|kk|ko|lt|lv|ms"
    r"|nb|nl|no|pl|pt|ro|ru|sk|sl|sq|sr|sv|ta|te|th|tr|uk|ur|uz|vi|zh)"
    r"(?:[-_](?:[A-Za-z]{2}|[Hh]ans|[Hh]ant|[Ll]atn|[Cc]yrl))?"
)


@lru_cache(maxsize=10_000)
def without_language(path: str) -> str:
    """Return a path without the language in it: the same for all translations of a page."""
    return re.sub(_LANGUAGE, "", path).replace("//", "/").removeprefix("/")


@lru_cache(maxsize=10_000)
def language_of(path: str) -> str:
    """Return the language that a path names ("ja"); "" if it names none."""
    match = re.search(_LANGUAGE, path)
    language = match["language"].lower() if match else ""
    return "ja" if language == "jp" else language


def same_language(language: str) -> str:
    """Return the code of a language in one spelling: "pt-br" of "pt-BR" and of "pt_br"."""
    return language.lower().replace("_", "-")


def languages_of_text(text: str) -> tuple[str, ...]:
    """Return the languages in which a text may be, by its script, the likeliest first.

    A text in Latin letters may be in English, or in the language of pages that name none ("").
    """
    if _has(text, "\u3041", "\u30fe"):  # kana
        return ("ja",)
    if _has(text, "\uac00", "\ud7a3"):  # hangul
        return ("ko",)
    if _has(text, "\u4e00", "\u9fff"):  # Han characters
        return ("ja", "zh")
    return ("en", "")


def main_language(titles: Iterable[str]) -> str:
    """Return the language of most titles, "en" if no script says another.

    Titles of names and code are in Latin letters in any language: a third of the others decides.
    """
    counts = Counter(languages_of_text(title)[0] for title in titles)
    total = counts.total()
    found = [language for language, number in counts.most_common() if number * 3 >= total]
    return next((language for language in found if language != "en"), "en")


def _has(text: str, first: str, last: str) -> bool:
    """Return whether a text has a character of a range."""
    return any(first <= character <= last for character in text)
