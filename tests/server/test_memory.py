"""Freed memory is used by all threads, or returned to the system."""

import subprocess
import sys

import pytest

from ubp.server import memory

pytestmark = pytest.mark.skipif(memory._glibc() is None, reason="another allocator")

IN_THREADS = """
import ctypes, threading
from ubp.server.memory import use_one_heap
if {is_used}:
    use_one_heap()
kept = []
def allocate():
    kept.append([bytearray(5000) for _ in range(1000)])
    barrier.wait()
barrier = threading.Barrier(4)
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""
FREED = """
import os
from ubp.server.memory import return_free_memory
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
kept = [bytearray(5000) for _ in range(20_000)]
del kept[:-1]
before = resident()
return_free_memory()
print(before - resident())
"""


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(("is_used", "expected"), [(True, [1]), (False, [2, 3, 4, 5])])
def test_threads_share_a_heap(is_used, expected):
    assert run(IN_THREADS.format(is_used=is_used)).count("Arena ") in expected


def test_free_memory_is_returned():
    assert int(run(FREED)) > 50_000_000
