"""What no page describes, and how much that changes."""

import pytest

from ubp.bindings.coverage import (
    DEFAULT_DAYS,
    ActivityCount,
    Coverage,
    Gap,
    SourceActivity,
    build_tree,
    find_gaps,
    find_sources,
    measure_coverage,
)
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.git.change_log import LoggedChange
from ubp.index.session import Target
from ubp.staleness.state import open_source_index
from ubp.workspace import Workspace

DAY = 86_400


def measure(
    workspace: Workspace, paths=(), *, days: float = DEFAULT_DAYS, ref: str | None = None
) -> Coverage:
    """Return which sources no page describes."""
    view = workspace.session.view(Target(ref))
    is_described = open_source_index(workspace.session, view).is_described
    return measure_coverage(workspace.session, view, is_described, paths, days)


def sources(**changes: int) -> list[SourceActivity]:
    """`src__a=3`: the file src/a changed three times; `_` at the end: a page describes it."""
    return [
        SourceActivity(FilePath(name.rstrip("_").replace("__", "/")), number, name.endswith("_"))
        for name, number in changes.items()
    ]


def test_directory_without_any_described_file_is_one_gap():
    found = find_gaps(sources(a__b__c=1, a__b__d=2, a__e=1, f__g_=9, f__h=3, i=2, f__j__k=3))

    assert found == (
        Gap("a/", 3, 4),
        Gap("f/h", 1, 3),
        Gap("f/j/", 1, 3),
        Gap("i", 1, 2),
    )


def test_directory_that_is_most_of_the_gap_is_listed_in_parts():
    found = find_gaps(sources(src__a__b=5, src__a__c=4, src__d=1, docs__f=2))

    assert found == (Gap("src/a/", 2, 9), Gap("docs/", 1, 2), Gap("src/d", 1, 1))


def test_gaps_without_changes_are_ordered_by_files():
    found = find_gaps(sources(a__b__c=0, a__d=0, e__f=0, g__h=0, i__j=0))

    assert found == (
        Gap("a/b/", 1, 0),
        Gap("a/d", 1, 0),
        Gap("e/", 1, 0),
        Gap("g/", 1, 0),
        Gap("i/", 1, 0),
    )


def test_directory_of_all_sources_is_no_gap():
    assert find_gaps(sources(a__b__c=2, a__b__d__e=1)) == (Gap("a/b/c", 1, 2), Gap("a/b/d/", 1, 1))


def test_gaps_are_empty_where_all_is_described_or_nothing_exists():
    assert find_gaps(sources(a__b_=1, c_=2)) == ()
    assert find_gaps([]) == ()


def test_shares_are_those_of_files_and_of_changes():
    total = build_tree(sources(a__b_=3, a__c=1, d=0)).counts[""]

    assert total == ActivityCount(3, 1, 4, 3)
    assert (total.files_percent, total.changes_percent) == (33, 75)
    assert (ActivityCount().files_percent, ActivityCount().changes_percent) == (None, None)


def test_commit_with_very_many_files_is_not_counted(monkeypatch):
    monkeypatch.setattr("ubp.bindings.coverage.MAX_PATHS", 2)
    log = [LoggedChange("0" * 40, DAY, paths) for paths in (("a", "b"), ("a",))]

    assert find_sources(["b", "a"], log, lambda path: path == "b") == (
        SourceActivity("a", 1, is_described=False),
        SourceActivity("b", 0, is_described=True),
    )


def test_changes_are_those_before_the_last_commit(repository):
    repository.write("a.py", "1\n")
    repository.commit()
    first = repository.clock
    repository.write("a.py", "2\n")
    repository.commit(at=first + 364 * DAY)
    repository.write("a.py", "3\n")
    repository.commit(at=first + 366 * DAY)
    with Workspace.open(str(repository.root), clock=lambda: first + 5000 * DAY) as workspace:
        year, ever = measure(workspace), measure(workspace, days=10_000)

    assert (year.since, year.gaps) == (first + DAY, (Gap("a.py", 1, 2),))
    assert ever.gaps == (Gap("a.py", 1, 3),)


def test_commit_from_the_future_hides_no_others(repository):
    repository.write("a.py", "1\n")
    repository.commit()
    now = repository.clock + DAY
    repository.write("a.py", "2\n")
    repository.commit(at=now + 9000 * DAY)
    with Workspace.open(str(repository.root), clock=lambda: now) as workspace:
        assert measure(workspace).gaps == (Gap("a.py", 1, 2),)


@pytest.fixture
def project(repository):
    """Two pages name a file, a directory and a glob; no page names the rest."""
    for name in ("src/auth.py", "src/more.py", "lib/a/x.py", "web/a.ts", "web/a.css", "tools/t.py"):
        repository.write(name, name)
    repository.write("gen/api.py", "x\n")
    repository.write("uv.lock", "x\n")
    repository.write("logo.png", "x\n")
    repository.write("private/key.py", "x\n")
    repository.write(".gitattributes", "gen/* linguist-generated\n")
    repository.page("docs/auth.md", "src/auth.py", "lib/")
    repository.page("docs/web.md", "web/*.ts")
    repository.commit()
    repository.write("src/more.py", "2\n")
    repository.commit()
    return repository


def test_files_directories_and_globs_describe_sources(project):
    with Workspace.open(str(project.root)) as workspace:
        found = measure(workspace)
        narrow = measure(workspace, ["src"])
        before = measure(workspace, ref="HEAD~1", days=1)

    assert [source.path for source in found.sources if source.is_described] == [
        "lib/a/x.py",
        "src/auth.py",
        "web/a.ts",
    ]
    assert found.gaps == (
        Gap("src/more.py", 1, 2),
        Gap("tools/", 1, 1),
        Gap("web/a.css", 1, 1),
    )
    assert (found.bound, found.total) == (2, ActivityCount(6, 3, 7, 3))
    assert narrow.total == ActivityCount(2, 1, 3, 1)
    assert before.total == ActivityCount(6, 3, 6, 3)


def test_page_continues_to_describe_a_moved_source(project):
    project.git("mv", "src/auth.py", "src/login.py")
    project.commit()
    with Workspace.open(str(project.root)) as workspace:
        found = measure(workspace, ["src/login.py"])

    assert found.total == ActivityCount(1, 1, 1, 1)


def test_path_of_no_source_is_an_error(project):
    with Workspace.open(str(project.root)) as workspace, pytest.raises(UsageError):
        measure(workspace, ["docs/auth.md"])


def test_files_without_commits_or_git_attributes_are_counted(repository):
    repository.write("a.py", "x\n")
    with Workspace.open(str(repository.root)) as workspace:
        found = measure(workspace)

    assert (found.since, found.total, found.gaps) == (
        None,
        ActivityCount(1, 0, 0, 0),
        (Gap("a.py", 1, 0),),
    )


def test_generated_files_count_only_where_a_page_describes_them(repository):
    routine = (
        "LICENSE",
        "README.rst",
        ".gitignore",
        "tests/test_a.py",
        "src/a.test.ts",
        "py.typed",
    )
    for name in ("src/a.ts", *routine):
        repository.write(name, f"{name}\n")
    repository.page("docs/testing.md", "tests/test_a.py")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        coverage = measure(workspace)
    assert [source.path for source in coverage.sources] == ["src/a.ts", "tests/test_a.py"]
    assert coverage.gaps == (Gap("src/", 1, 1),)
