"""The outline of a page: a section for every heading, with its id, path, lines and words."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ubp.core.text import closest_name, fold, slug
from ubp.markdown.blocks import find_blocks
from ubp.markdown.document import read_head
from ubp.markdown.headings import Heading, find_targets, targets_in
from ubp.markdown.section_words import (
    find_passages,
    last_text_line,
    parse_outline,
    section_names,
)
from ubp.markdown.sites.anchors import TERM, PageAnchors
from ubp.markdown.sites.detect import site_anchors
from ubp.markdown.sites.site import Site
from ubp.markdown.source_text import SourceText

MAX_NAMED = 20  # sections in an error


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """A heading with its text.

    `id` is the heading's own (`## Title {#id}`), else its slug; `names` are all that it answers to.
    `path` contains the headings above it and its own. The section reaches from `line_start` to
    `line_end` (from 1, inclusive), down to the next heading of its level or above; its own text,
    whose words are `words`, ends before the first heading below it. `keys` are the words as they
    are compared: without case, except in code. The text before the first heading is a section of
    level 0 without an id.
    """

    id: str
    names: tuple[str, ...]
    level: int
    heading: str
    path: tuple[str, ...]
    line_start: int
    line_end: int
    words: tuple[str, ...]
    keys: tuple[str, ...]


def read_outline(data: bytes) -> tuple[OutlineSection, ...]:
    """Return the sections of a page in order; any bytes are accepted."""
    source, first_line, outline = parse_outline(data)
    headings = outline.headings
    shown = list(find_passages(source, first_line, is_shown=True))
    compared = list(find_passages(source, first_line))
    starts = [line for line, _ in shown]
    last = len(source.lines)

    def words(start: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        span = slice(bisect_left(starts, start), bisect_left(starts, end))
        both = (
            tuple(word for _, passage in passages[span] for word in passage)
            for passages in (shown, compared)
        )
        return next(both), next(both)

    sections = []
    first_heading = headings[0].line if headings else last
    preamble = words(first_line, first_heading)
    if preamble[0]:
        end = last_text_line(source, first_line, first_heading)
        sections.append(OutlineSection("", (), 0, "", (), first_line + 1, end, *preamble))
    sections += (
        OutlineSection(
            span.id,
            span.names,
            span.level,
            span.heading,
            span.path,
            span.line_start,
            span.line_end,
            *words(span.line_start - 1, span.own_end),
        )
        for span in _heading_spans(headings, source)
    )
    return tuple(sections)


@dataclass(frozen=True, slots=True)
class HeadingSpan:
    """A heading as in `OutlineSection`, without its words.

    Its own text, before the first heading below it, ends with line `own_end`.
    """

    id: str
    names: tuple[str, ...]
    level: int
    heading: str
    path: tuple[str, ...]
    line_start: int
    line_end: int
    own_end: int


def read_headings(data: bytes) -> tuple[HeadingSpan, ...]:
    """Return the headings of a page in order, with their lines; the words are not read."""
    source, _, outline = parse_outline(data)
    return tuple(_heading_spans(outline.headings, source))


def read_beginning(data: bytes) -> HeadingSpan | None:
    """Return the text before the first heading as a section of level 0; None: there is none."""
    source, first_line, outline = parse_outline(data)
    passages = find_passages(source, first_line, is_shown=True)
    first_text = next((line for line, words in passages if words), len(source.lines))
    first_heading = outline.headings[0].line if outline.headings else len(source.lines)
    if first_text >= first_heading:
        return None
    end = last_text_line(source, first_line, first_heading)
    return HeadingSpan("", (), 0, "", (), first_line + 1, end, end)


def _heading_spans(headings: Sequence[Heading], source: SourceText) -> Iterator[HeadingSpan]:
    last = len(source.lines)
    above: list[Heading] = []
    for number, heading in enumerate(headings):
        above = [*(outer for outer in above if outer.level < heading.level), heading]
        later = headings[number + 1 :]
        end = next((next_.line for next_ in later if next_.level <= heading.level), last)
        names = section_names(heading, source.lines[heading.line])
        yield HeadingSpan(
            names[0] if names else "",
            names,
            heading.level,
            heading.text,
            tuple(outer.text for outer in above),
            heading.line + 1,
            last_text_line(source, heading.line, end),
            later[0].line if later else last,
        )


Named = TypeVar("Named", OutlineSection, HeadingSpan)


def find_section(outline: Sequence[Named], name: str) -> Named | None:
    """Return the section with this id, slug or heading; of several, the first."""
    shown = " ".join(name.split())
    for wanted in (name, fold(shown), slug(shown)):
        for section in outline:
            if wanted in section.names:
                return section
    return None


def closest_section(outline: Sequence[Named], name: str) -> str | None:
    """Return the id of the section that was probably meant; None if all are too different."""
    ids = [section.id for section in outline if section.id]
    return closest_name(slug(" ".join(name.split())), ids) or closest_name(name, ids)


def list_sections(outline: Sequence[Named]) -> str:
    """Return a sentence with the ids of a page's sections, the first of many."""
    ids = [section.id for section in outline if section.id]
    if not ids:
        return "It has none."
    more = f" and {len(ids) - MAX_NAMED} more" if ids[MAX_NAMED:] else ""
    return f"Its sections: {', '.join(ids[:MAX_NAMED])}{more}."


