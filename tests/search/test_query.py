"""Queries of users, and what they are in FTS5's language."""

import sqlite3
import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.text import segment_cjk
from ubp.index.store.fulltext import write_fts5
from ubp.search.query import MAX_TERMS, And, Cut, Not, make_match, read_query
from ubp.search.terms import Term


def match(text, *, held=()):
    """What is asked where the sections hold these runs."""
    query = read_query(text)
    return query.tree and make_match(query.tree, lambda term: term.written in held)


def wide(text):
    """The text in the width of CJK characters, its blanks too."""
    return "".join("\u3000" if c == " " else chr(ord(c) + 0xFEE0) for c in text)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("foo", '"foo"'),
        ("foo bar foo", '("foo" OR "bar")'),
        ('"foo bar" baz', '("foo bar" OR "baz")'),
        ("foo* bar", '("foo" * OR "bar")'),
        ('"foo ba"*', '"foo ba" *'),
        ("foo -bar -baz", '("foo" NOT ("bar" OR "baz"))'),
        ('foo -"bar baz"', '("foo" NOT "bar baz")'),
        ("-foo", '"foo"'),
        ("--fulltext", '"fulltext"'),
        ("foo - bar", '("foo" OR "bar")'),
        ('unclosed "quote here', '("unclosed" OR "quote" OR "here")'),
        ("“curly marks”", '"curly marks"'),
        (wide("wide WORDS"), '("wide" OR "WORDS")'),
        ("title:foo^2 {x}", '(("title" OR "foo" OR "2") OR "x")'),
        ("near(a b)", '(("near" OR "a") OR "b")'),
        ("**bold**", '"bold" *'),
    ],
)
def test_words_are_joined_by_or(text, expression):
    assert write_fts5(match(text).match) == expression


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("a AND b", '("a" AND "b")'),
        ("a b OR c", '(("a" AND "b") OR "c")'),
        ("a OR b AND c NOT d", '("a" OR ("b" AND ("c" NOT "d")))'),
        ("(a OR b) AND c*", '(("a" OR "b") AND "c" *)'),
        ("a AND b -c", '("a" AND ("b" NOT "c"))'),
        ('a NOT (b OR "c d")', '("a" NOT ("b" OR "c d"))'),
        (wide("a AND (b)"), '("a" AND "b")'),
        ("a AND NOT b", '("a" NOT "b")'),
        ("a AND -b", '("a" NOT "b")'),
        ("NOT a AND b", '("b" NOT "a")'),
        ("a AND (NOT b)", '("a" NOT "b")'),
        ("a AND NOT b AND NOT c d", '("a" NOT ("b" OR ("c" AND "d")))'),
        ("a AND (b OR NOT c)", '("a" NOT ("c" NOT "b"))'),
        ("認証 AND NOT フロー", '("認 証" NOT "フ ロ ー")'),
    ],
)
def test_upper_case_operators_mean_what_they_mean_in_fts5(text, expression):
    assert read_query(text).is_boolean
    assert write_fts5(match(text).match) == expression


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("AND", '"AND"'),
        ("a AND", '("a" OR "AND")'),
        ("NOT a", '("NOT" OR "a")'),
        ("a OR NOT b", '("a" OR "OR" OR "NOT" OR "b")'),
        ("a NOT NOT b", '("a" OR "NOT" OR "b")'),
        ("(a OR b", '("a" OR "OR" OR "b")'),
        ("a AND () b", '("a" OR "AND" OR "b")'),
        ('a "AND" b', '("a" OR "AND" OR "b")'),
        ("a and not b", '("a" OR "and" OR "not" OR "b")'),
        (f"{'(' * 50}a OR b{')' * 50}", '("a" OR "OR" OR "b")'),
    ],
)
def test_query_that_does_not_parse_is_read_as_words(text, expression):
    assert not read_query(text).is_boolean
    assert write_fts5(match(text).match) == expression


