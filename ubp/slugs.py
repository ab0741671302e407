"""The anchor that GitHub gives to a heading, and the form in which names are compared."""

import unicodedata

from ubp.paths import nfc


def slug(text: str) -> str:
    r"""Write a heading's text as GitHub's anchor: "認証 Flow: v1.2" is "認証-flow-v12".

    Kept are letters, marks, decimal digits, connecting punctuation and hyphens, in lower case;
    a space becomes a hyphen (html-pipeline's `[^\p{Word}\- ]`).
    """
    return text.lower().translate(_KEPT)


def fold(text: str) -> str:
    """Write a name so that case and Unicode form (macOS decomposes) no longer count."""
    if text.isascii():
        return text.lower()
    return nfc(nfc(text).casefold())


class _Kept(dict[int, int | None]):
    """What `str.translate` makes of each character, found when first met."""

    def __missing__(self, code: int) -> int | None:
        category = unicodedata.category(chr(code))
        kept = code if category[0] in "LM" or category in {"Nd", "Nl", "Pc"} else None
        self[code] = kept
        return kept


_KEPT = _Kept({ord(" "): ord("-"), ord("-"): ord("-")})
