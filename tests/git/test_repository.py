"""Opening every kind of checkout, naming its commits, reading its objects."""

import os
import shutil
import stat
import zlib
from pathlib import Path

import pytest

from ubp.core.errors import (
    GitCommandError,
    GitMissingError,
    HistoryTooShortError,
    NotARepositoryError,
    RepositoryOwnershipError,
    RevisionNotFoundError,
    UnsupportedRepositoryError,
)
from ubp.core.model import Commit
from ubp.git.locate import Location
from ubp.git.output import MAX_BLOB_BYTES, blob_id
from ubp.git.snapshot import read_worktree


def lines(error):
    return (error.message, error.cause, error.hint)


def ordinary(folder: Path, **changes) -> Location:
    git_dir = str(folder / ".git")
    return Location(
        root=str(folder),
        git_dir=git_dir,
        common_dir=git_dir,
        prefix="",
        is_shallow=False,
        head=None,
    )._replace(**changes)


def bare_at(folder: Path, head: str | None = None) -> Location:
    name = str(folder)
    return ordinary(folder, root=None, git_dir=name, common_dir=name, head=head)


# Every kind of checkout


def test_repository_without_commits_is_opened(repository, open_at):
    assert open_at(repository.root).location == ordinary(repository.root)


def test_repository_is_found_from_a_folder_inside(repository, open_at):
    repository.write("a dir/日本/a.txt", "a\n")
    head = repository.commit()
    found = open_at(repository.root / "a dir" / "日本").location
    assert found == ordinary(repository.root, prefix="a dir/日本", head=head)


def test_detached_head_is_opened(repository, open_at):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    repository.git("switch", "--detach", "--quiet", head)
    assert open_at(repository.root).head() == head


@pytest.mark.parametrize("name", ["new\nline", "quote\"'", "日本語", " spaces ", "e\u0301"])
def test_root_with_an_unusual_name_is_opened(name, new_repository, open_at):
    repository = new_repository(name)
    repository.write("sub\ndir/a.txt", "a\n")
    head = repository.commit()
    found = open_at(repository.root / "sub\ndir").location
    assert found == ordinary(repository.root, prefix="sub\ndir", head=head)


def test_root_with_a_newline_and_no_commits_is_opened(new_repository, open_at):
    repository = new_repository("new\nline")
    assert open_at(repository.root).location == ordinary(repository.root)


def test_root_behind_a_symlink_is_opened(repository, open_at, tmp_path):
    repository.write("sub/a.txt", "a\n")
    head = repository.commit()
    (tmp_path / "link").symlink_to(repository.root / "sub")
    found = open_at(tmp_path / "link").location
    assert found == ordinary(repository.root, prefix="sub", head=head)


def test_linked_work_tree_shares_the_index_of_the_main_one(repository, open_at, tmp_path):
    repository.write("sub/a.txt", "a\n")
    head = repository.commit()
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "--quiet", str(linked))
    main = repository.root / ".git"
    opened = open_at(linked / "sub")
    assert (opened.data_dir, opened.config_dir) == (str(main / "ubp"), str(linked / ".ubp"))
    assert opened.location == Location(
        root=str(linked),
        git_dir=str(main / "worktrees" / "linked"),
        common_dir=str(main),
        prefix="sub",
        is_shallow=False,
        head=head,
    )


def test_bare_repository_is_opened(repository, open_at, tmp_path):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    opened = open_at(bare)
    assert opened.location == bare_at(bare, head)
    assert opened.data_dir == opened.config_dir == str(bare / "ubp")
    assert open_at(bare / "refs").location == bare_at(bare, head)


@pytest.mark.parametrize("name", ["bare", "new\nline"])
def test_bare_repository_without_commits_is_opened(name, new_repository, open_at):
    bare = new_repository(name, "--bare").root
    assert open_at(bare).location == bare_at(bare)


