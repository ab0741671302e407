"""Questions that no page answers are recognized, and nonsense finds nothing."""

import pytest

from ubp.answers.search.search import relevance_text
from ubp.search.fusion import COVERAGE_SHARE
from ubp.workspace import Workspace


@pytest.fixture
def search(repository, search_in):
    repository.page(
        "docs/tokens.md", body="# Tokens\n\nA refresh token is rotated on every use. Who may ask?\n"
    )
    repository.page("docs/cache.md", body="# Cache\n\nThe cache keeps pages for an hour.\n")
    repository.page("docs/認証.md", body="# 認証\n\nトークンの有効期限は一時間です。\n")
    repository.commit()

    def run(query, **options):
        with Workspace.open(str(repository.root)) as workspace:
            return search_in(workspace, query, **options).answer

    return run


@pytest.mark.parametrize("query", ["zzzqqq", "xkcd qwzx", "ぬぬぬぬぬ"])
def test_nonsense_finds_nothing(query, search):
    assert search(query).pages == ()


@pytest.mark.parametrize(
    "query", ["who won the world cup in 1998", "how do I bake a chocolate cake"]
)
def test_question_about_another_subject_has_no_answer(query, search):
    assert search(query).is_weak


@pytest.mark.parametrize("query", ["how are refresh tokens rotated", "cache", "トークンの有効期限"])
def test_question_that_a_page_answers_has_an_answer(query, search):
    assert not search(query).is_weak


def test_words_in_the_best_section_raise_the_confidence(search):
    answer = search("how are refresh tokens rotated")
    assert answer.confidence == pytest.approx(answer.pages[0].score + COVERAGE_SHARE)
    answer = search("who won the world cup in 1998")
    assert answer.confidence == answer.pages[0].score
    half = search("refresh qwzx")
    assert 0 < half.confidence - half.pages[0].score < COVERAGE_SHARE


def test_confidence_without_meaning_is_unknown(search):
    assert not search("who won the world cup", mode="fulltext").is_weak


def test_stop_words_do_not_raise_the_confidence(search):
    hit = search("who may ask for the tokens", mode="fulltext").pages[0]
    assert set(hit.matched) == {"may", "ask", "tokens"}
    hits = search("who has the cocoa for a cache", mode="fulltext").pages
    assert [relevance_text(hit) for hit in hits] == [
        "Holds “cache”.",
        "Holds common words only.",
    ]
