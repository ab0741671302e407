"""Atomic writes, on a real file system."""

import os
import stat

import pytest

from ubp.core.files import write_atomically


def test_new_file_is_created_and_nothing_is_left_beside_it(tmp_path):
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
