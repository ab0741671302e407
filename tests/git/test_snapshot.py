"""What stands in the work tree, in the index, in a commit, as Git itself sees it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.errors import GitMissingError, RepositoryError
from ubp.git.objects import MAX_BLOB_BYTES, blob_id
from ubp.git.snapshot import (
    UNREADABLE,
    hash_files,
    read_commit,
    read_documents,
    read_index,
    read_worktree,
)
from ubp.model import (
    MODE_EXECUTABLE,
    MODE_FILE,
    MODE_SUBMODULE,
    MODE_SYMLINK,
    UNHASHED,
    Entry,
    Snapshot,
)

ODD_NAMES = [
    *("new\nline.md", 'quo"te.md', "tab\t.md", " space .md", "pages/[id].ts", "a*b", ":(top)x"),
    *(
        "日本語/認証.md",
        "e\u0301.md",
        "é.md",
        "back\\slash",
        "-rf",
        "carriage\r",
        '"',
        "\udcff\udcfe",
    ),
]
CHANGED = Entry(MODE_FILE, UNHASHED)


def file(data: bytes, mode: int = MODE_FILE) -> Entry:
    return Entry(mode, blob_id(data))


def worktree(repository) -> dict:
    """The work tree's changes, hashed."""
    changes = read_worktree(repository).changes
    return {
        path: e and e._replace(id=e.id or hash_files(repository, [path])[path].id)
        for path, e in changes.items()
    }


# The work tree


def test_a_clean_work_tree_differs_in_nothing(repository, opened_either_way):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    assert read_worktree(opened_either_way(repository.root)) == Snapshot("worktree", head, {})


def test_before_the_first_commit_every_file_is_a_change(repository, opened_either_way):
    repository.write("staged.txt", "staged\n")
    repository.git("add", ".")
    repository.write("untracked.txt", "untracked\n")
    opened = opened_either_way(repository.root)
    assert read_worktree(opened) == Snapshot(
        "worktree", None, {"staged.txt": file(b"staged\n"), "untracked.txt": CHANGED}
    )
    assert read_index(opened) == Snapshot("staged", None, {"staged.txt": file(b"staged\n")})


def test_every_kind_of_change(repository, opened_either_way):
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
    opened = opened_either_way(repository.root / "sub")
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


def test_a_tracked_file_that_is_forgotten_and_ignored_is_gone(repository, opened_either_way):
    repository.write("a.txt", "a\n")
    repository.commit()
    repository.git("rm", "--quiet", "--cached", "a.txt")
    repository.write(".git/info/exclude", "a.txt\n")
    assert read_worktree(opened_either_way(repository.root)).changes == {"a.txt": None}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_name_that_the_file_system_holds(name, repository, opened_either_way):
    repository.write(name, "1\n")
    head = repository.commit()
    repository.write(name, "2\n")
    opened = opened_either_way(repository.root)
    assert read_worktree(opened) == Snapshot("worktree", head, {name: CHANGED})
    assert hash_files(opened, [name]) == {name: file(b"2\n")}
    repository.git("add", "--all")
    assert read_index(opened) == Snapshot("staged", head, {name: file(b"2\n")})


def test_composed_and_decomposed_names_are_two_files(repository, opened_either_way):
    repository.write("é.md", "composed\n")
    repository.write("e\u0301.md", "decomposed\n")
    expected = {"é.md": file(b"composed\n"), "e\u0301.md": file(b"decomposed\n")}
    assert worktree(opened_either_way(repository.root)) == expected


def test_intent_to_add_is_in_the_work_tree_and_not_in_the_index(repository, opened_either_way):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    repository.write("new.txt", "new\n")
    repository.write("empty.txt", "")
    repository.git("add", "--intent-to-add", "new.txt", "empty.txt")
    opened = opened_either_way(repository.root)
    assert worktree(opened) == {"new.txt": file(b"new\n"), "empty.txt": file(b"")}
    assert read_index(opened) == Snapshot("staged", head, {})


def test_conflicts_of_a_merge(repository, opened_either_way):
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
    opened = opened_either_way(repository.root)
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
    # An unmerged path stands as in HEAD.
    assert read_index(opened) == Snapshot("staged", head, {"clean": file(b"theirs\n")})


