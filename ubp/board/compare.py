"""Compare the board of a clone with the one that a hub keeps."""

from collections.abc import Iterator
from typing import Any

from ubp.board.model import Board, BoardFile
from ubp.board.wire import WireError, file_row, read_file
from ubp.core.model import ObjectId

_FILE = ("path", "blob", "changed", "changed_at")


def board_of(value: Any) -> Board:
    """Return the board that a hub sent.

    Raises:
        WireError: it is none.
    """
    try:
        return Board(ObjectId(value["commit"]), tuple(map(read_file, value["files"])))
    except (KeyError, TypeError) as error:
        raise WireError("the answer is not a board") from error


def differences(own: Board, stored: Board) -> Iterator[str]:
    """Yield what differs between the board of a clone and the hub's, a line for each."""
    if own.commit != stored.commit:
        yield f"the hub has commit {stored.commit}, this clone {own.commit}"
    ours = {file.path: file for file in own.files}
    theirs = {file.path: file for file in stored.files}
    for path in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(path), theirs.get(path)
        if mine is None:
            yield f"{path}: only the hub has it"
        elif other is None:
            yield f"{path}: the hub lacks it"
        elif mine != other:
            yield f"{path}: {', '.join(_differing(mine, other))}"


def _differing(mine: BoardFile, other: BoardFile) -> Iterator[str]:
    for name, here, there in zip(_FILE, file_row(mine), file_row(other), strict=False):
        if here != there:
            yield f"{name} is {there}, here {here}"
    if mine.page is None or other.page is None:
        if mine.page is not other.page:
            yield "is a page for one of them only"
        return
    for name in ("level", "is_record", "owners", "references", "edges"):
        if getattr(mine.page, name) != getattr(other.page, name):
            yield f"{name} differ"
