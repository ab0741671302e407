"""Nothing from a repository reaches a terminal raw."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.output.wording import count, day, moment, printable, printable_line, size
from ubp.staleness.wording import age

OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("docs/a b.md", "docs/a b.md"),
        ("日本語\u3000é", "日本語\u3000é"),
        ("a\tb\nc\x1b[2J\x07\x9b", r"a\tb\nc\e[2J\x07\x9b"),
        ("p\udce4ge", r"p\xe4ge"),
        ("\ud800", r"\ud800"),
        ("safe\u202egnp.exe", r"safe\u202egnp.exe"),
    ],
)
def test_what_a_terminal_obeys_is_escaped(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_nothing_is_left_that_a_terminal_obeys(text):
    assert OBEYED.search(printable(text)) is None
    assert OBEYED.sub("", printable_line(text).replace("\t", "")) == printable_line(text).replace(
        "\t", ""
    )


def test_numbers_and_times_are_words():
    assert [count(n, "page") for n in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    assert [age(days) for days in (0, 1, 400)] == ["today", "1 day ago", "400 days ago"]
    assert day(1_700_000_000) == "2023-11-14"
    assert moment(1_700_000_000) == "2023-11-14T22:13:20Z"
    assert [moment(s)[:4] for s in (-5, 2**60)] == ["1970", "9999"]
    assert [size(n) for n in (0, 1, 999, 1000, 4_200_000, 5_000_000_000, 9_999_000_000_000)] == [
        "0 bytes",
        "1 byte",
        "999 bytes",
        "1.0 kB",
        "4.2 MB",
        "5.0 GB",
        "9999.0 GB",
    ]
