"""How long the steps of a search take, for whoever asks why."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopwatch:
    """Milliseconds by the name of a step, in the order in which they began; nested ones count."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self.milliseconds: dict[str, float] = {}
        self._clock = clock

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time what is done within."""
        begun = self._clock()
        try:
            yield
        finally:
            spent = (self._clock() - begun) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent
