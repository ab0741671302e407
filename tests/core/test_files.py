"""Reads and atomic writes, on a real file system."""

import os
import socket
import stat

import pytest

from ubp.core.files import read_regular_file, write_atomically


def test_new_file_is_created_without_other_files_beside_it(tmp_path):
    write_atomically(str(tmp_path / "a.json"), b"{}\r\n")
    assert (tmp_path / "a.json").read_bytes() == b"{}\r\n"
    assert os.listdir(tmp_path) == ["a.json"]


def test_existing_file_keeps_its_mode(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(b"old")
    file.chmod(0o640)
    write_atomically(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_failed_rename_raises_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "a.md").mkdir()
    with pytest.raises(OSError, match=r"a\.md"):
        write_atomically(str(tmp_path / "a.md"), b"new")
    assert os.listdir(tmp_path) == ["a.md"]


def test_temporary_file_of_a_killed_process_is_replaced_and_a_link_there_is_not_followed(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"untouched")
    (tmp_path / f"a.md.ubp-{os.getpid()}").symlink_to(other)
    write_atomically(str(tmp_path / "a.md"), b"new")
    assert other.read_bytes() == b"untouched"
    assert (tmp_path / "a.md").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["a.md", "other"]


def test_missing_folder_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(str(tmp_path / "missing" / "a.md"), b"new")


@pytest.fixture(params=["fifo", "socket", "device", "folder"])
def special_file(request, tmp_path):
    path = tmp_path / "special"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.fspath(path))
    elif request.param == "folder":
        path.mkdir()
    else:
        return "/dev/zero"
    return os.fspath(path)


@pytest.mark.skipif(os.name == "nt", reason="files of POSIX")
def test_special_file_raises_and_is_not_waited_for(special_file):
    with pytest.raises(OSError):  # noqa: PT011  # each kind has its own
        read_regular_file(special_file)


def test_regular_file_is_read_up_to_the_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    limits = (None, 2, 9)
    assert [read_regular_file(os.fspath(tmp_path / "a"), limit) for limit in limits] == [
        b"abc",
        b"ab",
        b"abc",
    ]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights")
def test_link_is_followed_only_on_request(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    link = os.fspath(tmp_path / "link")
    assert read_regular_file(link) == b"abc"
    with pytest.raises(OSError):  # noqa: PT011  # ELOOP, or what a system has instead
        read_regular_file(link, follows_link=False)
