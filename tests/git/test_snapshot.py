"""The contents of the work tree, the index and a commit, as Git itself sees them."""

import os
import shutil

import pytest

from ubp.core.errors import RepositoryError
from ubp.core.model import MODE_EXECUTABLE, MODE_FILE, MODE_SYMLINK, UNHASHED, Entry, Snapshot
from ubp.git.output import blob_id
from ubp.git.snapshot import (
    hash_files,
    read_commit,
    read_documents,
    read_index,
    read_worktree,
    with_buffers,
)

ODD_NAMES = (
    *("new\nline.md", 'quo"te.md', "tab\t.md", " space .md", "pages/[id].ts", "a*b", ":(top)x"),
    *("日本語/認証.md", "e\u0301.md", "é.md", "back\\slash", "-rf", "carriage\r", '"'),
    "\udcff\udcfe",
)
CHANGED = Entry(MODE_FILE, UNHASHED)
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs symlinks or executable bits")


def file(data: bytes, mode: int = MODE_FILE) -> Entry:
    return Entry(mode, blob_id(data))


def worktree(repository) -> dict:
    """The work tree's changes, hashed."""
    changes = read_worktree(repository).changes
    return {
        path: e and e._replace(id=e.id or hash_files(repository, [path])[path].id)
        for path, e in changes.items()
    }


def test_clean_work_tree_has_no_changes(repository, open_at):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    assert read_worktree(open_at(repository.root)) == Snapshot("worktree", head, {})


def test_files_before_the_first_commit_are_changes(repository, open_at):
    repository.write("staged.txt", "staged\n")
    repository.git("add", ".")
    repository.write("untracked.txt", "untracked\n")
    opened = open_at(repository.root)
    assert read_worktree(opened) == Snapshot(
        "worktree", None, {"staged.txt": file(b"staged\n"), "untracked.txt": CHANGED}
    )
    assert read_index(opened) == Snapshot("staged", None, {"staged.txt": file(b"staged\n")})


def test_changes_of_every_kind_are_found(repository, open_at):
    names = ("kept", "edited", "deleted", "staged", "staged and edited", "removed", "forgotten")
    for name in names:
        repository.write(f"sub/{name}", f"{name}\n")
    head = repository.commit()
    repository.write("sub/edited", "2\n")
    repository.remove("sub/deleted")
    repository.write("sub/staged", "2\n")
    repository.write("sub/staged and edited", "2\n")
    repository.git("add", "sub/staged", "sub/staged and edited")
    repository.write("sub/staged and edited", "3\n")
    repository.git("rm", "--quiet", "sub/removed")
    repository.git("rm", "--quiet", "--cached", "sub/forgotten")
    repository.write("sub/new", "new\n")
    repository.write("sub/ignored", "ignored\n")
    repository.write(".git/info/exclude", "ignored\n")
    opened = open_at(repository.root / "sub")
    assert read_worktree(opened) == Snapshot(
        "worktree",
        head,
        {
            "sub/edited": CHANGED,
            "sub/deleted": None,
            "sub/staged": file(b"2\n"),
            "sub/staged and edited": CHANGED,
            "sub/removed": None,
            "sub/forgotten": CHANGED,
            "sub/new": CHANGED,
        },
    )
    assert read_index(opened) == Snapshot(
        "staged",
        head,
        {
            "sub/staged": file(b"2\n"),
            "sub/staged and edited": file(b"2\n"),
            "sub/removed": None,
            "sub/forgotten": None,
        },
    )


def test_tracked_file_that_is_removed_from_the_index_and_ignored_is_deleted(repository, open_at):
    repository.write("a.txt", "a\n")
    repository.commit()
    repository.git("rm", "--quiet", "--cached", "a.txt")
    repository.write(".git/info/exclude", "a.txt\n")
    assert read_worktree(open_at(repository.root)).changes == {"a.txt": None}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_of_any_bytes_are_listed(name, repository, write_named, open_at):
    write_named(repository, name, "1\n")
    head = repository.commit()
    repository.write(name, "2\n")
    opened = open_at(repository.root)
    assert read_worktree(opened) == Snapshot("worktree", head, {name: CHANGED})
    assert hash_files(opened, [name]) == {name: file(b"2\n")}
    repository.git("add", "--all")
    assert read_index(opened) == Snapshot("staged", head, {name: file(b"2\n")})


