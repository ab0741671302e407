"""Which pages are near a page."""

import pytest

from ubp.graph.neighbours import Tie, find_hops, neighbourhood
from ubp.graph.view import open_graph
from ubp.workspace import Workspace


@pytest.fixture
def graph(repository):
    pages = {
        "a": "[[b]] [[b|extends]] [[b]] [[a]] [[#here]]",
        "b": "[[c]] [x](https://example.com)",
        "c": "[[d|implements]]",
        "d": "[[a]]",
        "e": "[[a]] [[nowhere]]",
        "alone": "Text.",
    }
    for name, text in pages.items():
        repository.write(f"{name}.md", f"# {name}\n\n{text}\n")
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        yield open_graph(workspace.view())


@pytest.mark.parametrize(
    ("depth", "hops"),
    [
        (1, {"a.md": 0, "b.md": 1, "d.md": 1, "e.md": 1}),
        (2, {"a.md": 0, "b.md": 1, "d.md": 1, "e.md": 1, "c.md": 2}),
        (5, {"a.md": 0, "b.md": 1, "d.md": 1, "e.md": 1, "c.md": 2}),
    ],
)
def test_links_are_followed_both_ways(graph, depth, hops):
    assert find_hops(graph, "a.md", depth) == hops


def test_only_links_of_the_wanted_types_are_followed(graph):
    assert find_hops(graph, "c.md", 3, ["implements"]) == {"c.md": 0, "d.md": 1}


def test_a_tie_stands_once_for_each_type_and_no_page_is_tied_to_itself(graph):
    near = neighbourhood(graph, "a.md", 1)
    assert near.ties == (
        Tie("a.md", "b.md", "references"),
        Tie("a.md", "b.md", "extends"),
        Tie("d.md", "a.md", "references"),
        Tie("e.md", "a.md", "references"),
    )
    assert [document.path for document in near.documents] == ["a.md", "b.md", "d.md", "e.md"]


def test_without_a_center_every_page_is_there(graph):
    whole = neighbourhood(graph, None, 2)
    assert len(whole.documents) == 6
    assert len(whole.ties) == 6
    assert (whole.center, whole.hops) == (None, {})
