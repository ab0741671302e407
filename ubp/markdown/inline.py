"""The inside of `[[Page|label]]`: its pattern, its type, and a label that looks mistyped.

Where links stand in a block's text, by CommonMark's bracket algorithm, with their positions.

markdown-it's inline tokens carry no positions and its lookahead costs four times as much; a test
compares the two. Emphasis, entities and line breaks do not move a link, so they are not read.

The target of a link as it is written: what of it is a path, what an anchor.
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

# Group 1 is the target, 2 what follows the bar. "\\|" is the bar inside of a table, and outside
# of one too: no page's name ends in a backslash. An image may stand in the label, a link may not.
_TARGET = r"(?:[^\[\]|\n\\]|\\(?=[^\[\]|\n]))+"
_LABEL = r"(?:[^\[\]\n]|!\[[^\[\]\n]*\]\([^()\n]*\))*"
WIKILINK = re.compile(rf"\[\[({_TARGET})(?:\\?\|({_LABEL}))?\]\]")


def link_type(label: str) -> LinkType | None:
    """Return the type that a label is, None for a label to be shown."""
    return _TYPES.get(label.strip())


@lru_cache(maxsize=1024)
def closest_link_type(label: str) -> LinkType | None:
    """Return the type that a label was probably meant to be: `depend_on`, `Conflicts-With`."""
    if not _LIKE_A_TYPE.fullmatch(label):
        return None
    words = re.sub(r"[\s_-]+", "_", label.strip().casefold())
    closest = closest_name(words, LINK_TYPES, MIN_TYPE_SIMILARITY)
    return _TYPES[closest] if closest else None


def same_page(written: str, target: str) -> bool:
    """Tell whether a definition leads where a wikilink does, as editors write it for `[[a]]`."""
    return _name(written) == _name(target)


def _name(target: str) -> str:
    name = target.partition("#")[0].rpartition("/")[2].strip().casefold()
    return name.removesuffix(".md").replace("%20", " ")


_TYPES: dict[str, LinkType] = {name: name for name in LINK_TYPES}

# Only a single word, or words joined as in an identifier: "depends on the weather" is a label.
_LIKE_A_TYPE = re.compile(r"\s*[A-Za-z]+(?:[_-][A-Za-z]+|\s[Oo]n|\s[Ww]ith)?\s*")
MIN_TYPE_SIMILARITY = 0.84


class InlineLink(NamedTuple):
    """A link in a text: where it stands, where its target and its label stand.

    A `reference` names its definition in `definition` and has the label's position as target.
    """

    kind: Literal["wikilink", "embed", "markdown", "reference", "image reference"]
    start: int
    end: int
    target: tuple[int, int]
    label: tuple[int, int]
    definition: str = ""


def find_links(text: str, definitions: Mapping[str, str]) -> list[InlineLink]:
    """Find the links of a block's text, in the order of their targets' positions.

    `definitions` maps normalised labels to targets.
    """
    scan = _Scan(text, definitions)
    position = 0
    while match := _SPECIAL.search(text, position):
        special = match[0]
        if special in {"[", "!["}:
            position = scan.open_bracket(match.start(), match.end())
        elif special == "]":
            position = scan.close_bracket(match.start())
        elif special == "\\":
            position = match.end() + 1
        elif special == "<":
            position = scan.skip_html(match.start())
        else:
            position = scan.skip_code(match.start(), match.end())
    return scan.found


_SPECIAL = re.compile(r"\\|<|\]|!?\[|`+")


class _Opener(NamedTuple):
    start: int  # of "[" or "!["
    label: int  # after the bracket
    is_image: bool


class _Scan:
    """One text's scan: open brackets, links found, and what is known not to come."""

    __slots__ = (
        "_absent",
        "_dead_below",
        "_definitions",
        "_inner",
        "_openers",
        "_runs",
        "_text",
        "found",
    )

    def __init__(self, text: str, definitions: Mapping[str, str]) -> None:
        self.found: list[InlineLink] = []
        self._text = text
        self._definitions = definitions
        self._openers: list[_Opener] = []
        # Links hold no links: openers below this height of the stack are dead, images apart.
        self._dead_below = 0
        # A reference's label holds no bracket: where the last bracket inside began.
        self._inner = -1
        self._runs: dict[int, list[int]] | None = None
        self._absent: dict[str, int] = {}

    def open_bracket(self, start: int, end: int) -> int:
        """Take a wikilink, else remember the bracket; return where to go on."""
        text = self._text
        if text.startswith("[", end) and (match := WIKILINK.match(text, end - 1)):
            plain = self._citation(start, end, match)
            if plain is not None:
                return plain
            if start < end - 1:  # an embed is no link that another could not hold
                self.found.append(
                    InlineLink("embed", start, match.end(), match.span(1), match.span(2))
                )
            else:
                self._add(InlineLink("wikilink", start, match.end(), match.span(1), match.span(2)))
            return match.end()
        self._openers.append(_Opener(start, end, start != end - 1))
        return end

    def close_bracket(self, position: int) -> int:
        """Take a link or an image that ends here; return where to go on."""
        if not self._openers:
            return position + 1
        opener = self._openers.pop()
        height = len(self._openers)
        is_dead = height < self._dead_below and not opener.is_image
        self._dead_below = min(self._dead_below, height)
        inner, self._inner = self._inner, opener.start
        if is_dead:
            return position + 1
        label = (opener.label, position)
        found = self._inline(opener, label) or self._reference(opener, label, inner)
        if found is None:
            return position + 1
        if opener.is_image:
            while self.found and self.found[-1].start > opener.start:
                self.found.pop()  # an image's alternative text is text
            if found.kind == "image reference":
                self.found.append(found)
        else:
            self._add(found)
        return found.end

    def skip_html(self, start: int) -> int:
        """Pass an autolink, a tag, a comment; return where to go on."""
        if match := _TAG.match(self._text, start):
            return match.end()
        if match := _HTML_RUN.match(self._text, start):
            closing = _HTML_RUN_ENDS.get(match[0], ">")
            end = self._find(closing, match.end())
            return end + len(closing) if end >= 0 else start + 1
        return start + 1

    def skip_code(self, start: int, end: int) -> int:
        """Pass a code span that opens here; return where to go on."""
        if self._runs is None:
            self._runs = {}
            for run in _BACKTICKS.finditer(self._text, start):
                self._runs.setdefault(run.end() - run.start(), []).append(run.start())
            for starts in self._runs.values():
                starts.reverse()
        starts = self._runs.get(end - start, [])
        while starts and starts[-1] <= start:
            starts.pop()
        return starts.pop() + end - start if starts else end

    def _add(self, found: InlineLink) -> None:
        self.found.append(found)
        self._dead_below = len(self._openers)

    def _citation(self, start: int, end: int, match: re.Match[str]) -> int | None:
        """Read `[[1]](url)`, `[[1]][ref]` and `[[1]]` with a definition of 1 as CommonMark does.

        `[[Page]](an aside)` is prose: Japanese has no space there.
        """
        text = self._text
        closing = match.end()
        label = (end + 1, closing - 2)
        if text.startswith(("(", "["), closing):
            opener = _Opener(start, end, start != end - 1)
            found = self._inline(opener, (end, closing - 1))
            if found and not _LIKE_A_TARGET.match(text, *found.target):
                found = None
            found = found or self._full_reference(opener, (end, closing - 1), closing)
            if found:
                if not opener.is_image:
                    self._add(found)
                return found.end
        definition = self._defined(text[label[0] : label[1]])
        if definition and not same_page(match[1], self._definitions[definition]):
            self._add(InlineLink("reference", end, closing - 1, label, label, definition))
            return closing
        return None

    def _inline(self, opener: _Opener, label: tuple[int, int]) -> InlineLink | None:
        text = self._text
        after = label[1] + 1
        if match := _PLAIN_TARGET.match(text, after):
            return InlineLink("markdown", opener.start, match.end(), match.span(1), label)
        if not text.startswith("(", after):
            return None
        start = _end_of(_SPACE, text, after + 1)
        target = _target(text, start)
        if target is None:
            return None
        end = _end_of(_SPACE, text, target[2])
        if end > target[2] and (title := _TITLE.match(text, end)):
            end = _end_of(_SPACE, text, title.end())
        if not text.startswith(")", end):
            return None
        return InlineLink("markdown", opener.start, end + 1, target[:2], label)

    def _reference(self, opener: _Opener, label: tuple[int, int], inner: int) -> InlineLink | None:
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
        definition = self._defined(self._text[label[0] : label[1]])
        return _reference(opener, after, label, label, definition) if definition else None

    def _full_reference(
        self, opener: _Opener, label: tuple[int, int], start: int
    ) -> InlineLink | None:
        match = _LINK_LABEL.match(self._text, start)
        definition = self._defined(match[1]) if match else ""
        if not match or not definition:
            return None
        return _reference(opener, match.end(), match.span(1), label, definition)

    def _defined(self, label: str) -> str:
        if not self._definitions or len(label) > _LONGEST_LABEL:
            return ""
        name = normalizeReference(label)
        return name if name in self._definitions else ""

    def _find(self, closing: str, start: int) -> int:
        """Find, but look only once for what is not there: many openings must not be quadratic."""
        if closing in self._absent:
            return -1
        end = self._text.find(closing, start)
        if end < 0:
            self._absent[closing] = start
        return end


