"""The graph as Graphviz and Mermaid read it, whatever titles and names hold."""

import re
from itertools import pairwise

import pytest

from ubp.core.model import Assessment, ObjectId
from ubp.frame.wording import Style
from ubp.output.text.pages import dot_text, graph_text, mermaid_text
from ubp.search.graph import DocumentRow
from ubp.search.traverse import Edge, Neighborhood, PageGraph


def graph(*titles, level="fresh", total=2):
    """Pages of these titles, in names that hold them too, each tied to the next."""
    documents = tuple(
        DocumentRow(f"{n}{title}.md", title, "spec", (), ObjectId("0" * 40))
        for n, title in enumerate(titles)
    )
    paths = [document.path for document in documents]
    edges = tuple(Edge(a, b, "references") for a, b in pairwise(paths))
    near = Neighborhood(None, documents, edges, {}, dict.fromkeys(paths, (1, 1)), total)
    levels = dict.fromkeys(paths, Assessment(None, level, ()))
    return PageGraph(near, levels)


HOSTILE = [
    'a"b',
    "a\\",
    'a\\"] -> x',
    "a\nb\r\x1b[31m",
    "</script><script>alert(1)</script>",
    "`code` **bold** #quot; &amp; |x| {y} (z)",
    "end",
    "認証 フロー",
    "\ud800\u202e",
    "",
]


@pytest.mark.parametrize("title", HOSTILE)
def test_title_stays_one_string_in_dot(title):
    lines = dot_text(graph(title, "Plain")).splitlines()
    assert len(lines) == 7
    string = r'"(?:[^"\\]|\\[\\"])*"'
    assert re.fullmatch(rf"  {string} \[label={string}\];", lines[3])
    assert re.fullmatch(rf"  {string} -> {string} \[label=\"references\"\];", lines[5])


@pytest.mark.parametrize("title", HOSTILE)
def test_title_stays_one_label_in_mermaid(title):
    first, label, _, arrow = mermaid_text(graph(title, "Plain")).splitlines()
    assert (first, arrow) == ("graph LR", "  n0 -->|references| n1")
    assert re.fullmatch(r'  n0\["(?:[^\x00-\x1f"#&\'`<>\\\[\](){}|]|#\d+;)*"\]', label)


@pytest.mark.parametrize("title", HOSTILE)
def test_terminal_gets_no_control_sequences(title):
    text = graph_text(graph(title, "Plain"), Style(), is_quiet=False)
    assert text.endswith("2 pages, 1 link.\n")
    assert all(line.isprintable() for line in text.splitlines())
    assert len(text.splitlines()) == 5


def test_stale_pages_have_a_colour():
    stale = graph("A", "B", level="stale")
    assert dot_text(stale).count(", color=red];") == 2
    assert mermaid_text(stale).splitlines()[-2:] == [
        "  classDef stale stroke:red",
        "  class n0,n1 stale",
    ]
    assert graph_text(stale, Style(), is_quiet=False).startswith("0A.md  A, stale\n")


def test_omitted_pages_are_counted():
    many = graph("A", "B", total=9)
    note = "2 of 9 pages (the most linked)"
    assert dot_text(many).splitlines()[1] == f"  // {note}"
    assert mermaid_text(many).splitlines()[1] == f"  %% {note}"
    assert graph_text(many, Style(), is_quiet=False).endswith(f"{note}, 1 link.\n")
