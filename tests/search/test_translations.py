"""Translations of a page count once in a search, and the question's language comes first."""

import pytest

from ubp.core.languages import language_of, languages_of_text, without_language
from ubp.workspace import Workspace


@pytest.mark.parametrize(
    ("path", "language", "rest"),
    [
        ("docs/auth.ja.md", "ja", "docs/auth.md"),
        ("docs/ja/auth.md", "ja", "docs/auth.md"),
        ("ja/auth.md", "ja", "auth.md"),
        ("docs/auth-zh-CN.md", "zh", "docs/auth.md"),
        ("docs/auth_jp.md", "ja", "docs/auth.md"),
        ("README.md", "", "README.md"),
        ("docs/ideas.md", "", "docs/ideas.md"),
        ("docs/list/item.md", "", "docs/list/item.md"),
    ],
)
def test_path_may_contain_a_language(path, language, rest):
    assert (language_of(path), without_language(path)) == (language, rest)


def test_script_gives_the_language_of_a_question():
    assert languages_of_text("tokens") == ("en", "")
    assert languages_of_text("トークン") == ("ja",)
    assert languages_of_text("認証") == ("ja", "zh")
    assert languages_of_text("토큰") == ("ko",)


@pytest.fixture
def search(repository, search_in):
    repository.page("docs/tokens.md", body="# Tokens\n\nAn API token expires: トークン.\n")
    repository.page("docs/tokens.ja.md", body="# トークン\n\nAPI トークンの期限。 token\n")
    repository.page("docs/tokens.fr.md", body="# Jetons\n\nLe token API expire.\n")
    repository.page("docs/api.md", body="# API\n\nEvery call sends a token.\n")
    repository.commit()

    def run(query, **options):
        with Workspace.open(str(repository.root), model="none") as workspace:
            return search_in(workspace, query, **options).answer

    return run


@pytest.mark.parametrize(
    ("query", "first"), [("token", "docs/tokens.md"), ("トークン token", "docs/tokens.ja.md")]
)
def test_page_in_the_language_of_the_question_represents_its_translations(query, first, search):
    answer = search(query)
    paths = [hit.page.filepath for hit in answer.pages]
    assert first in paths
    assert sum("tokens" in path for path in paths) == 1
    assert set(answer.translations[first]) == {
        path
        for path in ("docs/tokens.md", "docs/tokens.ja.md", "docs/tokens.fr.md")
        if path != first
    }
    assert answer.total == 2


def test_limit_counts_pages_not_translations(search):
    assert len(search("token", limit=2).pages) == 2


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("哈希冲突", "docs/hash.md"),  # the original names no language
        ("雜湊衝突", "zh-hant/docs/hash.md"),
        ("衝突の解決", "ja/docs/hash.md"),
    ],
)
def test_question_in_han_characters_gets_the_version_that_fits_best(
    query, first, repository, search_in
):
    repository.page("docs/hash.md", body="# 哈希冲突\n\n哈希冲突的解决方法如下。突如其来。\n")
    repository.page("zh-hant/docs/hash.md", body="# 雜湊衝突\n\n雜湊衝突。如下圖所示可以解決。\n")
    repository.page("ja/docs/hash.md", body="# ハッシュ衝突\n\nハッシュの衝突の解決を示す。\n")
    repository.commit()
    with Workspace.open(str(repository.root), model="none") as workspace:
        answer = search_in(workspace, f"{query} 解 決 下").answer
    assert answer.pages[0].page.filepath == first
    assert len(answer.translations[first]) == 2
