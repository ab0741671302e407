"""The wire: nothing but the protocol on it, nothing lost at its end, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ubp.core.running import find_running


@pytest.fixture(scope="module")
def line(connect, shared_repository):
    """A conversation that is not ended by a test."""
    line = connect(shared_repository.root)
    line.open()
    return line


@pytest.fixture
def called(make_request):
    """A call of one of the tools made for tests."""
    return lambda number, tool, **given: make_request(
        number, "tools/call", name=tool, arguments=given
    )


def text(message):
    return message["result"]["content"][0]["text"]


def test_prints_of_any_code_stay_off_the_wire(line, called):
    line.send(called(1, "noisy"), called(2, "empty"))
    assert [message["id"] for message in (line.receive(), line.receive())] == [1, 2]


def test_reading_stdin_in_a_tool_gets_nothing(line, called):
    line.send(called(3, "noisy"))
    assert "version" not in json.loads(text(line.receive()))


@pytest.mark.parametrize(
    ("said", "name", "code"),
    [
        (b"{", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"[]", None, -32600),
        (b"17", None, -32600),
        (b'{"jsonrpc": "2.0", "id": 4}', 4, -32600),
        (b'{"jsonrpc": "1.0", "id": "five", "method": "ping"}', "five", -32600),
        (b'{"jsonrpc": "2.0", "id": 6, "method": "ping", "params": []}', 6, -32600),
    ],
)
def test_invalid_line_is_refused(line, said, name, code):
    line.send(said)
    answer = line.receive()
    assert (answer["id"], answer["error"]["code"]) == (name, code)


def test_empty_lines_are_skipped(line, make_request):
    line.send(b"", b"  \r", make_request(7, "ping"))
    assert line.receive() == {"jsonrpc": "2.0", "id": 7, "result": {}}


@pytest.mark.parametrize("params", [None, {}, {"requestId": {}}, {"requestId": "none"}])
def test_unknown_notification_is_skipped(line, make_request, params):
    line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    line.send({"jsonrpc": "2.0", "method": "notifications/nope", "params": params})
    line.send({"jsonrpc": "2.0", "id": "nobody asked", "result": params or {}})
    line.send(make_request(8, "ping"))
    assert line.receive() == {"jsonrpc": "2.0", "id": 8, "result": {}}


def test_large_message_arrives_whole(line, called):
    line.send(called(8, "empty", **{"x" * 1_000_000: 1}))
    result = line.receive()["result"]
    assert (result["isError"], result["_meta"]["ubp/error"]["code"]) == (True, -32602)


def test_cancelled_call_is_not_answered_and_delays_no_other(line, called):
    line.send(
        called(9, "slow", steps=1000),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
        called(10, "empty"),
    )
    assert line.receive()["id"] == 10


def test_end_of_input_answers_all_open_calls(connect, shared_repository, called):
    line = connect(shared_repository.root)
    line.open()
    line.send(*(called(name, "slow", steps=5) for name in range(1, 5)))
    said, status = line.leave()
    assert sorted(message["id"] for message in said) == [1, 2, 3, 4]
    assert status == 0


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM to send")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_lets_open_calls_finish(connect, shared_repository, called, number):
    line = connect(shared_repository.root)
    line.open()
    line.send(called(1, "slow", steps=10))
    line.ask(2, "ping")  # what was asked before has arrived
    line.process.send_signal(number)
    assert line.receive()["id"] == 1
    assert line.receive() is None
    assert line.wait() == 0
    assert b"Traceback" not in line.errors
    assert f"received {number.name}, stopping".encode() in line.errors


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM to send")
def test_second_signal_ends_at_once(connect, shared_repository, called):
    line = connect(shared_repository.root)
    line.open()
    line.send(called(1, "slow", steps=1000))
    line.ask(2, "ping")
    for _ in range(2):
        line.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    assert line.wait() == 0


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM to send")
def test_signal_does_not_wait_forever(connect, shared_repository, called):
    line = connect(shared_repository.root, environment={"SECONDS_TO_FINISH": "0.3"})
    line.open()
    line.send(called(1, "slow", steps=1000))
    line.ask(2, "ping")
    line.process.send_signal(signal.SIGTERM)
    assert line.receive()["error"]["message"] == "Connection closed"
    assert line.receive() is None
    assert line.wait() == 0


def test_vanished_client_leaves_no_process(connect, shared_repository, called, make_request):
    line = connect(shared_repository.root, is_heard=False)
    line.send(make_request(1, "ping"))
    line.process.stdout.readline()
    line.send(called(2, "slow", steps=1000))
    line.process.stdin.close()
    line.process.stdout.close()
    assert line.wait() == 0


def test_servers_run_side_by_side_and_are_listed(connect, shared_repository):
    data_dir = str(shared_repository.index.parent)
    before = {server.pid for server in find_running(data_dir)}
    lines = [connect(shared_repository.root) for _ in range(2)]
    for line in lines:
        line.open()
    running = {server.pid for server in find_running(data_dir)} - before
    assert running == {line.process.pid for line in lines}
    lines[0].process.kill()
    lines[0].wait()
    assert {server.pid for server in find_running(data_dir)} - before == {lines[1].process.pid}
    assert lines[1].leave() == ([], 0)
    assert {server.pid for server in find_running(data_dir)} == before


@pytest.mark.usefixtures("isolated_environment")
def test_claiming_the_streams_imports_no_library_that_could_print_before():
    script = (
        "import sys, ubp.server.process\n"
        "print({name.partition('.')[0] for name in sys.modules} & {'mcp', 'anyio', 'pydantic'})"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"
