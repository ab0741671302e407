"""The links of a snapshot, while other processes move the graph that is stored."""

from ubp.index.session import Session, Target


def test_links_of_a_branch_remain_when_another_process_moves_the_graph_to_it(repository):
    repository.write("docs/a.md", "# A\n\n[b](b.md)\n")
    repository.write("docs/b.md", "# B\n")
    repository.commit()
    repository.git("switch", "--quiet", "--create", "branch")
    repository.write("docs/a.md", "# A\n\n[b](b.md) [c](c.md)\n")
    repository.write("docs/c.md", "# C\n")
    repository.commit()
    repository.git("switch", "--quiet", "main")
    with Session.open(str(repository.root)) as session:
        session.view().link_graph()  # stored for main
        graph = session.view(Target("branch")).link_graph()
        repository.git("merge", "--quiet", "branch")
        with Session.open(str(repository.root)) as other:
            other.view().link_graph()  # moved to the merge
        links = graph.out(["docs/a.md", "docs/c.md"])
        assert [edge.resolution.target for edge in links["docs/a.md"]] == ["docs/b.md", "docs/c.md"]
        assert links["docs/c.md"] == ()
