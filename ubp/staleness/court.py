"""Where pages are judged: a snapshot with its history, or a change; and by which rules."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ubp.git.repository import Repository
from ubp.history import History
from ubp.index import View
from ubp.model import Entry, FilePath


class Rules(NamedTuple):
    """`now` in seconds since the epoch, and the age in days from which drift is stale.

    Files that `is_hidden` admits are not served: nobody is told that a source moved there.
    """

    now: float
    threshold_days: float
    is_hidden: Callable[[FilePath], bool]


class Court(NamedTuple):
    """Everything that a verdict depends on."""

    view: View
    repository: Repository
    history: History
    rules: Rules


class Change(NamedTuple):
    """A change taken as one: from each of the states `before` it to the state `after`.

    A commit in the making starts from HEAD (a merge from each of its parents), a branch from its
    merge base; a first commit from nothing. `changes` are the files that differ from the first.
    """

    before: tuple[Court, ...]
    after: Court
    changes: Mapping[FilePath, Entry | None]