LETTERS = ("a", "b", "c")
EXPRESSIONS = st.recursive(
    st.sampled_from(LETTERS),
    lambda part: (
        st.tuples(part).map("NOT ({0[0]})".format)
        | st.tuples(part, st.sampled_from(("AND", "OR", "AND NOT", "OR NOT")), part).map(
            "({0[0]}) {0[1]} ({0[2]})".format
        )
    ),
    max_leaves=6,
)


@given(expression=EXPRESSIONS.filter(lambda text: text not in LETTERS))
def test_combination_has_the_meaning_of_its_operators(expression):
    python = expression.replace("AND", "and").replace("OR", "or").replace("NOT", "not")

    def expected(holds):
        return eval(python, {letter: letter in holds for letter in LETTERS})  # ours

    tree = read_query(expression).tree if read_query(expression).is_boolean else None
    assert (tree is None) == expected(())
    for count in range(len(LETTERS) + 1):
        for holds in combinations(LETTERS, count):
            assert tree is None or matches(tree, holds) == expected(holds)


def matches(node, holds):
    if isinstance(node, Term):
        return node.written in holds
    if isinstance(node, Not):
        return matches(node.included, holds) and not any(
            matches(part, holds) for part in node.excluded
        )
    return (all if isinstance(node, And) else any)(matches(part, holds) for part in node.parts)


@pytest.mark.parametrize("text", ["tag:x -b", "tag:x NOT b", "tag:x AND NOT b"])
def test_query_that_only_excludes_beside_filters_excludes(text):
    query = read_query(text)
    assert (query.tree, query.excluded, query.unread_operators) == (None, (Term("b"),), ())
    assert query.condition.excluded == (Term("b"),)


def test_operators_that_are_words_are_listed():
    assert read_query("a OR NOT b").unread_operators == ("OR", "NOT")
    assert read_query("a AND NOT b").unread_operators == ()
    assert read_query('"NOT" and a').unread_operators == ()


@pytest.mark.parametrize(
    "text", ["", "  ", "???", "「」、。", '""', "-", "*", "\0", "\ud800", "( )"]
)
def test_query_without_terms_finds_nothing(text):
    assert read_query(text).tree is None


def test_run_of_words_in_a_section_is_a_phrase():
    found = match("索引の更新", held=["索引の更新"])
    assert (write_fts5(found.match), found.cuts) == ('"索 引 の 更 新"', ())


@pytest.mark.parametrize(
    ("run", "held", "pieces"),
    [
        ("索引の更新", (), ("索引", "更新")),
        ("障害原因分析", (), ("障害", "害原", "原因", "因分", "分析")),
        ("障害の原因分析", ("原因分析",), ("障害", "原因分析")),
        ("障害の原因分析", (), ("障害", "原因", "因分", "分析")),
        ("データベースを更新", ("データベース",), ("データベース", "更新")),
        ("すもももももも", (), ("すも", "もも")),
        ("人々について", (), ("人々",)),
        ("は何", (), ("何",)),
        ("foo.bar/baz", (), ("foo", "bar", "baz")),
        ("v1.14.5", ("1.14.5",), ("1.14.5",)),
        ("1.14.5", ("v1.14.5",), ("v1.14.5",)),
        ("v1.14.5", (), ("1.14",)),
        ("app/v1.14", (), ("app", "1.14")),
        ("10.0.0.1/24", (), ("10.0.0.1", "24")),
        ("a1.2.3b-c", (), ("a1", "2", "3b", "c")),
    ],
)
def test_run_of_words_is_split_where_no_section_has_it(run, held, pieces):
    found = match(run, held=held)
    assert [term.written for term in found.terms] == list(dict.fromkeys(pieces))
    assert [cut.run for cut in found.cuts] == [run]
    assert tuple(dict.fromkeys(found.cuts[0].pieces)) == pieces


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("障害の原因分析", ["障害の原因分析", "障害", "原因分析"]),
        ("原因分析", ["原因分析"]),  # bigrams are not words
        ("OAuthの設定", ["OAuthの設定", "OAuth", "の設定", "設定"]),
        ("foo.bar/baz", ["foo.bar/baz", "foo", "bar", "baz"]),
        ("1.14.5", ["1.14.5", "v1.14.5", "1.14"]),
        ("python3.8", ["python3.8"]),
        ('"foo.bar" 障害の原因*', ["foo.bar", "障害の原因"]),
    ],
)
def test_pieces_of_a_run_may_match_beside_the_run(text, terms):
    query = read_query(text)
    found = make_match(query.tree, lambda _: True, has_pieces=query.has_pieces)
    assert ([term.written for term in found.terms], found.cuts) == (terms, ())
    assert not read_query(text, is_exact=True).has_pieces


