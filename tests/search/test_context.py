"""A page with its related pages: their order, and what is omitted."""

import pytest

from ubp.answers.pages.get_context import ContextRequest
from ubp.answers.pages.get_graph import GraphRequest
from ubp.core.text import Budget
from ubp.search.context import read_context
from ubp.search.graph import Graph, open_graph
from ubp.search.traverse import find_paths
from ubp.workspace import Workspace

PAGES = {
    "center": "# Center\n\nFirst. Second.\n\n"
    "## One\n\nMore [[b]], [[a|extends]] and [[center]].\n\n"
    "## Two\n\n[[a|depends_on]] [[nowhere]] [[b]] [[twin]]\n",
    "a": "# A\n\nAbout a. [[far]]\n\n## Head\n\nx\n",
    "b": "# B\n\n[[center]] [[far]]\n",
    "back": "See [[center|implements]].\n",
    "far": "# Far\n\n## Only here\n\nFar away.\n\n### Deeper\n\n[[farther]]\n",
    "farther": "[[farthest]]\n",
    "farthest": "",
    "x/twin": "One.\n",
    "y/twin": "Other.\n",
    "alone": "Alone.\n",
}


@pytest.fixture
def graph(repository):
    for name, text in PAGES.items():
        repository.write(f"{name}.md", text)
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        yield open_graph(workspace.session.view())


def paths(graph, *arguments):
    return [
        (p.filepath, p.depth, p.via, p.direction, p.link.link_type, p.link_count)
        for p in find_paths(graph, *arguments)
    ]


def test_nearer_pages_and_stronger_links_come_first(graph):
    assert paths(graph, "center.md", 3) == [
        ("a.md", 1, "center.md", "outlink", "depends_on", 2),
        ("back.md", 1, "center.md", "backlink", "implements", 1),
        ("b.md", 1, "center.md", "outlink", "references", 3),
        ("x/twin.md", 1, "center.md", "outlink", "references", 1),
        ("far.md", 2, "a.md", "outlink", "references", 2),
        ("farther.md", 3, "far.md", "outlink", "references", 1),
    ]


def test_only_requested_links_are_followed(graph):
    assert paths(graph, "center.md", 3, ["implements", "extends"]) == [
        ("back.md", 1, "center.md", "backlink", "implements", 1),
        ("a.md", 1, "center.md", "outlink", "extends", 1),
    ]
    assert paths(graph, "alone.md", 3) == []


def test_related_pages_are_summarized(graph):
    context = read_context(graph, "center.md", 2, Budget())
    summaries = {
        neighbor.document.path: (neighbor.summary, neighbor.headings)
        for neighbor in context.related
    }
    assert summaries == {
        "a.md": ("About a. [[far]]", ("Head",)),
        "back.md": ("See [[center|implements]].", ()),
        "b.md": ("[[center]] [[far]]", ()),
        "x/twin.md": ("One.", ()),
        "far.md": ("Far away.", ("Only here", "Deeper")),
    }
    assert context.center.content == PAGES["center"].rstrip()
    assert (context.left_out, context.center.is_cut) == (0, False)


def test_context_over_the_budget_is_cut_from_the_end(graph):
    whole = read_context(graph, "center.md", 3, Budget())
    for size in range(0, whole.size + 10, 7):
        context = read_context(graph, "center.md", 3, Budget(size))
        number = len(context.related)
        assert context.related == whole.related[:number]
        assert context.left_out == len(whole.related) - number
        assert context.size <= size
        assert PAGES["center"].startswith(context.center.content)
        if context.center.is_cut:
            assert number == 0 or context.size < size


def test_page_over_the_budget_is_cut_and_says_where(graph):
    center = read_context(graph, "center.md", 1, Budget(60)).center
    assert center.content == "# Center\n\nFirst. Second."
    assert (center.is_cut, center.full_size) == (True, len(PAGES["center"].rstrip()))
    assert [section.heading for section in center.sections[center.whole_sections :]] == [
        "One",
        "Two",
    ]


