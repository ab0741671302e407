"""The graph as Graphviz and Mermaid read it, whatever titles and names hold."""

import re
from itertools import pairwise

import pytest

from ubp.answers.pages.get_graph import (
    EdgeRecord,
    GraphRecord,
    NodeRecord,
    dot_text,
    mermaid_text,
    text,
)
from ubp.frame.wording import joined
from ubp.frame.writer import Writer


def graph(*titles, level="fresh", total=2):
    """Pages of these titles, in files whose names contain them, each linked to the next."""
    nodes = tuple(
        NodeRecord(
            id=str(number),
            filepath=f"{number}{title}.md",
            title=title,
            doc_type="spec",
            staleness=level,
            outgoing_link_count=1,
            incoming_link_count=1,
        )
        for number, title in enumerate(titles)
    )
    edges = tuple(
        EdgeRecord(source=source.id, target=target.id, type="references")
        for source, target in pairwise(nodes)
    )
    omitted = total - len(nodes)
    return GraphRecord(nodes=nodes, edges=edges, total_nodes=total, truncated_count=omitted)


def graph_text(record):
    return joined(text(record, Writer()))


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
    printed = graph_text(graph(title, "Plain"))
    assert printed.endswith("2 pages, 1 link.\n")
    assert all(line.isprintable() for line in printed.splitlines())
    assert len(printed.splitlines()) == 5


def test_stale_pages_have_a_colour():
    stale = graph("A", "B", level="stale")
    assert dot_text(stale).count(", color=red];") == 2
    assert mermaid_text(stale).splitlines()[-2:] == [
        "  classDef stale stroke:red",
        "  class n0,n1 stale",
    ]
    assert graph_text(stale).startswith("0A.md  A, stale\n")


def test_omitted_pages_are_counted():
    many = graph("A", "B", total=9)
    note = "2 of 9 pages (the most linked)"
    assert dot_text(many).splitlines()[1] == f"  // {note}"
    assert mermaid_text(many).splitlines()[1] == f"  %% {note}"
    assert graph_text(many).endswith(f"{note}, 1 link.\n")
