"""Find the links in a block's text with their positions, by CommonMark's bracket algorithm.

markdown-it's inline tokens carry no positions, and its lookahead takes four times as long; a test
compares the two. Emphasis, entities and line breaks do not move a link, so they are not parsed.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import unquote

from markdown_it.common.html_re import close_tag, open_tag
from markdown_it.common.utils import normalizeReference, unescapeAll

from ubp.core.model import LINK_TYPES, LinkType
from ubp.core.text import closest_name

# Group 1 is the target, group 2 the label after the bar. "\\|" is the bar in a table, and elsewhere
# too: no page's name ends in a backslash. The label may contain an image, but no link.
_TARGET = r"(?:[^\[\]|\n\\]|\\(?=[^\[\]|\n]))+"
_LABEL = r"(?:[^\[\]\n]|!\[[^\[\]\n]*\]\([^()\n]*\))*"
WIKILINK = re.compile(rf"\[\[({_TARGET})(?:\\?\|({_LABEL}))?\]\]")

MIN_TYPE_SIMILARITY = 0.84
_TYPES: dict[str, LinkType] = {name: name for name in LINK_TYPES}
# A single word, or words joined as in an identifier: "depends on the weather" is a label.
_TYPE_LIKE = re.compile(r"\s*[A-Za-z]+(?:[_-][A-Za-z]+|\s[Oo]n|\s[Ww]ith)?\s*")

Span = tuple[int, int]
"""The start and the end of a part of a text."""


class InlineLink(NamedTuple):
    """A link in a text, with the spans of its target and its label.

    A `reference` has the name of its definition in `definition`, and its label's span as target.
    """

    kind: Literal["wikilink", "embed", "markdown", "image", "reference", "image reference"]
    start: int
    end: int
    target: Span
    label: Span
    definition: str = ""


class Target(NamedTuple):
    """A link's path and anchor, decoded; `start` and `end` are the path's span as written."""

    path: str
    anchor: str | None
    start: int
    end: int


def find_links_and_images(
    text: str, definitions: Mapping[str, str]
) -> tuple[list[InlineLink], list[InlineLink]]:
    """Return the links in a block's text, in the order of their targets, and its images.

    `definitions` maps normalized labels to targets. An image with a definition is a link of the
    kind "image reference"; images in HTML are among the images.
    """
    scanner = _Scanner(text, definitions)
    position = 0
    while match := _SPECIAL.search(text, position):
        special = match[0]
        if special in {"[", "!["}:
            position = scanner.open_bracket(match.start(), match.end())
        elif special == "]":
            position = scanner.close_bracket(match.start())
        elif special == "\\":
            position = match.end() + 1
        elif special == "<":
            position = scanner.skip_html(match.start())
        else:
            position = scanner.skip_code(match.start(), match.end())
    return scanner.links, scanner.images


def find_html_images(html: str, offset: int = 0) -> list[InlineLink]:
    """Return the images in a text of HTML; `offset` is added to positions."""
    if "<img" not in html and "<IMG" not in html:
        return []
    images = []
    for match in _HTML_SOURCE.finditer(html):
        name = "double" if match["double"] is not None else "single"
        start, end = (position + offset for position in match.span(name))
        span = (match.start() + offset, match.end() + offset)
        images.append(InlineLink("image", *span, (start, end), (-1, -1)))
    return images


def read_target(written: str) -> Target | None:
    """Parse the destination of a Markdown link; None if it leads to the web, or is a macro."""
    if _EXTERNAL.match(unescapeAll(written)) or _MACRO.search(written):
        return None
    tail = _TAIL.search(written)
    path = written[: tail.start()] if tail else written
    anchor = tail["anchor"] if tail else None
    return Target(_decode(path), None if anchor is None else _decode(anchor), 0, len(path))


def read_wikilink_target(written: str) -> Target | None:
    """Parse the part of a wikilink before its bar; None if it is empty or leads to the web."""
    page, mark, anchor = written.partition("#")
    path = page.strip()
    if _WEB.match(path) or not (path or anchor.strip()):
        return None
    start = len(page) - len(page.lstrip())
    return Target(path, anchor.strip() if mark else None, start, start + len(path))


def link_type(label: str) -> LinkType | None:
    """Return the link type that a label states; None for a label to be shown."""
    return _TYPES.get(label.strip())


@lru_cache(maxsize=1024)
def closest_link_type(label: str) -> LinkType | None:
    """Return the link type that a label resembles: `depend_on`, `Conflicts-With`."""
    if not _TYPE_LIKE.fullmatch(label):
        return None
    words = re.sub(r"[\s_-]+", "_", label.strip().casefold())
    closest = closest_name(words, LINK_TYPES, MIN_TYPE_SIMILARITY)
    return _TYPES[closest] if closest else None


_SPECIAL = re.compile(r"\\|<|\]|!?\[|`+")
_MAX_PARENTHESES = 32  # as markdown-it and cmark
_MAX_LABEL_CHARACTERS = 999  # CommonMark 4.7

_SPACE = re.compile(r"[ \t\n]*")
_PLAIN_TARGET = re.compile(r"\(([^\s()<>\\\x00-\x1f\x7f]*)\)")
_ANGLE_TARGET = re.compile(r"<((?:[^<>\\\n]|\\[^\n]?)*+)>")
_TARGET_RUN = re.compile(r"(?:[^ \x00-\x1f\x7f()\\]|\\[^ \x00-\x1f\x7f]?)*+")
_TITLE = re.compile(r'"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|\((?:[^()\\]|\\.)*+\)', re.DOTALL)
_LINK_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_TARGET_LIKE = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:|[#/]|\.\.?/|[^#?]*\.[a-z][a-z0-9]{0,8}(?:[#?]|\Z)", re.IGNORECASE
)
_BACKTICKS = re.compile(r"`+")
_AUTOLINK = (
    r"<[a-zA-Z][a-zA-Z0-9+.\-]{1,31}:[^<>\x00-\x20]*>"
    r"|<[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9.-]+>"
)
_TAG = re.compile(f"{_AUTOLINK}|{open_tag}|{close_tag}|<!---?>")
_HTML_RUN = re.compile(r"<!--|<!\[CDATA\[|<\?|<![A-Za-z]")
_HTML_RUN_ENDS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
# A scheme, or another host. In a wikilink, a page's title may contain a colon.
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
# Liquid, Jinja, Hugo, ERB, template literals, and StringTemplate (`$root$`).
_MACRO = re.compile(r"\{[{%<]|<%|\$\{|\$\w+\$")
# `[[ -f x ]]` and `[[ $a == b ]]` are tests of a shell, `[[TOC]]` a table of contents, and
# `[[1, 2]]` or `[[false,null]]` data.
_LITERAL = r"(?:null|true|false|none|[-+]?\d[\w.:+-]*|\"[^\"]*\"|'[^']*')"
_NO_WIKILINK = re.compile(
    r"\s+(?:!\s+)?(?:-[a-zA-Z]\s|\S+\s+(?:[=!]?=|=~|-[a-z]{2}|[<>])\s)|_?TO(?:C|SP)_?$"
    rf"|\s*{_LITERAL}(?:\s*,\s*{_LITERAL})+\s*$",
    re.IGNORECASE,
)
_HTML_SOURCE = re.compile(
    r"<img\b[^<>]*?\ssrc\s*=\s*(?:\"(?P<double>[^\"<>]*)\"|'(?P<single>[^'<>]*)')", re.IGNORECASE
)
_WEB = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|mailto:")
# A query does not identify a page; "&#35;" is an entity.
_TAIL = re.compile(r"(?:\?[^#]*)?(?<!&)#(?P<anchor>.*)|\?[^#]*$", re.DOTALL)


class _Opener(NamedTuple):
    """An open bracket: `start` is at "[" or "![", `label` after it.

    `inactive_below` is the height below which brackets were inactive before it was opened.
    """

    start: int
    label: int
    is_image: bool
    inactive_below: int = 0


class _Scanner:
    """The state of a scan of a text; each method returns the position where to continue."""

    __slots__ = (
        "_absent",
        "_backtick_runs",
        "_definitions",
        "_inactive_below",
        "_inner_bracket",
        "_openers",
        "_text",
        "images",
        "links",
    )

    def __init__(self, text: str, definitions: Mapping[str, str]) -> None:
        self.links: list[InlineLink] = []
        self.images: list[InlineLink] = []
        self._text = text
        self._definitions = definitions
        self._openers: list[_Opener] = []
        # Links contain no links: below this height of the stack, only openers of images are active.
        self._inactive_below = 0
        # The label of a reference contains no brackets: the start of the last bracket pair.
        self._inner_bracket = -1
        self._backtick_runs: dict[int, list[int]] | None = None  # length to starts, last first
        self._absent: set[str] = set()  # closing marks that the rest of the text lacks

    def open_bracket(self, start: int, end: int) -> int:
        """Add a wikilink, or push the bracket."""
        text = self._text
        match = WIKILINK.match(text, end - 1) if text.startswith("[", end) else None
        if match and not _NO_WIKILINK.match(match[1]):
            continue_at = self._citation(start, end, match)
            if continue_at is not None:
                return continue_at
            if start < end - 1:  # unlike a link, an embed may be inside another link
                self.links.append(
                    InlineLink("embed", start, match.end(), match.span(1), match.span(2))
                )
            else:
                self._add(InlineLink("wikilink", start, match.end(), match.span(1), match.span(2)))
            return match.end()
        self._openers.append(_Opener(start, end, start != end - 1, self._inactive_below))
        return end

    def close_bracket(self, position: int) -> int:
        """Add a link that ends at this bracket."""
        if not self._openers:
            return position + 1
        opener = self._openers.pop()
        height = len(self._openers)
        is_inactive = height < self._inactive_below and not opener.is_image
        self._inactive_below = min(self._inactive_below, height)
        inner, self._inner_bracket = self._inner_bracket, opener.start
        if is_inactive:
            return position + 1
        label = (opener.label, position)
        link = self._inline(opener, label) or self._reference(opener, label, inner)
        if link is None:
            return position + 1
        if opener.is_image:
            while self.links and self.links[-1].start > opener.start:
                self.links.pop()  # an image's description is plain text
            self._inactive_below = min(self._inactive_below, opener.inactive_below)
            if link.kind == "image reference":
                self.links.append(link)
            else:
                self.images.append(link._replace(kind="image"))
        else:
            self._add(link)
        return link.end

    def skip_html(self, start: int) -> int:
        """Skip an autolink, a tag or a comment."""
        if match := _TAG.match(self._text, start):
            self.images += find_html_images(match[0], start)
            return match.end()
        if match := _HTML_RUN.match(self._text, start):
            closing = _HTML_RUN_ENDS.get(match[0], ">")
            end = self._find(closing, match.end())
            return end + len(closing) if end >= 0 else start + 1
        return start + 1

    def skip_code(self, start: int, end: int) -> int:
        """Skip a code span, or the backticks that open none."""
        if self._backtick_runs is None:
            self._backtick_runs = {}
            for run in _BACKTICKS.finditer(self._text, start):
                self._backtick_runs.setdefault(run.end() - run.start(), []).append(run.start())
            for starts in self._backtick_runs.values():
                starts.reverse()
        starts = self._backtick_runs.get(end - start, [])
        while starts and starts[-1] <= start:
            starts.pop()
        return starts.pop() + end - start if starts else end

    def _add(self, link: InlineLink) -> None:
        self.links.append(link)
        self._inactive_below = len(self._openers)

    def _citation(self, start: int, end: int, match: re.Match[str]) -> int | None:
        """Parse `[[1]](url)`, `[[1]][ref]` and `[[1]]` with a definition of 1 as CommonMark does.

        Not `[[Page]](an aside)`: Japanese prose has no space there. Returns where to continue, or
        None if it is a wikilink.
        """
        text = self._text
        closing = match.end()
        label = (end + 1, closing - 2)
        if text.startswith(("(", "["), closing):
            opener = _Opener(start, end, start != end - 1)
            link = self._inline(opener, (end, closing - 1))
            if link and not _TARGET_LIKE.match(text, *link.target):
                link = None
            link = link or self._full_reference(opener, (end, closing - 1), closing)
            if link:
                if not opener.is_image:
                    self._add(link)
                return link.end
        definition = self._definition(text[label[0] : label[1]])
        if definition and not _is_same_page(match[1], self._definitions[definition]):
            self._add(InlineLink("reference", end, closing - 1, label, label, definition))
            return closing
        return None

    def _inline(self, opener: _Opener, label: Span) -> InlineLink | None:
        text = self._text
        after = label[1] + 1
        if match := _PLAIN_TARGET.match(text, after):
            return InlineLink("markdown", opener.start, match.end(), match.span(1), label)
        if not text.startswith("(", after):
            return None
        start = _match_end(_SPACE, text, after + 1)
        destination = _destination(text, start)
        if destination is None:
            return None
        target, target_end = destination
        end = _match_end(_SPACE, text, target_end)
        if end > target_end and (title := _TITLE.match(text, end)):
            end = _match_end(_SPACE, text, title.end())
        if not text.startswith(")", end):
            return None
        return InlineLink("markdown", opener.start, end + 1, target, label)

    def _reference(self, opener: _Opener, label: Span, inner: int) -> InlineLink | None:
        if not self._definitions:
            return None
        after = label[1] + 1
        match = _LINK_LABEL.match(self._text, after)
        if match and match[1].strip():
            return self._full_reference(opener, label, after)
        if match and not match[1]:
            after = match.end()
        if inner >= label[0]:
            return None
        definition = self._definition(self._text[label[0] : label[1]])
        return _reference(opener, after, label, label, definition) if definition else None

    def _full_reference(self, opener: _Opener, label: Span, start: int) -> InlineLink | None:
        match = _LINK_LABEL.match(self._text, start)
        definition = self._definition(match[1]) if match else ""
        if not match or not definition:
            return None
        return _reference(opener, match.end(), match.span(1), label, definition)

    def _definition(self, label: str) -> str:
        """Return the name of a label's definition, "" if there is none."""
        if not self._definitions or len(label) > _MAX_LABEL_CHARACTERS:
            return ""
        name = normalizeReference(label)
        return name if name in self._definitions else ""

    def _find(self, closing: str, start: int) -> int:
        """Find a closing mark; a missing one is searched only once, or time would be quadratic."""
        if closing in self._absent:
            return -1
        end = self._text.find(closing, start)
        if end < 0:
            self._absent.add(closing)
        return end