def test_composed_and_decomposed_names_are_two_files(repository, write_named, open_at):
    write_named(repository, "e\u0301.md", "decomposed\n")
    write_named(repository, "é.md", "composed\n")
    expected = {"é.md": file(b"composed\n"), "e\u0301.md": file(b"decomposed\n")}
    assert worktree(open_at(repository.root)) == expected


def test_intent_to_add_is_in_the_work_tree_and_not_in_the_index(repository, open_at):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    repository.write("new.txt", "new\n")
    repository.write("empty.txt", "")
    repository.git("add", "--intent-to-add", "new.txt", "empty.txt")
    opened = open_at(repository.root)
    assert worktree(opened) == {"new.txt": file(b"new\n"), "empty.txt": file(b"")}
    assert read_index(opened) == Snapshot("staged", head, {})


def test_conflicts_of_a_merge_are_listed(repository, open_at):
    for name in ("both", "ours deleted", "theirs deleted", "clean"):
        repository.write(name, "base\n")
    repository.commit()
    repository.git("switch", "--quiet", "--create", "topic")
    for name in ("both", "ours deleted", "added by both", "clean"):
        repository.write(name, "theirs\n")
    repository.remove("theirs deleted")
    repository.commit()
    repository.git("switch", "--quiet", "main")
    for name in ("both", "theirs deleted", "added by both"):
        repository.write(name, "ours\n")
    repository.remove("ours deleted")
    head = repository.commit()
    repository.git("merge", "--quiet", "topic", check=False)
    opened = open_at(repository.root)
    found = read_worktree(opened)
    assert (found.commit, found.changes.keys()) == (
        head,
        {"both", "ours deleted", "theirs deleted", "added by both", "clean"},
    )
    assert worktree(opened) == {
        "both": file((repository.root / "both").read_bytes()),
        "ours deleted": file(b"theirs\n"),
        "theirs deleted": file(b"ours\n"),
        "added by both": file((repository.root / "added by both").read_bytes()),
        "clean": file(b"theirs\n"),
    }
    # An unmerged path is as in HEAD.
    assert read_index(opened) == Snapshot("staged", head, {"clean": file(b"theirs\n")})


@POSIX
def test_files_that_become_links_or_folders_are_changes(repository, open_at):
    repository.write("file to link", "1\n")
    repository.write("file to folder", "1\n")
    repository.write("folder to file/inside", "1\n")
    repository.write("folder to link/inside", "1\n")
    (repository.root / "link to file").symlink_to("nowhere")
    (repository.root / "link to folder").symlink_to("nowhere")
    repository.commit()
    for name in ("file to link", "file to folder", "link to file", "link to folder"):
        repository.remove(name)
    for name in ("folder to file", "folder to link"):
        shutil.rmtree(repository.root / name)
    outside = repository.write("../outside/inside", "secret\n").parent
    (repository.root / "file to link").symlink_to("target")
    repository.write("file to folder/inside", "2\n")
    repository.write("folder to file", "2\n")
    (repository.root / "folder to link").symlink_to(outside)
    repository.write("link to file", "2\n")
    repository.write("link to folder/inside", "2\n")
    expected = {
        "file to link": file(b"target", MODE_SYMLINK),
        "file to folder": None,
        "file to folder/inside": file(b"2\n"),
        "folder to file": file(b"2\n"),
        "folder to file/inside": None,
        "folder to link": file(str(outside).encode(), MODE_SYMLINK),
        "folder to link/inside": None,
        "link to file": file(b"2\n"),
        "link to folder": None,
        "link to folder/inside": file(b"2\n"),
    }
    opened = open_at(repository.root)
    assert worktree(opened) == expected
    repository.git("add", "--all")
    assert read_index(opened).changes == expected
    assert worktree(opened) == expected


