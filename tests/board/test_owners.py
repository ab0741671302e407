"""Owners by CODEOWNERS: of the lines that match, the last one counts."""

import pytest

from ubp.board.owners import Owners, read_owners

CASES = [
    ("* @all", "docs/a.md", ["@all"]),
    ("*.md @docs\n*.py @code", "docs/a.md", ["@docs"]),
    ("* @all\n*.md @docs", "docs/a.md", ["@docs"]),
    ("*.md @docs\n* @all", "docs/a.md", ["@all"]),
    ("docs/ @docs", "docs/a/b.md", ["@docs"]),
    ("docs/ @docs", "api/docs/b.md", ["@docs"]),
    ("/docs/ @docs", "api/docs/b.md", []),
    ("/docs/ @docs", "docs", []),
    ("docs/* @docs", "docs/a.md", ["@docs"]),
    ("docs/* @docs", "docs/a/b.md", []),
    ("docs/** @docs", "docs/a/b.md", ["@docs"]),
    ("**/guide @docs", "a/b/guide/c.md", ["@docs"]),
    ("apps/*/docs @docs", "apps/web/docs/a.md", ["@docs"]),
    ("apps/*/docs @docs", "apps/web/x/docs/a.md", []),
    ("a/**/b.md @docs", "a/b.md", ["@docs"]),
    ("a/**/b.md @docs", "a/x/y/b.md", ["@docs"]),
    ("/a.md @docs", "x/a.md", []),
    ("a.md @docs", "x/a.md", ["@docs"]),
    ("a?.md @docs", "ab.md", ["@docs"]),
    ("* @all\n/docs/", "docs/a.md", []),
    ("* @all\ndocs/secret.md", "docs/secret.md", []),
    ("* @all # everything", "a.md", ["@all"]),
    ("# * @all", "a.md", []),
    ("* @acme/team ann@example.org @bob", "a.md", ["@acme/team", "ann@example.org", "@bob"]),
    ("* rubbish @ann", "a.md", ["@ann"]),
    ("my\\ docs/ @docs", "my docs/a.md", ["@docs"]),
    ("!docs/a.md @x\n* @all", "docs/a.md", ["@all"]),
    ("* @all\n[ab].md @x", "a.md", ["@all"]),
    ("* @all\n\\#a.md @x", "#a.md", ["@all"]),
    ("[Docs]\n*.md @docs\n[Code]\n* @code", "a.md", ["@docs", "@code"]),
    ("[Docs][2] @docs\n*.md", "a.md", ["@docs"]),
    ("^[Docs] @docs\n*.md @own", "a.md", ["@own"]),
    ("", "a.md", []),
]


@pytest.mark.parametrize(("text", "path", "owners"), CASES)
def test_owners_are_those_of_the_last_line_that_matches(text, path, owners):
    assert list(Owners.parse(text).of(path)) == owners


def test_first_place_that_has_a_file_counts():
    files = {
        ".github/CODEOWNERS": None,
        "CODEOWNERS": b"* @root\n",
        "docs/CODEOWNERS": b"* @docs\n",
    }
    assert read_owners(files).of("a.md") == ("@root",)
    assert read_owners({}).of("a.md") == ()
    assert read_owners({"CODEOWNERS": b"* @a\n" * 800_000}).of("a.md") == ()
