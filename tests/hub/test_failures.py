"""Failures: whatever is killed, a board is the old one or the new one, and nothing between."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zlib

import psycopg
import pytest

from tests.hub.test_identity import MCP
from tests.hub.test_order import (
    MAIN,
    NAME,
    board_of,
    manifest_of,
    push_run,
    stored,
)
from ubp.board.wire import MAX_BODY_BYTES, cut, digest_of, manifest_value
from ubp.core.errors import HubError
from ubp.hub.config import HubConfig
from ubp.hub.database import STATEMENT_SECONDS, Database, DatabaseDownError
from ubp.hub.maintenance import collect_garbage, find_faults
from ubp.sync import hub_client
from ubp.sync.hub_client import TIMEOUT_SECONDS

CONFIG = HubConfig(url="http://127.0.0.1:1")
# For each number on stdin, a child pushes that run and those after it until it is killed, and
# writes each number first. To a file, not to a pipe: whoever waits for a line can give up.
PUSHER = """
import os, sys
sys.path[:0] = [{root!r}]
from tests.hub.test_order import push_run
from ubp.hub.database import Database
written = open({written!r}, "a")
for line in sys.stdin:
    child = os.fork()
    if not child:
        with Database.open({address!r}) as database:
            for run in range(int(line), int(line) + 1_000):
                print(run, os.getpid(), file=written, flush=True)
                push_run(database, run)
    os.waitpid(child, 0)
    print("killed", 0, file=written, flush=True)
"""
LINE_SECONDS = 60
POINTS = 40
KILL_BACKENDS = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'ubp hub' and state <> 'idle'
"""


def assert_whole(database, at_most):
    """Check that the board is that of one run, completely."""
    rows = stored(database)
    assert len(rows) <= 1
    for run, commit, blob in rows:
        assert (commit, blob) == (f"{run:040x}", f"{run:040x}")
        assert run <= at_most
    with database.connection() as connection:
        assert list(find_faults(connection)) == []
        for table in ("page", "reference", "edge"):
            orphans = connection.execute(
                f"select count(*) from {table} x left join ref on ref.id = x.ref where ref is null"
            ).fetchone()
            assert orphans == (0,)


def lines_of(path, process):
    """Yield the words of each line that a process writes, once it is complete."""
    with path.open(encoding="ascii") as file:
        line = ""
        deadline = time.monotonic() + LINE_SECONDS
        while True:
            line += file.readline()
            if line.endswith("\n"):
                yield line.split()
                line = ""
                deadline = time.monotonic() + LINE_SECONDS
            else:
                assert time.monotonic() < deadline, f"no line for {LINE_SECONDS} s"
                assert process.poll() is None, "the process has ended"
                time.sleep(0.001)


def test_killed_hub_and_backend_leave_the_old_or_the_new_board(
    database, database_address, tmp_path
):
    choose = random.Random(34)
    path = tmp_path / "written"
    path.touch()
    program = PUSHER.format(root=os.getcwd(), written=str(path), address=database_address)
    first, written = 1, set()
    with (
        subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, text=True, bufsize=1
        ) as process,
        psycopg.connect(database_address, autocommit=True) as connection,
    ):
        lines = lines_of(path, process)
        for point in range(POINTS):
            process.stdin.write(f"{first}\n")
            next(lines)
            began = time.monotonic()
            last, pid = map(int, next(lines))  # one push has ended
            time.sleep(choose.random() * (time.monotonic() - began))
            if point % 2:
                connection.execute(KILL_BACKENDS)
                time.sleep(choose.random() * 0.02)
            os.kill(pid, signal.SIGKILL)
            for word, _ in lines:
                if word == "killed":
                    break
                last = int(word)
            assert_whole(database, last)
            written.update(run for run, _, _ in stored(database))
            first = last + 1
        process.stdin.close()
    assert len(written) >= POINTS
    with database.connection() as connection:
        connection.execute("update upload set at = now() - interval '2 days'")
        collect_garbage(connection, CONFIG)
        assert connection.execute("select count(*) from upload").fetchone() == (0,)
    assert push_run(database, first + 1) == "written"
    assert_whole(database, first + 1)


def test_interrupted_push_is_continued(database):
    board = board_of(1, 200)
    texts = cut(board)
    with database.connection() as connection:
        take_upload_of(connection, list(texts.values())[:2])
    with database.connection() as connection:
        from ubp.hub.store_push import take_push

        missing = take_push(connection, manifest_of(board, 1))
    assert list(missing.pieces) == list(texts)[2:]


