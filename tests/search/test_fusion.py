"""What legs say is joined the same way in whatever order they say it."""

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
def test_the_order_in_which_a_leg_tells_pages_is_irrelevant(legs, asked, randomness):
    shuffled = RankingScores(*(_shuffled(leg, randomness) for leg in legs))
    assert fuse(shuffled, asked) == fuse(legs, asked)


@given(LEGS, ASKED)
def test_each_page_is_told_once_the_best_first(legs, asked):
    found = fuse(legs, asked)
    assert {one.path for one in found} == {*legs.words, *legs.meaning, *legs.links}
    assert len({one.path for one in found}) == len(found)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@given(WORDS, COSINES, ASKED)
def test_a_leg_alone_orders_as_it_does_itself(words, meaning, asked):
    for leg in (RankingScores(words=words), RankingScores(meaning=meaning)):
        scores = leg.words or leg.meaning
        told = [max(0.0, scores[one.path]) for one in fuse(leg, asked)]
        assert told == sorted(told, reverse=True)


@given(LEGS, ASKED, PATHS, PATHS)
def test_a_page_that_no_leg_puts_behind_another_is_not_behind_it(legs, asked, one, other):
    behind = [leg.get(one, -1.0) < leg.get(other, -1.0) for leg in legs]
    ahead = [leg.get(one, -1.0) > leg.get(other, -1.0) for leg in legs]
    if any(ahead) and not any(behind):
        scores = {found.path: found.score for found in fuse(legs, asked)}
        assert scores.get(one, 0.0) >= scores.get(other, 0.0)


@given(LEGS, ASKED)
def test_links_push_no_page_behind_one_that_answers_much_less_well(legs, asked):
    unlinked = legs._replace(links=dict.fromkeys(legs.links, 0.0))
    direct = {one.path: one.score for one in fuse(unlinked, asked)}
    linked = {one.path: one.score for one in fuse(legs, asked)}
    for one, score in direct.items():
        ahead = {other for other, there in linked.items() if there > linked[one]}
        assert all(direct[other] > score - LINKS_SHARE for other in ahead)


def test_equal_pages_stand_in_the_order_of_their_paths():
    legs = RankingScores(words={"b.md": 1.0, "a.md": 1.0}, meaning={"a.md": 0.5, "b.md": 0.5})
    assert [one.path for one in fuse(legs, FusionInput())] == ["a.md", "b.md"]


def test_words_fall_where_the_query_could_hold_far_more_of_them():
    legs = RankingScores(words={"words.md": 2.0}, meaning={"words.md": 0.2, "meaning.md": 0.7})
    assert [one.path for one in fuse(legs, FusionInput(2.5))] == ["words.md", "meaning.md"]
    assert [one.path for one in fuse(legs, FusionInput(20.0))] == ["meaning.md", "words.md"]


def test_a_page_beyond_the_last_one_named_counts_as_near_as_that():
    legs = RankingScores(words={"far.md": 4.0}, meaning={"near.md": 0.8, "last.md": 0.4})
    assert {one.path: one.score for one in fuse(legs, FusionInput(5.0))} == {
        "far.md": pytest.approx(0.6),
        "near.md": pytest.approx(0.4),
        "last.md": pytest.approx(0.2),
    }


def _shuffled(leg, randomness: random.Random):
    pairs = list(leg.items())
    randomness.shuffle(pairs)
    return dict(pairs)


def test_words_that_are_foreign_to_the_pages_count_less():
    legs = RankingScores(words={"a.md": 4.0}, meaning={"a.md": 0.2, "b.md": 0.6})
    told = {is_foreign: fuse(legs, FusionInput(8.0, is_foreign)) for is_foreign in (False, True)}
    assert [one.path for one in told[False]] == ["a.md", "b.md"]
    assert [one.path for one in told[True]] == ["b.md", "a.md"]
    words = RankingScores(words={"a.md": 4.0})
    assert fuse(words, FusionInput(8.0, is_foreign=True)) == fuse(words, FusionInput(8.0))
