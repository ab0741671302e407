"""Errors are in the log in full; what an agent gets reveals nothing private."""

import logging
import os
import re
from functools import partial

import pytest
from mcp import Client

from ubp.server import protocol
from ubp.server.errors import redact_paths
from ubp.server.log import MAX_LOG_BYTES, set_up_log
from ubp.server.scheduler import Scheduler
from ubp.server.tools.registry import select_tools
from ubp.workspace import Workspace


@pytest.fixture(scope="module")
def line(connect, shared_repository):
    line = connect(shared_repository.root)
    line.open()
    return line


@pytest.fixture
def set_up():
    """Log to a folder, until the test is over."""
    root = logging.getLogger()
    before = root.handlers[:], root.level

    def start(folder, level=logging.INFO):
        set_up_log([str(folder)], level)
        return logging.getLogger("ubp.test")

    yield start
    logging.captureWarnings(capture=False)
    root.handlers[:], root.level = before


def test_defect_has_a_number_that_is_in_the_log(line, shared_repository):
    error = line.ask(1, "tools/call", name="broken", arguments={})["error"]
    assert error["code"] == -32603
    name = error["data"]["error_id"]
    assert name in error["message"]
    assert "ann" not in str(error)
    assert "Traceback" not in str(error)
    text = shared_repository.index.with_name("serve.log").read_text()
    entry = text[text.index(f"error {name} in tools/call") :]
    assert "ValueError: /home/ann/secret" in entry


def test_database_error_has_its_own_code_and_shows_no_path(line):
    result = line.ask(2, "tools/call", name="locked", arguments={})["result"]
    assert result["isError"]
    assert result["_meta"]["ubp/error"] == {
        "code": -32005,
        "message": "The index index-1.db is locked.",
        "data": {"kind": "database_error"},
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ann/project/.ubp/config.json is wrong.", "config.json is wrong."),
        ("It lies in '/home/ann/x', not here.", "It lies in 'x', not here."),
        (r"C:\Users\ann\project\a.md", "a.md"),
        ("docs/auth.md or docs/a/b.md", "docs/auth.md or docs/a/b.md"),
        ("fatal: /a: no", "fatal: /a: no"),
    ],
)
def test_message_shows_no_path_outside_the_repository(text, shown):
    assert redact_paths(text) == shown


@pytest.mark.anyio
async def test_slow_call_is_logged_with_its_sizes_and_without_its_words(
    repository, monkeypatch, caplog, server_of
):
    repository.write("a.md", "# A\n")
    scheduler = Scheduler(partial(open_workspace, str(repository.root)))
    scheduler.start()
    monkeypatch.setattr(protocol, "TIME_TARGETS", {"ubp_fulltext_search": 0})
    async with Client(server_of(scheduler, select_tools())) as client:
        await client.call_tool("ubp_fulltext_search", {"query": "password", "limit": 3})
        await client.call_tool("ubp_list_pages", {})
    scheduler.close()
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    pattern = (
        r"ubp_fulltext_search \(argument lengths: query 8, limit 1\) took \d+ ms,"
        r" more than the target of 0 ms"
    )
    assert re.fullmatch(pattern, record.getMessage())


def open_workspace(root, progress):
    return Workspace.open(root, progress=progress)


def test_log_entry_is_one_line_with_the_trace_below(set_up, tmp_path):
    log = set_up(tmp_path)
    log.info("two\nlines \x1b[31m")
    try:
        raise ValueError("no")  # noqa: TRY301
    except ValueError:
        log.exception("failed")
    log.debug("unheard")
    lines = (tmp_path / "serve.log").read_text().splitlines()
    head = rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ {os.getpid()}"
    assert re.fullmatch(rf"{head} INFO two", lines[0])
    assert lines[1] == r"    lines \e[31m"
    assert re.fullmatch(rf"{head} ERROR failed", lines[2])
    assert lines[3] == "    Traceback (most recent call last):"
    assert lines[-1] == "    ValueError: no"


def test_full_log_is_rotated_once(set_up, tmp_path):
    log = set_up(tmp_path)
    for _ in range(5):
        log.info("x" * (MAX_LOG_BYTES // 2))
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert sizes.keys() == {"serve.log", "serve.log.1"}
    assert max(sizes.values()) <= MAX_LOG_BYTES


def test_log_is_not_written_through_a_link(set_up, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "serve.log").symlink_to(outside)
    set_up(folder).error("told on stderr alone")
    assert outside.read_text() == "mine"
    (tmp_path / "linked").symlink_to(tmp_path)
    for name in ("linked", "nowhere"):
        set_up(tmp_path / name).error("so is this")
    assert {file.name for file in tmp_path.iterdir()} == {"data", "linked", "outside"}