@pytest.mark.parametrize("name", ["project/.git", "project.git"])
def test_linked_work_tree_of_a_bare_repository_shares_its_index(
    name, repository, open_at, tmp_path
):
    repository.write("a.txt", "a\n")
    repository.commit()
    bare = tmp_path / "other" / name
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    linked = tmp_path / "other" / "linked"
    repository.git("--git-dir", str(bare), "worktree", "add", "--quiet", str(linked))
    found = open_at(linked)
    assert (found.root, found.data_dir) == (str(linked), str(bare / "ubp"))
    assert found.config_dir == str(linked / ".ubp")


def test_submodule_is_a_repository_of_its_own(new_repository, open_at, tmp_path):
    inner, outer = new_repository("inner"), new_repository("outer")
    inner.write("a.txt", "a\n")
    head = inner.commit()
    outer.git("submodule", "--quiet", "add", str(inner.root), "sub")
    found = open_at(outer.root / "sub").location
    git_dir = str(outer.root / ".git" / "modules" / "sub")
    root = outer.root / "sub"
    assert found == ordinary(root, git_dir=git_dir, common_dir=git_dir, head=head)

    linked = str(tmp_path / "linked")
    outer.git("-C", "sub", "worktree", "add", "--quiet", linked)
    found = open_at(linked)
    assert (found.root, found.data_dir) == (linked, str(Path(git_dir, "ubp")))


def test_git_folder_elsewhere_is_found(new_repository, open_at, tmp_path):
    elsewhere = str(tmp_path / "elsewhere")
    repository = new_repository("project", "--separate-git-dir", elsewhere)
    expected = ordinary(repository.root, git_dir=elsewhere, common_dir=elsewhere)
    assert open_at(repository.root).location == expected


def test_git_dir_and_work_tree_of_the_environment_are_used(new_repository, open_at, tmp_path):
    """As people keep their home's dot files: `git --git-dir=~/.dots --work-tree=~`."""
    bare = new_repository("dots", "--bare").root
    home = tmp_path / "desk"
    (home / "sub").mkdir(parents=True)
    found = open_at(home / "sub", GIT_DIR=str(bare), GIT_WORK_TREE=str(home))
    folders = {"git_dir": str(bare), "common_dir": str(bare)}
    assert found.location == ordinary(home, **folders, prefix="sub")
    assert found.libgit2().workdir == f"{home}/"


@pytest.mark.parametrize("has_repository", [False, True])
def test_work_tree_of_the_configuration_is_used(
    has_repository, repository, repository_in, open_at, tmp_path
):
    home = tmp_path / "elsewhere"
    other = repository_in(home)
    if not has_repository:
        shutil.rmtree(home / ".git")
    repository.git("config", "core.worktree", str(home))
    other.write("a.txt", "a\n")
    head = repository.commit()
    other.write("b.txt", "b\n")
    opened = open_at(repository.root)
    assert opened.location == ordinary(repository.root, root=str(home), head=head)
    assert read_worktree(opened).changes.keys() == {"b.txt"}


def test_relative_git_dir_is_relative_to_the_working_directory(repository, open_at):
    repository.write("sub/a.txt", "a\n")
    head = repository.commit()
    found = open_at(repository.root, GIT_DIR=".git")
    assert found.location == ordinary(repository.root, head=head)
    assert found.run("ls-files") == b"sub/a.txt\n"
    found = open_at(repository.root / "sub", GIT_DIR="../.git", GIT_WORK_TREE="..")
    assert found.location == ordinary(repository.root, prefix="sub", head=head)
    assert found.run("ls-files") == b"sub/a.txt\n"


def test_shallow_clone_is_recognized(repository, open_at, tmp_path):
    repository.commit()
    head = repository.commit()
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.root}", str(clone))
    found = open_at(clone)
    assert found.location == ordinary(clone, is_shallow=True, head=head)
    assert found.shallow_commits() == {head}
    assert open_at(repository.root).shallow_commits() == frozenset()


# What is refused


def test_folder_outside_any_repository_is_an_error(tmp_path, open_at):
    with pytest.raises(NotARepositoryError) as raised:
        open_at(tmp_path)
    assert lines(raised.value) == (
        f"{tmp_path} is not in a Git repository.",
        "Neither this folder nor any parent folder contains a .git.",
        "Run `git init` there, or pass another folder with --cwd.",
    )


