"""Sections: where they begin and end, and that their bytes are their text."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ubp.core.model import Section
from ubp.markdown.parse import parse_markdown

PAGE = """\
---
title: T
---

# Title

Intro.

## One *first*

Text.

#### Deep

More.


### One `a`
## Two ##
text
"""


def _sections(text: str, body: int = 0) -> tuple[Section, ...]:
    return parse_markdown(text.encode(), body).sections


def test_sections_begin_at_h2_and_h3_but_not_at_h4() -> None:
    body = PAGE.index("\n# Title") + 1

    assert _sections(PAGE, body) == (
        Section(None, 0, ("Title",), None, 5, 7, 18, 33),
        Section("One first", 2, ("Title", "One first"), "one-first", 9, 15, 35, 74),
        Section("One a", 3, ("Title", "One first", "One a"), "one-a", 18, 18, 77, 88),
        Section("Two", 2, ("Title", "Two"), "two", 19, 20, 89, 103),
    )


def test_page_without_headings_is_one_section() -> None:
    assert _sections("\n\ntext\n\n") == (Section(None, 0, (), None, 3, 3, 2, 6),)


def test_empty_page_has_no_sections() -> None:
    assert _sections("") == _sections(" \n\n") == ()


def test_page_that_begins_with_h2_has_no_section_before_it() -> None:
    assert [section.heading for section in _sections("\n## A\n## A\n")] == ["A", "A"]


def test_equal_headings_have_different_anchors() -> None:
    assert [section.anchor for section in _sections("## A\n### A\n## A\n")] == ["a", "a-1", "a-2"]


def test_underlined_heading_begins_a_section() -> None:
    found = _sections("Title\n=====\nx\nPart\none\n---\ny\n")

    assert [
        (section.heading, section.heading_path, section.line_start, section.line_end)
        for section in found
    ] == [
        (None, ("Title",), 1, 2),
        ("x Part one", ("Title", "x Part one"), 3, 7),
    ]


def test_second_h1_ends_the_previous_section() -> None:
    found = _sections("# One\n## A\n# Two\ntext\n### B\n")

    assert [(section.heading, section.level, section.heading_path) for section in found] == [
        (None, 0, ("One",)),
        ("A", 2, ("One", "A")),
        ("Two", 1, ("Two",)),
        ("B", 3, ("Two", "B")),
    ]


def test_headings_in_quotes_lists_and_code_begin_no_section() -> None:
    text = "## A\n> ## quoted\n\n- ## listed\n\n```\n## code\n```\n\n<div>\ntext\n## html\n</div>\n"

    assert [section.heading for section in _sections(text)] == ["A"]


def test_explicit_id_is_not_part_of_the_heading() -> None:
    assert _sections("## Setup {#install}\n")[0].heading == "Setup"


def test_very_long_heading_is_truncated() -> None:
    (section,) = _sections("## " + "long " * 1000)

    assert section.heading is not None
    assert len(section.heading) == 500


def test_bom_crlf_and_japanese_keep_bytes_and_lines_right() -> None:
    data = "\ufeff# 題名\r\n\r\n## 認証 フロー\r\n本文\r\n\r\n### 手順\r\n".encode()
    sections = parse_markdown(data).sections

    assert [(section.line_start, section.line_end) for section in sections] == [
        (1, 1),
        (3, 4),
        (6, 6),
    ]
    assert [data[section.byte_start : section.byte_end].decode() for section in sections] == [
        "# 題名",
        "## 認証 フロー\r\n本文",
        "### 手順",
    ]


PIECES = [
    *(b"# ", b"## ", b"### ", b"#### ", b"===\n", b"---\n", b"> ", b"- ", b"    ", b"```\n"),
    *(b"\n", b"\n", b"\n\n", b"\r\n", b"\r", b"\xff", b"\0", b"\x0b", b"\x85"),
    *(b"text ", b"[[a]]", b"| a |\n|-|\n", "認証\u2028".encode(), "\u3000".encode()),
]
pages = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)), max_size=40).map(
    b"".join
)


@given(pages, st.sampled_from([b"", b"\xef\xbb\xbf"]))
@settings(deadline=None, max_examples=300)
def test_bytes_of_a_section_are_its_lines(page: bytes, bom: bytes) -> None:
    data = bom + page
    lines = re.split(rb"\r\n|\r|\n", data)

    for section in parse_markdown(data).sections:
        cut = data[section.byte_start : section.byte_end]
        expected = lines[section.line_start - 1 : section.line_end]
        if section.line_start == 1:
            expected[0] = expected[0].removeprefix(b"\xef\xbb\xbf")
        assert re.split(rb"\r\n|\r|\n", cut) == expected


@given(pages)
@settings(deadline=None, max_examples=300)
def test_text_is_in_exactly_one_section_and_one_chunk(data: bytes) -> None:
    facts = parse_markdown(data)

    for parts in (facts.sections, facts.chunks):
        spans = [(part.byte_start, part.byte_end) for part in parts]
        assert spans == sorted(spans)
        outside = data
        for start, end in reversed(spans):
            outside = outside[:start] + b"\n" + outside[end:]
        text = outside.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        assert not text.strip()
