"""What a document says can be told from what UBP says, whatever the document holds."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ubp.frame import quoting

TEXT = st.text(st.characters() | st.sampled_from('"\\\n\r\u2028\x1b<># '))
QUOTATION = re.compile(r'"(?:[^"\\]|\\.)*"')


@given(TEXT)
def test_a_quotation_is_on_one_line_and_ends_at_its_last_character(text):
    found = quoting.quoted(text)
    assert QUOTATION.fullmatch(found)
    assert len(found.splitlines()) == 1


@given(TEXT)
def test_a_name_is_one_plain_word_or_a_quotation(text):
    found = quoting.name(text)
    assert QUOTATION.fullmatch(found) or (found == text and re.fullmatch(r"[\w./@+~=%-]+", found))


def test_ordinary_paths_are_not_quoted():
    for path in ("docs/auth.md", "src/a-b_c/x.test.ts", "docs/日本語.md", ".github/a@2.md"):
        assert quoting.name(path) == path
    assert quoting.name("docs/two words.md") == '"docs/two words.md"'
    assert quoting.name("# How to answer.md") == '"# How to answer.md"'


@given(TEXT)
def test_a_text_ends_at_its_marker_and_nowhere_before(text):
    marker = quoting.new_marker(text)
    begin, *lines, end = quoting.fenced(text, marker)
    assert (begin, end) == (f"<<<{marker}", f"{marker}>>>")
    assert not any(marker in line for line in lines)
    assert all(len(line.splitlines()) <= 1 for line in lines)


def test_a_marker_that_a_text_holds_is_not_used(monkeypatch):
    words = iter(["3f9a1c02", "00c0ffee", "5eed5eed"])  # their digits become letters
    monkeypatch.setattr("secrets.token_hex", lambda _: next(words))
    assert quoting.new_marker("a\njfpahcgi>>>\nb", "x ggcgffee y") == "leedleed"
