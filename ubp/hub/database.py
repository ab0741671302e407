"""The hub's database: connections, and the migrations that make its tables.

Each statement that reads about repositories joins `readable(reader)`: that is the only place that
knows who may see what.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, NamedTuple, Self

import psycopg
from psycopg import IsolationLevel
from psycopg.errors import ProgramLimitExceeded, QueryCanceled
from psycopg_pool import ConnectionPool, PoolTimeout

from ubp.core.errors import HubError

Connection = psycopg.Connection[tuple[Any, ...]]

MIN_VERSION = 15
MIGRATION_LOCK = 0x7562_7031  # of the advisory lock: "ubp1"
MAX_CONNECTIONS = 8
SECONDS_TO_CONNECT = 1.5  # a database that is down is answered by 503 within two seconds
# A statement that takes longer is given up, before the client gives up. Pushes of a first board
# have the longest ones.
STATEMENT_SECONDS = 50


class Migration(NamedTuple):
    """A numbered file of SQL; those with smaller numbers come first."""

    number: int
    name: str
    sql: str


class Database:
    """A pool of connections to the hub's database.

    `reading` is that of a replica which answers what only reads, or this one.
    """

    def __init__(
        self, pool: "ConnectionPool[Connection]", replica: "Database | None" = None
    ) -> None:
        """Use `open`."""
        self._pool = pool
        self.has_replica = replica is not None
        self.reading = replica or self

    @classmethod
    def open(cls, address: str, connections: int = MAX_CONNECTIONS, *, replica: str = "") -> Self:
        """Open a pool; connections are made when they are needed."""
        pool = ConnectionPool(
            address,
            min_size=0,
            max_size=connections,
            timeout=SECONDS_TO_CONNECT,
            reconnect_timeout=SECONDS_TO_CONNECT,
            kwargs={
                "connect_timeout": 2,
                "application_name": "ubp hub",
                # Compiling a statement takes longer than running any of ours.
                "options": f"-c statement_timeout={STATEMENT_SECONDS}s -c timezone=UTC -c jit=off",
            },
            check=ConnectionPool.check_connection,
            reset=_reset,
            open=False,
        )
        pool.open()
        return cls(pool, cls.open(replica, connections) if replica else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()
        if self.has_replica:
            self.reading.close()

    @contextmanager
    def connection(self, *, is_snapshot: bool = False) -> Iterator[Connection]:
        """Yield a connection, in a transaction that ends with the body.

        `is_snapshot`: all statements see what the first one sees.

        Raises:
            HubError: the database cannot be reached, or has no room for a value.
        """
        try:
            with self._pool.connection() as connection:
                if is_snapshot:
                    connection.isolation_level = IsolationLevel.REPEATABLE_READ
                yield connection
        except (psycopg.DataError, psycopg.IntegrityError, ProgramLimitExceeded) as error:
            # Not `DatabaseDownError`: asking again would not help.
            raise HubError(
                "The hub cannot store this.",
                cause="A value is too long or too large for its table, or is there twice.",
            ) from error
        except QueryCanceled as error:
            raise DatabaseDownError(
                "The hub gave up on this call.",
                cause=f"A statement took the database longer than {STATEMENT_SECONDS} seconds.",
                hint="Ask for less, or try again later.",
            ) from error
        except (PoolTimeout, psycopg.OperationalError) as error:
            raise DatabaseDownError(
                "The hub's database cannot be reached.",
                cause="It is down, or takes no more connections.",
                hint="Try again later.",
            ) from error

    def migrate(self) -> list[Migration]:
        """Bring the tables up to date, and return what was missing.

        Several processes may do so at once: one does, the others wait.

        Raises:
            HubError: the database is too old, or newer than this program.
        """
        done = []
        with self.connection() as connection:
            connection.execute("select pg_advisory_xact_lock(%s)", [MIGRATION_LOCK])
            check_version(connection)
            connection.execute(
                "create table if not exists migration "
                "(number int primary key, name text not null, at timestamptz default now())"
            )
            known = {n for (n,) in connection.execute("select number from migration").fetchall()}
            for migration in missing_migrations(known):
                connection.execute(migration.sql)
                connection.execute(
                    "insert into migration (number, name) values (%s, %s)",
                    [migration.number, migration.name],
                )
                done.append(migration)
        return done


def _reset(connection: Connection) -> None:
    connection.isolation_level = None


class DatabaseDownError(HubError):
    """The database cannot be reached, or is too slow: a request is answered with 503."""


def read_migrations() -> list[Migration]:
    """Return the migrations that this program has, in order."""
    found = []
    for file in files("ubp.hub").joinpath("migrations").iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        if file.name.endswith(".sql"):
            found.append(Migration(int(number), name, file.read_text(encoding="utf-8")))
    return sorted(found)


def missing_migrations(known: set[int]) -> list[Migration]:
    """Return the migrations that a database lacks.

    Raises:
        HubError: it has some that this program does not know.
    """
    migrations = read_migrations()
    if unknown := known - {migration.number for migration in migrations}:
        raise HubError(
            "The hub's database is newer than this program.",
            cause=f"It has migration {max(unknown):04d}, which this version of UBP lacks.",
            hint="Install the version of UBP that the other processes of the hub run.",
        )
    return [migration for migration in migrations if migration.number not in known]


def check_migrated(connection: Connection) -> None:
    """Check that the tables are those of this program.

    Raises:
        HubError: they are older or newer.
    """
    has_table = connection.execute("select to_regclass('migration')").fetchone()
    known: set[int] = set()
    if has_table and has_table[0]:
        known = {n for (n,) in connection.execute("select number from migration").fetchall()}
    if missing := missing_migrations(known):
        raise HubError(
            "The hub's database is not up to date.",
            cause=f"Migration {missing[0].number:04d} ({missing[0].name}) is missing.",
            hint="Run: ubp hub migrate",
        )


@contextmanager
def open_migrated(address: str) -> Iterator[Connection]:
    """Yield a connection to a database whose tables are those of this program.

    Raises:
        HubError: it cannot be reached, or its tables are older or newer.
    """
    with Database.open(address) as database, database.connection() as connection:
        check_migrated(connection)
        yield connection


def check_version(connection: Connection) -> None:
    """Check the version of the database's server.

    Raises:
        HubError: it is too old.
    """
    version = connection.info.server_version // 10_000
    if version < MIN_VERSION:
        raise HubError(
            f"The hub needs PostgreSQL {MIN_VERSION} or newer.",
            cause=f"The server's version is {version}.",
            hint="Upgrade the server, or use another one.",
        )
