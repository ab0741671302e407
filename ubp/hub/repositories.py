"""Which repository a name means: the one with its number at the forge, whatever it was called.

Tokens of CI jobs and the forge itself have that number. A new repository of an old name begins
without board, readers and history; one that is renamed keeps them. A client without such a token
means whatever has the name.
"""

from ubp.hub.database import Connection

IDENTITY_LOCK = 0x7562_7032  # of the advisory lock: "ubp2"
CLIENTS = "configuration"  # the source of the grants of clients


def identify(connection: Connection, name: str, forge_id: str | None) -> tuple[int, bool]:
    """Return the row of a repository, and whether the forge should be asked about it.

    That is so where it is new, has another name than before, or was thought to be removed: nobody
    reads it until the forge has named its readers.
    """
    row = connection.execute(
        "select id from repository where name = %s"
        " and (%s::text is null or forge_id = %s and removed_at is null)",
        [name, forge_id, forge_id],
    ).fetchone()
    if row is not None:
        return int(row[0]), False
    connection.execute("select pg_advisory_xact_lock(%s)", [IDENTITY_LOCK])
    key = _find(connection, name, forge_id)
    if key is None:
        connection.execute("delete from former_name where name = %s", [name])
        row = connection.execute(
            "insert into repository (name, forge_id) values (%s, %s) returning id", [name, forge_id]
        ).fetchone()
        assert row is not None  # noqa: S101  # for the type checker
        key = int(row[0])
    return key, True


def _find(connection: Connection, name: str, forge_id: str | None) -> int | None:
    """Return the row that has the number or, without one, the name; None: it is a new repository.

    What else has the name is one that is gone.
    """
    if forge_id is None:
        row = connection.execute(
            "select id from repository where name = %s"
            " union all select repository from former_name where name = %s limit 1",
            [name, name],
        ).fetchone()
        return int(row[0]) if row else None
    connection.execute(
        "update repository set name = name || '#' || id, removed_at = coalesce(removed_at, now())"
        " where name = %(name)s and forge_id is distinct from %(forge_id)s"
        " and (forge_id is not null or exists (select from repository o"
        "  where o.forge_id = %(forge_id)s"
        "  and split_part(o.name, '/', 1) = split_part(%(name)s, '/', 1)))",
        {"name": name, "forge_id": forge_id},
    )
    row = connection.execute(
        "select id, name, removed_at is not null from repository where name = %s or forge_id = %s"
        " and split_part(name, '/', 1) = split_part(%s, '/', 1)",
        [name, forge_id, name],
    ).fetchone()
    if row is None:
        return None
    key, before, was_removed = row
    if was_removed:
        connection.execute(
            "delete from grants where repository = %s and source <> %s", [key, CLIENTS]
        )
    connection.execute(
        "update repository set name = %s, forge_id = %s, removed_at = null,"
        " visibility = case when removed_at is null then visibility else 'private' end"
        " where id = %s",
        [name, forge_id, key],
    )
    connection.execute("delete from former_name where name = %s", [name])
    if before != name and "#" not in before:
        connection.execute(
            "insert into former_name (name, repository) values (%s, %s)"
            " on conflict (name) do update set repository = excluded.repository",
            [before, key],
        )
    return int(key)


def queue_comparison(connection: Connection, host: str, path: str) -> None:
    """Have the worker ask a forge about a repository; "": about all of them."""
    connection.execute("insert into webhook (host, path) values (%s, %s)", [host, path])


def take_comparisons(connection: Connection) -> dict[tuple[str, str], list[int]]:
    """Return the hosts and paths that are due, with their rows, which are kept until `finish`."""
    found: dict[tuple[str, str], list[int]] = {}
    rows = connection.execute(
        "select id, host, path from webhook where due_at <= now() order by id"
    )
    for key, host, path in rows:
        found.setdefault((host, path), []).append(key)
    return found


def finish_comparison(connection: Connection, rows: list[int], seconds: float | None) -> None:
    """Delete what was compared; after a failure try it again in so many seconds."""
    if seconds is None:
        connection.execute("delete from webhook where id = any(%s)", [rows])
    else:
        connection.execute(
            "update webhook set due_at = now() + make_interval(secs => %s) where id = any(%s)",
            [seconds, rows],
        )