def test_files_become_links_and_folders_and_back(repository, opened_either_way):
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
    opened = opened_either_way(repository.root)
    assert worktree(opened) == expected
    repository.git("add", "--all")
    assert read_index(opened).changes == expected
    assert worktree(opened) == expected


def test_nothing_is_read_through_a_symlink(repository, opened_either_way, tmp_path):
    secret = tmp_path / "outside" / "deep"
    secret.mkdir(parents=True)
    (secret / "a.md").write_text("secret\n")
    (repository.root / "link").symlink_to(tmp_path / "outside")
    (repository.root / "page.md").symlink_to(secret / "a.md")
    opened = opened_either_way(repository.root)
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


def test_executable_bits(repository, opened_either_way):
    repository.write("a.sh", "a\n").chmod(0o644)
    repository.write("b.sh", "b\n").chmod(0o755)
    repository.commit()
    (repository.root / "a.sh").chmod(0o755)
    (repository.root / "b.sh").chmod(0o644)
    repository.write("c.sh", "c\n").chmod(0o755)
    opened = opened_either_way(repository.root)
    assert worktree(opened) == {
        "a.sh": file(b"a\n", MODE_EXECUTABLE),
        "b.sh": file(b"b\n"),
        "c.sh": file(b"c\n", MODE_EXECUTABLE),
    }


def test_executable_bits_that_git_was_told_to_distrust(repository, opened_either_way):
    repository.write("a.sh", "a\n").chmod(0o755)
    repository.commit()
    repository.git("config", "core.fileMode", "false")
    repository.write("a.sh", "2\n").chmod(0o644)
    repository.write("b.sh", "b\n").chmod(0o755)
    opened = opened_either_way(repository.root)
    assert worktree(opened) == {"a.sh": file(b"2\n", MODE_EXECUTABLE), "b.sh": file(b"b\n")}


def test_a_touched_file_is_no_change_or_hashes_as_before(repository, opened_either_way):
    page = repository.write("a.md", "a\n")
    repository.commit()
    os.utime(page, (1, 1))
    assert worktree(opened_either_way(repository.root)) in ({}, {"a.md": file(b"a\n")})


