"""Keep the grants as the forges have them: what a worker writes, on a webhook and each night."""

from collections.abc import Sequence
from dataclasses import dataclass

from ubp.hub.config import Forge, HubConfig
from ubp.hub.database import Connection, Database
from ubp.hub.forges import ForgeClient, ForgeRepository
from ubp.hub.repositories import CLIENTS, identify


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
        key = _update(connection, repository)
        connection.execute(
            "delete from grants where repository = %s and source = %s and not (reader = any(%s))",
            [key, forge.host, sorted(repository.readers)],
        )
        connection.execute(
            "insert into grants (repository, reader, source) select %s, reader, %s"
            " from unnest(%s::text[]) as given (reader) on conflict do nothing",
            [key, forge.host, sorted(repository.readers)],
        )


def _update(connection: Connection, repository: ForgeRepository) -> int:
    """Save what the forge has about a repository, and return its row."""
    key, _ = identify(connection, repository.name, repository.forge_id)
    connection.execute(
        "update repository set visibility = %s, archived = %s where id = %s",
        [repository.visibility, repository.is_archived, key],
    )
    connection.execute(
        "update repository set tip = ref.id from ref where repository.id = %s"
        " and ref.repository = repository.id and ref.commit is not null and ref.name = %s",
        [key, f"refs/heads/{repository.default_branch}"],
    )
    return key


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
