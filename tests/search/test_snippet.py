"""What of a section is shown, and what of that is highlighted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.search.excerpt import cut_snippet
from ubp.search.match import find_term, normalize_text
from ubp.search.query import make_match, read_query


def shown(text, query):
    """The snippet with its highlights in brackets, and its line."""
    tree = read_query(query).tree
    folded = normalize_text(text)
    terms = make_match(tree, lambda term: any(find_term(folded, term))).terms if tree else ()
    snippet = cut_snippet(text, terms)
    marked = snippet.text
    for start, end in reversed(snippet.highlights):
        marked = f"{marked[:start]}[{marked[start:end]}]{marked[end:]}"
    return marked, snippet.line


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Pins are blob ids.", "blob", "Pins are [blob] ids."),
        ("A blobless clone, a blob.", "blob", "A blobless clone, a [blob]."),
        ("A blobless clone", "blob*", "A [blob]less clone"),
        ("Foo-Bar foo bar foobar", '"foo bar"', "[Foo-Bar] [foo bar] foobar"),
        ("snake_case_name", "case", "snake_[case]_name"),
        ("Café CAFE", "cafe", "[Café] [CAFE]"),
        ("索引の更新は毎晩です。", "索引の更新", "[索引の更新]は毎晩です。"),
        ("索引を毎晩更新します。", "索引の更新", "[索引]を毎晩[更新]します。"),
        ("索引、の更新", '"索引の更新"', "[索引、の更新]"),
        ("\uff21\uff30とｱﾌﾟﾘと㈱", "ap アプリ 株", "[\uff21\uff30]と[ｱﾌﾟﾘ]と[㈱]"),
        ("か\u3099くしゅうする", "がくしゅう", "[か\u3099くしゅう]する"),
        ("OAuthの設定", "OAuth", "[OAuth]の設定"),
        ("OAuthの設定", "設定", "OAuthの[設定]"),
        ("カー か", "か", "カー [か]"),
        ("One\n\n  two\tthree\n", "two", "One [two] three"),
        ("Nothing here", "else", "Nothing here"),
        ("", "a", ""),
    ],
)
def test_terms_are_highlighted(text, query, marked):
    assert shown(text, query)[0] == marked


def test_line_is_that_of_the_first_highlight():
    assert shown("one\ntwo\nthree two\n", "two") == ("one [two] three [two]", 1)
    assert shown("one\ntwo\n", "nothing") == ("one two", 0)


def test_snippet_with_the_most_terms_is_cut_between_words():
    filler = "lorem ipsum dolor sit amet " * 20
    marked, _ = shown(f"a pin {filler}\n\nthe pin of a blob, {filler}", "pin blob")
    assert marked == (
        "…dolor sit amet the [pin] of a [blob], lorem ipsum dolor sit amet lorem ipsum dolor sit"
        " amet lorem ipsum dolor sit amet lorem ipsum…"
    )


def test_japanese_snippets_are_as_wide_as_english_ones():
    marked, _ = shown("あ" * 200 + "検索" + "い" * 200, "検索")
    assert marked == "…" + "あ" * 12 + "[検索]" + "い" * 50 + "…"


@given(st.text(max_size=400), st.text(max_size=20))
def test_highlights_are_within_the_snippet_for_any_text(text, query):
    tree = read_query(query).tree
    terms = make_match(tree, lambda _: False).terms if tree else ()
    snippet = cut_snippet(text, terms)
    ends = [0, *(place for span in snippet.highlights for place in span), len(snippet.text)]
    assert ends == sorted(ends)
    assert "\n" not in snippet.text
    assert 0 <= snippet.line <= text.count("\n")
