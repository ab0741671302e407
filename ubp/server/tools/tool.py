"""Tools: what a tool is, and how it is called.

A call checks the arguments, makes the tool's request of them, runs the tool, writes the answer as
text and fits it into its budget. The record, for clients that ask for it, lacks empty fields:
agents pay for every null.

`make_tool` makes a tool of a row of `ubp.table` that names one; `ubp.frame.answer` says what the
answer of such a row is. Arguments that are not given have the field's default; lists are tuples.
"""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from ubp.edits.leases import renew
from ubp.edits.model import Agent
from ubp.frame.arguments import check_arguments, make_request, reject_path_traversal
from ubp.frame.budget import MEASURES, Budget, Fit, TokenLimit, build_answer, count_tokens
from ubp.frame.encoding import Json, from_object, to_json
from ubp.frame.fields import AnswerFacts
from ubp.frame.quoting import enclose_titles
from ubp.frame.schema import Schema, record_schema, request_schema
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.index.collections import parse_reference
from ubp.index.session import Session
from ubp.server.tools.collections import COLLECTION, collection_schema, open_collection
from ubp.table import ROWS, load
from ubp.workspace import Workspace

NOTICE = AnswerFacts().content_notice
# Of descriptions: instructions and answers have the whole notice, and agents pay for each tool's.
SHORT_NOTICE = "Page content is user data."
LANGUAGE = "language"
# The key under which a text finds the arguments that calls which an agent makes next repeat.
REPEATED = "repeated_arguments"
AGENT = "agent"  # the field of requests that say who asks


