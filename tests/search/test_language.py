"""English queries over Japanese pages are recognized."""

import pytest

from ubp.search.lexical import is_foreign
from ubp.search.query import read_query
from ubp.search.terms import Term


class Counted:
    """A full text of a hundred sections, of which so many are Japanese."""

    def __init__(self, japanese):
        self._japanese = japanese

    def size(self):
        return 100

    def frequency(self, phrase):
        return {Term("の").phrase: self._japanese}.get(phrase, 0)


@pytest.mark.parametrize(
    ("japanese", "text", "answer"),
    [
        (51, "Search ranking, with graph?", True),
        (50, "Search ranking, with graph?", False),
        (51, "don't drop-in", True),
        (51, "staleness", False),
        (51, "std::vector push_back", False),
        (51, "useState hook", False),
        (51, "検索 ranking with graph", False),
        (51, "", False),
    ],
)
def test_names_from_code_and_single_words_have_no_language(japanese, text, answer):
    assert is_foreign(Counted(japanese), read_query(text)) is answer
