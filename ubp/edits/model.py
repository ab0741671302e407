"""Proposals, the edits that they consist of, and the log of what was decided."""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from ubp.checks.finding import Finding
from ubp.core.model import Evidence, FilePath, Level, ObjectId

Action = Literal["create", "update", "acknowledge", "bind", "revise"]
"""What an edit does; a reviewer revises."""
Event = Literal["proposed", "accepted", "rejected", "withdrawn"]

MIN_ID_DIGITS = 7  # as git abbreviates


def abbreviates(text: str, object_id: ObjectId) -> bool:
    """Return whether a text is an id or the beginning of it."""
    return len(text) >= MIN_ID_DIGITS and object_id.startswith(text.lower())


@dataclass(frozen=True, slots=True)
class Agent:
    """Who proposes: the client with its version, its session, and its model and task if it says so.

    `recent` are the times (of a monotonic clock) and sizes of the session's edits, `proposals` the
    numbers of those that it has made, and `judged` the blob ids of pages for which it was shown
    what changed in their sources.
    """

    client: str
    session: str
    model: str = ""
    task: str = ""
    recent: deque[tuple[float, int]] = field(default_factory=deque, compare=False)
    proposals: set[int] = field(default_factory=set, compare=False)
    judged: set[ObjectId] = field(default_factory=set, compare=False)


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """A commit of a proposal: a change of one page, when it was made (in seconds), and why."""

    commit: ObjectId
    when: int
    action: Action
    page: FilePath
    reason: str
    author: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A branch with edits that wait for review, the oldest first.

    `base` is the commit that it began at, `tip` its last edit; `client`, `session`, `model` and
    `task` are those of the agent that made it.
    """

    id: int
    base: ObjectId
    tip: ObjectId
    edits: tuple[ProposedEdit, ...]
    client: str
    session: str
    model: str = ""
    task: str = ""

    @property
    def pages(self) -> tuple[FilePath, ...]:
        """The pages that it changes, each once, in the order of their first edits."""
        return tuple(dict.fromkeys(edit.page for edit in self.edits))

    @property
    def updated(self) -> int:
        """When its last edit was made, in seconds."""
        return self.edits[-1].when

    @property
    def title(self) -> str:
        """What it does, on one line."""
        first = f"{self.edits[0].action} {self.edits[0].page}"
        more = len(self.pages) - 1
        return f"{first} and {more} more" if more else first


@dataclass(frozen=True, slots=True)
class Effect:
    """What an edit, or a proposal, does to the findings of `ubp check` and to staleness.

    `introduced` are findings that it causes, `fixed` those that it removes from its pages.
    `before` and `after` are the levels of each page; None where there is no such page.
    """

    introduced: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    before: dict[FilePath, Level | None]
    after: dict[FilePath, Level | None]


@dataclass(frozen=True, slots=True)
class EditResult:
    """An edit that was proposed: its diff, its effect, and what a reviewer should look at.

    `renewed` are the sources whose pins it renews; `remaining` the names that the drift of sources
    changed and the new text still has.
    """

    proposal: Proposal
    edit: ProposedEdit
    blob: ObjectId
    diff: str
    effect: Effect
    warnings: tuple[str, ...] = ()
    renewed: tuple[str, ...] = ()
    remaining: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Something that happened to a proposal: when (in seconds), to which pages, by whom, why.

    `commit` is the tip of the proposal then, which the log keeps; `accepted_as` the commit that an
    accepted one became.
    """

    event: Event
    proposal: int
    when: int
    pages: tuple[FilePath, ...]
    client: str
    session: str
    by: str
    reason: str
    commit: ObjectId | None = None
    accepted_as: ObjectId | None = None
