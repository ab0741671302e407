"""Nothing from a repository reaches a terminal raw."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.frame.encoding import to_json
from ubp.frame.wording import count, day, moment, printable, printable_line, size
from ubp.staleness.wording import age

OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Format characters that are visible: signs before Arabic, Syriac, Kaithi and Egyptian numbers.
VISIBLE_FORMATS = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("docs/a b.md", "docs/a b.md"),
        ("日本語\u3000é", "日本語\u3000é"),
        ("a\tb\nc\x1b[2J\x07\x9b", r"a\tb\nc\e[2J\x07\x9b"),
        ("p\udce4ge", r"p\xe4ge"),
        ("\ud800", r"\ud800"),
        ("safe\u202egnp.exe", r"safe\u202egnp.exe"),
        ("pay\u200bpal\u200f.md\ufeff", r"pay\u200bpal\u200f.md\ufeff"),
        ("a\u200db\u200c", r"a\u200db\u200c"),
        ("\u3164\u00ad\u2060\u180e", r"\u3164\xad\u2060\u180e"),
        ("a\ufe0f\ufe00\U000e0101", r"a\ufe0f\ufe00\U000e0101"),
        ("x\U000e0041\U000e007f", r"x\U000e0041\U000e007f"),
        ("👩\u200d💻 ⚠\ufe0f 1\ufe0f\u20e3", "👩\u200d💻 ⚠\ufe0f 1\ufe0f\u20e3"),
        *(
            (text, text)
            for text in ("\u0645\u06cc\u200c\u062e", "\u0915\u094d\u200d\u0937", "葛\U000e0100")
        ),
    ],
)
def test_terminal_controls_are_escaped(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_escaped_text_has_no_terminal_controls(text):
    assert OBEYED.search(printable(text)) is None
    assert OBEYED.sub("", printable_line(text).replace("\t", "")) == printable_line(text).replace(
        "\t", ""
    )


@given(st.text(st.characters(categories=("Cf",)) | st.sampled_from("ab\u3042"), max_size=8))
def test_invisible_characters_are_escaped_wherever_no_script_needs_them(text):
    shown = VISIBLE_FORMATS.sub("", printable(text))
    assert all(unicodedata.category(character) != "Cf" for character in shown)
    assert "\u200b" not in printable_line(text)


def test_json_has_unprintable_characters_as_escapes_and_reads_back_the_same():
    record = {"path": "a\u200b\u200f\x7f\x9b\u202e\U000e0041\ufeff日本👩\u200d💻.md"}
    text = to_json(record)
    assert json.loads(text) == record
    assert printable(text) == text


def test_numbers_and_times_are_spelled_out():
    assert [count(n, "page") for n in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    assert [age(days) for days in (0, 1, 60, 61, 400, 730, 2087)] == [
        "today",
        "1 day ago",
        "60 days ago",
        "2 months ago",
        "13 months ago",
        "24 months ago",
        "5 years ago",
    ]
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
