"""Line ends, idents, encodings and filter drivers: ids and bytes as Git would store them."""

import pytest

from ubp.core.model import MODE_FILE, Entry
from ubp.git.output import blob_id
from ubp.git.snapshot import hash_files, read_documents, read_worktree


def file(data: bytes, mode: int = MODE_FILE) -> Entry:
    return Entry(mode, blob_id(data))


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
    autocrlf, attributes, repository, open_at
):
    repository.git("config", "core.autocrlf", autocrlf)
    repository.write(".gitattributes", attributes + ATTRIBUTES)
    for name, data in FILTERS.items():
        repository.write(name, data)
    opened = open_at(repository.root)
    found = hash_files(opened, FILTERS)
    assert found == {name: Entry(MODE_FILE, repository.blob(name)) for name in FILTERS}
    pages = {name: entry for name, entry in found.items() if entry}
    contents = read_documents(opened, read_worktree(opened), pages)
    assert {name: blob_id(data) for name, data in contents.items()} == {
        name: entry.id for name, entry in pages.items()
    }


def test_many_idents_are_hashed_as_git_adds_them(repository, open_at):
    repository.write(".gitattributes", "* ident\n")
    repository.write("a.txt", "$Id: 1 $ $Id: 2 $\n")
    stored = {"a.txt": file(b"$Id$ $Id$\n")}
    found = open_at(repository.root)
    assert hash_files(found, stored) == stored
    assert read_documents(found, read_worktree(found), stored) == {"a.txt": b"$Id$ $Id$\n"}


@pytest.mark.parametrize("attributes", ["", "* text=auto\n", "*.txt text\n"])
def test_line_ends_that_git_would_keep_are_kept(attributes, repository, open_at):
    """A file that is CRLF in the index stays so, unless an attribute overrides it."""
    for name, data in FILTERS.items():
        repository.write(name, data)
    repository.commit()
    repository.git("config", "core.autocrlf", "true")
    repository.write(".gitattributes", attributes)
    for name, data in FILTERS.items():
        repository.write(name, data + b"more\r\n")
    found = hash_files(open_at(repository.root), FILTERS)
    repository.git("add", "--all")
    stored = {name: repository.git("rev-parse", f":{name}") for name in FILTERS}
    assert {name: entry.id for name, entry in found.items()} == stored


def test_line_ends_of_a_file_with_an_absent_old_blob_are_converted(repository, open_at, tmp_path):
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.write("a.txt", "one\r\n")
    repository.commit()
    clone, url = tmp_path / "clone", f"file://{repository.root}"
    repository.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", url, str(clone))
    repository.git("-C", str(clone), "read-tree", "HEAD")
    repository.git("-C", str(clone), "config", "core.autocrlf", "true")
    (clone / "a.txt").write_bytes(b"two\r\n")
    assert hash_files(open_at(clone), ["a.txt"]) == {"a.txt": file(b"two\n")}


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


def test_filter_drivers_and_encodings_are_left_to_git(filtered, open_at):
    found = open_at(filtered.root)
    entries = hash_files(found, STORED)
    assert entries == {name: file(data) for name, data in STORED.items()}
    assert read_documents(found, read_worktree(found), entries) == STORED
    for data in STORED.values():  # reading adds nothing to the repository
        assert found.read_blobs([blob_id(data)]) == {blob_id(data): None}
    filtered.commit()
    assert read_worktree(found).changes == {}
    assert read_documents(found, read_worktree(found), entries) == STORED
