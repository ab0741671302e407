"""Queries without a meaning in the syntax, and the warnings of `ubp search`."""

import pytest


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
        ("NEAR(flags use)", "NEAR() is not supported; its words were searched for."),
    ],
)
def test_syntax_without_a_meaning_is_explained(query, note, repository, ubp):
    repository.page("docs/flags.md", body="# Flags\n\nUse a tag near a path.\n")
    assert note in ubp(repository, "search", "--", query).out.splitlines()
    assert note not in ubp(repository, "search", "--", "tag:x path:docs near (flags)").out
