"""Where the parts of a link are written: its target, its anchor, its label."""

import re
from typing import Literal

from ubp.core.model import Link

LinkPart = Literal["target", "anchor", "label"]

_WIKILINKS = frozenset({"wikilink", "embed"})
_ANCHOR = re.compile(rb"[^#\r\n]*?#")
_WIKILINK_ANCHOR = re.compile(rb"[^\[\]|\r\n]*?(?=\\?\||\]\])")
_LINK_ANCHOR = re.compile(rb"[^\s<>()]*")
_WIKILINK_LABEL = re.compile(rb"[^\[\]|\r\n]*\|[ \t]*(?P<label>[^\[\]\r\n]*?)[ \t]*\]\]")


def part_bounds(data: bytes, link: Link, part: LinkPart) -> tuple[int, int] | None:
    """Return the bytes of a part of a link in its page's `data`; None: it cannot be found."""
    if part == "target":
        return link.byte_start, link.byte_end
    if part == "label":
        match = _WIKILINK_LABEL.match(data, link.byte_end)
        return match.span("label") if match and link.kind in _WIKILINKS else None
    before = _ANCHOR.match(data, link.byte_end)
    if before is None:
        return None
    pattern = _WIKILINK_ANCHOR if link.kind in _WIKILINKS else _LINK_ANCHOR
    match = pattern.match(data, before.end())
    return match.span() if match else None
