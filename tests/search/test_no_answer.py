"""Questions that no page answers are recognized, and nonsense finds nothing."""

import pytest

from ubp.answers.search.search import relevance_text
from ubp.search.fusion import DOUBTFUL, WEAK, Signs, confidence
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


def test_each_sign_raises_the_confidence_from_probably_none_to_an_answer():
    signs = Signs(0.3, 0.2, 0.4)
    assert confidence(signs) < WEAK < DOUBTFUL < confidence(Signs(0.6, 0.6, 0.7))
    for name in Signs._fields:
        assert confidence(signs._replace(**{name: 0.9})) > confidence(signs)


def test_words_of_the_best_section_and_words_near_them_are_signs(search):
    same = search("how are refresh tokens rotated").signs
    near = search("an access token is renewed").signs
    other = search("a chocolate token is eaten").signs
    assert same.coverage == pytest.approx(1)
    assert 0 < near.coverage < 1
    assert same.overlap > near.overlap > other.overlap


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
