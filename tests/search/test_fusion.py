"""What legs say is joined the same way in whatever order they say it."""

import random

from hypothesis import given
from hypothesis import strategies as st

from ubp.search.fusion import Asked, LegScores, fuse

PATHS = st.sampled_from([f"{name}.md" for name in "abcdefgh"])
WORDS = st.dictionaries(PATHS, st.integers(1, 9).map(float))
COSINES = st.dictionaries(PATHS, st.integers(-4, 4).map(lambda quarters: quarters / 4))
PROXIMITIES = st.dictionaries(PATHS, st.sampled_from([0.25, 0.5, 1.0]))
LEGS = st.builds(LegScores, WORDS, COSINES, PROXIMITIES)
ASKED = st.builds(Asked, st.integers(0, 30))


@given(LEGS, ASKED, st.randoms())
def test_the_order_in_which_a_leg_tells_pages_is_irrelevant(legs, asked, randomness):
    shuffled = LegScores(*(_shuffled(leg, randomness) for leg in legs))
    assert fuse(shuffled, asked) == fuse(legs, asked)


@given(LEGS, ASKED)
def test_each_page_is_told_once_the_best_first_and_equal_ones_by_path(legs, asked):
    found = fuse(legs, asked)
    assert {one.path for one in found} == {*legs.words, *legs.meaning, *legs.links}
    assert len({one.path for one in found}) == len(found)
    assert found == sorted(found, key=lambda one: (-one.score, one.path))
    assert all(0 <= one.score <= 1 for one in found)


@given(WORDS, COSINES, ASKED)
def test_a_leg_alone_orders_as_it_does_itself(words, meaning, asked):
    for leg in (LegScores(words=words), LegScores(meaning=meaning)):
        scores = leg.words or leg.meaning
        told = [scores[one.path] for one in fuse(leg, asked)]
        assert told == sorted(told, reverse=True)


def _shuffled(leg, randomness: random.Random):
    pairs = list(leg.items())
    randomness.shuffle(pairs)
    return dict(pairs)
