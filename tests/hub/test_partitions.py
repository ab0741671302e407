"""The large tables in sixteen partitions by repository: the same statements, the same answers."""

from contextlib import ExitStack

import psycopg
import pytest

from tests.hub.conftest import running_hub
from tests.hub.parity import Oracle, compare, make_queries
from tests.hub.test_search import ask
from tests.hub.test_texts import stored
from ubp.hub.maintenance import collect_garbage
from ubp.hub.worker import Worker

PARTS = 16
LARGE = {  # what each refers to
    "text": "foreign key (repository) references repository",
    "chunk": "foreign key (repository, blob) references text",
    "staged_text": "foreign key (repository) references repository",
    "staged_chunk": "foreign key (repository, blob) references staged_text",
    "posting": "foreign key (repository) references repository",
}


def cut(connection) -> None:
    """Make the empty tables anew, as partitioned ones."""
    for table in LARGE:
        connection.execute(f"alter table {table} rename to old_{table}")
        connection.execute(
            f"create table {table} (like old_{table} including all) partition by hash (repository)"
        )
        for part in range(PARTS):
            connection.execute(
                f"create table {table}_{part} partition of {table}"
                f" for values with (modulus {PARTS}, remainder {part})"
            )
    for table in reversed(LARGE):
        connection.execute(f"drop table old_{table} cascade")
    for table, key in LARGE.items():
        connection.execute(f"alter table {table} add {key} on delete cascade")


@pytest.fixture
def hub(database_address, issuers):
    with psycopg.connect(database_address) as connection:
        cut(connection)
    with running_hub(database_address, issuers) as running:
        yield running


def test_partitioned_hub_finds_what_sqlite_finds(hub, clones):
    for name, repository in clones.items():
        assert hub.push(repository, name, texts=True).outcome == "written"
    searcher = hub.hub.answers["search"].run.__self__
    with ExitStack() as stack:
        oracle = Oracle(stack, {name: clone.root for name, clone in clones.items()})
        parity = compare(oracle, hub.database, searcher, make_queries(oracle, 6))

    assert parity.different == []
    assert max(parity.statements) <= 8
    used = hub.rows("select count(distinct tableoid) from chunk")
    assert used[0][0] > 1


def test_partitioned_texts_are_replaced_deleted_and_read_again(hub, repository):
    repository.write("docs/a.md", "# A\n\nZebras run.\n")
    repository.write("docs/b.md", "# B\n\nGiraffes eat.\n")
    repository.commit()
    hub.push(repository, texts=True)
    repository.remove("docs/a.md")
    repository.write("docs/b.md", "# B\n\nGiraffes sleep.\n")
    repository.commit()
    hub.push(repository, texts=True)
    assert stored(hub) == {"docs/b.md": "# B\n\nGiraffes sleep.\n"}
    assert ask(hub, "search", query="zebras")["results"] == []

    hub.execute("update text set format = format - 1")
    assert Worker(hub.database, hub.hub.config).work()
    (found,) = ask(hub, "search", query="giraffes sleep")["results"]
    assert found["filepath"] == "docs/b.md"
    with hub.database.connection() as connection:
        collect_garbage(connection, hub.hub.config, upload_hours=0)
    assert hub.rows("select count(*) from text") == [(1,)]