def _reference(
    opener: _Opener, end: int, target: tuple[int, int], label: tuple[int, int], definition: str
) -> InlineLink:
    kind: Literal["image reference", "reference"] = (
        "image reference" if opener.is_image else "reference"
    )
    return InlineLink(kind, opener.start, end, target, label, definition)


def _target(text: str, start: int) -> tuple[int, int, int] | None:
    """Return where a link's target begins and ends, and where to go on behind it."""
    if text.startswith("<", start):
        match = _ANGLE_TARGET.match(text, start)
        return (*match.span(1), match.end()) if match else None
    depth = 0
    position = start
    while True:
        position = _end_of(_TARGET_RUN, text, position)
        character = text[position : position + 1]
        if character == "(" and depth < _DEEPEST_PARENTHESES:
            depth += 1
        elif character == ")" and depth:
            depth -= 1
        else:
            return None if depth or character == "(" else (start, position, position)
        position += 1


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


_DEEPEST_PARENTHESES = 32  # as markdown-it and cmark
_LONGEST_LABEL = 999  # CommonMark 4.7

_SPACE = re.compile(r"[ \t\n]*")
_PLAIN_TARGET = re.compile(r"\(([^\s()<>\\\x00-\x1f\x7f]*)\)")
_ANGLE_TARGET = re.compile(r"<((?:[^<>\\\n]|\\[^\n]?)*+)>")
_TARGET_RUN = re.compile(r"(?:[^ \x00-\x1f\x7f()\\]|\\[^ \x00-\x1f\x7f]?)*+")
_TITLE = re.compile(r'"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|\((?:[^()\\]|\\.)*+\)', re.DOTALL)
_LINK_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_LIKE_A_TARGET = re.compile(
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