def take_upload_of(connection, texts):
    from ubp.hub.store_push import take_upload

    take_upload(connection, NAME, texts, [])


def test_database_that_is_down_is_503_for_reads_and_three_lines_for_pushes(
    repository, issuers, monkeypatch
):
    from tests.hub.conftest import running_hub

    monkeypatch.setattr(hub_client, "WAITS", ())
    repository.write("a.md", "# A\n")
    repository.commit()
    with running_hub("postgresql:///hub?host=/nonexistent&connect_timeout=2", issuers) as hub:
        started = time.monotonic()
        status, answer = hub.call(f"/v1/board?repository={NAME}&ref={MAIN}", token=hub.person())
        assert (status, time.monotonic() - started < 10) == (503, True)
        assert json.loads(answer)["error"]["message"] == "The hub's database cannot be reached."
        assert hub.call("/healthz")[0] == 503
        params = {"name": "ubp_list_pages", "arguments": {}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(call).encode()
        result = json.loads(hub.call("/mcp", token=hub.person(), body=body, **MCP)[1])["result"]
        assert result["isError"]
        assert result["content"][0]["text"] == (
            "Error -32008 (hub_error): The hub's database cannot be reached. It is down, or takes"
            " no more connections. Try again later."
        )
        calls = hub.call("/metrics")[1].decode()
        assert 'ubp_hub_calls_total{method="ubp_list_pages",status="503"} 1' in calls
        with pytest.raises(HubError) as refused:
            hub.push(repository)
    error = refused.value
    assert (error.exit_code, error.message) == (2, "The hub's database cannot be reached.")
    assert error.cause
    assert error.hint


def test_statement_that_takes_too_long_is_named_as_such(database):
    with pytest.raises(DatabaseDownError) as gave_up, database.connection() as connection:
        connection.execute("set local statement_timeout = '10ms'; select pg_sleep(10)")
    assert gave_up.value.message == "The hub gave up on this call."
    assert STATEMENT_SECONDS < TIMEOUT_SECONDS


def test_hub_that_is_down_fails_with_three_lines_or_softly(run_ubp, repository):
    repository.write("a.md", "# A\n")
    repository.commit()
    call = ("push", "--to", "http://127.0.0.1:9", "--repository", NAME)
    status, out, err = run_ubp(repository, *call)
    assert (status, out) == (2, "")
    assert [line.partition(":")[0].strip() for line in err.splitlines()] == [
        "Error",
        "Cause",
        "Hint",
    ]
    status, out, err = run_ubp(repository, *call, "--soft")
    assert (status, err) == (0, "")
    assert out.startswith("Nothing was pushed. Cannot reach the hub at http://127.0.0.1:9.")


@pytest.fixture
def run_ubp():
    def run(repository, *arguments):
        environment = {**os.environ, "UBP_HUB_TOKEN": "a-token"}
        done = subprocess.run(
            [sys.executable, "-m", "ubp", *arguments],
            cwd=repository.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


BOMB = zlib.compress(b" " * (200 << 20), 9)
BODIES = {
    "empty": b"",
    "not compressed": b'{"version":1}',
    "not JSON": zlib.compress(b"{"),
    "a list": zlib.compress(b"[]"),
    "cut off": zlib.compress(b'{"version":1}' * 100)[:-6],
    "a bomb": BOMB,
    "nested": zlib.compress(b"[" * 200_000),
    "too large": b"x" * (MAX_BODY_BYTES + 1),
}


@pytest.mark.parametrize("case", BODIES)
def test_body_that_is_not_a_push_is_refused(hub, case):
    token = "development-token-for-tests"
    status, _ = hub.call("/v1/push", token=token, body=BODIES[case])
    assert status == (413 if case == "too large" else 400)
    assert hub.call("/healthz")[0] == 200


def test_body_of_two_gigabytes_is_refused_before_it_is_read(hub):
    import http.client

    host = hub.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.putrequest("POST", "/v1/push")
    connection.putheader("Authorization", "Bearer development-token-for-tests")
    connection.putheader("Content-Length", str(2 << 30))
    connection.endheaders()
    sent = 0
    try:
        while sent < 4 * MAX_BODY_BYTES:
            connection.send(b"x" * (1 << 20))
            sent += 1 << 20
    except OSError:
        pass
    try:
        assert connection.getresponse().status == 413
    except OSError:  # it was closed while we were sending
        assert sent >= MAX_BODY_BYTES
    connection.close()
    assert hub.call("/healthz")[0] == 200


PAGE = ["a.md", "b" * 40, None, None]
PINNED = ["", "a.py", "", "%", "fresh", "fresh", "pin"]
REST = [None, None, None, 0, None]
HOSTILE = {
    "SQL in a path": ["'; drop table ref; --.md", "b" * 40, None, None],
    "NUL in a path": ["a\0.md", "b" * 40, None, None],
    "surrogate in a path": ["a\ud800.md", "b" * 40, None, None],
    "path out of the repository": ["../a.md", "b" * 40, None, None],
    "absolute path": ["/etc/passwd", "b" * 40, None, None],
    "number for a path": [1, "b" * 40, None, None],
    "blob that is none": ["a.md", "zz", None, None],
    "blob of odd length": ["a.md", "b" * 39, None, None],
    "time beyond all": ["a.md", "b" * 40, "c" * 40, 10**30],
    "page that is none": ["a.md", "b" * 40, None, None, {}],
    "level that is none": ["a.md", "b" * 40, None, None, ["great", False, [], [], []]],
    "owner of a megabyte": ["a.md", "b" * 40, None, None, ["fresh", False, ["@" * 9**7], [], []]],
    "pin that is a pattern": [*PAGE, ["fresh", False, [], [[*PINNED, *REST]], []]],
    "too few values": ["a.md"],
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_row_is_stored_or_refused_and_never_an_error_of_the_hub(hub, case):
    text = json.dumps([1, 0, 1, [HOSTILE[case]]], separators=(",", ":"), sort_keys=True)
    head = manifest_value(manifest_of(board_of(1), 1))
    upload = {**head, "pieces": [text], "parts": []}
    status, _ = hub.call("/v1/upload", token="development-token-for-tests", value=upload)
    assert status == (200 if case == "SQL in a path" else 400)
    assert hub.rows("select count(*) from ref")[0][0] in {0, 1}


EDGE = ["b.md", "references"]
REFERENCE = ["", "a.py", "", None, "fresh", "fresh", "pin", None, None, None, 1 << 40, None]
UNSTORABLE = {
    "path that no index can have": [random.Random(1).randbytes(2_000).hex(), "b" * 40, None, None],
    "edge twice": ["a.md", "b" * 40, None, None, ["fresh", False, [], [], [EDGE, EDGE]]],
    "number of commits": ["a.md", "b" * 40, None, None, ["fresh", False, [], [REFERENCE], []]],
}


@pytest.mark.parametrize("case", UNSTORABLE)
def test_board_that_the_tables_cannot_have_is_refused_for_good(hub, case):
    text = json.dumps([1, 0, 1, [UNSTORABLE[case]]], separators=(",", ":"), sort_keys=True)
    push = {**manifest_value(manifest_of(board_of(1), 1)), "pieces": [digest_of(text)], "parts": {}}
    token = "development-token-for-tests"
    upload = {**push, "pieces": [text], "parts": []}
    assert hub.call("/v1/upload", token=token, value=upload)[0] == 200
    status, answer = hub.call("/v1/push", token=token, value=push)
    assert (status, b"cannot store" in answer) == (400, True)
    assert hub.rows("select count(*) from file")[0][0] == 0
    assert hub.rows("select status from audit order by id desc limit 1") == [(400,)]


def test_pushes_of_several_repositories_at_once_all_arrive(database_address):
    with Database.open(database_address) as database:
        failures = []

        def push(number):
            from ubp.hub.store_push import Missing, take_push, take_upload

            name = f"github.com/acme/r{number}"
            board = board_of(number + 1, 100)
            try:
                while True:
                    with database.connection() as connection:
                        outcome = take_push(connection, manifest_of(board, 1, name=name))
                    if not isinstance(outcome, Missing):
                        return
                    with database.connection() as connection:
                        take_upload(connection, name, list(cut(board).values()), [])
            except Exception as error:  # noqa: BLE001  # to be shown by the test
                failures.append(error)

        threads = [threading.Thread(target=push, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        with database.connection() as connection:
            rows = connection.execute("select count(*) from file").fetchone()
        assert rows == (800,)
