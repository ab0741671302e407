"""The answers of a graph, what it writes, and how pages are read for it."""

import os
import subprocess
import sys

import pytest

from ubp.core.errors import IndexDamagedError
from ubp.core.text import segment_cjk
from ubp.index import workers as processes
from ubp.index.match import Phrase
from ubp.index.store.fulltext import RowMatch
from ubp.index.store.page_facts import SPARE_CHUNKS
from ubp.index.worker import read_pages
from ubp.index.workers import read_in_parallel
from ubp.workspace import Workspace


@pytest.fixture
def project(repository):
    repository.write(
        "a.md", "# Alpha\n\nSee [[b|depends_on]], [x](docs/c.md#part) and [[Nowhere]].\n"
    )
    repository.write(
        "b.md", "---\ntags: [t]\naliases: [Bee]\ndoc_type: guide\n---\n## Part\n\n[[Alpha]]\n"
    )
    repository.write("docs/c.md", "## Part\n\n[here](#part), [b](../b.md), [gone](/gone.md)\n")
    repository.write("src/x.py", "1\n")
    repository.commit()
    return repository


def paths(edges):
    return [(edge.source, edge.link.target, edge.resolution.bucket) for edge in edges]


def test_graph_has_documents_links_and_backlinks(project, links):
    with links(project.root) as (_, view, graph):
        assert [(row.path, row.title, row.doc_type, row.tags) for row in graph.documents()] == [
            ("a.md", "Alpha", "spec", ()),
            ("b.md", "b", "guide", ("t",)),
            ("docs/c.md", "c", "spec", ()),
        ]
        assert graph.document("src/x.py") is None
        assert paths(graph.outlinks("a.md")) == [
            ("a.md", "b", "resolved"),
            ("a.md", "docs/c.md", "resolved"),
            ("a.md", "Nowhere", "missing"),
        ]
        assert graph.outlinks("src/x.py") == ()
        assert paths(graph.backlinks("b.md")) == [
            ("a.md", "b", "resolved"),
            ("docs/c.md", "../b.md", "resolved"),
        ]
        assert graph.link_counts() == {"a.md": (2, 1), "b.md": (1, 2), "docs/c.md": (1, 1)}
        assert graph.buckets() == {"resolved": 4, "missing": 2, "within_page": 1}
        assert graph.anchors("b.md") == {"part"}
        assert [section.heading for section in graph.sections("b.md")] == ["Part"]
        assert graph.text("b.md") == (project.root / "b.md").read_bytes()
        assert view.read(["src/x.py"]) == {}


def test_second_view_of_the_same_snapshot_writes_nothing(project, links):
    with links(project.root):
        pass
    before = project.index.read_bytes()
    with links(project.root) as (_, _, graph):
        assert sum(graph.buckets().values()) == 7
    assert project.index.read_bytes() == before


def test_words_are_found_in_documents_of_the_snapshot_only(project, links):
    project.write("b.md", "認証の流れ、ＡＰＩキー、か\u3099\n")
    with links(project.root) as (_, view, _):
        for query in ("認", "認証", "証の流", "API", "が"):
            hits = view.full_text().search(RowMatch([Phrase(segment_cjk(query).strip())]), 9)
            assert [hit.path for hit in hits] == ["b.md"], query
        assert view.full_text().search(RowMatch([Phrase("bee")]), 9) == []
    with links(project.root, ref="HEAD") as (_, view, _):
        assert view.full_text().search(RowMatch([Phrase("認 証")]), 9) == []
        assert [hit.path for hit in view.full_text().search(RowMatch([Phrase("bee")]), 9)] == [
            "b.md"
        ]
        assert view.full_text().count(Phrase("bee"), 9) == 1


def test_hits_of_other_versions_never_displace_those_of_the_snapshot(project, links):
    for number in range(60):
        project.write("b.md", f"needle {number}\n")
        with links(project.root):
            pass
    with links(project.root) as (_, view, _):
        assert [hit.path for hit in view.full_text().search(RowMatch([Phrase("needle")]), 1)] == [
            "b.md"
        ]


def test_removed_facts_are_read_again(project, links, contents_of):
    before = contents_of(project.root)
    with links(project.root) as (session, view, _):
        session.store.forget_pages([view.entry(path).id for path in view.document_paths()])
    assert contents_of(project.root) == before
    with links(project.root) as (session, _, _):
        session.store.clear()
    assert contents_of(project.root) == before


def test_pruning_keeps_the_facts_of_the_commit(project, links, contents_of):
    project.write("b.md", "edited\n")
    with links(project.root):
        pass
    project.git("checkout", "--", "b.md")
    before = contents_of(project.root)
    with links(project.root) as (session, _, _):
        assert session.store.database.rows("SELECT count(*) FROM page") == [(4,)]
        session.store.prune()
        assert session.store.database.rows("SELECT count(*) FROM page") == [(3,)]
    assert contents_of(project.root) == before


