"""A replica is read while the primary is down, and what was deleted is in no file of either."""

import os
import subprocess
import tempfile
import time
import zlib
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.hub.conftest import FAST, address_of, running_hub
from tests.hub.test_search import ask
from tests.hub.test_secrets import dump_of
from ubp.core.errors import HubError
from ubp.hub.database import Database
from ubp.hub.embedded import NOBODY, find_programs, run_postgres

# A commit is sent to the replica once it is written.
SETTINGS = {**FAST, "synchronous_commit": "on", "wal_level": "replica", "max_wal_senders": "4"}
SECRET = "# Plans\n\nThe unobtainium lies in the cellar.\n"
OTHER = "# Payment\n\nCustomers pay by invoice, within seven days.\n"


class Cluster:
    """A primary and a streaming replica, each with a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.primary_folder, self.replica_folder = folder / "p", folder / "r"
        self._primary = ExitStack()
        self._replica = ExitStack()
        self.start_primary()
        with psycopg.connect(self._postgres, autocommit=True) as connection:
            connection.execute("create database hub")
        self.address = address_of(self._postgres, "hub")
        with Database.open(self.address) as database:
            database.migrate()
        self._copy()
        replica = run_postgres(str(self.replica_folder), settings=SETTINGS)
        self.replica = address_of(self._replica.enter_context(replica), "hub")

    def start_primary(self) -> None:
        primary = run_postgres(str(self.primary_folder), settings=SETTINGS)
        self._postgres = self._primary.enter_context(primary)

    def stop_primary(self) -> None:
        self._primary.close()

    def close(self) -> None:
        self._replica.close()
        self._primary.close()

    def _copy(self) -> None:
        data = self.replica_folder / "postgresql"
        data.mkdir(parents=True, mode=0o700)
        own = self.primary_folder / "programs" / "bin"
        programs = own if own.exists() else Path(find_programs() or "")
        user = NOBODY if os.geteuid() == 0 else None
        if user:
            os.chown(data, user, user)
            self.replica_folder.chmod(0o755)
        socket = self._postgres.partition("host=")[2].partition("&")[0]
        subprocess.run(
            [
                *(programs / "pg_basebackup", "--write-recovery-conf", "--checkpoint=fast"),
                *("--no-sync", "-h", socket, "-U", "ubp", "-D", data),
            ],
            check=True,
            cwd="/",
            user=user,
            group=user,
        )

    def wait(self) -> None:
        """Wait until the replica has what the primary has."""
        with psycopg.connect(self._postgres) as connection:
            ((wanted,),) = connection.execute("select pg_current_wal_lsn()::text").fetchall()
        with psycopg.connect(self.replica, autocommit=True) as connection:
            query = "select pg_last_wal_replay_lsn() >= %s::pg_lsn"
            while connection.execute(query, [wanted]).fetchone() != (True,):
                time.sleep(0.01)

    def files(self) -> bytes:
        """Return what is in the files of all tables and indexes of both."""
        for address in (self._postgres, self.replica):
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("checkpoint")
        roots = (self.primary_folder, self.replica_folder)
        paths = [path for root in roots for path in (root / "postgresql" / "base").rglob("*")]
        return b"".join(path.read_bytes() for path in paths if path.is_file())


@pytest.fixture
def cluster():
    if not os.path.exists(os.path.join(find_programs() or "", "pg_basebackup")):
        pytest.skip("there is no pg_basebackup")
    with tempfile.TemporaryDirectory(prefix="ubp-") as folder:
        os.chmod(folder, 0o755)
        made = Cluster(Path(folder))
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def hub(cluster, issuers):
    with running_hub(cluster.address, issuers, replica=cluster.replica) as running:
        yield running


def push(hub, cluster, repository, **pages):
    for name, text in pages.items():
        repository.write(f"docs/{name}.md", text)
    repository.commit()
    record = hub.push(repository, texts=True)
    cluster.wait()
    return record


def questions(hub):
    name = "github.com/acme/api"
    return [
        ask(hub, "search", query="customers pay"),
        ask(hub, "search", query="when is a bill due", mode="semantic"),
        ask(hub, "fulltext", query='"seven days"'),
        ask(hub, "page", repository=name, filepath="docs/pay.md"),
        ask(hub, "pages", repository=name),
    ]


@pytest.mark.slow
def test_reads_go_on_while_the_primary_is_down_and_are_logged_afterwards(cluster, hub, repository):
    push(hub, cluster, repository, pay=OTHER)
    before = questions(hub)
    assert before[0]["results"]
    ((logged,),) = hub.rows("select count(*) from audit")

    cluster.stop_primary()
    assert questions(hub) == before
    repository.write("docs/new.md", "# New\n")
    repository.commit()
    with pytest.raises(HubError, match="database cannot be reached"):
        hub.push(repository, texts=True)
    assert questions(hub) == before
    assert hub.call("/healthz")[0] == 200

    cluster.start_primary()
    hub.hub.audit._try_at = 0.0  # do not wait
    assert push(hub, cluster, repository).outcome == "written"
    assert questions(hub)[3]["content"] == before[3]["content"]
    rows = hub.rows("select method, status, count(*) from audit group by 1, 2 order by 1, 2")
    counts = {(method, status): number for method, status, number in rows}
    assert counts["ask", 200] == 4 * len(before)
    assert counts["push", 503] >= 1
    assert hub.rows("select count(*) > %s from audit", logged + 3 * len(before)) == [(True,)]


def test_deleted_page_is_in_no_table_replica_or_backup(cluster, hub, repository):
    push(hub, cluster, repository, plans=SECRET, pay=OTHER)
    stored = zlib.compress(SECRET.encode(), 6)
    ((vector,),) = hub.rows(
        "select vector from chunk join text using (repository, blob) where body = %s", stored
    )
    traces = (b"unobtainium", stored, bytes(vector))
    assert all(cluster.files().count(trace) >= 2 for trace in traces)
    assert ask(hub, "search", query="unobtainium")["results"]

    repository.remove("docs/plans.md")
    push(hub, cluster, repository)
    assert ask(hub, "search", query="unobtainium")["results"] == []
    found = ask(hub, "search", query="customers pay for what is in the cellar", mode="semantic")[
        "results"
    ]
    assert [hit["filepath"] for hit in found] == ["docs/pay.md"]
    with psycopg.connect(cluster.address, autocommit=True) as connection:
        connection.execute("vacuum full")
    cluster.wait()

    files = cluster.files()
    assert [trace for trace in traces if trace in files] == []
    assert OTHER.split()[2].lower().encode() in files  # the one that stays is there
    assert "nobtainium" not in dump_of(hub, cluster.address)