def _reference(opener: _Opener, end: int, target: Span, label: Span, definition: str) -> InlineLink:
    kind: Literal["image reference", "reference"] = (
        "image reference" if opener.is_image else "reference"
    )
    return InlineLink(kind, opener.start, end, target, label, definition)


def _destination(text: str, start: int) -> tuple[Span, int] | None:
    """Return the span of a link's destination, and where to continue after it."""
    if text.startswith("<", start):
        match = _ANGLE_TARGET.match(text, start)
        return (match.span(1), match.end()) if match else None
    depth = 0
    position = start
    while True:
        position = _match_end(_TARGET_RUN, text, position)
        character = text[position : position + 1]
        if character == "(" and depth < _MAX_PARENTHESES:
            depth += 1
        elif character == ")" and depth:
            depth -= 1
        else:
            return None if depth or character == "(" else ((start, position), position)
        position += 1


def _match_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _is_same_page(wikilink: str, target: str) -> bool:
    """Return whether a definition has the target of a wikilink: editors write one for `[[a]]`."""
    return _page_name(wikilink) == _page_name(target)


def _page_name(target: str) -> str:
    name = target.partition("#")[0].rpartition("/")[2].strip().casefold()
    return name.removesuffix(".md").replace("%20", " ")


def _decode(written: str) -> str:
    text = unescapeAll(re.sub(r"[\t\r\n]", "", written))  # browsers leave these out
    if "%" not in text:
        return text
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
    return text if "\0" in decoded else decoded
