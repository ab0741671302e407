"""Which repository a name means: the one with its number at the forge, whatever it was called.

Tokens of CI jobs and the forge itself have that number. A new repository of an old name begins
without board, readers and history; one that is renamed keeps them. A client without such a token
means whatever has the name, or had it last. Names ignore case, as those of GitHub and GitLab do.
"""

from ubp.core.errors import BadArgumentError
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
        connection.execute("delete from former_name where lower(name) = lower(%s)", [name])
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
        row = connection.execute("select named(%s)", [name]).fetchone()
        return int(row[0]) if row and row[0] is not None else None
    connection.execute(
        "update repository set name = name || '#' || id, removed_at = coalesce(removed_at, now())"
        " where lower(name) = lower(%(name)s) and forge_id is distinct from %(forge_id)s"
        " and (forge_id is not null or exists (select from repository o"
        "  where o.forge_id = %(forge_id)s"
        "  and split_part(o.name, '/', 1) = split_part(%(name)s, '/', 1)))",
        {"name": name, "forge_id": forge_id},
    )
    row = connection.execute(
        "select id, name, removed_at is not null from repository"
        " where lower(name) = lower(%(name)s) or forge_id = %(forge_id)s"
        "  and split_part(name, '/', 1) = split_part(%(name)s, '/', 1)"
        " order by forge_id is null, name <> %(name)s, id limit 1",
        {"name": name, "forge_id": forge_id},
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
    connection.execute("delete from former_name where lower(name) = lower(%s)", [name])
    if before != name and "#" not in before:
        connection.execute(
            "insert into former_name (name, repository) values (%s, %s)"
            " on conflict (name) do update set repository = excluded.repository",
            [before, key],
        )
    return int(key)


def all_names(connection: Connection, reader: str, name: str) -> tuple[str, list[str]]:
    """Return the name that a repository has now, and all that pages may call it by."""
    row = connection.execute(
        "select r.name from repository r join readable(%s) v on v.repository = r.id"
        " where r.id = (select named(%s))",
        [reader, name],
    ).fetchone()
    current = str(row[0]) if row else name
    former = connection.execute(
        "select o.name from former_name o join repository r on r.id = o.repository"
        " join readable(%s) v on v.repository = r.id where r.name = %s order by 1",
        [reader, current],
    )
    return current, [*dict.fromkeys((name, current, *(each for (each,) in former)))]


def pushed_name(connection: Connection, reader: str, name: str) -> str:
    """Return the name that a repository has now whose tip a reader may see.

    Raises:
        BadArgumentError: there is none of this name.
    """
    row = connection.execute(
        "select r.name from repository r join readable(%s) v on v.repository = r.id"
        " join ref on ref.id = r.tip and ref.commit is not null where r.id = (select named(%s))",
        [reader, name],
    ).fetchone()
    if row is None:
        raise BadArgumentError(
            "repository",
            f"The hub has no board of {name[:200]} that you may read.",
            hint="Push it first, or ask who may read the repository.",
        )
    return str(row[0])


def move_tip(connection: Connection, repository: int, ref: str) -> bool:
    """Let a ref be the tip of a repository, if it has a board; return whether another one was."""
    changed = connection.execute(
        "update repository r set tip = ref.id from ref where r.id = %s and ref.repository = r.id"
        " and ref.name = %s and ref.commit is not null and r.tip is distinct from ref.id"
        " returning ref.id",
        [repository, ref],
    ).fetchall()
    for row in changed:
        connection.execute("insert into changed_tip (ref) values (%s) on conflict do nothing", row)
    return bool(changed)


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
