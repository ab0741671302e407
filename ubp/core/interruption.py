"""Interruption of long work: it calls `checkpoint`, which raises once its thread's runner wants.

The server runs calls in threads, which nothing can stop from outside. Elsewhere nobody sets a
check, and a checkpoint costs 30 ns.
"""

from _thread import get_ident  # `threading` costs the hook 2 ms
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

Check = Callable[[], None]
"""Raises an exception, no `Exception`, where the work is to end."""

T = TypeVar("T")

_CHECKS: dict[int, Check] = {}  # by thread


def checkpoint() -> None:
    """Raise what the check of the current thread raises, if it has one."""
    if _CHECKS and (check := _CHECKS.get(get_ident())):
        check()


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield values in lists of `size`, the last one shorter, with a checkpoint before each."""
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        checkpoint()
        yield batch


def with_checkpoints(values: Iterable[T], every: int = 1000) -> Iterator[T]:
    """Yield values, with a checkpoint before each `every` of them."""
    for batch in batches(values, every):
        yield from batch


@contextmanager
def interruptible(check: Check) -> Iterator[None]:
    """Let `check` decide at each checkpoint of the current thread, as long as the context lasts."""
    thread = get_ident()
    _CHECKS[thread] = check
    try:
        yield
    finally:
        del _CHECKS[thread]
