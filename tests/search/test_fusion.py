"""The fusion of the legs of a search is independent of their order."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.search.fusion import LINKS_SHARE, FusionInput, RankingScores, fuse

PATHS = st.sampled_from([f"{name}.md" for name in "abcdefgh"])
WORDS = st.dictionaries(PATHS, st.integers(1, 9).map(float))
COSINES = st.dictionaries(PATHS, st.integers(-4, 4).map(lambda quarters: quarters / 4))
PROXIMITIES = st.dictionaries(PATHS, st.sampled_from([0.25, 0.5, 1.0]))
LEGS = st.builds(RankingScores, WORDS, COSINES, PROXIMITIES)
ASKED = st.builds(FusionInput, st.sampled_from([0.0, 4.0, 20.0]), st.booleans())


@given(LEGS, ASKED, st.randoms())
def test_fusion_does_not_depend_on_the_order_within_a_leg(legs, asked, randomness):
    shuffled = RankingScores(*(_shuffled(leg, randomness) for leg in legs))
    assert fuse(shuffled, asked) == fuse(legs, asked)


@given(LEGS, ASKED)
def test_pages_are_listed_once_best_first(legs, asked):
    found = fuse(legs, asked)
    assert {page.path for page in found} == {*legs.words, *legs.meaning, *legs.links}
    assert len({page.path for page in found}) == len(found)
    scores = [page.score for page in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@given(WORDS, COSINES, ASKED)
def test_single_leg_keeps_its_own_order(words, meaning, asked):
    for leg in (RankingScores(words=words), RankingScores(meaning=meaning)):
        scores = leg.words or leg.meaning
        ordered_scores = [max(0.0, scores[page.path]) for page in fuse(leg, asked)]
        assert ordered_scores == sorted(ordered_scores, reverse=True)


@given(LEGS, ASKED, PATHS, PATHS)
def test_page_that_no_leg_ranks_lower_is_not_ranked_lower(legs, asked, page, other):
    behind = [leg.get(page, -1.0) < leg.get(other, -1.0) for leg in legs]
    ahead = [leg.get(page, -1.0) > leg.get(other, -1.0) for leg in legs]
    if any(ahead) and not any(behind):
        scores = {found.path: found.score for found in fuse(legs, asked)}
        assert scores.get(page, 0.0) >= scores.get(other, 0.0)


@given(LEGS, ASKED)
def test_links_move_no_page_before_a_much_better_direct_hit(legs, asked):
    unlinked = legs._replace(links=dict.fromkeys(legs.links, 0.0))
    direct = {page.path: page.score for page in fuse(unlinked, asked)}
    linked = {page.path: page.score for page in fuse(legs, asked)}
    for path, score in direct.items():
        ahead = {other for other, there in linked.items() if there > linked[path]}
        assert all(direct[other] > score - LINKS_SHARE for other in ahead)


def test_pages_with_equal_scores_are_ordered_by_path():
    legs = RankingScores(words={"b.md": 1.0, "a.md": 1.0}, meaning={"a.md": 0.5, "b.md": 0.5})
    assert [page.path for page in fuse(legs, FusionInput())] == ["a.md", "b.md"]


def test_words_weigh_less_where_the_query_could_match_far_more():
    legs = RankingScores(words={"words.md": 2.0}, meaning={"words.md": 0.2, "meaning.md": 0.7})
    assert [page.path for page in fuse(legs, FusionInput(2.5))] == ["words.md", "meaning.md"]
    assert [page.path for page in fuse(legs, FusionInput(20.0))] == ["meaning.md", "words.md"]


def test_page_beyond_the_last_ranked_one_has_its_similarity():
    legs = RankingScores(words={"far.md": 4.0}, meaning={"near.md": 0.8, "last.md": 0.4})
    assert {page.path: page.score for page in fuse(legs, FusionInput(5.0))} == {
        "far.md": pytest.approx(0.6),
        "near.md": pytest.approx(0.4),
        "last.md": pytest.approx(0.2),
    }


def _shuffled(leg, randomness: random.Random):
    pairs = list(leg.items())
    randomness.shuffle(pairs)
    return dict(pairs)


def test_words_that_are_foreign_to_the_pages_weigh_less():
    legs = RankingScores(words={"a.md": 4.0}, meaning={"a.md": 0.2, "b.md": 0.6})
    orders = {is_foreign: fuse(legs, FusionInput(8.0, is_foreign)) for is_foreign in (False, True)}
    assert [page.path for page in orders[False]] == ["a.md", "b.md"]
    assert [page.path for page in orders[True]] == ["b.md", "a.md"]
    words = RankingScores(words={"a.md": 4.0})
    assert fuse(words, FusionInput(8.0, is_foreign=True)) == fuse(words, FusionInput(8.0))
