"""The quoted part of a section: whole sentences where they fit, and the positions of the terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.search.excerpt import PASSAGE_CHARACTERS, cut_passage
from ubp.search.match import normalize_text
from ubp.search.terms import Term

TERMS = [Term("token"), Term("検索"), Term("expir", is_prefix=True)]
FILLER = "Lorem ipsum dolor sit amet. "


def quoted(text, terms=TERMS):
    """The passage with its highlights in brackets."""
    passage = cut_passage(text, terms)
    marked = passage.content
    for start, end in reversed(passage.highlights):
        marked = f"{marked[:start]}[{marked[start:end]}]{marked[end:]}"
    return marked


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("A token\n  expires.\n", "A [token] [expir]es."),
        ("# Token\n\n## Use\n\nIt expires.\n", "It [expir]es."),
        ("Token\n=====\n\nIt expires.\n", "It [expir]es."),
        ("# Token\n", "[Token]"),
        ("全文検索の索引。", "全文[検索]の索引。"),
        ("", ""),
    ],
)
def test_passage_omits_headings_and_joins_lines(text, marked):
    assert quoted(text) == marked


def test_passage_begins_and_ends_with_a_sentence_where_one_fits():
    marked = quoted(FILLER * 20 + "A token expires. " + FILLER * 20)
    assert marked.startswith("…A [token] [expir]es. Lorem")
    assert marked.endswith("amet.")


def test_long_sentence_is_cut_between_words():
    marked = quoted("lorem ipsum " * 40 + "token " + "dolor sit " * 40)
    assert marked.startswith("…ipsum lorem ipsum lorem")
    assert "[token] dolor sit" in marked
    assert marked.endswith(("sit…", "dolor…"))


def test_long_sentence_without_blanks_is_cut_between_clauses():
    marked = quoted("鍵を更新して、" * 60 + "検索し、" + "結果を並べて、" * 30)
    assert marked.startswith("…鍵を更新して、")
    assert "[検索]し、結果を" in marked
    assert marked.endswith("結果を並べて…")


def test_passage_with_the_most_different_terms_is_chosen():
    text = "A token, a token. " + FILLER * 20 + "検索 and a token here. " + FILLER * 20
    assert quoted(text).startswith("…[検索] and a [token] here.")


def test_passage_line_is_that_of_the_first_term_and_headings_count():
    passage = cut_passage("# Token\n\nIt\nexpires.\n", TERMS)
    assert (passage.matched, passage.line) == ((0, 2), 0)
    assert cut_passage("# One\n\nIt\nexpires.\n", TERMS).line == 3
    assert cut_passage("# One\n\nNothing.\n", TERMS).line == 2


PIECES = st.sampled_from(
    [
        "token ",
        "検索",
        "expires ",
        "lorem ",
        "。",
        ". ",
        "\n",
        "\n\n## Head\n",
        "日本語",
        "」",
        "---\n",
    ]
)


@given(st.text(max_size=600) | st.lists(PIECES, max_size=120).map("".join))
def test_highlights_are_within_the_passage_and_match_the_terms(text):
    passage = cut_passage(text, TERMS)
    assert len(passage.content) <= PASSAGE_CHARACTERS
    assert "\n" not in passage.content
    ends = [0, *(end for span in passage.highlights for end in span), len(passage.content)]
    assert ends == sorted(ends)
    for start, end in passage.highlights:
        held = normalize_text(passage.content[start:end]).replace(" ", "")
        assert held.startswith(("token", "expir")) or "検" in held
