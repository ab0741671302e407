"""What `diffs` shows of each source that drifted, and how many lines of it changed."""

import json

import pytest

from ubp.answers.staleness.stale import diff_report, report_stale
from ubp.index.session import Target
from ubp.staleness import diff as diff_module
from ubp.workspace import Workspace

HIDING = {"source": {"exclude": ["src/pkg/secret.py"]}}


@pytest.fixture
def diffs():
    """Each drifted source's diff, by its path."""

    def ask(repository):
        with Workspace.open(str(repository.root), clock=lambda: repository.clock) as workspace:
            report = report_stale(workspace.session, Target())
            found = diff_report(workspace.session, report)
            return {answer.source_path: diff for _, answer, diff in found}

    return ask


@pytest.fixture
def described(repository):
    """A page that names sources of every kind, before they change."""
    repository.write("src/a.py", "1\n2\n3\n")
    repository.write("src/gone.py", "1\n2")
    repository.write("src/old.py", "".join(f"{n}\n" for n in range(9)))
    repository.write("src/pkg/one.py", "1\n")
    repository.write("src/pkg/secret.py", "1\n")
    repository.write("src/image.png", b"\0one")
    (repository.root / "src/pkg/link").symlink_to("one.py")
    names = ("a.py", "gone.py", "old.py", "new.py", "pkg/", "**/one.py", "image.png")
    repository.page("docs/a.md", *(f"src/{name}" for name in names))
    repository.write(".ubp/config.json", json.dumps(HIDING))
    repository.commit("Begin")
    repository.write("src/a.py", "1\ntwo\n3\nfour\n")
    repository.remove("src/gone.py")
    repository.git("mv", "src/old.py", "src/moved.py")
    repository.write("src/moved.py", "".join(f"{n}\n" for n in range(1, 9)))
    repository.write("src/new.py", "new\n")
    repository.write("src/pkg/one.py", "2\n")
    repository.write("src/pkg/secret.py", "2\n")
    repository.write("src/image.png", b"\0two")
    repository.commit("Change")
    return repository


@pytest.mark.parametrize("at_once", [1, 100])
def test_sources_of_every_kind_have_diffs(at_once, described, diffs, monkeypatch):
    monkeypatch.setattr(diff_module, "SOURCES_PER_READ", at_once)
    found = diffs(described)
    package = "--- a/src/pkg/one.py\n+++ b/src/pkg/one.py\n@@ -1 +1 @@\n-1\n+2"
    assert {path: diff.text for path, diff in found.items()} == {
        "src/a.py": "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n 3\n+four",
        "src/gone.py": "--- a/src/gone.py\n+++ b/src/gone.py\n@@ -1,2 +0,0 @@\n-1\n-2\n"
        "\\ No newline at end of file",
        "src/old.py": "--- a/src/moved.py\n+++ b/src/moved.py\n@@ -1,4 +1,3 @@\n-0\n 1\n 2\n 3",
        "src/new.py": "--- a/src/new.py\n+++ b/src/new.py\n@@ -0,0 +1 @@\n+new",
        "src/pkg": package,
        "src/**/one.py": package,
        "src/image.png": "Binary file src/image.png differs",
    }
    counts = {path: (diff.added, diff.removed, diff.lines) for path, diff in found.items()}
    assert counts == {
        "src/a.py": (2, 1, 7),
        "src/gone.py": (0, 2, 2),
        "src/old.py": (0, 1, 17),
        "src/new.py": (1, 0, 1),
        "src/pkg": (1, 1, 2),
        "src/**/one.py": (1, 1, 2),
        "src/image.png": (0, 0, 2),
    }


def test_directory_with_the_name_of_a_glob_has_the_diff_of_its_files(repository, diffs):
    repository.write("pages/[id]/view.ts", "1\n")
    repository.page("docs/a.md", "pages/[id]")
    repository.commit("Begin")
    repository.write("pages/[id]/view.ts", "2\n")
    repository.commit("Change")
    name = "pages/[id]/view.ts"
    assert diffs(repository)["pages/[id]"].text == (
        f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-1\n+2"
    )