def test_folder_that_does_not_exist_is_an_error(tmp_path, open_at):
    with pytest.raises(NotARepositoryError) as raised:
        open_at(tmp_path / "none")
    assert lines(raised.value) == (
        f"Folder not found: {tmp_path / 'none'}",
        "",
        "Pass another folder with --cwd.",
    )


def test_folder_inside_dot_git_is_an_error(repository, open_at):
    inside = repository.root / ".git" / "refs"
    with pytest.raises(NotARepositoryError) as raised:
        open_at(inside)
    assert lines(raised.value) == (
        f"{inside} is inside a .git folder.",
        "Git's own storage contains no documents.",
        "Change to the work tree, or pass it with --cwd.",
    )


def test_git_dir_that_is_no_repository_is_an_error(tmp_path, open_at):
    with pytest.raises(NotARepositoryError):
        open_at(tmp_path, GIT_DIR="nowhere")


def test_broken_configuration_is_reported_in_the_words_of_git(repository, open_at):
    repository.write(".git/config", "[core\n")
    with pytest.raises(GitCommandError) as raised:
        open_at(repository.root)
    assert ".git/config" in raised.value.cause


def test_broken_link_to_a_git_folder_is_an_error(tmp_path, open_at):
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    with pytest.raises(NotARepositoryError):
        open_at(tmp_path)


def test_sha256_object_names_are_read(new_repository, open_at):
    root = new_repository("project", "--object-format=sha256").root
    with pytest.raises(UnsupportedRepositoryError) as raised:
        open_at(root)
    assert raised.value.cause == "It uses SHA-256 object names, which libgit2 cannot read."
    assert raised.value.hint == (
        "Use a clone with SHA-1 object names (`git init --object-format=sha1`)."
    )


def test_reftable_references_are_read(repository, open_at):
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.refStorage", "reftable")
    with pytest.raises(UnsupportedRepositoryError) as raised:
        open_at(repository.root)
    assert raised.value.cause == "It uses reftable references, which libgit2 cannot read."
    assert raised.value.hint == (
        "Run `git refs migrate --ref-format=files` there (git 2.46 or newer)."
    )


def test_reftable_references_are_read_by_this_git(repository, open_at):
    (repository.root / ".git" / "reftable").mkdir()
    with pytest.raises(UnsupportedRepositoryError) as raised:
        open_at(repository.root)
    assert lines(raised.value) == (
        f"Cannot read the repository at {repository.root}.",
        "It uses reftable references, which libgit2 cannot read.",
        "Run `git refs migrate --ref-format=files` there (git 2.46 or newer).",
    )


def test_unknown_extension_is_an_error(repository, open_at):
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.flux", "true")
    with pytest.raises(UnsupportedRepositoryError) as raised:
        open_at(repository.root)
    assert "flux" in raised.value.cause