def test_a_racy_edit_of_equal_size_is_seen(repository, opened_either_way):
    page = repository.write("a.md", "a\n")
    repository.git("add", ".")
    status = page.stat()
    page.write_bytes(b"b\n")
    os.utime(page, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert worktree(opened_either_way(repository.root)) == {"a.md": file(b"b\n")}


def test_files_that_git_was_told_not_to_look_at(repository, opened_either_way):
    for name in ("assumed", "skipped"):
        repository.write(name, "1\n")
    repository.commit()
    repository.git("update-index", "--assume-unchanged", "assumed")
    repository.git("update-index", "--skip-worktree", "skipped")
    repository.write("assumed", "changed\n")
    repository.remove("skipped")
    assert read_worktree(opened_either_way(repository.root)).changes == {}


def test_other_repositories_inside_are_not_looked_into(
    repository, new_repository, opened_either_way
):
    nested = new_repository("project/nested")
    nested.write("a.md", "a\n")
    nested.commit()
    new_repository("project/without commits").write("a.md", "a\n")
    assert read_worktree(opened_either_way(repository.root)).changes == {}


def test_submodules_are_entries(repository, new_repository, opened_either_way):
    inner = new_repository("inner")
    inner.write("a.md", "a\n")
    first = inner.commit()
    second = inner.commit()
    repository.git("submodule", "--quiet", "add", str(inner.root), "sub")
    repository.git("-C", "sub", "checkout", "--quiet", first)
    opened = opened_either_way(repository.root)
    assert read_index(opened).changes["sub"] == Entry(MODE_SUBMODULE, second)
    repository.git("add", "sub")
    repository.commit()
    assert read_worktree(opened_either_way(repository.root)).changes == {}
    repository.write("sub/a.md", "dirty\n")
    assert worktree(opened_either_way(repository.root)) in (
        {},
        {"sub": Entry(MODE_SUBMODULE, first)},
    )
    repository.git("-C", "sub", "checkout", "--quiet", "--force", second)
    opened = opened_either_way(repository.root)
    assert worktree(opened) == {"sub": Entry(MODE_SUBMODULE, second)}
    shutil.rmtree(repository.root / "sub")
    assert worktree(opened_either_way(repository.root)) == {"sub": None}


def test_a_submodule_that_was_not_fetched_is_no_change(
    repository, new_repository, opened_either_way, tmp_path
):
    inner = new_repository("inner")
    inner.write("a.md", "a\n")
    inner.commit()
    repository.git("submodule", "--quiet", "add", str(inner.root), "sub")
    repository.commit()
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", ".", str(clone))
    assert read_worktree(opened_either_way(clone)).changes == {}
    assert hash_files(opened_either_way(clone), ["sub"]) == {"sub": None}


def test_a_bare_repository_has_neither_work_tree_nor_index(new_repository, opened_either_way):
    bare = opened_either_way(new_repository("bare", "--bare").root)
    for read in (read_worktree, read_index):
        with pytest.raises(RepositoryError) as raised:
            read(bare)
        error = raised.value
        assert (error.message, error.cause, error.hint) == (
            f"The repository at {bare.git_dir} is bare.",
            "It has no work tree and no index.",
            "Name a revision: --ref HEAD.",
        )


def test_a_commit_is_a_snapshot_without_changes(repository, opened_either_way):
    repository.write("a.md", "a\n")
    first = repository.commit()
    repository.write("a.md", "b\n")
    repository.commit()
    opened = opened_either_way(repository.root)
    assert read_commit(opened, "HEAD~1") == Snapshot("commit", first, {})


# Indexes that libgit2 cannot read


def test_a_split_index(repository, opened, opened_without_git):
    for number in range(9):
        repository.write(f"{number}.md", "1\n")
    head = repository.commit()
    repository.git("update-index", "--split-index")
    repository.write("1.md", "2\n")
    repository.git("add", "1.md")
    repository.write("2.md", "2\n")
    found = opened(repository.root)
    assert read_worktree(found) == Snapshot(
        "worktree", head, {"1.md": file(b"2\n"), "2.md": CHANGED}
    )
    assert read_index(found) == Snapshot("staged", head, {"1.md": file(b"2\n")})
    for read in (read_worktree, read_index):
        with pytest.raises(GitMissingError) as raised:
            read(opened_without_git(repository.root))
        error = raised.value
        assert (error.message, error.cause, error.hint) == (
            "This repository has a split or sparse index, which cannot be read without git.",
            "No folder of PATH holds an executable git, and libgit2 does not know how.",
            "Install git 2.30 or newer, or add its folder to PATH.",
        )


def test_a_sparse_index(repository, opened, opened_without_git):
    for folder in ("in", "out", "out/deep"):
        repository.write(f"{folder}/a.md", "1\n")
    head = repository.commit()
    repository.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    repository.write("in/a.md", "2\n")
    found = opened(repository.root)
    assert read_worktree(found) == Snapshot("worktree", head, {"in/a.md": CHANGED})
    repository.git("add", "in/a.md")
    assert read_index(found) == Snapshot("staged", head, {"in/a.md": file(b"2\n")})
    with pytest.raises(GitMissingError):
        read_worktree(opened_without_git(repository.root))


# Hooks


HOOK = """#!/bin/sh
exec "{python}" -I -c '
import os, sys
from ubp.git.repository import open_repository
from ubp.git.snapshot import read_index
with open_repository(os.getcwd(), os.environ) as repository:
    for path, entry in sorted(read_index(repository).changes.items()):
        print(path, entry and entry.id)
' > "{output}"
"""


@pytest.fixture
def hooked(repository, tmp_path):
    """`repository` with a pre-commit hook; `repository.seen()` is the index that it saw."""
    output = tmp_path / "seen"
    hook = repository.write(
        ".git/hooks/pre-commit", HOOK.format(python=sys.executable, output=output)
    )
    hook.chmod(0o755)

    def seen() -> dict:
        pairs = (line.split(" ") for line in output.read_text().splitlines())
        return {path: None if blob == "None" else blob for path, blob in pairs}

    repository.seen = seen
    for name in ("a", "b", "c"):
        repository.write(name, "1\n")
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message=first")
    return repository


ONE, TWO = blob_id(b"1\n"), blob_id(b"2\n")


def test_a_hook_sees_the_first_commit(hooked):
    assert hooked.seen() == {"a": ONE, "b": ONE, "c": ONE}


@pytest.mark.parametrize("where", ["root", "folder"])
def test_a_hook_of_commit_all_sees_what_will_be_committed(hooked, where):
    hooked.write("sub/x", "1\n")
    hooked.write("a", "2\n")
    hooked.remove("b")
    folder = hooked.root if where == "root" else hooked.root / "sub"
    subprocess.run(["git", "commit", "--quiet", "--all", "--message=x"], cwd=folder, check=True)
    assert hooked.seen() == {"a": TWO, "b": None}


def test_a_hook_of_commit_path_sees_what_will_be_committed(hooked):
    for name in ("a", "b", "c"):
        hooked.write(name, "2\n")
    hooked.git("add", "b")
    hooked.git("commit", "--quiet", "--message=x", "a")
    assert hooked.seen() == {"a": TWO}


def test_a_hook_in_a_linked_work_tree_sees_what_will_be_committed(hooked, tmp_path):
    linked = tmp_path / "linked"
    hooked.git("worktree", "add", "--quiet", str(linked))
    (linked / "a").write_text("2\n")
    (linked / "b").write_text("2\n")
    hooked.git("-C", str(linked), "add", "b")
    hooked.git("-C", str(linked), "commit", "--quiet", "--message=x")
    assert hooked.seen() == {"b": TWO}
    hooked.git("-C", str(linked), "commit", "--quiet", "--message=x", "--all")
    assert hooked.seen() == {"a": TWO}


@pytest.mark.parametrize("form", ["relative", "absolute"])
def test_another_index_is_honoured_by_both_engines(form, repository, opened_either_way, tmp_path):
    repository.write("sub/a", "1\n")
    head = repository.commit()
    name = ".git/other" if form == "relative" else str(tmp_path / "other")
    other = {"GIT_INDEX_FILE": name}
    repository.git("read-tree", "HEAD", env=other)
    repository.write("sub/a", "2\n")
    repository.write("b", "2\n")
    repository.git("add", "b", env=other)
    opened = opened_either_way(repository.root / "sub", **other)
    assert read_index(opened) == Snapshot("staged", head, {"b": file(b"2\n")})
    assert read_worktree(opened) == Snapshot(
        "worktree", head, {"sub/a": CHANGED, "b": file(b"2\n")}
    )


# Ids


def test_hashing_every_kind_of_entry(repository, opened_either_way):
    repository.write("file", "1\n")
    repository.write("tool", "2\n").chmod(0o755)
    repository.write("folder/inside", "3\n")
    (repository.root / "link").symlink_to("folder")
    os.mkfifo(repository.root / "pipe")
    wanted = ["file", "tool", "folder", "link", "pipe", "none", "file/below", "nul\0"]
    assert hash_files(opened_either_way(repository.root), wanted) == {
        "file": file(b"1\n"),
        "tool": file(b"2\n", MODE_EXECUTABLE),
        "folder": None,
        "link": file(b"folder", MODE_SYMLINK),
        "pipe": None,
        "none": None,
        "file/below": None,
        "nul\0": None,
    }


def test_hashing_nothing_asks_nobody(repository, opened_without_git):
    assert hash_files(opened_without_git(repository.root), []) == {}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_what_cannot_be_read_says_so(repository, opened_either_way):
    for name in ("a", "b", "c"):
        repository.write(name, f"{name}\n")
    (repository.root / "b").chmod(0)
    assert hash_files(opened_either_way(repository.root), ["a", "b", "c"]) == {
        "a": file(b"a\n"),
        "b": Entry(MODE_FILE, UNREADABLE),
        "c": file(b"c\n"),
    }


def test_a_file_that_goes_while_it_is_hashed_spoils_no_other(repository, opened):
    for name in ("a", "c"):
        repository.write(name, f"{name}\n")
    engine = opened(repository.root).engine
    assert engine.hash_regular_files(["a", "b", "c", "d"]) == {
        "a": blob_id(b"a\n"),
        "c": blob_id(b"c\n"),
    }


FILTERS = {
    "lf.txt": b"one\ntwo\n",
    "crlf.txt": b"one\r\ntwo\r\n",
    "mixed.txt": b"one\r\ntwo\n",
    "bare cr.txt": b"one\rtwo\r\n",
    "empty.txt": b"",
    "binary.bin": b"\0\r\n",
    "eol-lf.x": b"one\r\n",
    "eol-crlf.y": b"one\r\n",
    "plain.z": b"one\r\n",
    "ident.id": b"$Id: 1234 $\r\n",
}
ATTRIBUTES = "*.x text eol=lf\n*.y text eol=crlf\n*.z -text\n*.id ident\n"


@pytest.mark.parametrize("attributes", ["", "* text=auto\n", "*.txt text\n"])
@pytest.mark.parametrize("autocrlf", ["false", "true", "input"])
def test_line_ends_and_idents_are_hashed_as_git_adds_them(
    autocrlf, attributes, repository, opened_either_way
):
    repository.git("config", "core.autocrlf", autocrlf)
    repository.write(".gitattributes", attributes + ATTRIBUTES)
    for name, data in FILTERS.items():
        repository.write(name, data)
    opened = opened_either_way(repository.root)
    found = hash_files(opened, FILTERS)
    assert found == {name: Entry(MODE_FILE, repository.blob(name)) for name in FILTERS}
    pages = {name: entry for name, entry in found.items() if entry}
    contents = read_documents(opened, read_worktree(opened), pages)
    assert {name: blob_id(data) for name, data in contents.items()} == {
        name: entry.id for name, entry in pages.items()
    }


def test_many_idents_are_hashed_as_git_adds_them_and_libgit2_does_not(
    repository, opened, opened_without_git
):
    repository.write(".gitattributes", "* ident\n")
    repository.write("a.txt", "$Id: 1 $ $Id: 2 $\n")
    stored = {"a.txt": file(b"$Id$ $Id$\n")}
    found = opened(repository.root)
    assert hash_files(found, stored) == stored
    assert read_documents(found, read_worktree(found), stored) == {"a.txt": b"$Id$ $Id$\n"}
    with pytest.raises(GitMissingError):
        hash_files(opened_without_git(repository.root), stored)


@pytest.mark.parametrize("attributes", ["", "* text=auto\n", "*.txt text\n"])
def test_line_ends_that_git_would_keep_are_kept(attributes, repository, opened_either_way):
    """A file that is CRLF in the index stays so, unless an attribute says otherwise."""
    for name, data in FILTERS.items():
        repository.write(name, data)
    repository.commit()
    repository.git("config", "core.autocrlf", "true")
    repository.write(".gitattributes", attributes)
    for name, data in FILTERS.items():
        repository.write(name, data + b"more\r\n")
    found = hash_files(opened_either_way(repository.root), FILTERS)
    repository.git("add", "--all")
    stored = {name: repository.git("rev-parse", f":{name}") for name in FILTERS}
    assert {name: entry.id for name, entry in found.items()} == stored


@pytest.fixture
def filtered(repository):
    """`*.up` is stored in upper case by a filter driver, `*.utf16` as UTF-8."""
    repository.git("config", "filter.upper.clean", "tr a-z A-Z")
    repository.git("config", "filter.upper.smudge", "tr A-Z a-z")
    repository.write(".gitattributes", "*.up filter=upper\n*.utf16 working-tree-encoding=UTF-16\n")
    repository.commit()
    repository.write("page.up", "loud\n")
    repository.write("page.utf16", "日本\n".encode("utf-16"))
    return repository


STORED = {"page.up": b"LOUD\n", "page.utf16": "日本\n".encode()}


def test_filter_drivers_and_encodings_are_git_s(filtered, opened):
    found = opened(filtered.root)
    entries = hash_files(found, STORED)
    assert entries == {name: file(data) for name, data in STORED.items()}
    assert read_documents(found, read_worktree(found), entries) == STORED
    for data in STORED.values():  # reading adds nothing to the repository
        assert found.read_blobs([blob_id(data)]) == {blob_id(data): None}
    filtered.commit()
    assert read_worktree(found).changes == {}
    assert read_documents(found, read_worktree(found), entries) == STORED


@pytest.mark.parametrize(
    ("name", "attribute"), [("page.up", "filter"), ("page.utf16", "working-tree-encoding")]
)
def test_filter_drivers_and_encodings_need_git(name, attribute, filtered, opened_without_git):
    with pytest.raises(GitMissingError) as raised:
        hash_files(opened_without_git(filtered.root), [name])
    error = raised.value
    assert (error.message, error.cause, error.hint) == (
        f"{name} has the attribute {attribute}, which cannot be read without git.",
        "No folder of PATH holds an executable git, and libgit2 does not know how.",
        "Install git 2.30 or newer, or add its folder to PATH.",
    )


def test_an_unset_filter_needs_no_git(repository, opened_without_git):
    repository.write(".gitattributes", "* filter=lfs\n*.md -filter\n*.txt !filter\n")
    repository.write("a.md", "a\n")
    repository.write("a.txt", "a\n")
    found = hash_files(opened_without_git(repository.root), ["a.md", "a.txt"])
    assert found == {"a.md": file(b"a\n"), "a.txt": file(b"a\n")}


# Contents


def test_documents_of_each_snapshot(repository, opened_either_way):
    repository.write("a.md", "committed\n")
    repository.write("b.md", "unchanged\n")
    repository.commit()
    repository.write("a.md", "staged\n")
    repository.git("add", ".")
    repository.write("a.md", "edited\n")
    repository.write("c.md", "untracked\n")
    opened = opened_either_way(repository.root)
    texts = {"a.md": "committed\n", "b.md": "unchanged\n"}
    for snapshot, changed in (
        (read_commit(opened, "HEAD"), {}),
        (read_index(opened), {"a.md": "staged\n"}),
        (read_worktree(opened), {"a.md": "edited\n", "c.md": "untracked\n"}),
    ):
        expected = {path: text.encode() for path, text in (texts | changed).items()}
        wanted = {path: file(data) for path, data in expected.items()}
        assert read_documents(opened, snapshot, wanted) == expected


def test_a_committed_document_is_read_from_the_repository_where_the_disk_has_it_not(
    repository, opened_either_way
):
    repository.write("in/a.md", "1\n")
    repository.write("out/a.md", "1\n")
    repository.commit()
    repository.git("sparse-checkout", "set", "--cone", "--no-sparse-index", "in")
    assert not (repository.root / "out").exists()
    opened = opened_either_way(repository.root)
    snapshot = read_worktree(opened)
    assert snapshot.changes == {}
    assert read_documents(opened, snapshot, {"out/a.md": file(b"1\n")}) == {"out/a.md": b"1\n"}


def test_documents_too_large_changed_since_or_no_files_are_none(repository, opened_either_way):
    large = b"x" * (MAX_BLOB_BYTES + 1)
    repository.write("large.md", large)
    repository.write("changed.md", "now\n")
    (repository.root / "link.md").symlink_to("changed.md")
    opened = opened_either_way(repository.root)
    wanted = {
        "large.md": file(large),
        "changed.md": file(b"then\n"),
        "link.md": file(b"changed.md", MODE_SYMLINK),
        "unreadable.md": Entry(MODE_FILE, UNREADABLE),
    }
    assert read_documents(opened, read_worktree(opened), wanted) == dict.fromkeys(wanted)


def test_reading_a_snapshot_changes_nothing_in_the_repository(filtered, opened):
    def files() -> dict:
        folder = filtered.root / ".git"
        return {p: p.lstat().st_mtime_ns for p in Path(folder).rglob("*") if p.is_file()}

    before = files()
    found = opened(filtered.root)
    snapshot = read_worktree(found)
    read_index(found)
    read_documents(found, snapshot, hash_files(found, snapshot.changes))
    assert files() == before
