"""What somebody decides about a list of items, one by one: choices, edits, and how to undo them.

Nothing is written while decisions are made: whoever asks for them applies them afterwards.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ubp.core.model import FilePath


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be decided, by a key; `help` explains it where its verb does not.

    `prompt` is what it asks for, "" if nothing; `text` is the answer of who only presses Enter.
    `check` returns why an answer is not possible, else "".
    """

    key: str
    verb: str
    past: str
    prompt: str = ""
    text: str = ""
    has_reason: bool = False
    help: str = ""
    check: Callable[[str], str] = lambda _: ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about an item: a choice, its text, and the files that were edited."""

    choice: Choice | None = None
    text: str = ""
    edited: Mapping[FilePath, bytes] = field(default_factory=dict)

    @property
    def is_made(self) -> bool:
        """Whether there is something to apply."""
        return self.choice is not None or bool(self.edited)


UNDECIDED = Decision()


class Panes(NamedTuple):
    """What is shown of an item: the page, and what changed in its sources; as a Writer wrote it."""

    page_title: str
    page: str
    source_title: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to decide about: its name, a detail, what can be decided, and what is shown.

    `files` are what the editor opens; without them there is nothing to edit.
    """

    name: str
    detail: str
    choices: tuple[Choice, ...]
    panes: Callable[[Decision], Panes]
    files: Mapping[FilePath, bytes] = field(default_factory=dict)


class Decisions:
    """The decisions about so many items, and the steps that led to them."""

    def __init__(self, count: int) -> None:
        self._decisions = [UNDECIDED] * count
        self._steps: list[tuple[int, Decision]] = []

    def __getitem__(self, number: int) -> Decision:
        return self._decisions[number]

    def choose(self, number: int, choice: Choice, text: str) -> None:
        """Decide about an item; its edits stay."""
        self._set(number, replace(self[number], choice=choice, text=text))

    def edit(self, number: int, edited: Mapping[FilePath, bytes]) -> None:
        """Keep the edits of an item, in place of those before."""
        self._set(number, replace(self[number], edited=edited))

    def skip(self, number: int) -> None:
        """Leave an item undecided."""
        self._set(number, UNDECIDED)

    def undo(self) -> int | None:
        """Take the last step back, and return the item that it was about; None: there is none."""
        if not self._steps:
            return None
        number, before = self._steps.pop()
        self._decisions[number] = before
        return number

    @property
    def has_steps(self) -> bool:
        """Whether there is a step to take back."""
        return bool(self._steps)

    def made(self) -> dict[int, Decision]:
        """Return the decisions that there are to apply, by the number of their item."""
        return {
            number: decision for number, decision in enumerate(self._decisions) if decision.is_made
        }

    def _set(self, number: int, decision: Decision) -> None:
        if decision != self[number]:
            self._steps.append((number, self[number]))
            self._decisions[number] = decision
