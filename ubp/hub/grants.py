"""Keep the grants as the forges have them: what a worker writes, on a webhook and each night."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ubp.hub.config import Forge, HubConfig
from ubp.hub.database import Connection, Database
from ubp.hub.forges import ForgeClient, ForgeRepository

CLIENTS = "configuration"  # the source of the grants of clients


@dataclass(frozen=True, slots=True)
class Compared:
    """The numbers of repositories that a forge has, and of those that it has no more."""

    found: int
    removed: int


def compare_forge(database: Database, forge: Forge) -> Compared:
    """Compare all repositories and grants of a forge, and save what it has.

    Raises:
        HubError: the forge cannot be read; nothing is changed.
    """
    found = list(ForgeClient(forge).repositories())
    with database.connection() as connection:
        _save(connection, forge, found)
        starts = [f"{forge.host}/{group}/".replace("_", r"\_") + "%" for group in forge.groups]
        removed = connection.execute(
            "update repository set removed_at = now() where removed_at is null"
            " and name like any(%s) and not (name = any(%s)) returning id",
            [starts, [repository.name for repository in found]],
        ).rowcount
    return Compared(len(found), removed)


def compare_repository(database: Database, forge: Forge, path: str) -> None:
    """Compare one repository of a forge.

    Raises:
        HubError: the forge cannot be read; nothing is changed.
    """
    found = ForgeClient(forge).repository(path)
    with database.connection() as connection:
        if found is not None:
            _save(connection, forge, [found])
        if found is None or found.name != f"{forge.host}/{path}":
            connection.execute(
                "update repository set removed_at = now() where removed_at is null and name = %s",
                [f"{forge.host}/{path}"],
            )


def _save(connection: Connection, forge: Forge, found: Sequence[ForgeRepository]) -> None:
    for repository in found:
        key = _repository_id(connection, repository)
        connection.execute(
            "delete from grants where repository = %s and source = %s and not (reader = any(%s))",
            [key, forge.host, sorted(repository.readers)],
        )
        connection.execute(
            "insert into grants (repository, reader, source) select %s, reader, %s"
            " from unnest(%s::text[]) as given (reader) on conflict do nothing",
            [key, forge.host, sorted(repository.readers)],
        )


def _repository_id(connection: Connection, repository: ForgeRepository) -> int:
    """Return the row of a repository, which may have been renamed, with what the forge says."""
    connection.execute(
        # Somebody else's repository may have had the name before: it is a new one.
        "update repository set name = name || '#' || id, removed_at = coalesce(removed_at, now())"
        " where name = %s and forge_id is not null and forge_id <> %s",
        [repository.name, repository.forge_id],
    )
    host = repository.name.partition("/")[0]
    # A push may have arrived under the new name before the forge told of it: that board counts.
    connection.execute(
        "update repository set name = name || '#' || id, renamed_to = %s, removed_at = now()"
        " where forge_id = %s and name like %s and name <> %s"
        " and exists (select from repository where name = %s)",
        [repository.name, repository.forge_id, f"{host}/%", repository.name, repository.name],
    )
    connection.execute(
        "update repository set name = %s where forge_id = %s and name like %s"
        " and removed_at is null",
        [repository.name, repository.forge_id, f"{host}/%"],
    )
    row = connection.execute(
        "insert into repository (name, forge_id, visibility, archived) values (%s, %s, %s, %s)"
        " on conflict (name) do update set forge_id = excluded.forge_id,"
        " visibility = excluded.visibility, archived = excluded.archived, removed_at = null"
        " returning id",
        [
            repository.name,
            repository.forge_id,
            repository.visibility,
            repository.is_archived,
        ],
    ).fetchone()
    assert row is not None  # noqa: S101  # for the type checker
    connection.execute(
        "update repository set tip = ref.id from ref where repository.id = %s"
        " and ref.repository = repository.id and ref.commit is not null and ref.name = %s",
        [row[0], f"refs/heads/{repository.default_branch}"],
    )
    return int(row[0])


def save_clients(connection: Connection, config: HubConfig) -> None:
    """Save the grants of clients that the configuration has, and no others."""
    rows = [
        (repository, f"client:{client}")
        for client, repositories in config.clients.items()
        for repository in repositories
    ]
    connection.execute("delete from grants where source = %s", [CLIENTS])
    connection.execute(
        "insert into grants (repository, reader, source) select r.id, given.reader, %s"
        " from unnest(%s::text[], %s::text[]) as given (name, reader)"
        " join repository r on r.name = given.name on conflict do nothing",
        [CLIENTS, [name for name, _ in rows], [reader for _, reader in rows]],
    )


def queue_webhook(connection: Connection, forge: Forge, path: str) -> None:
    """Have the worker compare a repository; "": all of them."""
    connection.execute("insert into webhook (host, path) values (%s, %s)", [forge.host, path])


def take_webhooks(connection: Connection) -> list[tuple[str, str]]:
    """Return the hosts and paths that are queued, each once, and delete them."""
    rows: Iterable[tuple[str, str]] = connection.execute(
        "delete from webhook where id in (select id from webhook for update skip locked)"
        " returning host, path"
    ).fetchall()
    return sorted(set(rows))
