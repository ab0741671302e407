"""What the joints between rooms look like: progress and warnings, given in from the edge."""

from collections.abc import Callable

Warn = Callable[[str], None]
"""Told one sentence that the user should know and that ends nothing."""

Progress = Callable[[str, int, int], None]
"""Told what is done, how much of it, of how much: `progress("Parsing", 128, 300)`; 0: nobody knows.

What it raises ends the work."""


def be_silent(*_: object) -> None:
    """Take a warning or a step of progress and say nothing."""


EMBEDDING = "Embedding sections"
"""The step without which a search still finds words."""