def test_pins_are_shown_with_what_they_denote(repository, diffs):
    repository.write("src/pkg/a.py", "1\n")
    repository.commit()
    blob, tree, root = (
        repository.git("rev-parse", f"HEAD:{path}") for path in ("src/pkg/a.py", "src/pkg", "")
    )
    pins = {"src/pkg/a.py": blob[:8], "src/pkg": tree, "src/*/a.py": root, "src/pkg/b.py": "0" * 40}
    lines = "".join(f"  - path: '{path}'\n    blob: '{pin}'\n" for path, pin in pins.items())
    repository.write("docs/a.md", f"---\nsource_refs:\n{lines}---\n")
    repository.write("src/pkg/a.py", "2\n")
    repository.write("src/pkg/b.py", "1\n")
    repository.commit()
    found = diffs(repository)
    changed = "--- a/src/pkg/a.py\n+++ b/src/pkg/a.py\n@@ -1 +1 @@\n-1\n+2"
    added = "--- a/src/pkg/b.py\n+++ b/src/pkg/b.py\n@@ -0,0 +1 @@\n+1"
    assert {path: diff.text for path, diff in found.items()} == {
        "src/pkg/a.py": changed,
        "src/pkg": f"{changed}\n{added}",
        "src/*/a.py": changed,
        "src/pkg/b.py": "",
    }
    assert found["src/pkg/b.py"].missing == ("0" * 40,)


def test_glob_has_no_diff_where_git_has_no_object_for_its_pin(repository, diffs):
    repository.write("src/a.py", "1\n")
    repository.write(
        "docs/a.md", "---\nsource_refs:\n  - path: 'src/*.py'\n    blob: '1234567'\n---\n"
    )
    repository.commit()
    (diff,) = diffs(repository).values()
    text = "No diff: Git has no object for the pin of a glob; see the commits."
    assert diff == (text, (), 0, 0, 0, ())


def test_submodule_diff_lists_its_commits(repository, new_repository, diffs):
    other = new_repository("other")
    first = other.commit("One")
    repository.git("clone", "-q", str(other.root), "lib")
    repository.write(".gitmodules", '[submodule "lib"]\n\tpath = lib\n\turl = ../other\n')
    repository.page("docs/a.md", "lib")
    repository.commit()
    second = other.commit("Two")
    repository.git("-C", "lib", "pull", "-q")
    repository.commit()
    (diff,) = diffs(repository).values()
    assert diff.text == f"Submodule lib: {first[:12]} before, {second[:12]} now"


def test_newline_in_a_name_forges_no_line(repository, diffs):
    name = "src/a\n+b.py"
    try:
        repository.write(name, "1\n")
    except OSError:
        pytest.skip("this file system has no such names")
    repository.page("docs/a.md", '"src/a\\n+b.py"')
    repository.commit()
    repository.write(name, "2\n")
    repository.commit()
    (diff,) = diffs(repository).values()
    assert diff.text == "--- a/src/a\\n+b.py\n+++ b/src/a\\n+b.py\n@@ -1 +1 @@\n-1\n+2"


def test_symbol_with_many_definitions_has_the_diff_of_some_and_a_count(repository, diffs):
    repository.write("src/a.py", "def f(): return 1\n" * 30)
    repository.page("docs/a.md", "src/a.py#f")
    repository.commit()
    repository.write("src/a.py", "def f(): return 2\n" * 30)
    repository.commit()
    (diff,) = diffs(repository).values()
    assert diff.text.count("+def f(): return 2") == diff_module.MAX_PARTS
    assert diff.text.endswith("… and 10 more definitions of this name")


@pytest.mark.parametrize("source", ["src/a.js", "src/a.js#f", "src/a.js#L1-L2"])
def test_long_line_is_shown_truncated(repository, diffs, source):
    repository.write("src/a.js", f"function f() {{}}\n// {'x' * 5000}\n")
    repository.page("docs/a.md", source)
    repository.commit()
    repository.write("src/a.js", f"function f() {{ return '{'y' * 5000}' }}\n")
    repository.commit()
    (diff,) = diffs(repository).values()
    assert f"+function f() {{ return '{'y' * 1976}…" in diff.text
    assert len(diff.text) < 5000
