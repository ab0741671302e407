"""Filters in a query: what is one, what it admits, what is left of the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.search.filters import Filter, Filters, parse_filters
from ubp.search.query import read_query


@pytest.mark.parametrize(
    ("text", "rest", "filters"),
    [
        ("tag:x", "", Filters(tags=(("x",),))),
        ("foo tag:x bar", "foo   bar", Filters(tags=(("x",),))),
        ("tag:a tag:b", "", Filters(tags=(("a",), ("b",)))),
        ("tag:a OR tag:b tag:c", "", Filters(tags=(("a", "b"), ("c",)))),
        ("type:api type:guide", "", Filters(doc_types=("api", "guide"))),
        ('path:"a b/c d" foo', "foo", Filters(paths=("a b/c d",))),
        ("path:'a b' foo", "foo", Filters(paths=("a b",))),
        ("tag:it's", "", Filters(tags=(("it's",),))),
        ("Path:docs/**", "", Filters(paths=("docs/**",))),
        ("-tag:draft", "", Filters(excluded=(Filter("tag", "draft"),))),
        ("foo NOT type:api", "foo", Filters(excluded=(Filter("type", "api"),))),
        ('-path:"old stuff"', "", Filters(excluded=(Filter("path", "old stuff"),))),
        ("tag:x AND foo", "foo", Filters(tags=(("x",),))),
        ("foo AND tag:x", "foo", Filters(tags=(("x",),))),
        ("foo AND tag:x AND bar", "foo AND bar", Filters(tags=(("x",),))),
        ("foo AND (tag:x)", "foo", Filters(tags=(("x",),))),
        ("tag:x, foo", "foo", Filters(tags=(("x",),))),
        ("tag:#x", "", Filters(tags=(("#x",),))),
    ],
)
def test_filters_are_removed_with_the_words_that_join_them(text, rest, filters):
    assert parse_filters(text) == (rest, filters)


@pytest.mark.parametrize(
    "text",
    ["tag:", 'tag:""', "tag :x", '"tag:x"', 'a "b tag:x" c', "xtag:y", "http://x", "not tag"],
)
def test_text_that_is_not_a_filter_is_kept(text):
    assert parse_filters(text) == (text, Filters())


def test_wide_colons_and_capitals_count_as_plain_ones():
    assert read_query("\uff34ag\uff1aX").filters == Filters(tags=(("X",),))
    assert read_query("not tag:x").filters == Filters(tags=(("x",),))


WIDE = "\uff44\uff4f\uff43\uff53/ガ.md"
PATHS = ["a.md", "docs/a.md", "docs/api/b.md", "docs/api.md", "lib/docs/c.md", WIDE]


@pytest.mark.parametrize(
    ("value", "admitted"),
    [
        ("docs", ["docs/a.md", "docs/api/b.md", "docs/api.md", WIDE]),
        ("docs/", ["docs/a.md", "docs/api/b.md", "docs/api.md", WIDE]),
        ("./docs/api", ["docs/api/b.md"]),
        ("a.md", ["a.md"]),
        ("/a.md", ["a.md"]),
        ("api", ["docs/api/b.md"]),
        ("/api", []),
        ("docs/*.md", ["docs/a.md", "docs/api.md", WIDE]),
        ("**/b.md", ["docs/api/b.md"]),
        ("a*.md", ["a.md", "docs/a.md", "docs/api.md"]),
        ("/a*.md", ["a.md"]),
        ("カ\u3099.md", [WIDE]),
        ("nowhere", []),
        ("[", []),
    ],
)
def test_path_filter_is_a_folder_a_file_or_a_glob(value, admitted):
    assert Filters(paths=(value,)).matching_paths(PATHS) == admitted
    excluded = Filters(excluded=(Filter("path", value),)).matching_paths(PATHS)
    assert excluded == [path for path in PATHS if path not in admitted]


def test_several_paths_match_if_one_does():
    assert Filters(paths=("a.md", "lib")).matching_paths(PATHS) == ["a.md", "lib/docs/c.md"]


@pytest.mark.parametrize(
    ("filters", "is_admitted"),
    [
        (Filters(tags=(("security",), ("#Login",))), True),
        (Filters(tags=(("security",), ("other",))), False),
        (Filters(tags=(("other", "login"),)), True),
        (Filters(doc_types=("api", "Design")), True),
        (Filters(doc_types=("api",)), False),
        (Filters(excluded=(Filter("tag", "LOGIN"),)), False),
        (Filters(excluded=(Filter("type", "design"),)), False),
        (Filters(excluded=(Filter("tag", "draft"), Filter("path", "x"))), True),
        (Filters(), True),
    ],
)
def test_several_tags_must_all_match_but_only_one_of_the_types(filters, is_admitted):
    assert filters.match_facts(["Security", "#login"], "design") is is_admitted


PIECES = st.sampled_from(
    ["tag:", "-type:", "path:", "NOT ", "AND ", " OR ", '"', "x", "(", ")", "[", "*", " ", "tag:a"]
)


@given(st.text(max_size=40) | st.lists(PIECES, max_size=12).map("".join), st.sampled_from(PATHS))
def test_arbitrary_query_raises_nothing(text, path):
    filters = read_query(text).filters
    assert set(filters.matching_paths([path])) <= {path}
    filters.match_facts(["a"], "api")