@POSIX
def test_executable_bits_are_changes(repository, open_at):
    repository.write("a.sh", "a\n").chmod(0o644)
    repository.write("b.sh", "b\n").chmod(0o755)
    repository.commit()
    (repository.root / "a.sh").chmod(0o755)
    (repository.root / "b.sh").chmod(0o644)
    repository.write("c.sh", "c\n").chmod(0o755)
    opened = open_at(repository.root)
    assert worktree(opened) == {
        "a.sh": file(b"a\n", MODE_EXECUTABLE),
        "b.sh": file(b"b\n"),
        "c.sh": file(b"c\n", MODE_EXECUTABLE),
    }


@POSIX
def test_executable_bits_that_git_ignores_are_not_changes(repository, open_at):
    repository.write("a.sh", "a\n").chmod(0o755)
    repository.commit()
    repository.git("config", "core.fileMode", "false")
    repository.write("a.sh", "2\n").chmod(0o644)
    repository.write("b.sh", "b\n").chmod(0o755)
    opened = open_at(repository.root)
    assert worktree(opened) == {"a.sh": file(b"2\n", MODE_EXECUTABLE), "b.sh": file(b"b\n")}


def test_touched_file_is_unchanged_or_has_the_same_hash(repository, open_at):
    page = repository.write("a.md", "a\n")
    repository.commit()
    os.utime(page, (1, 1))
    assert worktree(open_at(repository.root)) in ({}, {"a.md": file(b"a\n")})


def test_racy_edit_of_equal_size_is_seen(repository, open_at):
    page = repository.write("a.md", "a\n")
    repository.git("add", ".")
    status = page.stat()
    page.write_bytes(b"b\n")
    os.utime(page, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert worktree(open_at(repository.root)) == {"a.md": file(b"b\n")}


def test_files_that_git_assumes_unchanged_are_not_read(repository, open_at):
    for name in ("assumed", "skipped"):
        repository.write(name, "1\n")
    repository.commit()
    repository.git("update-index", "--assume-unchanged", "assumed")
    repository.git("update-index", "--skip-worktree", "skipped")
    repository.write("assumed", "changed\n")
    repository.remove("skipped")
    assert read_worktree(open_at(repository.root)).changes == {}


def test_bare_repository_has_neither_work_tree_nor_index(new_repository, open_at):
    bare = open_at(new_repository("bare", "--bare").root)
    for read in (read_worktree, read_index):
        with pytest.raises(RepositoryError) as raised:
            read(bare)
        error = raised.value
        assert (error.message, error.cause, error.hint) == (
            f"The repository at {bare.git_dir} is bare.",
            "It has no work tree and no index.",
            "Pass a revision, such as --ref HEAD.",
        )


def test_commit_is_a_snapshot_without_changes(repository, open_at):
    repository.write("a.md", "a\n")
    first = repository.commit()
    repository.write("a.md", "b\n")
    repository.commit()
    opened = open_at(repository.root)
    assert read_commit(opened, "HEAD~1") == Snapshot("commit", first, {})


def test_buffer_replaces_the_file_and_gets_the_line_ends_that_git_stores(repository, open_at):
    repository.write(".gitattributes", "*.md text\n")
    repository.write("a.md", "one\r\n")
    repository.write("b.txt", "one\r\n")
    repository.commit()
    found = open_at(repository.root)
    unsaved = dict.fromkeys(("a.md", "b.txt", "new/c.md", "a.md/under"), b"two\r\n")
    shown = with_buffers(found, read_worktree(found), unsaved)
    assert read_documents(found, shown, shown.changes) == {
        "a.md": b"two\n",
        "b.txt": b"two\r\n",
        "new/c.md": b"two\n",
    }
    repository.write("a.md", "two\r\n")
    assert shown.changes["a.md"].id == repository.git("hash-object", "a.md")
