"""The ids and the bytes of files, never through a symlink."""

import os
from pathlib import Path

import pytest

from ubp.core.model import MODE_EXECUTABLE, MODE_FILE, MODE_SYMLINK, Entry
from ubp.git.filters import hash_regular_files
from ubp.git.output import MAX_BLOB_BYTES, blob_id
from ubp.git.snapshot import (
    UNREADABLE,
    hash_files,
    read_commit,
    read_document,
    read_documents,
    read_index,
    read_worktree,
)

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs symlinks or named pipes")


def file(data: bytes, mode: int = MODE_FILE) -> Entry:
    return Entry(mode, blob_id(data))


@POSIX
def test_hash_of_every_kind_of_entry_is_that_of_git(repository, open_at):
    repository.write("file", "1\n")
    repository.write("tool", "2\n").chmod(0o755)
    repository.write("folder/inside", "3\n")
    (repository.root / "link").symlink_to("folder")
    os.mkfifo(repository.root / "pipe")
    wanted = ["file", "tool", "folder", "link", "pipe", "none", "file/below", "nul\0", "\ud800"]
    assert hash_files(open_at(repository.root), wanted) == {
        "file": file(b"1\n"),
        "tool": file(b"2\n", MODE_EXECUTABLE),
        "folder": None,
        "link": file(b"folder", MODE_SYMLINK),
        "pipe": None,
        "none": None,
        "file/below": None,
        "nul\0": None,
        "\ud800": None,
    }


def test_hashing_no_files_does_not_start_git(repository, open_at, forbid_git):
    found = open_at(repository.root)
    forbid_git()
    assert hash_files(found, []) == {}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_unreadable_file_is_reported(repository, open_at):
    for name in ("a", "b", "c"):
        repository.write(name, f"{name}\n")
    (repository.root / "b").chmod(0)
    assert hash_files(open_at(repository.root), ["a", "b", "c"]) == {
        "a": file(b"a\n"),
        "b": Entry(MODE_FILE, UNREADABLE),
        "c": file(b"c\n"),
    }


def test_file_deleted_while_it_is_hashed_affects_no_other(repository, open_at):
    for name in ("a", "c"):
        repository.write(name, f"{name}\n")
    assert hash_regular_files(open_at(repository.root), ["a", "b", "c", "d"]) == {
        "a": blob_id(b"a\n"),
        "c": blob_id(b"c\n"),
    }


@POSIX
def test_symlinks_are_never_read_through(repository, open_at, tmp_path):
    secret = tmp_path / "outside" / "deep"
    secret.mkdir(parents=True)
    (secret / "a.md").write_text("secret\n")
    (repository.root / "link").symlink_to(tmp_path / "outside")
    (repository.root / "page.md").symlink_to(secret / "a.md")
    opened = open_at(repository.root)
    wanted = ["link/deep/a.md", "link/deep", "page.md", "link"]
    assert hash_files(opened, wanted) == {
        "link/deep/a.md": None,
        "link/deep": None,
        "page.md": file(str(secret / "a.md").encode(), MODE_SYMLINK),
        "link": file(str(tmp_path / "outside").encode(), MODE_SYMLINK),
    }
    snapshot = read_worktree(opened)
    pages = {name: file(b"secret\n") for name in wanted}
    assert read_documents(opened, snapshot, pages) == dict.fromkeys(wanted)


def test_documents_of_each_snapshot_are_read(repository, open_at):
    repository.write("a.md", "committed\n")
    repository.write("b.md", "unchanged\n")
    repository.commit()
    repository.write("a.md", "staged\n")
    repository.git("add", ".")
    repository.write("a.md", "edited\n")
    repository.write("c.md", "untracked\n")
    opened = open_at(repository.root)
    texts = {"a.md": "committed\n", "b.md": "unchanged\n"}
    for snapshot, changed in (
        (read_commit(opened, "HEAD"), {}),
        (read_index(opened), {"a.md": "staged\n"}),
        (read_worktree(opened), {"a.md": "edited\n", "c.md": "untracked\n"}),
    ):
        expected = {path: text.encode() for path, text in (texts | changed).items()}
        wanted = {path: file(data) for path, data in expected.items()}
        assert read_documents(opened, snapshot, wanted) == expected


def test_single_document_is_read(repository, open_at):
    repository.write("a.md", "a\n")
    opened = open_at(repository.root)
    assert read_document(opened, read_worktree(opened), "a.md", file(b"a\n")) == b"a\n"


def test_committed_document_that_is_not_on_disk_is_read_from_the_repository(repository, open_at):
    repository.write("in/a.md", "1\n")
    repository.write("out/a.md", "1\n")
    repository.commit()
    repository.git("sparse-checkout", "set", "--cone", "--no-sparse-index", "in")
    assert not (repository.root / "out").exists()
    opened = open_at(repository.root)
    snapshot = read_worktree(opened)
    assert snapshot.changes == {}
    assert read_documents(opened, snapshot, {"out/a.md": file(b"1\n")}) == {"out/a.md": b"1\n"}


@POSIX
def test_documents_that_are_too_large_changed_or_not_files_are_none(repository, open_at):
    large = b"x" * (MAX_BLOB_BYTES + 1)
    repository.write("large.md", large)
    repository.write("changed.md", "now\n")
    (repository.root / "link.md").symlink_to("changed.md")
    opened = open_at(repository.root)
    wanted = {
        "large.md": file(large),
        "changed.md": file(b"then\n"),
        "link.md": file(b"changed.md", MODE_SYMLINK),
        "unreadable.md": Entry(MODE_FILE, UNREADABLE),
    }
    assert read_documents(opened, read_worktree(opened), wanted) == dict.fromkeys(wanted)


def test_reading_a_snapshot_does_not_change_the_repository(repository, open_at):
    def files() -> dict:
        folder = repository.root / ".git"
        return {p: p.lstat().st_mtime_ns for p in Path(folder).rglob("*") if p.is_file()}

    before = files()
    found = open_at(repository.root)
    snapshot = read_worktree(found)
    read_index(found)
    read_documents(found, snapshot, hash_files(found, snapshot.changes))
    assert files() == before