def test_other_way_to_write_a_version_is_searched_for_only_where_it_occurs():
    query = read_query("1.14.5")
    found = make_match(query.tree, lambda term: term.written == "1.14.5", has_pieces=True)
    assert [term.written for term in found.terms] == ["1.14.5"]


@pytest.mark.parametrize("text", ["鮮度", "索", "索引 検索", '"障害の原因分析"', "障害の原因*"])
def test_words_of_two_characters_quoted_runs_and_prefixes_are_never_cut(text):
    assert match(text).cuts == ()


def test_adjacent_scripts_are_found_separately_and_rank_first_together():
    found = match("OAuthの設定", held=["の設定"])
    assert write_fts5(found.match) == '("OAuth の 設 定" OR "OAuth" OR "の 設 定")'
    assert write_fts5(match("OAuth認証 AND x").match) == '(("OAuth" OR "認 証") AND "x")'


def test_particle_between_words_is_not_a_word():
    assert [term.written for term in match("SQLiteのWAL").terms] == ["SQLiteのWAL", "SQLite", "WAL"]


def test_answer_names_the_words_that_were_cut():
    assert match("認証フロー", held=["フロー"]).cuts == (Cut("認証フロー", ("認証", "フロー")),)


def test_query_over_the_limit_is_cut_and_reported():
    assert read_query(" ".join(map(str, range(MAX_TERMS + 1)))).is_shortened
    assert read_query("a" * 2000).is_shortened
    assert not read_query("a b").is_shortened
    many = " AND ".join(map(str, range(MAX_TERMS + 1)))
    assert not read_query(many).is_boolean
    kanji = "".join(chr(0x4E00 + n) for n in range(500))
    assert len(match(kanji).terms) == MAX_TERMS


@pytest.fixture(scope="module")
def words():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='unicode61')")
    connection.execute(
        "INSERT INTO words VALUES (?)", [segment_cjk("OAuthの設定 a b c AND foo-bar")]
    )
    yield connection
    connection.close()


CHARACTERS = "\"()-*^{}'+, aé①のｱ\0\u3000\uff9e\u0301\ud800"
LEXEMES = ("AND", "OR", "NOT", "NEAR", "b:c", "認証", "フロー", "か\u3099")
FRAGMENTS = st.sampled_from([*CHARACTERS, *LEXEMES])
TYPED = st.text(max_size=30) | st.lists(FRAGMENTS, max_size=25).map("".join)
TYPED |= st.lists(FRAGMENTS, max_size=25).map(" ".join)


@given(text=TYPED, is_held=st.booleans())
def test_arbitrary_query_raises_nothing(words, text, is_held):
    query = read_query(text)
    if query.tree is not None:
        found = make_match(query.tree, lambda _: is_held)
        assert found.terms
        words.execute(
            "SELECT rowid FROM words WHERE words MATCH ?", [write_fts5(found.match)]
        ).fetchall()
    else:
        assert not any(map(str.isalnum, unicodedata.normalize("NFKC", text)))
