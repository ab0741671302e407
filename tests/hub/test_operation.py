"""Operation: back-up and restore, an upgrade while calls go on, and traces."""

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psycopg
import pytest

from tests.hub.conftest import address_of, running_hub
from tests.hub.organisation import NOW, Size, fill
from tests.hub.parity import Oracle, make_queries
from tests.hub.test_identity import BOARD, list_tools
from ubp.__main__ import main
from ubp.answers.hub.impact import HubImpactRequest
from ubp.answers.hub.pages import HubPagesRequest, HubStalenessRequest
from ubp.answers.hub.search import HubSearchRequest
from ubp.core.errors import BadArgumentError, HubError
from ubp.hub import database as database_module
from ubp.hub import impact, pages
from ubp.hub.database import Database, Migration, check_migrated, read_migrations
from ubp.hub.embedded import find_programs
from ubp.hub.models import HubModel
from ubp.hub.report import build_report
from ubp.hub.search import Searcher
from ubp.hub.worker import Worker

CALLS = 10_000
READERS = ("*", "github.com/user-1", "github.com/user-2", "nobody")


def program(name):
    found = shutil.which(os.path.join(find_programs() or "", name)) or shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def answers(connection, names):
    """Return what each reader is answered to some questions of each kind."""
    found = []
    for reader in READERS:
        found.append(build_report(connection, reader, NOW))
        for name in names:
            source = HubImpactRequest(f"{name}:src/m1/f01.py#charge")
            found.append(impact.run(connection, reader, source))
            for run, request in (
                (pages.list_pages, HubPagesRequest(repository=name)),
                (pages.check_staleness, HubStalenessRequest(repository=name)),
            ):
                try:
                    found.append(run(connection, reader, request))
                except BadArgumentError as error:  # the reader may not see this repository
                    found.append(error.message)
    return found


def test_restored_backup_gives_the_same_answers(postgres, database, database_address, tmp_path):
    with database.connection() as connection:
        names = fill(connection, Size(16, 8, 12, 2))
    with database.connection() as connection:
        expected = answers(connection, names)
    assert len(expected) >= 190
    file = tmp_path / "backup"
    subprocess.run(
        [program("pg_dump"), "--format=custom", f"--file={file}", f"--dbname={database_address}"],
        check=True,
    )
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create database restored")
    restored = address_of(postgres, "restored")
    try:
        subprocess.run(
            [program("pg_restore"), "--exit-on-error", f"--dbname={restored}", file], check=True
        )
        with Database.open(restored) as other, other.connection() as connection:
            check_migrated(connection)
            assert answers(connection, names) == expected
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("drop database restored with (force)")


def found_by(address, queries):
    """Return what a process that has just started finds."""
    searcher, found = Searcher(HubModel()), []
    with Database.open(address) as database:
        for _, text in queries:
            with database.connection() as connection:
                record = searcher.search(connection, "*", HubSearchRequest(query=text))
            found.append([(hit.repository, hit.filepath, hit.line) for hit in record.results])
    return found


@pytest.mark.slow
def test_restored_and_pushed_again_the_same_is_found(  # noqa: PLR0917  # fixtures
    postgres, hub, database_address, issuers, clones, tmp_path
):
    for name, repository in clones.items():
        hub.push(repository, name, texts=True)
    with ExitStack() as stack:
        oracle = Oracle(stack, {name: clone.root for name, clone in clones.items()})
        queries = list(make_queries(oracle, 19))
    expected = found_by(database_address, queries)
    assert len(queries) >= 200
    assert sum(map(bool, expected)) > 150
    file = tmp_path / "backup"
    dump = ("--format=custom", f"--file={file}", f"--dbname={database_address}")
    subprocess.run([program("pg_dump"), *dump], check=True)
    restored, again = (address_of(postgres, name) for name in ("restored", "again"))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create database restored")
        connection.execute("create database again template template")
    try:
        subprocess.run([program("pg_restore"), f"--dbname={restored}", file], check=True)
        assert found_by(restored, queries) == expected
        with running_hub(again, issuers) as other:
            for name, repository in reversed(clones.items()):
                other.push(repository, name, texts=True)
        assert found_by(again, queries) == expected
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("drop database restored with (force)")
            connection.execute("drop database again with (force)")


def run_ubp(address, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "ubp", *arguments],
        env={**os.environ, "UBP_HUB_DATABASE": address},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_tables_that_are_newer_are_refused_in_three_lines(
    database, database_address, tmp_path, hub
):
    config = tmp_path / "hub.json"
    config.write_text('{"url": "https://hub.example.org"}')
    with database.connection() as connection:
        connection.execute("insert into migration (number, name) values (9999, 'of tomorrow')")
    for command in (
        ("hub", "up", "--config", config, "--port", "0"),
        ("hub", "work", "--config", config, "--once"),
        ("hub", "migrate"),
        ("hub", "check", "--config", config),
    ):
        status, out, err = run_ubp(database_address, *command)
        assert (status, out) == (2, ""), command
        assert [line.partition(":")[0].strip() for line in err.splitlines()] == [
            "Error",
            "Cause",
            "Hint",
        ]
        assert "newer than this program" in err
    assert hub.call(BOARD, token=hub.person())[0] == 404  # the one that runs goes on


