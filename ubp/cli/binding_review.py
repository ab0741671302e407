"""`ubp bind --review`: the bindings that exist, held against history."""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.ranges import check_range
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.review_records import review_record
from ubp.render.text.binding_review import Telling, review_text

MOST_TOLD = 20


class Reviewing(NamedTuple):
    """What to review: of these pages, by so many commits; `is_whole` tells the good ones, too."""

    pages: Sequence[str]
    commits: int | None
    limit: int | None
    keys: Sequence[str]
    is_whole: bool


def tell_review(
    asked: Reviewing, others: Sequence[str], terminal: Terminal, *, is_asked: bool
) -> int:
    """Judge bindings and tell; `others` are the options given that a review cannot take."""
    if not is_asked:
        raise UsageError("--commits says how far a review looks back.", hint="Add --review.")
    if others:
        raise UsageError(
            f"--review cannot be combined with {others[0]}.",
            cause="It judges the bindings that exist, and changes nothing.",
            hint="Take the other option away.",
        )
    limit = MOST_TOLD if asked.limit is None else asked.limit
    check_range("--limit", limit)
    check_range("--commits", 1 if asked.commits is None else asked.commits)
    with open_workspace(terminal, keys=asked.keys) as workspace:
        found = workspace.review_bindings(asked.pages, commits=asked.commits)
        prefix = workspace.repository.prefix
    if terminal.options.json:
        terminal.record(review_record(found, asked.limit))
        return CLEAN
    telling = Telling(
        style=terminal.style,
        limit=limit,
        is_whole=asked.is_whole or bool(asked.pages),
        is_quiet=terminal.options.quiet,
        prefix=prefix,
        keys=tuple(asked.keys),
    )
    terminal.write(review_text(found, telling))
    return CLEAN
