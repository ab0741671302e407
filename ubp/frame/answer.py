"""Answers: what one is, and what its command and its tool are made of.

An answer is one module with

1. a request, a frozen dataclass with slots that inherits from `Request` of its record: a field for
   each argument, required ones first. `Annotated` has the description for agents (they pay for
   every character), the limits, and an `Option` where the command has the argument, too;
2. a record, what `--json` prints and a tool returns, with a description of every field;
3. `run(session, request)`, which returns the record;
4. `text(record, write)`, which yields the lines that people and agents read;
5. an `Answer` that joins them, named by a row of `ubp.table`.
"""

from abc import ABC
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ubp.frame.budget import Budget, Fit
from ubp.frame.writer import Writer
from ubp.index.session import Session

RecordT = TypeVar("RecordT")


class Request(ABC, Generic[RecordT]):
    """A question whose answer is a record of this type."""

    __slots__ = ()


RequestT = TypeVar("RequestT", bound=Request[Any])


class Place(Protocol):
    """Where a question is asked that needs no repository: a session is such a place, too."""

    @property
    def directory(self) -> str:
        """The directory that paths are relative to."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of the process."""

    def clock(self) -> float:
        """Return the time in seconds since the epoch."""

    def progress(self, step: str, done: int, total: int, /) -> None:
        """Receive the steps of long work."""

    def warn(self, sentence: str, /) -> None:
        """Receive what the user should know."""


@dataclass(frozen=True, slots=True)
class ToolTraits(Generic[RequestT, RecordT]):
    """What clients are told of an answer's tool, and how it differs from the command.

    A tool that `takes_outer_paths` has paths that it checks itself. `failure` is the error in the
    result of a call that failed, for tools whose errors are objects. `run_online` takes the place
    of `run` where the user lets the server use the network.
    """

    title: str
    description: str
    writes: bool = False
    destroys: bool = False
    takes_outer_paths: bool = False
    failure: str = ""
    run_online: Callable[[Session, RequestT], RecordT] | None = None


@dataclass(frozen=True, slots=True)
class Answer(Generic[RequestT, RecordT]):
    """A question that people, agents and programs ask, and how it is answered.

    `run_for_text` takes the place of `run` where no record is sent: it may leave out what the text
    does not contain; `run_for_people` does so for people's text alone. `fit` removes the least
    important parts of a record's JSON object until it is within the limits that `budgets`, fields
    of the request, set; instead of that, a list named `items` is shortened by running with a
    smaller `limit`, of a lean record after these fields of its items are left out: `spare` ones,
    stage by stage. What `reads_collections` answers about a collection, too; the command of what
    `reads_keys` takes the keys of front matter that list sources. With `has_facts` the record is
    sent with `AnswerFacts`. `run_anywhere` takes the place of `run` for a command that works
    outside repositories, too; where it returns None, the answer needs one. `status` returns the
    exit status of the command, by default 0; `formats` are the texts that its `--format` chooses
    besides text and JSON.
    """

    request: type[RequestT]
    record: type[RecordT]
    run: Callable[[Session, RequestT], RecordT]
    text: Callable[[RecordT, Writer], Iterator[str]]
    run_for_text: Callable[[Session, RequestT], RecordT] | None = None
    run_for_people: Callable[[Session, RequestT], RecordT] | None = None
    run_anywhere: Callable[[Place, RequestT], RecordT | None] | None = None
    fit: Fit | None = None
    items: str = ""
    spare: tuple[tuple[str, ...], ...] = ()
    budgets: tuple[Budget, ...] = ("max_tokens",)
    reads_collections: bool = False
    reads_keys: bool = False
    has_facts: bool = True
    is_versioned: bool = True
    status: Callable[[RecordT], int] | None = None
    formats: Mapping[str, Callable[[RecordT], str]] | None = None
    tool: ToolTraits[RequestT, RecordT] | None = None


AnyAnswer = Answer[Any, Any]
