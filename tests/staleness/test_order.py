"""The order of stale pages."""

import pytest

from ubp.answers.report.report import ReportRequest
from ubp.core.model import PairCount
from ubp.staleness.ranking import CommitIndex, score_reference
from ubp.workspace import Workspace


@pytest.fixture
def project(repository):
    """`z.md` changes with its source, `b.md` never; `hub-*.md` hang on one file together."""
    repository.write("src/shared.py", "0\n")
    repository.write("src/own.py", "0\n")
    repository.write("src/other.py", "0\n")
    repository.page("docs/b.md", "src/other.py")
    repository.page("docs/z.md", "src/own.py")
    for name in "cde":
        repository.page(f"docs/hub-{name}.md", "src/shared.py")
    repository.commit("everything")
    for number in (1, 2, 3):
        repository.write("src/own.py", f"{number}\n")
        repository.page("docs/z.md", "src/own.py", body=f"{number}\n")
        repository.write("src/other.py", f"{number}\n")
        repository.commit("the page with its source")
    return repository


def paths(report):
    return [page.page.filepath for page in report.pages if page.level != "fresh"]


def change_sources(repository):
    for name in ("own", "other", "shared"):
        repository.write(f"src/{name}.py", "changed\n")


TELLING_FIRST = [
    "docs/z.md",
    "docs/hub-c.md",
    "docs/hub-d.md",
    "docs/hub-e.md",
    "docs/b.md",
]


def test_page_that_changes_with_its_source_comes_first(project, ask):
    project.page("docs/b.md", "src/other.py", body="New.\n")
    project.commit("describe it at last")
    change_sources(project)
    first = ask(project)
    assert paths(first) == TELLING_FIRST
    assert ask(project) == first  # the cached result is equal


def test_page_that_a_commit_leaves_behind_comes_first_whatever_its_age(project, ask):
    project.page("docs/old.md", "src/old.py")
    project.write("src/old.py", "0\n")
    project.page("docs/b.md", "src/other.py", body="New.\n")
    project.commit("one more")
    project.write("src/old.py", "1\n")
    project.commit("an old debt")
    change_sources(project)
    project.git("add", "src")
    assert paths(ask(project, staged=True)) == TELLING_FIRST
    assert paths(ask(project, staged=True, every=True, age=30)) == [*TELLING_FIRST, "docs/old.md"]


def test_page_with_a_deleted_source_comes_before_all_others(project, ask):
    change_sources(project)
    project.remove("src/shared.py")
    project.git("add", "src")
    assert paths(ask(project, staged=True))[:4] == [
        "docs/hub-c.md",
        "docs/hub-d.md",
        "docs/hub-e.md",
        "docs/z.md",
    ]


def test_worse_level_comes_before_more_evidence(project, ask):
    project.write("src/shared.py", "1\n")
    project.commit("long ago")
    project.write("src/own.py", "changed\n")
    assert paths(ask(project, age=30)) == [
        "docs/b.md",
        "docs/hub-c.md",
        "docs/hub-d.md",
        "docs/hub-e.md",
        "docs/z.md",
    ]


def test_order_without_history_depends_on_the_number_of_pages(project, ask, monkeypatch):
    from ubp.core.errors import RepositoryError
    from ubp.index.history import History

    def fail(*_, **__):
        raise RepositoryError("No trees.")

    project.page("docs/b.md", "src/other.py", body="New.\n")
    project.commit("describe it at last")
    monkeypatch.setattr(History, "change_log", fail)
    change_sources(project)
    project.git("add", "src")
    assert paths(ask(project, staged=True)) == [
        "docs/b.md",
        "docs/z.md",
        "docs/hub-c.md",
        "docs/hub-d.md",
        "docs/hub-e.md",
    ]


def test_order_prefers_pages_that_change_with_the_source_and_are_few():
    assert score_reference(PairCount(0, 0), 1) == 1 / 3
    assert score_reference(PairCount(10, 5), 4) == 5.5 / 11.5 / 2
    assert (
        score_reference(PairCount(10, 5), 1)
        > score_reference(PairCount(10, 5), 2)
        > score_reference(PairCount(10, 0), 2)
    )


def test_touched_paths_match_a_file_a_folder_and_a_glob():
    commits = [("src/a.py", "docs/a.md"), (), ("src/deep/b.py",), ("src/[id].py",)]
    names = ["src/a.py", "src", "", "src/**/*.py", "src/[id].py", "src/a"]
    touches = CommitIndex(commits, names)
    assert {name: list(touches.of(name)) for name in names} == {
        "src/a.py": [0],
        "src": [0, 2, 3],
        "": [0, 2, 3],
        "src/**/*.py": [0, 2, 3],
        "src/[id].py": [3],
        "src/a": [],
    }


def test_report_and_stale_list_pages_in_the_same_order(project, ask):
    project.page("docs/b.md", "src/other.py", body="New.\n")
    project.commit("describe it at last")
    change_sources(project)
    # many readers and many changed lines do not change the order
    project.write("src/other.py", "changed\n" * 50)
    project.write("docs/index.md", "[b](b.md)\n")
    with Workspace.open(str(project.root)) as workspace:
        assert [page.filepath for page in workspace.ask(ReportRequest()).pages] == TELLING_FIRST
    assert paths(ask(project)) == TELLING_FIRST