@pytest.mark.slow
def test_hubs_of_both_versions_answer_while_tables_are_migrated(
    hub, database_address, issuers, repository, monkeypatch
):
    repository.write("a.md", "# A\n\nHow to pay.\n")
    repository.commit()
    hub.push(repository, texts=True)
    hub.grant("github.com/ann", "github.com/acme/api")
    statuses, is_over = [], threading.Event()
    named = {"repository": "github.com/acme/api"}

    def ask(asked=hub):
        while not is_over.is_set():
            token = asked.person()
            statuses.append(asked.call(BOARD, token=token)[0])
            statuses.append(asked.call("/v1/ask/pages", token=token, value=named)[0])
            statuses.append(asked.call("/v1/ask/search", token=token, value={"query": "pay"})[0])

    own = read_migrations()
    later = [
        Migration(9000, "columns", "alter table repository add column note text"),
        Migration(9001, "tables", "create table later (id int); alter table file add column x int"),
    ]
    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(ask) for _ in range(3)]
        try:
            for number in range(1, len(later) + 1):
                monkeypatch.setattr(
                    database_module, "read_migrations", lambda n=number: own + later[:n]
                )
                with Database.open(database_address) as database:
                    assert [migration.number for migration in database.migrate()] == [8999 + number]
            with running_hub(database_address, issuers) as next_hub:  # version N + 1
                asking.append(threads.submit(ask, next_hub))
                number = 0
                while len(statuses) < CALLS and not any(task.done() for task in asking):
                    number += 1
                    repository.write("a.md", f"# A {number}\n\nHow to pay {number} times.\n")
                    repository.commit()
                    pushed = (hub, next_hub)[number % 2].push(repository, texts=True)
                    assert pushed.outcome == "written"
                    hub.execute("update text set format = format - 1 where random() < 0.3")
                    Worker(next_hub.database, next_hub.hub.config).work()
                is_over.set()
                for task in asking:
                    task.result()
        finally:
            is_over.set()
    assert set(statuses) == {200}


def test_migrations_of_several_processes_are_made_once(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create database empty")
    done = []

    def migrate():
        with Database.open(address_of(postgres, "empty")) as database:
            done.append(len(database.migrate()))

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(done) == [0, 0, 0, len(read_migrations())]
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("drop database empty with (force)")


def test_tables_that_are_older_are_refused(database):
    with database.connection() as connection:
        connection.execute("delete from migration where number = 3")
        with pytest.raises(HubError, match="not up to date"):
            check_migrated(connection)


def test_command_refuses_tables_that_are_older(database, database_address, monkeypatch, capsys):
    with database.connection() as connection:
        connection.execute("delete from migration where number = 3")
    monkeypatch.setenv("UBP_HUB_DATABASE", database_address)
    assert main(["hub", "audit", "--since", "2026-11-01"]) == 2
    assert "Run: ubp hub migrate" in capsys.readouterr().err


TRACED = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
import asyncio
from mcp import Client
from ubp.hub.api import Hub
from ubp.hub.config import HubConfig
from ubp.hub.database import Database
from ubp.hub.tools import create_hub_server


async def main():
    with Database.open(sys.argv[1]) as database:
        hub = Hub(database, HubConfig("http://127.0.0.1:1"))
        async with Client(create_hub_server(hub)) as client:
            await client.call_tool("ubp_list_pages", {"repository": "github.com/acme/secret"})


asyncio.run(main())
print(json.dumps([[span.name, dict(span.attributes)] for span in exporter.get_finished_spans()]))
"""


def test_calls_of_tools_are_traced_by_the_library_without_the_question(database_address):
    """OpenTelemetry's SDK is that of the development tools: UBP needs its interface alone."""
    done = subprocess.run(
        [sys.executable, "-c", TRACED, database_address],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    spans = dict(json.loads(done.stdout.splitlines()[-1]))
    assert any("tools/call" in name and "ubp_list_pages" in name for name in spans), spans
    assert "secret" not in done.stdout


def test_list_of_tools_does_not_grow_with_the_repositories(hub):
    hub.execute(
        "insert into repository (name, visibility)"
        " select 'github.com/acme/r' || number, 'public' from generate_series(1, 2000) number"
    )
    status, answer = list_tools(hub, hub.person())
    assert status == 200
    assert len(answer) < 12_000
    assert b"acme/r" not in answer
    assert len(json.loads(answer)["result"]["tools"]) >= 4
