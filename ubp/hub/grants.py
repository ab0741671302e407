"""Keep the grants as the forges have them: what a worker writes, on a webhook and each night."""

from collections.abc import Sequence
from dataclasses import dataclass

from ubp.hub.config import Forge, HubConfig
from ubp.hub.database import Connection, Database
from ubp.hub.forges import ForgeClient, ForgeRepository
from ubp.hub.repositories import CLIENTS, identify, move_tip
from ubp.hub.store_texts import TextPush, take_texts

_SAVE_CLIENTS = """
with wanted as (
    select distinct named(name) as repository, reader
    from unnest(%(names)s::text[], %(readers)s::text[]) as given (name, reader)
), withdrawn as (
    delete from grants g where source = %(source)s and not exists
    (select from wanted w where w.repository = g.repository and w.reader = g.reader)
)
insert into grants (repository, reader, source)
select repository, reader, %(source)s from wanted where repository is not null
on conflict do nothing
"""


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
        kept = _save(connection, forge, found)
        removed = connection.execute(
            "update repository set removed_at = now() where removed_at is null"
            " and not (id = any(%s)) and exists (select from unnest(%s::text[]) as start"
            "  where starts_with(lower(name), lower(start)))",
            [kept, [f"{forge.host}/{group}/" for group in forge.groups]],
        ).rowcount
    return Compared(len(found), removed)


def compare_repository(database: Database, forge: Forge, path: str) -> None:
    """Compare one repository of a forge.

    Raises:
        HubError: the forge cannot be read; nothing is changed.
    """
    found = ForgeClient(forge).repository(path)
    with database.connection() as connection:
        kept = _save(connection, forge, [found] if found else [])
        connection.execute(
            "update repository set removed_at = now() where removed_at is null"
            " and not (id = any(%s)) and lower(name) = lower(%s)",
            [kept, f"{forge.host}/{path}"],
        )


def _save(connection: Connection, forge: Forge, found: Sequence[ForgeRepository]) -> list[int]:
    """Save repositories and their readers, and return their rows."""
    keys = []
    for repository in found:
        key = _update(connection, repository)
        keys.append(key)
        connection.execute(
            "delete from grants where repository = %s and source = %s and not (reader = any(%s))",
            [key, forge.host, sorted(repository.readers)],
        )
        connection.execute(
            "insert into grants (repository, reader, source) select %s, reader, %s"
            " from unnest(%s::text[]) as given (reader) on conflict do nothing",
            [key, forge.host, sorted(repository.readers)],
        )
    return keys


def _update(connection: Connection, repository: ForgeRepository) -> int:
    """Save what the forge has about a repository, and return its row."""
    key, _ = identify(connection, repository.name, repository.forge_id)
    connection.execute(
        "update repository set visibility = %s, archived = %s, default_branch = %s where id = %s",
        [repository.visibility, repository.is_archived, repository.default_branch, key],
    )
    ref = f"refs/heads/{repository.default_branch}"
    if move_tip(connection, key, ref):
        # The texts of the branch before; those of this one come with its next push.
        take_texts(connection, TextPush(key, ref, "none", is_new=True), None)
    return key


def save_clients(connection: Connection, config: HubConfig) -> None:
    """Save the grants of clients that the configuration has, and no others.

    Nothing is written where they are there: it may be called as often as repositories may appear.
    """
    rows = [
        (repository, f"client:{client}")
        for client, repositories in config.clients.items()
        for repository in repositories
    ]
    connection.execute(
        _SAVE_CLIENTS,
        {
            "source": CLIENTS,
            "names": [name for name, _ in rows],
            "readers": [reader for _, reader in rows],
        },
    )
