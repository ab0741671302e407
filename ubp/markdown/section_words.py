"""Find the sections of a page with the digests of their words, by which two versions are compared.

Prose is compared without differences of case, white space and markup, and without link definitions
and the targets of links; code blocks are compared byte by byte.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ubp.core.source import Part, digest
from ubp.core.text import BREAKING_TAG, fold, slug
from ubp.markdown.blocks import find_blocks
from ubp.markdown.document import read_head
from ubp.markdown.headings import Heading, Outline, find_outline
from ubp.markdown.source_text import SourceText

# The version of what `Sections` returns for the same bytes.
VERSION = 4
# Markup is kept in longer paragraphs: 200 kB of brackets take markdown-it 3 s.
MAX_PARAGRAPH_CHARACTERS = 20_000

_CUSTOM_ID = re.compile(r"\{#([^\s{}]+)[^{}]*\}\s*$")
_HTML = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>", re.DOTALL)
_BREAK = re.compile(BREAKING_TAG, re.IGNORECASE)
# Ids beside a heading's own one, as converters of web pages write them: `## <a id="x"></a>Title`.
_ANCHOR = re.compile(r"<a\s+(?:id|name)=[\"']([^\"'<>]+)[\"']\s*>", re.IGNORECASE)


class Sections:
    """The sections of a page: one for every heading, down to the next of its level or above.

    The names of a section are its own id, and the slug and text of its heading.
    """

    def __init__(self, data: bytes) -> None:
        """Parse a page."""
        source, first_line, outline = parse_outline(data)
        passages = list(find_passages(source, first_line)) if outline.headings else []
        starts = [line for line, _ in passages]
        self._parts = []
        for number, heading in enumerate(outline.headings):
            later = outline.headings[number + 1 :]
            ends = (other.line for other in later if other.level <= heading.level)
            end = next(ends, len(source.lines))
            span = passages[bisect_left(starts, heading.line) : bisect_left(starts, end)]
            words = [word for _, passage in span for word in passage]
            own_words = len(span[0][1]) if span else 0
            names = section_names(heading, source.lines[heading.line])
            lines = heading.line + 1, last_text_line(source, heading.line, end)
            self._parts.append(Part(names, digest(words), digest(words[own_words:]), *lines))

    def find(self, heading: str) -> tuple[Part, ...]:
        """Return the section of a heading by its slug, text or own id; of several, the first."""
        text = " ".join(heading.split())
        for name in (heading, fold(text), slug(text)):
            if found := [part for part in self._parts if name in part.names]:
                return (found[0],)
        return ()

    def all(self) -> tuple[Part, ...]:
        """Return all sections."""
        return tuple(self._parts)


def parse_outline(data: bytes) -> tuple[SourceText, int, Outline]:
    """Return a page's text, the first line of its body, from 0, and its headings."""
    source = SourceText(data)
    first_line = source.line_of_byte(read_head(data, ()).body)
    blocks = find_blocks(source, first_line)
    return source, first_line, find_outline(source.text, blocks.blocks, blocks.definitions)


def section_names(heading: Heading, line: str) -> tuple[str, ...]:
    """Return what a heading answers to: first its own id, or else its slug."""
    own_id = _CUSTOM_ID.search(line)
    names = (own_id[1] if own_id else "", heading.anchor, slug(heading.text), fold(heading.text))
    return tuple(dict.fromkeys(filter(None, (*names, *_ANCHOR.findall(line)))))


def last_text_line(source: SourceText, start: int, end: int) -> int:
    """Return where lines from `start` to `end` end without the blank ones at their end."""
    while end > start + 1 and not source.lines[end - 1].strip():
        end -= 1
    return end


def find_passages(
    source: SourceText, first_line: int, *, is_shown: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line of each passage of text or code, from 0, and its words.

    Each line of a block of code is a word. With `is_shown` the words keep their case.
    """
    environment: dict[str, Any] = {}
    body = "\n".join(source.lines[first_line:])
    for token in _block_parser().parse(body, environment):
        if token.map is None:
            continue
        line = first_line + token.map[0]
        if token.type in {"fence", "code_block"}:
            yield line, token.content.split("\n")
        elif token.type == "html_block":
            text = _HTML.sub(" ", token.content)
            yield line, (text if is_shown else text.casefold()).split()
        elif token.type == "inline":
            definitions = environment.get("references", {})
            yield line, _prose_words(token.content, definitions, is_shown=is_shown)


def _prose_words(content: str, definitions: Mapping[str, Any], *, is_shown: bool) -> list[str]:
    if len(content) > MAX_PARAGRAPH_CHARACTERS:
        return (content if is_shown else content.casefold()).split()
    tokens: list[Token] = []
    parser = _block_parser()
    parser.inline.parse(_CUSTOM_ID.sub("", content), parser, {"references": definitions}, tokens)
    return "".join(_texts(tokens, is_shown=is_shown)).split()


def _texts(tokens: list[Token], *, is_shown: bool) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "code_inline":
                yield token.content
            case "image":
                yield from _texts(token.children or [], is_shown=is_shown)
            case "softbreak" | "hardbreak":
                yield " "
            case "html_inline" if _BREAK.match(token.content):
                yield " "
            case "text" | "text_special":
                yield token.content if is_shown else token.content.casefold()


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    """Return a parser that leaves the text of paragraphs unparsed."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("inline")
