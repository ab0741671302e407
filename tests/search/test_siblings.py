"""Versions of the same page, and pages without a subject of their own."""

import pytest

from ubp.search.suggest_links import (
    is_boilerplate,
    is_changelog,
    language_of,
    sibling_key,
    variant_of,
)


@pytest.mark.parametrize(
    "others",
    [
        ("docs/auth.md", "docs/auth.ja.md", "docs/auth_ja.mdx", "docs/auth-zh-cn.md"),
        ("docs/guide.md", "docs/ja/guide.md", "docs/pt-br/guide.markdown"),
        ("reference/7.4/about.md", "reference/v5.1/about.md", "reference/about.md"),
        ("docs/a.md", "versioned_docs/version-26.8.15/a.md", "docs/next/a.md"),
        ("report-2023.md", "report-2024.md", "report-2024-05-01.md"),
    ],
)
def test_translations_versions_and_years_are_siblings(others):
    assert len({sibling_key(path) for path in others}) == 1


@pytest.mark.parametrize(
    "others",
    [
        ("docs/sign-in.md", "docs/sign.md", "docs/check-it.md", "docs/check.md"),
        ("doc1.md", "doc2.md"),
        ("a/readme.md", "b/readme.md"),
        ("adr/0001-database.md", "adr/0002-cache.md"),
    ],
)
def test_other_pages_are_not_siblings(others):
    assert len({sibling_key(path) for path in others}) == len(others)


@pytest.mark.parametrize(
    ("path", "language"),
    [("docs/auth.ja.md", "ja"), ("docs/fr/auth.md", "fr"), ("docs/auth.md", None)],
)
def test_path_gives_the_language(path, language):
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("path", "variant"),
    [
        ("docs/auth.md", (None, "")),
        ("docs/2.x/auth.ja.md", ("ja", "2.x")),
        ("docs/7/auth.md", (None, "7")),
        ("versioned_docs/version-26.8.15/auth.md", (None, "26.8.15")),
    ],
)
def test_path_gives_the_variant(path, variant):
    assert variant_of(path) == variant


@pytest.mark.parametrize(
    "path",
    [
        "CHANGELOG.md",
        "docs/LICENSE.md",
        ".github/ISSUE_TEMPLATE/bug.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
        "01 Templates/Note.md",
        "docs/adr-template.md",
        "tests/fixtures/page.md",
    ],
)
def test_boilerplate_is_recognized_by_its_name(path):
    assert is_boilerplate(path)


@pytest.mark.parametrize("path", ["docs/template.md", "docs/auth.md", "README.md", "testing/a.md"])
def test_name_similar_to_boilerplate_is_not_boilerplate(path):
    assert not is_boilerplate(path)


def test_dated_pages_are_logs():
    assert is_changelog("meetings/2024-05-01.md")
    assert is_changelog("blog/2019/news.md")
    assert not is_changelog("docs/rfc-12345.md")
