"""Started among files that pose as a repository, a command stops before it runs their programs."""

import os
from types import SimpleNamespace

import pytest

CONFIG = """[core]
\trepositoryFormatVersion = 0
\tworktree = .
[filter "hidden"]
\tclean = echo harm >'{marker}'; cat
"""


@pytest.fixture
def marker(tmp_path):
    """What the hidden repository's filter writes."""
    return tmp_path / "harm"


@pytest.fixture
def victim(repository, tmp_path, marker):
    """A clone of a repository in whose folder `sub` a bare one was committed as files."""
    repository.write("sub/config", CONFIG.format(marker=marker))
    repository.write("sub/HEAD", "ref: refs/heads/main\n")
    repository.write("sub/objects/.keep", "")
    repository.write("sub/refs/.keep", "")
    repository.write("sub/.gitattributes", "* filter=hidden\n")
    repository.page("sub/docs/a.md", "docs/a.py")
    repository.write("sub/docs/a.py", "1\n")
    repository.commit()
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", ".", str(clone))
    return clone


def error(victim):
    return f"""Error: {victim / "sub"} is a bare repository inside the repository at {victim}.
  Cause: A commit can add such a folder, and its configuration can run programs.
  Hint: Change to another folder or, if you trust it, set GIT_DIR={victim / "sub"}.
"""


@pytest.mark.parametrize(
    ("start", "tokens"),
    [
        ("sub", ["stale"]),
        ("sub/docs", ["check"]),
        (".", ["--cwd", "sub", "stale"]),
        (".", ["--cwd", "sub/docs", "list-pages"]),
    ],
)
def test_command_in_a_hidden_repository_runs_no_filter(start, tokens, victim, marker, spawn):
    done = spawn(SimpleNamespace(root=victim / start), *tokens)
    assert not marker.exists()
    assert (done.returncode, done.stdout, done.stderr) == (2, "", error(victim))


def test_repository_containing_a_hidden_one_is_read(victim, marker, spawn):
    done = spawn(SimpleNamespace(root=victim), "stale", "sub/docs/a.md")
    assert (done.returncode, marker.exists()) == (0, False)
    assert "sub/docs/a.md" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="the filter is run by sh")
def test_hidden_repository_that_is_named_is_read_with_its_filter(victim, marker, spawn):
    named = {"GIT_DIR": str(victim / "sub")}
    done = spawn(SimpleNamespace(root=victim / "sub"), "stale", environment=named)
    assert (done.returncode, marker.exists()) == (0, True)
