"""Keys of names in many versions of a source: each line is read once, and none is missed."""

from hypothesis import given
from hypothesis import strategies as st

from ubp.code.definitions import find_keys, find_keys_of_versions

LINES = [
    b"def read_all(limit=1):",
    b"    --dry-run = 'read-' + name",
    b"class ReadTimeout:  # {kind}_timeout",
    b"x = f'{a}-end'",
    b"READ_ALL = env('READ_ALL')",
    b"",
    b"\tz\0y",
]
sources = st.lists(st.sampled_from(LINES), max_size=8).map(b"\n".join)


@given(st.lists(sources, max_size=5))
def test_merged_versions_have_the_keys_of_each(versions):
    assert find_keys_of_versions(versions) == frozenset().union(*map(find_keys, versions))
