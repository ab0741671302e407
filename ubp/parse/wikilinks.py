"""The inside of `[[Page|label]]`: its pattern, its type, and a label that looks mistyped."""

import re
from functools import lru_cache

from ubp.model import LINK_TYPES, LinkType

# Group 1 is the target, 2 what follows the bar. "\\|" is the bar inside of a table, and outside
# of one too: no page's name ends in a backslash. An image may stand in the label, a link may not.
_TARGET = r"(?:[^\[\]|\n\\]|\\(?=[^\[\]|\n]))+"
_LABEL = r"(?:[^\[\]\n]|!\[[^\[\]\n]*\]\([^()\n]*\))*"
WIKILINK = re.compile(rf"\[\[({_TARGET})(?:\\?\|({_LABEL}))?\]\]")


def link_type(label: str) -> LinkType | None:
    """Return the type that a label is, None for a label to be shown."""
    return _TYPES.get(label.strip())


@lru_cache(maxsize=1024)
def mistyped(label: str) -> LinkType | None:
    """Return the type that a label was probably meant to be: `depend_on`, `Conflicts-With`."""
    if not _LIKE_A_TYPE.fullmatch(label):
        return None
    from difflib import get_close_matches

    words = re.sub(r"[\s_-]+", "_", label.strip().casefold())
    match = get_close_matches(words, LINK_TYPES, n=1, cutoff=_CLOSE)
    return _TYPES[match[0]] if match else None


def same_page(written: str, target: str) -> bool:
    """Tell whether a definition leads where a wikilink does, as editors write it for `[[a]]`."""
    return _name(written) == _name(target)


def _name(target: str) -> str:
    name = target.partition("#")[0].rpartition("/")[2].strip().casefold()
    return name.removesuffix(".md").replace("%20", " ")


_TYPES: dict[str, LinkType] = {name: name for name in LINK_TYPES}

# Only a single word, or words joined as in an identifier: "depends on the weather" is a label.
_LIKE_A_TYPE = re.compile(r"\s*[A-Za-z]+(?:[_-][A-Za-z]+|\s[Oo]n|\s[Ww]ith)?\s*")
_CLOSE = 0.84
