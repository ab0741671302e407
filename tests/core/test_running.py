"""Running servers: those whose file is locked, whatever it contains."""

import os
import subprocess
import sys

import pytest

from ubp.core.running import LOCK_NAME, find_running, registered_server

HOLD = """
import sys
from ubp.core.running import registered_server
with registered_server(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def start_process(tmp_path):
    """A process that is listed as running until it ends."""
    processes = []

    def start():
        command = [sys.executable, "-c", HOLD, str(tmp_path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        processes.append(subprocess.Popen(command, **pipes))
        processes[-1].stdout.readline()
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def pids(tmp_path):
    return [server.pid for server in find_running(str(tmp_path))]


def test_running_server_is_listed(tmp_path, start_process):
    first, other = start_process(), start_process()
    assert sorted(pids(tmp_path)) == sorted([first.pid, other.pid])
    first.communicate()
    assert pids(tmp_path) == [other.pid]
    other.communicate()
    assert pids(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_killed_server_is_not_listed(tmp_path, start_process):
    killed = start_process()
    killed.kill()
    killed.wait()
    assert (tmp_path / LOCK_NAME / str(killed.pid)).exists()
    assert pids(tmp_path) == []
    assert not (tmp_path / LOCK_NAME / str(killed.pid)).exists()


def test_process_id_of_another_program_is_not_trusted(tmp_path):
    folder = tmp_path / LOCK_NAME
    folder.mkdir()
    (folder / str(os.getpid())).write_text("")
    assert pids(tmp_path) == []


def test_foreign_files_in_the_folder_are_kept(tmp_path):
    (tmp_path / LOCK_NAME).write_text("mine")
    with registered_server(str(tmp_path)):
        assert pids(tmp_path) == []
    assert (tmp_path / LOCK_NAME).read_text() == "mine"
    with registered_server(str(tmp_path / "nowhere")):
        pass
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_symlink_in_the_folder_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "12").write_text("mine")
    data = tmp_path / "data"
    data.mkdir()
    (data / LOCK_NAME).symlink_to(outside)
    assert pids(data) == []
    with registered_server(str(data)):
        assert [file.name for file in outside.iterdir()] == ["12"]
    (data / LOCK_NAME).unlink()
    linked = tmp_path / "linked"
    linked.symlink_to(data)
    with registered_server(str(linked)):
        assert list(data.iterdir()) == []
