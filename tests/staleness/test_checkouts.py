"""The same answers from every kind of checkout."""

import subprocess

import pytest

from ubp.answers.staleness.stale import diff_lines, diff_report, report_stale
from ubp.frame.wording import Style
from ubp.index.session import Target
from ubp.index.store.file import FILE_NAME
from ubp.workspace import Workspace


@pytest.fixture
def project(repository):
    repository.write("src/a.py", "".join(f"line {n}\n" for n in range(30)))
    repository.write("src/b.py", "b\n")
    repository.page("docs/a.md", "src/a.py", "src/b.py")
    repository.commit("page")
    repository.git("mv", "src/a.py", "src/moved.py")
    repository.write("src/moved.py", "".join(f"line {n}\n" for n in range(31)))
    repository.commit("move and change")
    repository.write("src/b.py", "b2\n")
    repository.commit("change")
    return repository


EXPECTED = {"docs/a.md": ("possibly_stale", {"src/a.py": "moved", "src/b.py": "modified"})}


def test_linked_work_tree_shares_the_index_and_has_its_own_verdicts(
    project, ask, verdicts, tmp_path
):
    assert verdicts(ask(project)) == EXPECTED
    project.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "HEAD~2")
    linked = type(project)(tmp_path / "linked", project.clock)
    assert verdicts(ask(linked)) == {
        "docs/a.md": ("fresh", {"src/a.py": "fresh", "src/b.py": "fresh"})
    }
    assert verdicts(ask(project)) == EXPECTED
    assert linked.index == project.index
    assert project.index.exists()


def test_linked_work_tree_has_its_own_configuration(project, ask, verdicts, tmp_path):
    project.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = type(project)(tmp_path / "linked", project.clock)
    linked.write(".ubp/config.json", '{"source": {"exclude": ["docs/**"]}}')
    assert verdicts(ask(linked)) == {}
    assert verdicts(ask(project)) == EXPECTED


def test_detached_head_and_subdirectory_do_not_change_verdicts(project, ask, verdicts):
    project.git("checkout", "--quiet", "--detach")
    inside = type(project)(project.root / "docs", project.clock)
    assert verdicts(ask(inside)) == EXPECTED
    assert verdicts(ask(inside, "a.md")) == EXPECTED


def test_bare_repository_is_assessed_at_its_head(project, ask, verdicts, tmp_path):
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", project.root, tmp_path / "bare.git"], check=True
    )
    bare = type(project)(tmp_path / "bare.git", project.clock)
    assert verdicts(ask(bare)) == EXPECTED
    assert verdicts(ask(bare, ref="HEAD~2"))["docs/a.md"][0] == "fresh"
    assert bare.index == tmp_path / "bare.git/ubp" / FILE_NAME
    assert bare.index.exists()


def test_blobless_clone_is_enough_and_fetches_nothing(project, ask, verdicts, tmp_path):
    project.git("config", "uploadpack.allowFilter", "true")
    clone = type(project)(tmp_path / "blobless", project.clock)
    subprocess.run(
        ["git", "clone", "--quiet", "--filter=blob:none", project.root.as_uri(), clone.root],
        check=True,
    )
    before = clone.git("count-objects", "-v")
    # The old blob of the moved source is absent here: only an equal one can be recognized.
    assert verdicts(ask(clone)) == {
        "docs/a.md": ("stale", {"src/a.py": "deleted", "src/b.py": "modified"})
    }
    with Workspace.open(str(clone.root), clock=lambda: clone.clock) as workspace:
        report = report_stale(workspace.session, Target())
        diffs = {a.source_path: d for _, a, d in diff_report(workspace.session, report)}
    absent = project.git("rev-parse", "HEAD~2:src/b.py")
    assert diffs["src/b.py"].missing == (absent,)
    assert list(diff_lines("", (absent,), Style()))[-1].strip() == f"git fetch origin {absent}"
    assert clone.git("count-objects", "-v") == before


def test_submodule_is_a_source_by_its_commit(repository, new_repository, ask, verdicts):
    library = new_repository("library")
    library.write("lib.c", "1\n")
    library.commit("one")
    repository.git("submodule", "--quiet", "add", str(library.root), "vendor-lib")
    repository.page("docs/a.md", "vendor-lib", "vendor-lib/lib.c")
    repository.commit("use it")
    assert verdicts(ask(repository)) == {
        "docs/a.md": ("stale", {"vendor-lib": "fresh", "vendor-lib/lib.c": "not_found"})
    }
    library.write("lib.c", "2\n")
    two = library.commit("two")
    repository.git("-C", "vendor-lib", "pull", "--quiet")
    assert verdicts(ask(repository))["docs/a.md"][1]["vendor-lib"] == "modified"
    repository.commit("update it")
    (answer, _) = ask(repository).pages[0].references
    assert (answer.verdict, answer.current_blob) == ("modified", two)


def test_symlinks_are_never_followed(repository, ask, verdicts, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "page.md").write_text("---\nsource_refs: [src/a.py]\n---\n")
    (outside / "a.py").write_text("x\n")
    repository.write("src/real.py", "x\n")
    (repository.root / "docs").symlink_to(outside)
    (repository.root / "src/link.py").symlink_to(outside / "a.py")
    (repository.root / "page.md").symlink_to(outside / "page.md")
    repository.page("guide.md", "src/link.py", "docs/a.py")
    repository.commit()
    (outside / "a.py").write_text("changed behind the link\n")
    assert verdicts(ask(repository)) == {
        "guide.md": ("stale", {"src/link.py": "fresh", "docs/a.py": "not_found"})
    }


def test_verdicts_do_not_depend_on_where_the_index_is(project, ask, verdicts):
    (project.root / ".git/ubp").write_text("a file in the way\n")
    warnings = []
    opening = {"warn": warnings.append}
    assert verdicts(ask(project, opening=opening)) == EXPECTED
    assert len(warnings) == 1


def test_merged_branches_name_the_commits_of_both(repository, ask):
    repository.write("src/a.py", "top\n\n\n\n\nbottom\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit("page")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("src/a.py", "top\n\n\n\n\nbottom, aside\n")
    side = repository.commit("side")
    repository.git("checkout", "--quiet", "main")
    repository.write("src/a.py", "top, here\n\n\n\n\nbottom\n")
    here = repository.commit("here")
    merge = repository.merge("side")
    (answer,) = ask(repository).pages[0].references
    assert [commit.id for commit in answer.commits] == [merge, here, side]
    assert answer.since == answer.commits[-1].date
