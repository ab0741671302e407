"""Accepted bindings are written into pages completely or not at all, with the requested pin."""

import os

import pytest

from ubp.answers.staleness.stale import report_stale
from ubp.bindings.write import WriteResult, WrittenReference, bind_pages
from ubp.core.errors import UsageError
from ubp.index.session import Target
from ubp.workspace import Workspace


@pytest.fixture
def project(repository):
    """A page that was written before its sources changed, and a folder of them."""
    repository.write("src/a.py", "1\n")
    repository.write("src/api/b.py", "1\n")
    repository.write("docs/a.md", "# A\n")
    repository.page("docs/b.md", "src/a.py")
    repository.commit("Begin")
    repository.write("src/a.py", "2\n")
    repository.write("src/api/b.py", "2\n")
    repository.commit("Change both")
    return repository


@pytest.fixture
def bind(project):
    def run(wanted, **how):
        with Workspace.open(str(project.root)) as workspace:
            options = {"pin": False, "from_history": False, "is_dry": False, **how}
            return bind_pages(workspace.session, wanted, **options)

    return run


HEAD = "---\nsource_refs:\n  - src/a.py\n  - src/api/\n---\n"


def test_sources_are_written(project, bind):
    (done,) = bind({"docs/a.md": ["src/a.py", "src/api/"]})
    assert done == WriteResult(
        "docs/a.md",
        (WrittenReference("src/a.py", None), WrittenReference("src/api/", None)),
        "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1,7 @@\n"
        + "".join(f"+{line}\n" for line in [*HEAD.splitlines(), ""])
        + " # A\n",
    )
    assert (project.root / "docs/a.md").read_text() == f"{HEAD}\n# A\n"
    assert bind({"docs/a.md": ["src/a.py"]}) == (WriteResult("docs/a.md", ()),)


def test_dry_run_writes_nothing(project, bind):
    (done,) = bind({"docs/b.md": ["src/api/"]}, is_dry=True)
    assert done.diff == (
        "--- a/docs/b.md\n+++ b/docs/b.md\n@@ -3,2 +3,3 @@\n   - src/a.py\n+  - src/api/\n ---\n"
    )
    assert "api" not in (project.root / "docs/b.md").read_text()


def test_pin_is_the_present_blob(project, bind):
    (done,) = bind({"docs/a.md": ["src/a.py", "src/api/"]}, pin=True)
    blob = project.blob("src/a.py")[:12]
    tree = project.git("rev-parse", "HEAD:src/api")[:12]
    assert done.written == (WrittenReference("src/a.py", blob), WrittenReference("src/api/", tree))
    assert (project.root / "docs/a.md").read_text() == (
        "---\nsource_refs:\n"
        f"  - path: src/a.py\n    blob: {blob}\n  - path: src/api/\n    blob: {tree}\n---\n\n# A\n"
    )


def test_pin_from_history_shows_changes_since_the_page(project, bind):
    project.write("src/new.py", "1\n")
    project.commit("Add a source")
    (done,) = bind({"docs/a.md": ["src/a.py", "src/new.py"]}, from_history=True)
    old = project.git("rev-parse", "HEAD~2:src/a.py")[:12]
    assert done.written == (WrittenReference("src/a.py", old), WrittenReference("src/new.py", None))
    with Workspace.open(str(project.root)) as workspace:
        (page,) = report_stale(workspace.session, Target(), ["docs/a.md"]).pages
    assert [reference.verdict for reference in page.references] == ["modified", "fresh"]


def test_page_that_cannot_be_written_is_skipped_and_the_others_are_written(project, bind):
    project.write("docs/c.md", '{\n  "title": "C"\n}\n')
    gone, toml, done = bind(
        {"docs/gone.md": ["src/a.py"], "docs/c.md": ["src/a.py"], "docs/a.md": ["src/a.py"]}
    )
    assert gone.skip_reason == "The file docs/gone.md does not exist in the work tree."
    assert toml.skip_reason == (
        "Cannot add src/a.py to the page in place."
        " Its front matter is JSON; UBP reads only YAML and TOML."
    )
    assert done.written == (WrittenReference("src/a.py", None),)


@pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
def test_file_keeps_its_mode_and_a_link_is_not_followed(project, bind):
    (project.root / "docs/a.md").chmod(0o640)
    (project.root / "docs/link.md").symlink_to("a.md")
    done, link = bind({"docs/a.md": ["src/a.py"], "docs/link.md": ["src/a.py"]})
    assert done.written
    assert (project.root / "docs/a.md").stat().st_mode & 0o777 == 0o640
    assert link.skip_reason == "docs/link.md is a symbolic link or is reached through one."


def test_bare_repository_is_not_written(new_repository):
    bare = new_repository("bare", "--bare")
    with (
        Workspace.open(str(bare.root)) as workspace,
        pytest.raises(UsageError, match="Cannot edit pages in a bare repository"),
    ):
        bind_pages(
            workspace.session,
            {"docs/a.md": ["src/a.py"]},
            pin=False,
            from_history=False,
            is_dry=False,
        )


def test_extra_page_of_exdoc_gets_a_comment_and_another_page_front_matter(project, bind):
    extras = '["docs/a.md"] ++ Path.wildcard("guides/**/*.{cheatmd,md}")'
    project.write("mix.exs", f"def docs, do: [extras: {extras}]\n")
    pages = ("docs/a.md", "guides/first/c.md", "docs/d.md")
    for page in pages:
        project.write(page, "# Page\n")
    project.commit("Publish")
    bind({page: ["src/a.py"] for page in pages})
    starts = [(project.root / page).read_text().splitlines()[0] for page in pages]
    assert starts == ["<!-- ubp", "<!-- ubp", "---"]
