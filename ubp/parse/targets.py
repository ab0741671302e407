"""The target of a link as it is written: what of it is a path, what an anchor."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it.common.utils import unescapeAll


class Target(NamedTuple):
    """A path and an anchor, decoded; `start` and `end` say where the path stands in the written."""

    path: str
    anchor: str | None
    start: int
    end: int


def read_target(written: str) -> Target | None:
    """Take apart what stands between a link's parentheses; None for what leads to the web."""
    if _EXTERNAL.match(unescapeAll(written)):
        return None
    tail = _TAIL.search(written)
    path = written[: tail.start()] if tail else written
    anchor = tail["anchor"] if tail else None
    return Target(_decode(path), None if anchor is None else _decode(anchor), 0, len(path))


def read_wikilink_target(written: str) -> Target | None:
    """Take apart what a wikilink has before its bar; None where it is empty or leads to the web."""
    page, mark, anchor = written.partition("#")
    path = page.strip()
    if _WEB.match(path) or not (path or anchor.strip()):
        return None
    start = len(page) - len(page.lstrip())
    return Target(path, anchor.strip() if mark else None, start, start + len(path))


def _decode(written: str) -> str:
    text = unescapeAll(written)
    if "%" not in text:
        return text
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
    return text if "\0" in decoded else decoded


# A scheme, or another host; a page's title may hold a colon.
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_WEB = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|mailto:")
# A query says how to show a page, not which; "&#35;" is an entity.
_TAIL = re.compile(r"(?:\?[^#]*)?(?<!&)#(?P<anchor>.*)|\?[^#]*$", re.DOTALL)
