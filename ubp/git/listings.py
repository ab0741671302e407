"""The limit of listings of trees.

Nine small objects can make a tree of a thousand million paths, because a tree may contain another
one several times.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ubp.core.errors import GitCommandError, UbpError

# The largest repositories in use have 500,000. A million paths take 0.4 GB here.
MAX_TREE_PATHS = 1_000_000
MAX_LISTING_BYTES = 256 << 20


class TreeTooLargeError(UbpError):
    """A tree, or what differs between two, has more paths than are listed.

    No RepositoryError, which answers survive by leaving something out.
    """

    def __init__(self) -> None:
        """Say which limit it is."""
        super().__init__(
            "Cannot list the files of a commit.",
            cause=f"A tree, or a difference of two, has more than {MAX_TREE_PATHS:,} paths"
            f" or {MAX_LISTING_BYTES >> 20} MB of them.",
            hint="Use another revision. If it is in the history of this one, leave it out by a"
            " shallow clone (`git clone --depth`).",
        )


@contextmanager
def refusing_large_trees() -> Iterator[None]:
    """Raise TreeTooLargeError where git has used all the memory that it may."""
    try:
        yield
    except GitCommandError as error:
        if "out of memory" in error.stderr.lower():
            raise TreeTooLargeError from error
        raise


class PathCounter:
    """Counts the paths of a listing, whose pieces are given as they arrive."""

    def __init__(self, tokens_per_path: int = 1) -> None:
        self._tokens = MAX_TREE_PATHS * tokens_per_path
        self._bytes = MAX_LISTING_BYTES

    def count(self, piece: bytes) -> None:
        """Count the paths in the next piece of git's output with `-z`.

        Raises:
            TreeTooLargeError: there are too many.
        """
        self._tokens -= piece.count(b"\0")
        self._bytes -= len(piece)
        if self._tokens < 0 or self._bytes < 0:
            raise TreeTooLargeError
