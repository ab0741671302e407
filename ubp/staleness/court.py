"""Where pages are judged: a snapshot, its repository and history, and the rules."""

from typing import NamedTuple

from ubp.git.repository import Repository
from ubp.history import History
from ubp.index import View


class Rules(NamedTuple):
    """`now` in seconds since the epoch, and the age in days from which drift is stale."""

    now: float
    threshold_days: float


class Court(NamedTuple):
    """Everything that a verdict depends on."""

    view: View
    repository: Repository
    history: History
    rules: Rules
