"""The name of its file describes a page without a title."""

import pytest

from ubp.search.fusion import RankedChunk, make_ranking
from ubp.search.query import read_query
from ubp.search.semantic import NAME_SHARE, add_names


class Named:
    """Names that are so near to any text."""

    def __init__(self, **cosines):
        self._cosines = cosines

    def similarity(self, _text, names):
        return [self._cosines[name] for name in names]


def test_file_name_adds_a_share_of_its_cosine_to_all_chunks_of_its_page():
    leg = make_ranking(
        [RankedChunk("a.md", 3, 0.5), RankedChunk("b.md", 0, 0.4), RankedChunk("b.md", 1, 0.3)]
    )
    leg = leg._replace(is_cut=True)
    meaning = Named(b=0.5)
    found = add_names(meaning, read_query("anything"), leg, ["b.md"])
    share = 0.5 * NAME_SHARE
    assert [(place.path, place.number) for place in found.places] == [
        ("b.md", 0), ("a.md", 3), ("b.md", 1)
    ]  # fmt: skip
    assert found.scores == {"b.md": pytest.approx(0.4 + share), "a.md": 0.5}
    assert found.is_cut


def test_file_name_lowers_no_cosine_and_raises_none_above_one():
    leg = make_ranking([RankedChunk("a.md", 0, 0.9), RankedChunk("b.md", 0, 0.4)])
    found = add_names(Named(a=0.9, b=-0.5), read_query("anything"), leg, ["a.md", "b.md"])
    assert found.scores == {"a.md": 1.0, "b.md": 0.4}


def test_page_is_found_by_the_meaning_of_its_file_name(repository, opened, search_in):
    text = "Allow it ten minutes.\n"
    repository.write("kitchen/Baking bread.md", text)
    repository.write("kitchen/Garden tools.md", text.replace("ten", "nine"))
    repository.write("kitchen/titled bread.md", f"# Shelves\n\n{text.replace('ten', 'two')}")
    repository.commit()
    found = search_in(
        opened(repository.root), "baking a loaf of bread", mode="semantic"
    ).answer.pages
    assert [hit.page.filepath for hit in found] == ["kitchen/Baking bread.md"]
