"""Operation: back-up and restore, an upgrade while calls go on, and traces."""

import json
import os
import shutil
import subprocess
import sys
import threading

import psycopg
import pytest

from tests.hub.conftest import address_of, running_hub
from tests.hub.organisation import NOW, Size, fill
from tests.hub.test_identity import BOARD, list_tools
from ubp.answers.hub.impact import HubImpactRequest
from ubp.answers.hub.pages import HubPagesRequest, HubStalenessRequest
from ubp.core.errors import HubError
from ubp.hub import database as database_module
from ubp.hub import impact, pages
from ubp.hub.database import Database, Migration, check_migrated, read_migrations
from ubp.hub.embedded import find_programs
from ubp.hub.report import build_report

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
            found += [
                impact.run(connection, reader, HubImpactRequest(f"{name}:src/m1/f01.py#charge")),
                pages.list_pages(connection, reader, HubPagesRequest(repository=name)),
                pages.check_staleness(connection, reader, HubStalenessRequest(repository=name)),
            ]
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


def test_hubs_of_both_versions_answer_while_tables_are_migrated(
    hub, database_address, issuers, repository, monkeypatch
):
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository)
    hub.grant("github.com/ann", "github.com/acme/api")
    token, statuses, is_over = hub.person(), [], threading.Event()

    def ask():
        while not is_over.is_set():
            statuses.append(hub.call(BOARD, token=token)[0])
            statuses.append(
                hub.call("/v1/ask/pages", token=token, value={"repository": "github.com/acme/api"})[
                    0
                ]
            )

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    own = read_migrations()
    later = [
        Migration(9000, "columns", "alter table repository add column note text"),
        Migration(9001, "tables", "create table later (id int); alter table file add column x int"),
    ]
    for number in range(1, len(later) + 1):
        monkeypatch.setattr(database_module, "read_migrations", lambda n=number: own + later[:n])
        with Database.open(database_address) as database:
            assert [migration.number for migration in database.migrate()] == [8999 + number]
    with running_hub(database_address, issuers) as next_hub:  # version N + 1
        for _ in range(20):
            statuses.append(next_hub.call(BOARD, token=next_hub.person())[0])
            repository.write("a.md", f"# A {len(statuses)}\n")
            repository.commit()
            assert hub.push(repository).outcome == "written"
    is_over.set()
    for thread in threads:
        thread.join()
    assert len(statuses) > 100
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
