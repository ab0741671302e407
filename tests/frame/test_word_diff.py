"""Diffs for people: which words differ, and what a page cannot make of them."""

import pytest

from ubp.frame.word_diff import compare_words, paint_diff
from ubp.frame.wording import Style


def differing(*lines):
    """Return the lines with the parts that differ in brackets."""
    return [
        "".join(f"[{part}]" if is_changed else part for part, is_changed in line.parts)
        for line in compare_words(lines)
    ]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (("-a retry_limit b", "+a attempts b"), ["-a [retry_limit] b", "+a [attempts] b"]),
        # All of a block is compared, and its lines stay where they are.
        (
            ("-one two", "-three four", "+one 2", "+three 4"),
            ["-one [two]", "-three [four]", "+one [2]", "+three [4]"],
        ),
        # Only wrapped anew.
        (("-a b c", "-d", "+a b", "+c d"), ["-a b c", "-d", "+a b", "+c d"]),
        (("-時間は三", "+時間は二"), ["-時間は[三]", "+時間は[二]"]),
        # Another text.
        (
            ("-Ask the owner.", "+Nothing is needed now."),
            ["-Ask the owner.", "+Nothing is needed now."],
        ),
        (("+new",), ["+new"]),
        (("-old", " same", "+new"), ["-old", " same", "+new"]),
        (
            ("-a b c", "\\ No newline at end of file", "+a b d"),
            ["-a b [c]", "\\ No newline at end of file", "+a b [d]"],
        ),
        # A line of a page that begins with dashes is not a name of a file.
        (("@@ -1 +1 @@", "--- a b", "+-- a c"), ["@@ -1 +1 @@", "--- a [b]", "+-- a [c]"]),
        (("-a b c\r", "+a b d\r"), ["-a b [c]", "+a b [d]"]),
        (("-a b c\r", "+a b c"), ["-a b c[\\r]", "+a b c"]),
    ],
)
def test_words_that_differ(lines, shown):
    assert differing(*lines) == shown


def test_names_of_files_are_no_removed_and_added_lines():
    lines = list(compare_words(["--- a/a.md", "+++ b/a.md", "@@ -1 +1 @@", "-a", "+b"]))
    assert [line.sign for line in lines] == ["", "", "@", "-", "+"]


def test_line_of_a_page_cannot_pretend_to_be_another_line():
    text = "+harmless\u2028-removed\x0b+added\x1b[31m\r+b"
    assert list(paint_diff(text, Style())) == ["+harmless\\u2028-removed\\x0b+added\\e[31m\\r+b"]


def test_words_that_differ_are_bold_and_underlined_on_a_terminal():
    old, new = paint_diff("-a retry_limit b\n+a attempts b\n", Style(is_on=True))
    assert old == "\x1b[31m-a \x1b[0m\x1b[1;4m\x1b[31mretry_limit\x1b[0m\x1b[0m\x1b[31m b\x1b[0m"
    assert "\x1b[1;4m\x1b[32mattempts\x1b[0m" in new
