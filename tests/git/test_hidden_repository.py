"""A bare repository among the files of another one is never opened by accident.

Git takes any folder with HEAD, objects and refs for a repository, and a commit can bring such a
folder. Its configuration can name programs. What no commit can bring is a `.git`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.core.errors import GitCommandError, NotARepositoryError, RepositoryError
from ubp.git.command import run_git
from ubp.git.snapshot import hash_files, read_worktree

GIT_VERSION = tuple(
    int(part)
    for part in subprocess.check_output(["git", "version"], text=True).split()[2].split(".")[:2]
)
NEEDS_SAFE_BARE = pytest.mark.skipif(
    GIT_VERSION < (2, 38), reason="older git has no safe.bareRepository"
)
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs symlinks, or sh")


def hide(repository, marker: Path, folder: str = "sub", worktree: str | None = ".") -> None:
    """Commit files that git takes for a repository; its clean filter writes a marker."""
    lines = ["[core]", "repositoryFormatVersion = 0"]
    lines += ["bare = true"] if worktree is None else [f"worktree = {worktree}"]
    lines += ['[filter "hidden"]', f"clean = echo harm >'{marker}'; cat", ""]
    repository.write(f"{folder}/config", "\n".join(lines))
    repository.write(f"{folder}/HEAD", "ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        repository.write(f"{folder}/{name}/.keep", "")
    repository.write(f"{folder}/.gitattributes", "* filter=hidden\n")
    repository.write(f"{folder}/docs/a.md", "# A\n")
    repository.commit()


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "harm"


@pytest.fixture
def victim(repository, marker, tmp_path):
    """A clone of a repository with a bare repository hidden in `sub`."""
    hide(repository, marker)
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", ".", str(clone))
    return clone


def refusal(folder: Path, container: Path) -> tuple[str, str, str]:
    return (
        f"{folder} is a bare repository inside the repository at {container}.",
        "A commit can add such a folder, and its configuration can run programs.",
        f"Change to another folder or, if you trust it, set GIT_DIR={folder}.",
    )


def assert_refused(open_at, cwd: Path, folder: Path, container: Path) -> None:
    with pytest.raises(RepositoryError) as raised:
        open_at(cwd)
    error = raised.value
    assert (error.message, error.cause, error.hint) == refusal(folder, container)


@pytest.mark.parametrize("cwd", ["sub", "sub/docs", "sub/objects"])
def test_hidden_repository_is_refused_and_its_filter_is_not_run(victim, open_at, marker, cwd):
    def read():
        opened = open_at(victim / cwd)
        hash_files(opened, read_worktree(opened).changes)

    with pytest.raises(RepositoryError) as raised:
        read()
    assert not marker.exists()
    error = raised.value
    assert (error.message, error.cause, error.hint) == refusal(victim / "sub", victim)


@pytest.mark.parametrize("worktree", ["..", "docs", "../elsewhere", None])
def test_hidden_repository_is_refused_whatever_its_work_tree(repository, open_at, marker, worktree):
    hide(repository, marker, worktree=worktree)
    (repository.root / "elsewhere").mkdir()
    assert_refused(open_at, repository.root / "sub", repository.root / "sub", repository.root)


def test_hidden_repository_that_shares_another_folder_is_refused(repository, open_at, marker):
    hide(repository, marker, "shared")
    repository.write("sub/HEAD", "ref: refs/heads/main\n")
    repository.write("sub/commondir", "../shared\n")
    assert_refused(open_at, repository.root / "sub", repository.root / "sub", repository.root)


def test_hidden_repository_is_refused_by_a_git_without_safe_bare_repository(
    victim, open_at, marker, tmp_path
):
    """The wrapper drops the option, which git before 2.38 does not know."""
    wrapper = tmp_path / "old" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "arguments = [a for a in sys.argv[1:] if a != 'safe.bareRepository=explicit']\n"
        "arguments = [a for a, b in zip(arguments, [*arguments[1:], ''])\n"
        "             if a != '-c' or '=' in b]\n"
        f"os.execv({shutil.which('git')!r}, ['git', *arguments])\n"
    )
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}"
    assert open_at(victim, PATH=path).root == str(victim)
    with pytest.raises(RepositoryError) as raised:
        open_at(victim / "sub", PATH=path)
    assert raised.value.message == refusal(victim / "sub", victim)[0]
    assert not marker.exists()


# What contains it


def test_repository_hidden_in_a_linked_work_tree_is_refused(repository, open_at, marker, tmp_path):
    hide(repository, marker)
    for linked in (tmp_path / "linked", repository.root / ".git" / "linked"):
        repository.git("worktree", "add", "--quiet", "--detach", str(linked))
        assert_refused(open_at, linked / "sub", linked / "sub", linked)


def test_repository_hidden_in_a_submodule_is_refused(new_repository, open_at, marker):
    inner, outer = new_repository("inner"), new_repository("outer")
    hide(inner, marker, "deep/sub")
    outer.git("submodule", "--quiet", "add", str(inner.root), "module")
    module = outer.root / "module"
    assert open_at(module / "deep").root == str(module)
    assert_refused(open_at, module / "deep" / "sub", module / "deep" / "sub", module)


@POSIX
def test_repository_hidden_beside_a_git_link_is_refused(repository, open_at, marker, tmp_path):
    hide(repository, marker)
    shutil.move(repository.root / ".git", tmp_path / "elsewhere")
    (repository.root / ".git").symlink_to(tmp_path / "elsewhere")
    assert open_at(repository.root / "sub" / "..").git_dir == str(tmp_path / "elsewhere")
    assert_refused(open_at, repository.root / "sub", repository.root / "sub", repository.root)


@POSIX
def test_repository_hidden_behind_a_link_is_refused(repository, open_at, marker):
    hide(repository, marker)
    (repository.root / "link").symlink_to("sub")
    assert_refused(open_at, repository.root / "link", repository.root / "sub", repository.root)


# What is opened all the same


def test_hidden_repository_that_the_user_names_is_opened(victim, open_at):
    named = open_at(victim / "sub", GIT_DIR=str(victim / "sub"))
    assert (named.root, named.git_dir) == (str(victim / "sub"), str(victim / "sub"))
    assert open_at(victim / "sub", GIT_DIR=".").git_dir == str(victim / "sub")


def test_bare_repository_of_a_git_file_is_opened_from_inside(repository, open_at, tmp_path):
    """As people keep linked work trees side by side: project/.bare, project/.git, project/main."""
    repository.write("a.txt", "a\n")
    head = repository.commit()
    project = tmp_path / "side by side"
    bare = project / ".bare"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    (project / ".git").write_text("gitdir: ./.bare\n")
    repository.git("--git-dir", str(bare), "worktree", "add", "--quiet", str(project / "main"))
    for cwd in (project, bare, bare / "refs"):
        opened = open_at(cwd)
        assert (opened.root, opened.git_dir, opened.resolve("HEAD")) == (None, str(bare), head)
    assert open_at(project / "main").root == str(project / "main")


def test_git_folders_below_dot_git_are_not_hidden_repositories(
    repository, new_repository, open_at, tmp_path
):
    inner = new_repository("inner")
    inner.commit()
    repository.git("submodule", "--quiet", "add", str(inner.root), "sub")
    repository.commit()
    repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    git_dir = repository.root / ".git"
    assert open_at(git_dir / "modules" / "sub").root == str(repository.root / "sub")
    inside = git_dir / "worktrees" / "linked"
    with pytest.raises(NotARepositoryError) as raised:
        open_at(inside)
    assert raised.value.message == f"{inside} is inside a .git folder."


# What git itself sees to


@NEEDS_SAFE_BARE
def test_calls_after_the_first_take_no_folder_for_a_repository(victim):
    with pytest.raises(GitCommandError) as raised:
        run_git(["status", "--porcelain"], cwd=str(victim / "sub"))
    assert "safe.bareRepository" in raised.value.stderr


@NEEDS_SAFE_BARE
def test_bare_repository_is_refused_where_the_user_trusts_none(repository, open_at, tmp_path):
    head = repository.commit()
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    repository.git("config", "--global", "safe.bareRepository", "explicit")
    with pytest.raises(RepositoryError) as raised:
        open_at(bare)
    error = raised.value
    assert (error.message, error.cause, error.hint) == (
        f"Git refuses to use the bare repository that contains {bare}.",
        "Your Git configuration sets safe.bareRepository to explicit.",
        "If you trust it, set GIT_DIR to its folder.",
    )
    assert open_at(bare, GIT_DIR=str(bare)).resolve("HEAD") == head


@pytest.mark.parametrize(
    "path",
    [".git", ".git/config", ".GIT", ".Git/config", "git~1", "GIT~1/config", ".g\u200cit/config"],
)
def test_git_checks_out_no_spelling_of_dot_git(repository, path):
    repository.write("a.txt", "a\n")
    repository.commit()
    repository.git("config", "core.protectHFS", "true")  # the default where it matters
    blob = repository.blob("a.txt")
    added = ["update-index", "--add", "--cacheinfo", f"100644,{blob},sub/{path}"]
    assert repository.git(*added, check=False) == repository.git("ls-files", "sub") == ""
    tree = blob
    for name, mode in zip(
        reversed(["sub", *path.split("/")]), ["100644", "40000", "40000"], strict=False
    ):
        raw = f"{mode} {name}\0".encode() + bytes.fromhex(tree)
        tree = repository.git(
            *("hash-object", "-t", "tree", "-w", "--literally", "--stdin"), stdin=raw
        )
    commit = repository.git("commit-tree", tree, stdin=b"Hide it")
    repository.git("checkout", "--quiet", "--detach", commit, check=False)
    assert not (repository.root / "sub").exists()