@pytest.mark.parametrize("spare_chunks", [SPARE_CHUNKS, -SPARE_CHUNKS])
def test_words_are_found_after_another_process_pruned_the_index(
    project, sections, monkeypatch, spare_chunks
):
    monkeypatch.setattr("ubp.index.store.page_facts.SPARE_CHUNKS", spare_chunks)
    project.write("b.md", "Quokka\n")  # an index keeps what commits say
    with Workspace.open(str(project.root)) as workspace, Workspace.open(str(project.root)) as other:
        view = workspace.session.view()
        assert [hit.page.filepath for hit in sections(view, "quokka", 9).hits] == ["b.md"]
        other.session.store.prune()
        assert [hit.page.filepath for hit in sections(view, "quokka", 9).hits] == ["b.md"]


def test_graph_stays_right_while_another_process_moves_the_index(project, links):
    with links(project.root) as (_, _, graph):
        before = paths(graph.all_edges())
        project.remove("b.md")
        project.commit()
        with links(project.root) as (_, _, other):
            assert ("a.md", "b", "missing") in paths(other.all_edges())
        assert paths(graph.all_edges()) == before
        assert graph.buckets() == {"resolved": 4, "missing": 2, "within_page": 1}


def test_work_tree_without_commits_is_linked(repository, links):
    repository.write("a.md", "[[b]]\n")
    repository.write("b.md", "word\n")
    with links(repository.root) as (_, view, graph):
        assert paths(graph.backlinks("b.md")) == [("a.md", "b", "resolved")]
        assert [hit.path for hit in view.full_text().search(RowMatch([Phrase("word")]), 9)] == [
            "b.md"
        ]


def test_pages_that_arrive_in_a_partial_clone_are_linked_then(project, new_repository, links):
    project.git("config", "uploadpack.allowFilter", "true")
    clone = new_repository("clone")
    clone.git("remote", "add", "origin", f"file://{project.root}")
    clone.git("fetch", "-q", "--filter=blob:none", "origin", "main")
    clone.git("update-ref", "HEAD", "FETCH_HEAD")
    with links(clone.root, ref="HEAD") as (_, _, graph):
        assert graph.buckets() == {}
    clone.git("checkout", "-q", "HEAD", "--", "a.md", "b.md")
    with links(clone.root, ref="HEAD") as (_, _, graph):
        assert paths(graph.all_edges()) == [
            ("a.md", "b", "resolved"),
            ("a.md", "docs/c.md", "resolved"),
            ("a.md", "Nowhere", "missing"),
            ("b.md", "Alpha", "resolved"),
        ]


BLOBS = [{f"{n:040x}": f"# Page {n}\n\n[[x{n}]] 認証\n".encode()} for n in range(20)]


def test_work_of_several_processes_equals_that_of_one():
    found = {}
    for answers in read_in_parallel(BLOBS, 2):
        found |= answers
    assert found == {blob: rows for batch in BLOBS for blob, rows in read_pages(batch).items()}


@pytest.mark.parametrize("program", ["import sys", "raise SystemExit(3)", "import os; os.abort()"])
def test_work_left_by_a_dead_process_is_done(program, monkeypatch, capfd):
    monkeypatch.setattr(processes, "PROGRAM", program)
    found = {}
    for answers in read_in_parallel(BLOBS, 2):
        found |= answers
    assert len(found) == 20
    capfd.readouterr()


def test_modules_of_the_repository_are_never_run(tmp_path):
    for name in ("ubp", "markdown_it", "struct", "marshal", "sys", "re"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n")
    program = (
        "from ubp.index.workers import read_in_parallel\n"
        "print(sum(map(len, read_in_parallel([{'0' * 40: b'x'}], 1))))\n"
    )
    script = tmp_path.parent / "script.py"
    script.write_text(program)
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert (done.stdout, os.path.exists(tmp_path / "ran")) == ("1\n", False)


@pytest.mark.parametrize("words", ['"', "AND", "a:b", "(", "* x", "NEAR(", "rank", "-a", '" OR "'])
def test_words_that_are_syntax_of_fts5_are_words(words, project, links):
    project.write("c.md", "Before {} after.\n".format(words.replace('"', "")))
    with links(project.root) as (_, view, _):
        hits = view.full_text().search(RowMatch([Phrase(words)]), 9)
        has_word = any(map(str.isalnum, words))
        assert ("c.md" in {hit.path for hit in hits}) == has_word
        assert view.full_text().has(Phrase(words)) == has_word


def lose(database):
    with pytest.raises(IndexDamagedError):
        database.replace_damaged()


def test_database_that_breaks_meanwhile_is_rebuilt(project, links):
    with links(project.root) as (session, view, graph):
        before = paths(graph.all_edges())
        lose(session.store.database)
        assert [hit.path for hit in view.full_text().search(RowMatch([Phrase("bee")]), 9)] == [
            "b.md"
        ]
        assert paths(graph.all_edges()) == before
        lose(session.store.database)
        assert paths(graph.all_edges()) == before
        lose(session.store.database)
        assert graph.buckets() == {"resolved": 4, "missing": 2, "within_page": 1}
        assert graph.sections("b.md")[0].heading == "Part"
