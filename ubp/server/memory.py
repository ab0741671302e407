"""What the process keeps of memory that was freed, where its allocator is glibc's.

Each thread would get a heap of its own, and what is free in one is of no use to the others: over
100,000 pages that took 180 MB. Threads of Python seldom allocate at the same time.
"""

import ctypes
import sys
from functools import cache

M_ARENA_MAX = -8  # of <malloc.h>


def use_one_heap() -> None:
    """Let all threads share a heap; no thread may have been started."""
    if library := _glibc():
        library.mallopt(M_ARENA_MAX, 1)


def return_free_memory() -> None:
    """Give what is free back to the system."""
    if library := _glibc():
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
