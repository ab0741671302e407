"""A page with what stands around it: what comes first, what is left out."""

import pytest

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


def test_only_wanted_links_are_followed(graph):
    assert paths(graph, "center.md", 3, ["implements", "extends"]) == [
        ("back.md", 1, "center.md", "backlink", "implements", 1),
        ("a.md", 1, "center.md", "outlink", "extends", 1),
    ]
    assert paths(graph, "alone.md", 3) == []


def test_related_pages_are_told_in_short(graph):
    context = read_context(graph, "center.md", 2, Budget())
    told = {one.document.path: (one.summary, one.headings) for one in context.related}
    assert told == {
        "a.md": ("About a. [[far]]", ("Head",)),
        "back.md": ("See [[center|implements]].", ()),
        "b.md": ("[[center]] [[far]]", ()),
        "x/twin.md": ("One.", ()),
        "far.md": ("Far away.", ("Only here", "Deeper")),
    }
    assert context.center.content == PAGES["center"].rstrip()
    assert (context.left_out, context.center.is_cut) == (0, False)


def test_what_does_not_fit_is_left_out_from_the_end(graph):
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


def test_a_page_too_large_is_cut_and_says_where(graph):
    center = read_context(graph, "center.md", 1, Budget(60)).center
    assert center.content == "# Center\n\nFirst. Second."
    assert (center.is_cut, center.full_size) == (True, len(PAGES["center"].rstrip()))
    assert [one.heading for one in center.sections[center.whole_sections :]] == ["One", "Two"]


@pytest.mark.parametrize("budget", [Budget(2000), Budget(None, 500)])
def test_the_headings_of_a_page_take_half_of_the_budget_at_most(repository, budget):
    headings = "".join(f"## heading {number}\n\ntext\n\n" for number in range(3000))
    repository.write("a.md", headings)
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        center = read_context(open_graph(workspace.session.view()), "a.md", 1, budget).center
    outline = "\n".join(section.heading for section in center.sections)
    assert 30 < len(center.sections) < 100
    assert len(center.sections) + center.hidden_sections == 3000
    assert budget.fits(center.content + outline)
    assert len(center.content) > 500


def test_a_page_of_many_headings_tells_the_highest(repository):
    deep = "".join(f"## H{n}\n\ntext\n\n### Sub{n}\n\ntext\n\n" for n in range(15))
    repository.write("a.md", "[[b]]\n")
    repository.write("b.md", deep)
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        (one,) = workspace.context("a.md").context.related
    assert (one.headings[0], one.headings[-1], len(one.headings)) == ("H0", "H14", 15)
    assert one.hidden_headings == 15


def test_unicode_counts_as_characters(repository):
    repository.write("認証.md", "# 認証\n\n" + "安全である。" * 30 + "\n\n[[設計]]\n")
    repository.write("設計.md", b"# \xff\n\nBytes \xfe here.\n")
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        cut = workspace.context("認証.md", max_size=56).context.center
        tokens = workspace.context("認証.md", max_tokens=24).context.center
        (one,) = workspace.context("認証.md").context.related
    assert cut.content == "# 認証\n\n" + "安全である。" * 7
    assert tokens.content == "# 認証\n\n" + "安全である。" * 2
    assert one.summary == "Bytes � here."


def test_an_excluded_page_is_not_there(repository):
    repository.write("a.md", "[[secret]] [x](private/x.md) [[b]]\n")
    repository.write("b.md", "[[a]]\n")
    repository.write("private/x.md", "[[a]]\n")
    repository.write("secret.secret.md", "[[a]]\n")
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        context = workspace.context("a.md").context
        assert [one.document.path for one in context.related] == ["b.md"]
        assert context.left_out == 0
        near = workspace.graph(center="a.md").near
        assert ([one.path for one in near.documents], near.total) == (["a.md", "b.md"], 2)
        assert near.counts == {"a.md": (1, 1), "b.md": (1, 1)}


def test_a_bare_repository_and_a_revision_answer_too(repository, new_repository):
    repository.write("a.md", "[[b]]\n")
    repository.write("b.md", "Old.\n")
    repository.commit("Begin")
    repository.write("a.md", "Nothing.\n")
    repository.commit("Change")
    bare = new_repository("bare.git", "--bare")
    repository.git("push", "--quiet", str(bare.root), "main")
    with Workspace.open(str(bare.root)) as workspace:
        assert workspace.context("a.md").context.related == ()
        (one,) = workspace.context("a.md", ref="main~1").context.related
        assert (one.document.path, one.summary) == ("b.md", "Old.")


def test_a_page_is_summed_up_once_and_as_it_stands_in_each_snapshot(repository, monkeypatch):
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
            (one,) = workspace.context("a.md", ref=ref).context.related
            return (one.summary, one.headings)

        assert [summary(), summary()] == [("Its text.", ("B",))] * 2
        assert asked.count("b.md") == 1
        repository.write("b.md", "Edited.\n\n## C\n")
        assert [summary(), summary("HEAD")] == [("Edited.", ("C",)), ("Its text.", ("B",))]
        repository.commit("Edit")
        assert [summary(), summary("HEAD~")] == [("Edited.", ("C",)), ("Its text.", ("B",))]
