"""What the text of a page shows about its headings, whatever generator makes their anchors."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from ubp.core.paths import nfc
from ubp.core.text import fold
from ubp.markdown.includes import find_includes, imported_pages
from ubp.markdown.title import split_own_id

# What may spell a heading: headings, ids, names, comments, and quoted texts of components.
_SPELLED = re.compile(
    r"^[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*#{1,6}[ \t]*(?P<heading>.+)$"
    r"|^(?P<underlined>.+)\n[=-]{3,}[ \t]*$|<h[1-6][^>]*>(?P<html>.*?)</h"
    r"|[{\[][ \t]*:?[ \t]*#(?P<id>[\w.:-]+)|^[ \t]*===[!+]?[ \t]+\"(?P<tab>.+)\""
    r"|\b(?:id|name|title|label|value|slug)[ \t]*[=:][ \t]*[{(]*"
    r"(?P<quote>[\"'`])(?P<quoted>.+?)(?P=quote)"
    r"|\b(?:id|name)[ \t]*=[ \t]*(?P<bare>[^\s\"'`>{}]+)|<!--(?P<comment>[^<>]*)-->",
    re.MULTILINE,
)
_TAB_LABEL = re.compile(r"^[ \t]*===[!+]?[ \t]+\"(.+)\"", re.MULTILINE)
# What a heading may compute; tags of HTML are read as generators read them.
_DYNAMIC = re.compile(r"[{}]|</?(?:[A-Z]|[a-z]\w*-)|\][(\[]|&#?\w+;")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(?!.*`)(?P<directive>[ \t]*\{)?")
# What fills a page from elsewhere: shortcodes, tags of templates, directives, layouts, pieces,
# and what scripts replace.
# `={{` is a value in JSX.
_FILLERS = re.compile(
    r"(?<!=)\{\{[<%]?[-\s]*(?P<short>[\w./]+(?:-[\w./]+)*)|\{%[-\s]*(?P<tag>\w+)"
    r"|^[ \t]*:::+[ \t]*\{?(?P<module>[\w.-]+)|^layout:[ \t]*(?P<layout>\S+)"
    r"|(?P<snippet>--8<--|\{!|@include|!!!include)"
    r"|^[ \t]*(?P<placeholder>@@?\w+@@?|%%?\w+%%?)[ \t]*$"
    r"|^[ \t]*`{3,}\{(?P<directive>[\w:-]+)\}|^\.\.[ \t]+(?P<rst>[\w:-]+)::",
    re.MULTILINE,
)
_COMPONENT = re.compile(r"<(?P<name>[A-Z]\w*)")
_INLINE_CODE = re.compile(r"(?P<mark>`{1,2})[^`\n]+(?P=mark)")
_IMPORT = re.compile(r"^import[ \t]", re.MULTILINE)
# Of the generators themselves: what these show is in the page.
_KNOWN_IMPORT = re.compile(
    r"^import[ \t]+(?P<names>[\w{}, \t]+?)[ \t]+from[ \t]+"
    r"[\"'](?:@theme/|@docusaurus/|@astrojs/|astro:|vitepress|nextra)[^\"'\n]*[\"']",
    re.MULTILINE,
)
_KNOWN_COMPONENTS = frozenset({"Badge", "Tab", "TabItem", "Tabs"})
_SCRIPT = re.compile(r"^<script", re.MULTILINE)
_HARMLESS = frozenset(
    {"tip", "note", "info", "warning", "danger", "caution", "details", "important"}
    | {"else", "elif", "elsif", "elseif"}
)
LAYOUT = "layout "  # a filler's name begins so
_LIST_END = re.compile(r"^[ \t]*-+8<-+[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"\{\{[^{}]{0,1000}\}\}|\{%[^%]{0,1000}%\}")
MAX_BESIDE = 2_000  # characters of a line on either side of a tag; in a longer one it stands alone
_MARKER = re.compile(r"\A[ \t>|]*(?:[-*+]|\d+[.)])?")
_HEADING = re.compile(r"[ \t>]*(?:#|<h[1-6])|.*\n[ \t]*(?:={3,}|-{3,})[ \t]*$")
_TIGHT_HEADING = re.compile(r"^[ \t>]*#{1,6}[^#\s]", re.MULTILINE)
_CONTAINER_END = re.compile(r"^[ \t]*:::+[ \t]*$", re.MULTILINE)
# Where a page names a file without a link to it: front matter, comments, shortcodes and tags.
_NAMING = re.compile(
    r"\A(?:---[ \t]*\n(?s:.*?)\n---|\+\+\+[ \t]*\n(?s:.*?)\n\+\+\+)[ \t]*$"
    r"|<!--[^<>]*-->|\{\{[^{}]*\}\}|\{%[^%]*%\}|<(?!a\b)[A-Za-z][^<>]*>",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n(?s:.*?)\n---|\+\+\+[ \t]*\n(?s:.*?)\n\+\+\+)[ \t]*$", re.MULTILINE
)
MIN_OWN_LETTERS = 300  # of a page's text, two or three sentences
_NAME = re.compile(
    r"(?<![\w./@~+-])[\w./@~+-]+\.(?:mdx?|qmd|rmd|markdown|rst|html?|txt|adoc|ipynb)\b",
    re.IGNORECASE,
)
_OTHER = bytes(byte for byte in range(256) if byte > 127 or not chr(byte).isalnum())  # noqa: PLR2004  # ASCII


def letters_of(text: str) -> str:
    """Return the letters and digits of a text in lower case: what every slug keeps."""
    return re.sub(r"[\W_]+", "", fold(nfc(text)))


def squash(data: bytes) -> bytes:
    """Return the letters and digits of a text in ASCII, in lower case."""
    return data.lower().translate(None, _OTHER)


class PageText:
    """The text of a page, in which each heading is looked for without parsing it again."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def _text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @cached_property
    def _squashed(self) -> bytes:
        return squash(self.data)

    def spells(self, letters: str) -> bool:
        """Whether something in the page may make an anchor of these letters by another rule."""
        if self._is_of_tab(letters):
            return True
        if letters.isascii() and letters.encode() not in self._squashed:
            return False  # nothing is parsed: that takes a hundredth of the time
        whole, parts = self._spelled
        return letters in whole or any(letters in part for part in parts)

    def spells_beside_headings(self, letters: str) -> bool:
        """Whether an id, a component, a comment or a computed heading may make an anchor."""
        return any(
            letters in letters_of(written)
            for match in _SPELLED.finditer(self._text)
            for kind, written in match.groupdict().items()
            if written and (kind not in {"heading", "underlined"} or _DYNAMIC.search(written))
        )

    @cached_property
    def has_sentences(self) -> bool:
        """Whether it has more text than a list or a few words."""
        return len(letters_of(_FRONT_MATTER.sub("", self._prose))) >= MIN_OWN_LETTERS

    @cached_property
    def has_tight_headings(self) -> bool:
        """Whether a line may be a heading without a blank after its signs (`##Title`)."""
        return _TIGHT_HEADING.search(self._prose) is not None

    def sets_name(self, name: str) -> bool:
        """Whether a tag, a shortcode, a comment, or an attribute has a name, other than a link."""
        if name not in self._text:
            return False
        written = re.compile(rf"(?<![#\w-]){re.escape(name)}(?![\w-])")
        attributes = re.compile(rf"[{{\[][ \t]*:?[ \t]*#{re.escape(name)}(?![\w-])")
        names = (match["quoted"] or match["bare"] or "" for match in _SPELLED.finditer(self._text))
        places = (place[0] for place in _NAMING.finditer(self._text))
        is_written = any(written.search(text) for text in (*names, *places))
        return is_written or attributes.search(self._text) is not None

    def _is_of_tab(self, letters: str) -> bool:
        """Whether they are a heading's, or a tab's, and those of the label of a tab below it.

        pymdownx.tabbed makes such anchors with `combine_header_slug`.
        """
        return any(
            letters.endswith(label) and letters.removesuffix(label) in self._spelled[0]
            for label in self._tab_labels
        )

    @cached_property
    def _tab_labels(self) -> frozenset[str]:
        """The letters of the labels of tabs in MkDocs (`=== "macOS"`)."""
        if b"===" not in self.data:
            return frozenset()
        return frozenset(filter(None, map(letters_of, _TAB_LABEL.findall(self._text))))

    @cached_property
    def _spelled(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The letters that are spelled, and those among which others may be computed."""
        whole, parts = set[str](), list[str]()
        for match in _SPELLED.finditer(self._text):
            for written in filter(None, match.groups()):
                title, own_id = split_own_id(written.rstrip())
                found = letters_of(written)
                # what has an id of its own makes no other anchor, unless the id is part of it
                whole |= {found, found.lstrip("0123456789"), letters_of(own_id)}
                if match["comment"] or _DYNAMIC.search(title):
                    parts.append(found)
        return frozenset(whole), tuple(parts)

    @cached_property
    def fillers(self) -> frozenset[str]:
        """The names of what fills the page from elsewhere when the site is built.

        A tag within a line is a word or a link of it, and one with an end, as a container, has its
        text in the page: neither makes a heading.
        """
        matches = list(_FILLERS.finditer(self._prose))
        ends = {match[0].lstrip("{%<- \t\n") for match in matches if match["short"] or match["tag"]}
        containers = sum(match["module"] is not None for match in matches)
        has_ends = len(_CONTAINER_END.findall(self._prose)) >= containers
        found = set[str]()
        for match in matches:
            kind, name = match.lastgroup or "", match[match.lastgroup or 0]
            is_tag = kind in {"short", "tag"}
            bare = name.removeprefix("/").removeprefix("end")
            is_paired = is_tag and not ends.isdisjoint({f"/{bare}", f"end{bare}"})
            is_closed = is_paired or (kind == "module" and has_ends)
            if name in _HARMLESS or is_closed or (is_tag and self._is_in_a_line(match.start())):
                continue
            found.add(f"{kind} {name}")
        return frozenset(found)

    @cached_property
    def included(self) -> tuple[str, ...] | None:
        """What the page includes otherwise than as code; None where it is written in no known way.

        Lines `--8<--` alone are the ends of a list, whose files are among them.
        """
        text = self._prose
        ends = [match.start() for match in re.finditer(r"\n|\Z", text)]
        includes = list(find_includes(text))
        lines = {bisect_left(ends, include.start) for include in includes}
        lines |= {bisect_left(ends, match.start()) for match in _LIST_END.finditer(text)}
        written = (match.start("snippet") for match in _FILLERS.finditer(text) if match["snippet"])
        if any(bisect_left(ends, start) not in lines for start in written):
            return None
        return tuple(include.target for include in includes if not include.is_code)

    def _is_in_a_line(self, start: int) -> bool:
        """Whether a tag has text beside it, which is no heading."""
        text = self._prose
        tag = _TAG.match(text, start)
        first = text.rfind("\n", max(0, start - MAX_BESIDE), start) + 1
        if tag is None or (not first and start > MAX_BESIDE):
            return False
        last = text.find("\n", tag.end(), tag.end() + MAX_BESIDE)
        line = text[first : last if last >= 0 else tag.end() + MAX_BESIDE]
        beside = _TAG.sub("", _MARKER.sub("", line, count=1))
        return re.search(r"\w", beside) is not None and not _HEADING.match(text, first)

    @cached_property
    def has_component(self) -> bool:
        """Whether the page has a script or a component that may show what is elsewhere."""
        text = self._prose
        imports = list(_KNOWN_IMPORT.finditer(text))
        pages = imported_pages(text)
        known = {name for found in imports for name in re.findall(r"\w+", found["names"])}
        used = {match["name"] for match in _COMPONENT.finditer(_INLINE_CODE.sub("", text))}
        has_other_import = len(_IMPORT.findall(text)) > len(imports) + len(pages)
        has_script = _SCRIPT.search(text) is not None
        return has_script or has_other_import or not used <= known | pages | _KNOWN_COMPONENTS

    @cached_property
    def _prose(self) -> str:
        """The text without blocks of code."""
        lines, end = list[str](), ""
        for line in self._text.split("\n"):
            fence = _FENCE.match(line)
            if end:
                end = "" if fence and fence[1].startswith(end) else end
            elif fence and not fence["directive"]:
                end = fence[1]
            else:
                lines.append(line)
        return "\n".join(lines)

    def named_files(self) -> Iterator[str]:
        """Yield the paths of pages and texts that the page names otherwise than by a link."""
        for place in _NAMING.finditer(self._text):
            yield from (match[0] for match in _NAME.finditer(place[0]))