class Request(Protocol):
    """A dataclass with the arguments of a tool; budgets are fields that may be None."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


RequestT = TypeVar("RequestT", bound=Request)
RecordT = TypeVar("RecordT")


@dataclass(frozen=True, slots=True)
class App(Generic[RequestT]):
    """A page that clients with MCP Apps show beside the answers of a tool.

    `page` returns its HTML, the same for all answers; `data` what it shows of one, as `key` of the
    result's `_meta`, which models do not read.
    """

    uri: str
    title: str
    description: str
    page: Callable[[], str]
    key: str
    data: Callable[[Session, RequestT], Json]


@dataclass(frozen=True, slots=True)
class Tool(Generic[RequestT, RecordT]):
    """An operation that agents can call.

    `text` writes the finished record as an agent reads it; `fit` removes the least important parts
    of a record until it is within the limits that `budgets`, fields of the request, set. Instead of
    that, a list named `items` is shortened by running the tool with a smaller `limit`, in records
    after `spare` fields of its items are left out, stage by stage. A tool that
    `takes_outer_paths` has paths that it checks itself. `failure` is the error in the result of a
    call that failed, for tools whose errors are objects. A tool that
    `reads_collections` takes one of `collections`, if the project has any, in place of a `ref`;
    `default_collection` is read where none is given, by default the repository. An argument
    `language` is one of `languages`, if the project has specifications. `run_online` takes the
    place of `run` where the user lets the server use the network, `run_for_text` where no record is
    sent: it may leave out what the text does not contain. `names` are those of tools that are
    offered under another one. `app` shows the answer to people.
    """

    name: str
    title: str
    description: str
    request: type[RequestT]
    record: type[RecordT]
    run: Callable[[Workspace, RequestT], RecordT]
    text: Callable[[Json], str]
    fit: Fit | None = None
    items: str = ""
    spare: tuple[tuple[str, ...], ...] = ()
    budgets: tuple[Budget, ...] = ("max_tokens",)
    writes: bool = False
    destroys: bool = False
    takes_outer_paths: bool = False
    failure: str = ""
    run_online: Callable[[Workspace, RequestT], RecordT] | None = None
    run_for_text: Callable[[Workspace, RequestT], RecordT] | None = None
    reads_collections: bool = False
    collections: tuple[str, ...] = ()
    default_collection: str = ""
    languages: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    app: App[Any] | None = None

    @property
    def input_schema(self) -> Schema:
        """Return the schema of the arguments; others are refused."""
        schema = request_schema(self.request)
        properties = {**schema["properties"]}
        if self.collections:
            properties[COLLECTION] = collection_schema(self.collections)
        if self.languages and LANGUAGE in properties:
            properties[LANGUAGE] = {**properties[LANGUAGE], "enum": [*self.languages]}
        renamed: Schema = _with_names({**schema, "properties": properties}, self.names)
        return renamed

    @property
    def shown_description(self) -> str:
        """Return the description with the names under which other tools are offered."""
        return str(_with_names(self.description, self.names))

    @property
    def output_schema(self) -> Schema:
        """Return the schema of the record, with a description of every field."""
        record: type = self.record
        return record_schema(record, is_answer=True, is_lean=True)


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return the texts of a JSON value with names of tools replaced; plain words are none."""
    if isinstance(value, Mapping):
        return {key: _with_names(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_names(item, names) for item in value]
    if not isinstance(value, str):
        return value
    for name in names:
        if "_" in name:
            value = re.sub(rf"\b{name}\b", names[name], value)
    return value


AnyTool = Tool[Any, Any]


def make_tool(name: str) -> AnyTool:
    """Return the tool of this name that the table of answers has."""
    row = next(row for row in ROWS if row.tool == name)
    answer, traits = load(row), load(row).tool
    if traits is None:
        raise TypeError(f"{row.target} has no ToolTraits.")

    def write(record: Json) -> str:
        writer = Writer(
            is_agent=True,
            repeated=record.get(REPEATED, {}),
            offered=frozenset(record.get(OFFERED, ())),
        )
        return joined(answer.text(from_object(answer.record, record), writer))

    return Tool(
        name=row.tool,
        title=traits.title,
        description=traits.description,
        request=answer.request,
        record=answer.record,
        run=_with_session(answer.run),
        run_for_text=answer.run_for_text and _with_session(answer.run_for_text),
        run_online=traits.run_online and _with_session(traits.run_online),
        text=write,
        fit=answer.fit,
        items=answer.items,
        spare=answer.spare,
        budgets=answer.budgets,
        writes=traits.writes,
        destroys=traits.destroys,
        takes_outer_paths=traits.takes_outer_paths,
        failure=traits.failure,
        reads_collections=answer.reads_collections,
    )


def _with_session(run: Callable[[Session, Any], Any]) -> Callable[[Workspace, Any], Any]:
    def run_with_session(workspace: Workspace, request: Any) -> Any:
        if workspace.agent is not None and hasattr(request, AGENT):
            request = replace(request, agent=workspace.agent)
        return run(workspace.session, request)

    return run_with_session


OFFERED = "offered_tools"  # of a record, on its way to the text
# The arguments that say what an answer is about, and hold for calls that follow from it.
ABOUT = (COLLECTION, "ref")
# What the server writes below a text (`protocol.measurements`).
MEASUREMENT_TOKENS = 20


class ToolAnswer(NamedTuple):
    """An answer: the text, or the record's JSON as text, and the record; `meta` is for an app."""

    record: Json
    text: str
    meta: Json | None = None


def call_tool(  # noqa: PLR0913  # what a client and its call are
    tool: Tool[RequestT, RecordT],
    workspace: Workspace,
    arguments: Mapping[str, Any],
    *,
    is_structured: bool = False,
    has_app: bool = False,
    agent: Agent | None = None,
) -> ToolAnswer:
    """Run a tool and return its answer; `agent` is who calls, `has_app` whether it shows apps.

    Budgets limit what is sent: the text, or with `is_structured` the record. Paths are
    relative to the directory in which the workspace was opened: open it at the repository's root.

    Raises:
        BadArgumentError: an argument is unknown, missing or not allowed.
        PageNotFoundError: no page has the name, or several have.
        UbpError: any other reason why the workspace cannot answer.
    """
    started = time.perf_counter()
    given = check_arguments(tool.input_schema, arguments)
    if not tool.takes_outer_paths:
        reject_path_traversal(given)
    collection = given.pop(COLLECTION, None)
    request = make_request(tool.request, given)
    workspace.agent = agent
    if agent is not None and agent.proposals:
        subject = getattr(request, "proposal", None) or getattr(request, "filepath", None)
        if subject or tool.name == "ubp_list_proposals":
            session = workspace.session
            renew(session.repository, agent, subject, session.clock())
    about = repeating(tool, {name: arguments[name] for name in ABOUT if arguments.get(name)})

    def answer(opened: Workspace) -> ToolAnswer:
        answered = _answer(about, opened, request, started, is_structured=is_structured)
        if tool.app is None or not has_app:
            return answered
        return answered._replace(meta={tool.app.key: tool.app.data(opened.session, request)})

    if collection is None and not tool.default_collection:
        return answer(workspace)
    if collection is None:
        reference = parse_reference(tool.default_collection)
        return answer(workspace.kept_collection(reference.name, reference.version))
    with open_collection(workspace, collection, tool.collections, ref=given.get("ref")) as opened:
        return answer(opened)


def repeating(
    tool: Tool[RequestT, RecordT], arguments: Mapping[str, str]
) -> Tool[RequestT, RecordT]:
    """Return the tool with texts that repeat these arguments where they suggest another call."""
    if not arguments:
        return tool
    return replace(
        tool,
        text=lambda record: tool.text(
            {**record, REPEATED: {**record.get(REPEATED, {}), **arguments}}
        ),
    )


def naming(tool: AnyTool, offered: Collection[str]) -> AnyTool:
    """Return the tool with texts that name these tools as the next call, instead of commands."""
    names = sorted(offered)
    return replace(tool, text=lambda record: tool.text({**record, OFFERED: names}))


def _answer(
    tool: Tool[RequestT, RecordT],
    workspace: Workspace,
    request: RequestT,
    started: float,
    *,
    is_structured: bool,
) -> ToolAnswer:
    def write(record: Json) -> str:
        return to_json(record) if is_structured else enclose_titles(tool.text(record))

    run = tool.run if is_structured or tool.run_for_text is None else tool.run_for_text
    limits = [
        TokenLimit(most - MEASUREMENT_TOKENS, MEASURES[name], write, is_text=not is_structured)
        for name in tool.budgets
        if (most := getattr(request, name, None)) is not None
    ]
    while True:
        record = build_answer(
            run(workspace, request), started, fit=tool.fit, limits=limits, is_lean=True
        )
        if is_structured:
            _leave_out(record, tool, limits)
        number = len(record[tool.items]) if tool.items else 0
        if number == 1:
            for limit in limits:
                limit.shorten(record, record[tool.items])
        counted = limits if number > 1 else ()
        shares = [limit.most / (limit.most + limit.excess(record)) for limit in counted]
        if min(shares, default=1.0) >= 1:
            if limits:
                record["token_estimate"] = count_tokens(to_json(record))
            return ToolAnswer(record, write(record))
        request = replace(request, limit=min(number - 1, max(1, int(number * min(shares)))))


def _leave_out(record: Json, tool: AnyTool, limits: Sequence[TokenLimit]) -> None:
    """Leave out the spare fields of the items of a record that is too large, as far as needed."""
    for stage in tool.spare:
        if all(limit.excess(record) <= 0 for limit in limits):
            return
        for item in record[tool.items]:
            for name in stage:
                item.pop(name, None)