def test_repository_of_another_user_is_refused(repository, open_at):
    root = repository.root
    with pytest.raises(RepositoryOwnershipError) as raised:
        open_at(root, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert lines(raised.value) == (
        f"Git refuses to use the repository at {root}.",
        "It is owned by another user and is not listed in safe.directory.",
        f"If you trust it, run: git config --global --add safe.directory {root}",
    )


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_trusted_repository_of_another_user_is_opened_by_libgit2_too(repository, open_at):
    root = repository.root
    for path in (root, root / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(RepositoryOwnershipError):
        open_at(root)
    trusted = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    assert open_at(root, **trusted).libgit2().workdir == f"{root}/"


def test_repository_without_git_is_not_opened(repository, open_at, tmp_path):
    with pytest.raises(GitMissingError) as raised:
        open_at(repository.root, PATH=str(tmp_path))
    assert lines(raised.value) == (
        "Git was not found.",
        "PATH contains no executable named git.",
        "Install git 2.30 or newer, or add its folder to PATH.",
    )


# Revisions


@pytest.fixture
def branched(repository):
    """main and topic part at `base`; `stray` is unrelated."""
    repository.write("sub/a.txt", "a\n")
    repository.base = repository.commit("fix the base")
    repository.git("switch", "--quiet", "--create", "topic")
    repository.topic = repository.commit("topic")
    repository.git("switch", "--quiet", "main")
    repository.main = repository.commit("main")
    repository.git("tag", "--annotate", "--message=one", "v1.0")
    repository.git("switch", "--quiet", "--orphan", "stray")
    repository.stray = repository.commit("stray")
    repository.git("switch", "--quiet", "main")
    return repository


@pytest.mark.parametrize(
    "revision", ["HEAD", "main", "v1.0", "refs/heads/main", "HEAD^0", "main~0", ":/main"]
)
def test_names_of_a_commit_resolve(branched, open_at, revision):
    assert open_at(branched.root).resolve(revision) == branched.main


def test_short_id_and_ancestor_resolve(branched, open_at):
    opened = open_at(branched.root)
    assert opened.resolve(branched.topic[:10]) == branched.topic
    assert opened.resolve("topic~1") == branched.base


@pytest.mark.parametrize(
    "revision",
    [
        *("nope", "", "-", "--output=x", "--all", "-h", "^main", "main..topic", "main...topic"),
        *("main^5", "a\0b", "main\n", "HEAD@{", "0" * 40),
    ],
)
def test_name_of_no_commit_is_an_error(branched, open_at, revision):
    with pytest.raises(RevisionNotFoundError) as raised:
        open_at(branched.root).resolve(revision)
    assert lines(raised.value) == (
        f"Revision not found: {revision}",
        "No commit, branch or tag has this name.",
        "See `git branch --all` and `git tag`, or run `git fetch` for new ones.",
    )
    assert not (branched.root / "x").exists()


def test_head_of_a_branch_without_commits_is_an_error(branched, open_at):
    branched.git("symbolic-ref", "HEAD", "refs/heads/new")
    with pytest.raises(RevisionNotFoundError) as raised:
        open_at(branched.root).resolve("HEAD")
    assert lines(raised.value)[:2] == (
        "Revision not found: HEAD",
        "Its branch does not exist, or has no commits yet.",
    )


@pytest.mark.parametrize("revision", ["HEAD:sub", "HEAD:sub/a.txt", "main^{tree}"])
def test_name_of_a_file_or_folder_is_an_error(branched, open_at, revision):
    with pytest.raises(RevisionNotFoundError) as raised:
        open_at(branched.root).resolve(revision)
    assert lines(raised.value) == (
        f"Revision not found: {revision}",
        "It is a file or folder, not a commit.",
        "Use a commit, branch or tag.",
    )


def test_head_before_the_first_commit_resolves_to_nothing(repository, open_at):
    with pytest.raises(RevisionNotFoundError):
        open_at(repository.root).resolve("HEAD")


def test_shallow_clone_names_what_to_fetch(branched, open_at, tmp_path):
    clone = tmp_path / "clone"
    branched.git("clone", "--quiet", "--depth=1", f"file://{branched.root}", str(clone))
    with pytest.raises(RevisionNotFoundError) as raised:
        open_at(clone).resolve("topic")
    assert lines(raised.value)[1:] == (
        "This clone is shallow: most of its history was not fetched.",
        "Fetch the missing history: git fetch --unshallow, or git fetch origin BRANCH.",
    )


def test_merge_base_of_two_branches_is_found(branched, open_at):
    opened = open_at(branched.root)
    assert opened.merge_base(branched.main, branched.topic) == branched.base


def test_unrelated_histories_have_no_merge_base(branched, open_at):
    with pytest.raises(RevisionNotFoundError) as raised:
        open_at(branched.root).merge_base(branched.main, branched.stray)
    assert lines(raised.value) == (
        f"{branched.main[:12]} and {branched.stray[:12]} have no common ancestor in this clone.",
        "Their histories are unrelated.",
        "Use the branch that this one was created from.",
    )


def test_shallow_clone_may_end_before_the_merge_base(branched, open_at, tmp_path):
    clone = tmp_path / "clone"
    url = f"file://{branched.root}"
    branched.git("clone", "--quiet", "--depth=1", "--no-single-branch", url, str(clone))
    with pytest.raises(HistoryTooShortError) as raised:
        open_at(clone).merge_base(branched.main, branched.topic)
    assert lines(raised.value)[1:] == (
        "This clone is shallow: its history ends too early.",
        "Fetch full history: git fetch --unshallow (GitHub Actions: fetch-depth: 0).",
    )


def test_commits_being_merged_are_found(branched, open_at):
    assert open_at(branched.root).merge_heads() == ()
    branched.git("merge", "--quiet", "--no-ff", "--no-commit", "topic")
    assert open_at(branched.root).merge_heads() == (branched.topic,)


def test_commits_being_merged_into_a_linked_work_tree_are_found(branched, open_at, tmp_path):
    linked = tmp_path / "linked"
    branched.git("worktree", "add", "--quiet", "-b", "other", str(linked), "main")
    branched.git("-C", str(linked), "merge", "--quiet", "--no-ff", "--no-commit", "topic")
    assert open_at(linked).merge_heads() == (branched.topic,)
    assert open_at(branched.root).merge_heads() == ()


# Objects


def test_blobs_are_read_in_one_call(repository, open_at):
    contents = {"a.txt": b"a\n", "empty": b"", "no newline": b"\0 blob 7\n", "big": b"x\n" * 99_999}
    for path, data in contents.items():
        repository.write(path, data)
    head = repository.commit()
    tree = repository.git("rev-parse", "HEAD^{tree}")
    absent = "1" * 40
    blobs = {blob_id(data): data for data in contents.values()}
    found = open_at(repository.root).read_blobs([*blobs, head, tree, absent])
    assert found == {**blobs, head: None, tree: None, absent: None}


def test_blobs_over_the_limit_are_not_read(repository, open_at):
    large, small = b"x" * (MAX_BLOB_BYTES + 1), b"y" * MAX_BLOB_BYTES
    repository.write("large", large)
    repository.write("small", small)
    repository.commit()
    ids = [blob_id(large), blob_id(small), blob_id(large)]
    found = open_at(repository.root).read_blobs(ids)
    assert found == {blob_id(large): None, blob_id(small): small}


def test_reading_no_blobs_does_not_start_git(repository, open_at, forbid_git):
    found = open_at(repository.root)
    forbid_git()
    assert found.read_blobs([]) == {}


def test_loose_objects_are_read_without_git(repository, open_at, forbid_git):
    repository.write("a.txt", b"a\0\n")
    head = repository.commit("subject")
    found = open_at(repository.root)
    forbid_git()
    blob = blob_id(b"a\0\n")
    assert found.read_blobs([blob]) == {blob: b"a\0\n"}
    assert found.commits([head])[head].subject == "subject"


@pytest.mark.parametrize("damaged", [b"", b"not zlib", zlib.compress(b"blob 3\0a\n")])
def test_damaged_loose_object_is_left_to_git(repository, open_at, damaged):
    repository.write("a.txt", "a\n")
    repository.commit()
    blob = repository.blob("a.txt")
    file = repository.root / ".git" / "objects" / blob[:2] / blob[2:]
    data = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(damaged)
    opened = open_at(repository.root)
    assert opened.read_blobs([blob]) == {blob: None}
    file.write_bytes(data)
    assert opened.read_blobs([blob]) == {blob: b"a\n"}


def test_blobs_absent_from_a_partial_clone_are_none_and_are_not_fetched(
    repository, open_at, tmp_path
):
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.write("a.txt", "old\n")
    old = repository.blob("a.txt")
    repository.commit()
    repository.write("a.txt", "new\n")
    new = repository.blob("a.txt")
    repository.commit()
    clone = tmp_path / "clone"
    url = f"file://{repository.root}"
    repository.git("clone", "--quiet", "--filter=blob:none", url, str(clone))
    found = open_at(clone).read_blobs([old, new])
    assert found == {old: None, new: b"new\n"}
    repository.git("-C", str(clone), "config", "extensions.partialClone", "origin")  # git 2.24
    assert open_at(clone).read_blobs([old, new]) == found
    missing = ["rev-list", "--objects", "--missing=print", "HEAD"]
    assert f"?{old}" in repository.git("-C", str(clone), *missing).split()


def test_commits_equal_those_that_git_shows(repository, open_at):
    messages = [
        "one line",
        "two\nlines of subject \n\nbody",
        "\n\nblank lines first\n\nbody",
        "Ünï ünd 日本語",
        "",
    ]
    for message in messages:
        tree = repository.git("write-tree")
        repository.git("commit-tree", tree, stdin=message.encode())
    commits = [
        repository.git(
            "commit-tree",
            repository.git("write-tree"),
            stdin=message.encode(),
            env={
                "GIT_AUTHOR_NAME": "Zoë  O'Neil",
                "GIT_AUTHOR_DATE": "1600000000 +0900",
                "GIT_COMMITTER_DATE": f"{1_700_000_000 + number} -0330",
            },
        )
        for number, message in enumerate(messages)
    ]
    expected = {}
    for commit in commits:
        shown = repository.git("show", "--no-patch", "--format=%ct%x00%an%x00%s", commit)
        date, author, subject = shown.split("\0")
        expected[commit] = Commit(commit, int(date), author, subject)
    found = open_at(repository.root).commits([*commits, "1" * 40])
    assert found == expected


def test_commit_in_another_encoding_with_a_signature_and_a_merge_tag_is_read(repository, open_at):
    raw = (
        f"tree {repository.git('write-tree')}\n"
        "author Jörg Müller <j@example.com> 1 +0000\n"
        "committer Jörg Müller <j@example.com> 1600000000 +0200\n"
        "encoding ISO-8859-1\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n author Mallory <m@example.com> 9 +0000\n"
        " -----END PGP SIGNATURE-----\n"
        "\nGrüße\n"
    ).encode("iso-8859-1")
    commit = repository.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw)
    assert open_at(repository.root).commits([commit]) == {
        commit: Commit(commit, 1_600_000_000, "Jörg Müller", "Grüße")
    }


@pytest.mark.parametrize("encoding", ["no-such-encoding", "ascii"])
def test_commit_with_a_wrong_encoding_is_read(repository, open_at, encoding):
    raw = (
        f"tree {repository.git('write-tree')}\nauthor Zoë <z@e.org> 1 +0000\n"
        f"committer Zoë <z@e.org> 2 +0000\nencoding {encoding}\n\nGrüße\n"
    ).encode()
    commit = repository.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw)
    found = open_at(repository.root).commits([commit])
    assert found == {commit: Commit(commit, 2, "Zoë", "Grüße")}


