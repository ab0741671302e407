"""Which pages are near a page."""

import pytest

from ubp.search.graph import open_graph
from ubp.search.traverse import Edge, find_hops, neighborhood
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
        yield open_graph(workspace.session.view())


@pytest.mark.parametrize(
    ("depth", "hops"),
    [
        (1, {"a.md": 0, "b.md": 1, "d.md": 1, "e.md": 1}),
        (2, {"a.md": 0, "b.md": 1, "d.md": 1, "e.md": 1, "c.md": 2}),
        (5, {"a.md": 0, "b.md": 1, "d.md": 1, "e.md": 1, "c.md": 2}),
    ],
)
def test_links_are_followed_in_both_directions(graph, depth, hops):
    assert find_hops(graph, "a.md", depth) == hops


def test_only_links_of_the_requested_types_are_followed(graph):
    assert find_hops(graph, "c.md", 3, ["implements"]) == {"c.md": 0, "d.md": 1}


def test_edge_is_listed_once_for_each_type_and_never_from_a_page_to_itself(graph):
    near = neighborhood(graph, "a.md", 1)
    assert near.edges == (
        Edge("a.md", "b.md", "references"),
        Edge("a.md", "b.md", "extends"),
        Edge("d.md", "a.md", "references"),
        Edge("e.md", "a.md", "references"),
    )
    assert [document.path for document in near.documents] == ["a.md", "b.md", "d.md", "e.md"]


def test_graph_without_a_center_has_every_page(graph):
    whole = neighborhood(graph, None, 2)
    assert len(whole.documents) == 6
    assert len(whole.edges) == 6
    assert (whole.center, whole.hops, whole.left_out) == (None, {}, 0)
    assert whole.counts == {
        "a.md": (3, 2),
        "alone.md": (0, 0),
        "b.md": (1, 3),
        "c.md": (1, 1),
        "d.md": (1, 1),
        "e.md": (1, 0),
    }


def test_graph_over_the_limit_keeps_the_most_linked_pages(graph):
    few = neighborhood(graph, None, 2, limit=3)
    assert [document.path for document in few.documents] == ["a.md", "b.md", "c.md"]
    assert {(edge.source, edge.target) for edge in few.edges} == {
        ("a.md", "b.md"),
        ("b.md", "c.md"),
    }
    assert (few.total, few.left_out) == (6, 3)


def test_graph_with_a_center_keeps_the_nearest_pages(graph):
    few = neighborhood(graph, "c.md", 2, limit=4)
    assert few.hops == {"c.md": 0, "b.md": 1, "d.md": 1, "a.md": 2}
    assert few.left_out == 0
    fewer = neighborhood(graph, "c.md", 2, limit=2)
    assert (fewer.hops, fewer.left_out) == ({"c.md": 0, "b.md": 1}, 2)
    assert fewer.counts == {"b.md": (1, 3), "c.md": (1, 1)}
