"""Text as the full text index takes it: folded in width, a blank between CJK characters.

SQLite's tokenizers know no words in Japanese: with each character a word of its own, a phrase of
them is found exactly, be it of one character, two or more.
"""

import re
import unicodedata


def segment(text: str) -> str:
    """Write a text so that `unicode61` finds its words; queries go through this as well."""
    if text.isascii():
        return text
    return _CJK.sub(_apart, _UNSAFE.sub(_composed, text))


def without_cjk(text: str) -> str:
    """A segmented text without its CJK characters."""
    return text if text.isascii() else _CJK.sub("", text)


def is_cjk(character: str) -> bool:
    """Tell whether a character is a word by itself."""
    return bool(_CJK.match(unicodedata.normalize("NFKC", character)))


def _apart(match: re.Match[str]) -> str:
    return f" {' '.join(match[0])} "


def _composed(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


# What NFKC leaves alone; the letter before anything else goes with it, for a mark may follow.
# Normalising whole pages takes four times as long.
_SAFE = "\x00-\x7f\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff"
_UNSAFE = re.compile(f"[{_SAFE}]?[^{_SAFE}]+")
_CJK = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)
