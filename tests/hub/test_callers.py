"""Callers on one connection: each answer is for whoever the token of its request is about."""

import http.client
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import pytest

from tests.hub.conftest import running_hub
from tests.hub.test_identity import MCP
from ubp.board.wire import compress, decompress
from ubp.frame.answer import Request
from ubp.frame.writer import Writer
from ubp.hub.answers import HubAnswer

CALLS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoRecord:
    """Who asks, and what the caller may read."""

    reader: Annotated[str, "the caller"]
    repositories: Annotated[tuple[str, ...], "what the caller may read"]


@dataclass(frozen=True, slots=True)
class WhoRequest(Request[WhoRecord]):
    """Nothing to say."""


def run(connection, reader: str, _: WhoRequest) -> WhoRecord:
    rows = connection.execute(
        "select r.name from repository r join readable(%s) v on v.repository = r.id order by 1",
        [reader],
    ).fetchall()
    return WhoRecord(reader=reader, repositories=tuple(name for (name,) in rows))


def text(record: WhoRecord, write: Writer) -> Iterator[str]:
    yield f"{write.name(record.reader)} {' '.join(record.repositories)}"


WHO = HubAnswer("who", WhoRequest, WhoRecord, run, text, "ubp_who", "Who", "Who asks.")


@dataclass(frozen=True, slots=True)
class EchoRequest(Request[WhoRecord]):
    """What to ask the database."""

    text: Annotated[str, "a text"]


def echo(connection, reader: str, request: EchoRequest) -> WhoRecord:
    (found,) = connection.execute("select %s::text", [request.text]).fetchone()
    return WhoRecord(reader=reader, repositories=(found,))


ECHO = HubAnswer("echo", EchoRequest, WhoRecord, echo, text, "ubp_echo", "Echo", "Says it again.")


@pytest.fixture
def hub(database_address, issuers):
    with running_hub(database_address, issuers, answers=(WHO, ECHO)) as running:
        for name in ("ann", "bob"):
            running.execute("insert into repository (name) values (%s)", f"github.com/acme/{name}")
            running.grant(f"github.com/{name}", f"github.com/acme/{name}")
        yield running


def test_two_callers_on_one_connection_are_never_mixed(hub):
    tokens = {name: hub.person(name) for name in ("ann", "bob")}
    choose = random.Random(34)
    connection = http.client.HTTPConnection(hub.url.removeprefix("http://"), timeout=60)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ubp_who"}}
    for number in range(CALLS):
        name = choose.choice(list(tokens))
        headers = {"Authorization": f"Bearer {tokens[name]}"}
        if number % 10:
            connection.request("POST", "/v1/ask/who", compress({}), headers)
            answer = decompress(connection.getresponse().read())
            assert answer["reader"] == f"github.com/{name}"
            assert answer["repositories"] == [f"github.com/acme/{name}"]
        else:
            connection.request("POST", "/mcp", json.dumps(call), {**headers, **MCP})
            shown = connection.getresponse().read().decode()
            assert f"github.com/{name} github.com/acme/{name}" in shown
    connection.close()
    rows = hub.rows("select method, count(*) from audit group by method order by method")
    assert rows == [("ask", CALLS * 9 // 10), ("ubp_who", CALLS // 10)]


def test_arguments_that_an_answer_does_not_have_are_refused(hub):
    status, answer = hub.call("/v1/ask/who", token=hub.person(), value={"sql": "drop"})
    assert (status, "sql" in answer.decode()) == (400, True)


@pytest.mark.parametrize("value", ["a\0b", "a\ud800", "a/" * 10_000], ids=["NUL", "half", "long"])
def test_text_that_no_row_has_is_refused_and_logged(hub, value):
    token = hub.person()
    assert hub.call("/v1/ask/echo", token=token, value={"text": value})[0] == 400
    params = {"name": "ubp_echo", "arguments": {"text": value}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    status, answer = hub.call("/mcp", token=token, body=json.dumps(call).encode(), **MCP)
    # The library itself refuses half a character.
    assert status == 400 or json.loads(answer)["result"]["isError"]
    rows = hub.rows("select method, status from audit where method = 'ask'")
    assert rows == [("ask", 400)]


def test_tool_is_listed_with_its_description(hub):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    _, answer = hub.call("/mcp", token=hub.person(), body=body, **MCP)
    tool, _ = json.loads(answer)["result"]["tools"]
    assert (tool["name"], tool["description"]) == ("ubp_who", "Who asks.")
