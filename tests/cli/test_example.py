"""Where nothing is verified, the user is shown one of their pages and a source for it."""

import pytest

from ubp.answers.staleness.stale import find_example, report_stale
from ubp.index.session import Target
from ubp.staleness.first_reference import FirstReference
from ubp.workspace import Workspace


@pytest.fixture
def shown(repository):
    def show(*paths):
        with Workspace.open(str(repository.root)) as workspace:
            report = report_stale(workspace.session, Target(), paths)
            return find_example(workspace.session, report, paths)

    return show


def test_example_is_a_page_and_a_file_that_it_names(repository, shown):
    repository.write("docs/a.md", "Nothing.\n")
    repository.write("docs/b.md", "---\ntitle: B\n---\nSee ../src/a.py, and src/missing.py.\n")
    repository.write("src/a.py", "")
    assert shown() == FirstReference("docs/b.md", "src/a.py", has_front_matter=True)


def test_example_prefers_a_file_with_the_name_of_the_page(repository, shown):
    repository.write("docs/about.md", "src/run.py, src/run.py, src/run.py and src/login.py.\n")
    repository.write("docs/login.md", "See src/run.py, src/run.py and src/login.py.\n")
    repository.write("src/run.py", "")
    repository.write("src/login.py", "")
    assert shown() == FirstReference("docs/login.md", "src/login.py")


@pytest.mark.parametrize(
    "path",
    [
        "CITATION.cff",
        "Cargo.toml",
        "Cargo.lock",
        "AGENTS.rst",
        "CODE_OF_CONDUCT",
        "docs/main.py",
        ".github/workflows/main.yml",
        "tests/test_a.py",
        "Taskfile.yml",
    ],
)
def test_example_is_never_a_file_that_no_page_is_about(repository, shown, ubp, path):
    repository.write("docs/a.md", f"See `{path}` and {path}.\n")
    repository.write(path, "")
    assert shown() == FirstReference()
    assert ubp(repository, "stale").out == (
        "No page lists sources yet (1 page found); nothing to verify.\n\n"
        "A page lists the files that it describes under `source_refs` in its front matter, by their"
        " paths from the repository's root.\n"
        "To get proposals for all pages: ubp bind\n"
    )


def test_example_is_never_a_page_of_the_past(repository, shown):
    repository.write("CHANGELOG.md", "See src/a.py.\n")
    repository.write("docs/blog/new.md", "See src/a.py.\n")
    repository.write("src/a.py", "")
    assert shown() == FirstReference()


def test_example_is_never_an_included_file(repository, shown):
    repository.write("docs/a.md", '{{#include ../src/a.py}}\n\n--8<-- "src/a.py"\n')
    repository.write("src/a.py", "")
    assert shown() == FirstReference()


def test_example_never_chooses_a_picture_as_source(repository, shown):
    repository.write("docs/a.md", "![Flow](../img/flow.png)\n")
    repository.write("docs/b.md", "See `src/a.py`.\n")
    repository.write("img/flow.png", "")
    repository.write("src/a.py", "")
    assert shown().source == "src/a.py"


def test_example_is_of_the_requested_page(repository, shown):
    repository.write("docs/a.md", "See `src/a.py`.\n")
    repository.write("docs/b.md", "See `src/b.py`.\n")
    repository.write("src/a.py", "")
    repository.write("src/b.py", "")
    assert shown("docs/b.md") == FirstReference("docs/b.md", "src/b.py")


def test_example_in_an_empty_repository_shows_nothing(repository, shown):
    assert shown() == FirstReference()
    repository.write("docs/a.md", "See [another](b.md).\n")
    repository.write("docs/b.md", "")
    assert shown() == FirstReference()


def test_example_never_shows_excluded_files(repository, shown):
    repository.write("docs/a.md", "See private/key.py and src/a.py.\n")
    repository.write("private/key.py", "")
    repository.write("src/a.py", "")
    assert shown().source == "src/a.py"


def test_example_never_follows_links(repository, shown, tmp_path):
    (tmp_path / "outside.md").write_text("See src/a.py.\n")
    repository.write("src/a.py", "")
    repository.write("docs/a.md", "See src/link.py.\n")
    (repository.root / "src/link.py").symlink_to(tmp_path / "outside.md")
    (repository.root / "docs/link.md").symlink_to(tmp_path / "outside.md")
    assert shown() == FirstReference()


def test_example_uses_the_configured_key(repository, shown, ubp):
    repository.write("src/a.py", "")
    repository.write("docs/a.md", "---\nrelated_code:\n  - src/a.py\n---\nSee src/a.py.\n")
    assert shown().other_key == "related_code"
    assert ubp(repository, "stale").out.endswith(
        "If pages already list them under `related_code`: ubp stale --key related_code\n"
    )
    assert ubp(repository, "stale", "--key", "related_code").out == (
        "1 of 1 page lists sources: fresh.\n"
    )