def find_anchor_line(data: bytes, anchor: str, site: Site | None) -> int | None:
    """Return the line, from 1, that a link with this anchor leads to; None: it is unknown.

    Anchors of later headings depend on earlier ones (`usage-1`), never the other way round.
    """
    source, _, outline = parse_outline(data)
    names = outline.anchors.headings
    written = [number for number, name in enumerate(names) if 1 <= name.level < TERM]
    shown = fold(anchor.rpartition("#")[2].strip())
    for where, wanted in ((site, {anchor}), (None, {fold(anchor), slug(shown)})):

        def is_made(
            number: int, where: Site | None = where, wanted: Collection[str] = wanted
        ) -> bool:
            made = site_anchors(PageAnchors(names[: number + 1]), where)
            return not made.isdisjoint(wanted)

        found = bisect_left(written, 1, key=is_made)
        if found < len(written):
            return outline.headings[found].line + 1
    named = re.compile(rf"[#\"'(^=]{re.escape(anchor.removeprefix('^'))}(?![\w-])")
    return next((n for n, line in enumerate(source.lines, 1) if named.search(line)), None)


def find_label_line(data: bytes, label: str) -> int | None:
    """Return the line, from 1, that a label of MyST is for: of `(label)=` the next with text."""
    source, wanted = SourceText(data), fold(label)
    lines = source.lines
    for block in find_blocks(source, source.line_of_byte(read_head(data, ()).body)).blocks:
        if block.map and wanted in map(fold, find_targets(block)):
            own = (n for n in range(*block.map) if wanted in map(fold, targets_in(lines[n])))
            number = next(own, block.map[0])
            after = (n for n in range(number + 1, len(lines)) if _is_labelled(lines[n]))
            is_above = lines[number].lstrip().startswith("(")
            return next(after, number) + 1 if is_above else number + 1
    return None


def _is_labelled(line: str) -> bool:
    return bool(line.strip()) and not any(targets_in(line))


def anchors_of_line(data: bytes, line: int, site: Site | None) -> tuple[str, ...]:
    """Return the anchors of the heading in a line (from 1), as its site or GitHub makes them."""
    outline = parse_outline(data)[2]
    lines = [heading.line + 1 for heading in outline.headings]
    if line not in lines:
        return ()
    number = lines.index(line)
    github = outline.headings[number].anchor
    if site is None:
        return (github,)
    names = outline.anchors.headings
    end = [n for n, name in enumerate(names) if 1 <= name.level < TERM][number]
    made, earlier = (site_anchors(PageAnchors(names[:stop]), site) for stop in (end + 1, end))
    return tuple(sorted(made - earlier)) or (github,)