@pytest.mark.parametrize("budget", [Budget(2000), Budget(None, 500)])
def test_headings_of_a_page_take_at_most_half_of_the_budget(repository, budget):
    headings = "".join(f"## heading {number}\n\ntext\n\n" for number in range(3000))
    repository.write("a.md", headings)
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        center = read_context(open_graph(workspace.session.view()), "a.md", 1, budget).center
    outline = "\n".join(section.heading for section in center.sections)
    assert 30 < len(center.sections) < 100
    assert budget.fits(center.content + outline)
    assert len(center.content) > 500


def test_page_with_many_headings_lists_the_highest(repository):
    deep = "".join(f"## H{n}\n\ntext\n\n### Sub{n}\n\ntext\n\n" for n in range(15))
    repository.write("a.md", "[[b]]\n")
    repository.write("b.md", deep)
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        (neighbor,) = workspace.ask(ContextRequest("a.md")).related
    assert (neighbor.headings[0], neighbor.headings[-1], len(neighbor.headings)) == (
        "H0",
        "H14",
        15,
    )
    assert neighbor.hidden_headings == 15


def test_budget_counts_unicode_characters(repository):
    repository.write("認証.md", "# 認証\n\n" + "安全である。" * 30 + "\n\n[[設計]]\n")
    repository.write("設計.md", b"# \xff\n\nBytes \xfe here.\n")
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        cut = workspace.ask(ContextRequest("認証.md", max_size=56)).center
        tokens = workspace.ask(ContextRequest("認証.md", max_tokens=24)).center
        (neighbor,) = workspace.ask(ContextRequest("認証.md")).related
    assert cut.content == "# 認証\n\n" + "安全である。" * 7
    assert tokens.content == "# 認証\n\n" + "安全である。" * 2
    assert neighbor.summary == "Bytes � here."


def test_excluded_page_is_not_in_a_context(repository):
    repository.write("a.md", "[[secret]] [x](private/x.md) [[b]]\n")
    repository.write("b.md", "[[a]]\n")
    repository.write("private/x.md", "[[a]]\n")
    repository.write("secret.secret.md", "[[a]]\n")
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        context = workspace.ask(ContextRequest("a.md"))
        assert [page.filepath for page in context.related] == ["b.md"]
        assert context.truncated_count == 0
        graph = workspace.ask(GraphRequest(center="a.md"))
        assert graph.total_nodes == 2
        assert [
            (node.filepath, node.outgoing_link_count, node.incoming_link_count)
            for node in graph.nodes
        ] == [("a.md", 1, 1), ("b.md", 1, 1)]


def test_context_of_a_bare_repository_and_a_revision_is_found(repository, new_repository):
    repository.write("a.md", "[[b]]\n")
    repository.write("b.md", "Old.\n")
    repository.commit("Begin")
    repository.write("a.md", "Nothing.\n")
    repository.commit("Change")
    bare = new_repository("bare.git", "--bare")
    repository.git("push", "--quiet", str(bare.root), "main")
    with Workspace.open(str(bare.root)) as workspace:
        assert workspace.ask(ContextRequest("a.md")).related == ()
        (neighbor,) = workspace.ask(ContextRequest("a.md", ref="main~1")).related
        assert (neighbor.filepath, neighbor.summary) == ("b.md", "Old.")


def test_page_is_summarized_once_and_as_in_each_snapshot(repository, monkeypatch):
    repository.write("a.md", "# A\n\n[[b]]\n")
    repository.write("b.md", "Its text.\n\n## B\n")
    repository.commit("Begin")
    asked = []
    texts = Graph.texts
    monkeypatch.setattr(
        Graph, "texts", lambda graph, paths: asked.extend(paths) or texts(graph, paths)
    )
    with Workspace.open(str(repository.root)) as workspace:

        def summary(ref=None):
            (neighbor,) = workspace.ask(ContextRequest("a.md", ref=ref)).related
            return (neighbor.summary, neighbor.headings)

        assert [summary(), summary()] == [("Its text.", ("B",))] * 2
        assert asked.count("b.md") == 1
        repository.write("b.md", "Edited.\n\n## C\n")
        assert [summary(), summary("HEAD")] == [("Edited.", ("C",)), ("Its text.", ("B",))]
        repository.commit("Edit")
        assert [summary(), summary("HEAD~")] == [("Edited.", ("C",)), ("Its text.", ("B",))]