def test_objects_in_quarantine_are_seen(repository, new_repository, open_at):
    """A receiving git keeps what is pushed apart until its hooks have agreed."""
    pushed = new_repository("pushed")
    pushed.write("a.txt", "pushed\n")
    pushed.commit()
    blob = pushed.blob("a.txt")
    objects = str(pushed.root / ".git" / "objects")
    opened = open_at(
        repository.root,
        GIT_OBJECT_DIRECTORY=objects,
        GIT_ALTERNATE_OBJECT_DIRECTORIES=str(repository.root / ".git" / "objects"),
    )
    assert opened.read_blobs([blob]) == {blob: b"pushed\n"}
    assert opened.libgit2()[blob].data == b"pushed\n"


def test_libgit2_opens_once_and_closes(repository, open_at):
    opened = open_at(repository.root)
    handle = opened.libgit2()
    assert opened.libgit2() is handle
    opened.close()
    assert opened.libgit2() is not handle


def test_reading_does_not_change_the_repository(repository, open_at):
    repository.write("a.txt", "a\n")
    repository.commit()
    before = snapshot_of(repository.root)
    opened = open_at(repository.root)
    opened.resolve("HEAD")
    opened.read_blobs([repository.blob("a.txt")])
    opened.libgit2()
    assert snapshot_of(repository.root) == before


def snapshot_of(root: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in root.rglob("*"):
        status = path.lstat()
        is_folder = stat.S_ISDIR(status.st_mode)
        found[str(path)] = (0, 0) if is_folder else (status.st_mtime_ns, status.st_size)
    return found
