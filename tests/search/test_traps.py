"""Japanese queries on which tokenizers fail: the intended page comes first."""

import pytest

from ubp.workspace import Workspace

PAGES = {
    "docs/freshness.md": "# 文書の陳腐化\n\n鮮度判定をやり直し、古い頁を一覧に出します。\n",
    "docs/search.md": "# 全文検索エンジン\n\n索引更新処理は毎晩動き、検索語を正規化します。\n",
    "docs/recovery.md": (
        "# 障害対応手順\n\n障害が起きたら原因分析を行い、復旧作業の前に役割分担を決めます。\n"
    ),
    "docs/auth.md": "# 認証\n\nOAuthの設定はｱﾌﾟﾘ側で行い、\uff21\uff30\uff29キーを登録します。\n",
}

TRAPS = [
    ("鮮度", "freshness"),  # two characters inside a run
    ("検索", "search"),
    ("復旧", "recovery"),
    ("役割", "recovery"),
    ("索", "search"),  # one character
    ("索引の更新", "search"),  # a compound that is written without its particle
    ("障害の原因分析", "recovery"),
    ("復旧手順", "recovery"),
    ("古いページの一覧はどこに出ますか", "freshness"),  # a sentence
    ("障害が起きたときの役割を知りたい", "recovery"),
    ("OAuth", "auth"),  # glued to kana
    ("OAuth設定", "auth"),
    ("アプリ", "auth"),  # half width in the page
    ("apiキー", "auth"),  # full width in the page, another case
]


@pytest.fixture
def view(repository):
    for path, text in PAGES.items():
        repository.write(path, text)
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        yield workspace.session.view()


def test_intended_page_comes_first(view, sections):
    found = {
        query: [hit.page.filepath for hit in sections(view, query, 3).hits][:1]
        for query, _ in TRAPS
    }
    assert found == {query: [f"docs/{name}.md"] for query, name in TRAPS}


@pytest.mark.parametrize("query", ["鮮度", "検索", "の", "OAuthの", "\uff21\uff30\uff29"])
def test_phrase_found_whole_is_not_split(view, query, sections):
    assert sections(view, query, 3).ranking.cuts == ()


def test_query_without_an_answer_finds_nothing(view, sections):
    for query in ("存在しない語句", "xyzzy", "、。", '"索引の更新"'):
        answer = sections(view, query, 3)
        assert (answer.hits, answer.total, answer.is_exact) == ((), 0, True)
