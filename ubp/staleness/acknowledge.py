"""`ack`: a person read the page and says that it is still true; the pins say it to everybody else."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ubp.git.files import read_file, replace_file, stage_file
from ubp.git.repository import Repository
from ubp.index import View
from ubp.model import Assessment, FilePath, ObjectId, ReferenceVerdict
from ubp.parse.pins import Pin, write_pins
from ubp.staleness.assess import Court

# Twelve digits are unique in any repository that exists; `ack` writes more where they are not.
PIN_DIGITS = 12


class Pinned(NamedTuple):
    """A reference that was pinned, and to what."""

    source_path: FilePath
    before: str | None
    pin: str


class Left(NamedTuple):
    """A reference that could not be pinned, and why."""

    source_path: FilePath
    reason: str


class Acknowledgement(NamedTuple):
    """What `ack` did to one page."""

    filepath: FilePath
    pinned: tuple[Pinned, ...]
    left: tuple[Left, ...]


Choice = Callable[[ReferenceVerdict], ObjectId | None]
