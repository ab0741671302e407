"""A page's first heading, by a light scan: most pages have it on top, and no parser is needed."""

import re

from ubp.parse.source import BOM

_BLOCK = re.compile(
    rb"^ {0,3}(?:#[ \t](?P<heading>[^\n]*)|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    rb"|(?P<comment><!--)|(?P<underline>=+)[ \t]*$)",
    re.MULTILINE,
)
_CLOSING_FENCE = re.compile(rb"^ {0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
# A line that ends the paragraph above it, and one that makes it part of a list or a quotation.
_EMPTY_OR_HEADING = re.compile(r"[ \t]*$| {0,3}#{1,6}(?:[ \t]|$)")
_CONTAINER = re.compile(r" {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|<)| {4}|\t")


def first_heading(body: bytes) -> str | None:
    """Return the text of the first H1, `# …` or underlined, outside fenced code and comments."""
    body = body.removeprefix(BOM)
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    place = 0
    while block := _BLOCK.search(body, place):
        text = ""
        if block["fence"]:
            end = _end_of_code(body, block)
        elif block["comment"]:
            end = body.find(b"-->", block.end())
        else:
            end = block.end()
            text = _heading(block) if block["underline"] is None else _paragraph(body, place, block)
        if text or end < 0:
            return text or None
        place = end
    return None


def _end_of_code(body: bytes, block: re.Match[bytes]) -> int:
    for fence in _CLOSING_FENCE.finditer(body, block.end()):
        if fence[1].startswith(block["fence"]):
            return fence.end()
    return -1


def _heading(block: re.Match[bytes]) -> str:
    text = block["heading"].decode("utf-8", "replace").strip()
    without = text.rstrip("#")  # "# Title ##" is closed, "# C#" is not
    return without.rstrip() if not without or without[-1] in " \t" else text


def _paragraph(body: bytes, start: int, block: re.Match[bytes]) -> str:
    above = body[start : block.start()].decode("utf-8", "replace").split("\n")[:-1]
    lines: list[str] = []
    for line in reversed(above):
        if _EMPTY_OR_HEADING.match(line):
            break
        if _CONTAINER.match(line):
            return ""
        lines.insert(0, line.strip())
    return " ".join(lines)
