"""Queries without a meaning in the syntax, and the warnings of `ubp search`."""

import pytest

NO_COMBINATION = (
    "the query does not parse as a combination, or only excludes. Example: cache AND NOT redis"
)


def test_option_meant_as_a_word_is_explained(repository, ubp):
    repository.page("docs/flags.md", body="# Flags\n\nUse -foo.\n")
    answer = ubp(repository, "search", "-foo")
    assert answer.status == 2
    assert answer.err == (
        "Error: Unknown option: -foo.\n"
        "  Hint: To search for words with a leading hyphen: ubp search -- -foo\n"
    )
    assert "docs/flags.md" in ubp(repository, "search", "--", "-foo").out


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("tag:", "tag: has no value, so it was searched for as a word; try tag:NAME."),
        ("flags -path: x", "path: has no value, so it was searched for as a word; try path:NAME."),
        (
            "flags OR NOT tag",
            f"Searched for OR, NOT as words: {NO_COMBINATION}",
        ),
        ("NEAR(flags use)", "NEAR() is not supported; its words were searched for."),
    ],
)
def test_syntax_without_a_meaning_is_explained(query, note, repository, ubp):
    repository.page("docs/flags.md", body="# Flags\n\nUse a tag near a path.\n")
    assert note in ubp(repository, "search", "--", query).out.splitlines()
    assert note not in ubp(repository, "search", "--", "tag:x path:docs near (flags)").out


@pytest.mark.parametrize("query", ["use AND NOT tag", "-tag path:docs", "path:docs AND NOT tag"])
def test_page_with_an_excluded_word_is_not_found(query, repository, ubp):
    repository.page("docs/flags.md", body="# Flags\n\nUse a tag.\n")
    repository.page("docs/paths.md", body="# Paths\n\nUse a path.\n")
    answer = ubp(repository, "search", "--quiet", "--", query)
    assert answer.out == "docs/paths.md:6  Paths\n"


def test_long_section_is_one_place(repository, ubp):
    text = "\n\n".join(f"The cache {number} keeps {'words ' * 60}." for number in range(40))
    repository.page("docs/a.md", body=f"# A\n\n## Cache\n\n{text}\n")
    out = ubp(repository, "search", "cache").out
    assert out.count("A > Cache") == 1


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("replcation slots", "No section contains “replcation”. Did you mean “replication”?"),
        ("persistnce", "No section contains “persistnce”. Did you mean “persistence”?"),
        ("tentacls", None),  # of a page that is gone
        ("kepp", None),  # too short
        ("xersistence", None),  # another first letter
        ("replicatio", None),  # the beginning of many words
    ],
)
def test_word_that_is_probably_misspelt_is_named(query, note, repository, ubp):
    repository.page("docs/gone.md", body="# Gone\n\nThe tentacles are gone.\n")
    repository.commit()
    ubp(repository, "search", "tentacles")
    words = " ".join(f"replicatio{letter}" for letter in "abcdefghijk")
    body = f"# Persistence\n\nReplication slots keep changes: {words}.\n"
    repository.page("docs/gone.md", body=body)
    repository.commit()

    notes = [
        line for line in ubp(repository, "search", query).out.splitlines() if "contains “" in line
    ]

    assert notes == [note] * (note is not None)
