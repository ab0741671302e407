"""A page's sections: whole, from one H2 or H3 to the next."""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.model import Section
from ubp.parse.anchors import Heading
from ubp.parse.source import Source

DEEPEST_LEVEL = 3  # H4 and deeper stay inside of their section


def find_sections(
    source: Source, headings: Sequence[Heading], first_line: int
) -> tuple[Section, ...]:
    """Cut the page into sections, from a line (counted from 0) on.

    The page's H1 is its title and begins no section; another H1 after that does.
    """
    begun = [_Begun(first_line, None, ())]
    for heading in headings:
        if not heading.is_outer or heading.level > DEEPEST_LEVEL:
            continue
        path = begun[-1].path
        if heading.level == 1 and not path:
            begun[-1] = begun[-1]._replace(path=(heading,))
        else:
            above = (other for other in path if other.level < heading.level)
            begun.append(_Begun(heading.line, heading, (*above, heading)))
    ends = [*(later.line for later in begun[1:]), len(source.lines)]
    cut = (_cut(source, start, end) for start, end in zip(begun, ends, strict=True))
    return tuple(section for section in cut if section)


class _Begun(NamedTuple):
    line: int
    heading: Heading | None
    path: tuple[Heading, ...]


def _cut(source: Source, begun: _Begun, end: int) -> Section | None:
    lines, start, heading = source.lines, begun.line, begun.heading
    while end > start and not lines[end - 1].strip():
        end -= 1
    while start < end and not lines[start].strip():
        start += 1
    if start >= end:
        return None
    return Section(
        heading=heading.text if heading else None,
        level=heading.level if heading else 0,
        heading_path=tuple(above.text for above in begun.path),
        anchor=heading.anchor if heading else None,
        line_start=start + 1,
        line_end=end,
        byte_start=source.byte_at(start, 0),
        byte_end=source.byte_at(end - 1, len(lines[end - 1])),
    )
