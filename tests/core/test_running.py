"""Which servers run: a file that is locked, whatever stands in it."""

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
def hold(tmp_path):
    """A process that is told as running until it is ended."""
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
    return [one.pid for one in find_running(str(tmp_path))]


def test_a_server_is_told_as_long_as_it_runs(tmp_path, hold):
    one, other = hold(), hold()
    assert sorted(pids(tmp_path)) == sorted([one.pid, other.pid])
    one.communicate()
    assert pids(tmp_path) == [other.pid]
    other.communicate()
    assert pids(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_was_killed_is_told_no_more(tmp_path, hold):
    killed = hold()
    killed.kill()
    killed.wait()
    assert (tmp_path / LOCK_NAME / str(killed.pid)).exists()
    assert pids(tmp_path) == []
    assert not (tmp_path / LOCK_NAME / str(killed.pid)).exists()


def test_the_number_of_a_living_process_is_not_believed(tmp_path):
    folder = tmp_path / LOCK_NAME
    folder.mkdir()
    (folder / str(os.getpid())).write_text("")
    assert pids(tmp_path) == []


def test_what_stands_in_the_way_is_left_alone(tmp_path):
    (tmp_path / LOCK_NAME).write_text("mine")
    with registered_server(str(tmp_path)):
        assert pids(tmp_path) == []
    assert (tmp_path / LOCK_NAME).read_text() == "mine"
    with registered_server(str(tmp_path / "nowhere")):
        pass
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_is_not_followed(tmp_path):
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
