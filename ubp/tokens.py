"""How many tokens a text is: one for each CJK character, 1.3 for any other word. Pure."""

import re

# In tenths sums stay exact.
_TENTHS_A_WORD, _TENTHS_A_CHARACTER = 13, 10

CJK_RANGES = (
    "\u2e80-\u2fff\u3001-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff"
)


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model reads in a text."""
    return -(-token_tenths(text) // 10)


def token_tenths(text: str) -> int:
    """The same in tenths, unrounded, so that parts add up to the whole."""
    if text.isascii():
        return _TENTHS_A_WORD * len(text.split())
    others = _CJK.split(text)
    characters = len(text) - sum(map(len, others))
    words = sum(len(part.split()) for part in others)
    return _TENTHS_A_CHARACTER * characters + _TENTHS_A_WORD * words


_CJK = re.compile(f"[{CJK_RANGES}]+")
