"""Find what has come behind the tip of another repository: each reference is announced once.

A push notes that its tip has changed, in its own transaction. The worker compares the references to
that repository, and notes in one transaction what is new and to whom it is to be sent: nothing is
lost or announced twice, whenever it is killed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from ubp.hub.config import Hook
from ubp.hub.database import Connection
from ubp.hub.references import StoredReference, count_commits, find_references, tip_states
from ubp.hub.repositories import all_names

EVERYTHING = "*"
MAX_ITEMS = 200  # of one delivery
_CONDITION = """
(x.repository = any(%(names)s) or x.ref = %(ref)s and x.repository <> '')
and not p.is_record and not r.archived
"""


class _Key(NamedTuple):
    """A row of `behind`."""

    ref: int
    page: str
    source: int
    path: str
    fragment: str
    pin: str


def announce(connection: Connection, hooks: Sequence[Hook]) -> int:
    """Note what has come behind the tips that changed, for each hook, and return how much it is."""
    refs = [ref for (ref,) in connection.execute("delete from changed_tip returning ref")]
    rows = connection.execute(
        "select id, name, tip from repository where removed_at is null and tip = any(%s)"
        " order by id",
        [refs],
    ).fetchall()
    return sum(_announce(connection, hooks, *row) for row in rows)


def _announce(
    connection: Connection, hooks: Sequence[Hook], repository: int, name: str, tip: int
) -> int:
    values = {"names": all_names(connection, EVERYTHING, name)[1], "ref": tip}
    references = find_references(connection, EVERYTHING, _CONDITION, values)
    states = tip_states(connection, EVERYTHING, references)
    numbers = _numbers(connection, references)
    current: dict[_Key, tuple[StoredReference, str]] = {}
    for reference, state in zip(references, states, strict=True):
        if state.is_outdated and reference.source in numbers:
            source, _ = numbers[reference.source]
            _, ref = numbers[reference.repository]
            key = _Key(
                ref, reference.page, source, reference.path, reference.fragment, reference.pin or ""
            )
            current.setdefault(key, (reference, state.tip))
    known = {
        _Key(*row)
        for row in connection.execute(
            "select ref, page, source, path, fragment, pin from behind"
            " where source = %s or ref = %s",
            [repository, tip],
        )
    }
    with connection.cursor() as cursor:
        cursor.executemany(
            "delete from behind where (ref, page, source, path, fragment, pin)"
            " = (%s, %s, %s, %s, %s, %s)",
            list(known - current.keys()),
        )
        new = [key for key in current if key not in known]
        cursor.executemany(
            "insert into behind (ref, page, source, path, fragment, pin)"
            " values (%s, %s, %s, %s, %s, %s)",
            new,
        )
    _queue(connection, hooks, [(key, *current[key]) for key in new], numbers)
    return len(new)


def _queue(
    connection: Connection,
    hooks: Iterable[Hook],
    found: Sequence[tuple[_Key, StoredReference, str]],
    numbers: dict[str, tuple[int, int]],
) -> None:
    counts = count_commits(connection, EVERYTHING, [reference for _, reference, _ in found])
    items: list[dict[str, Any]] = [
        {
            "repository": numbers[reference.repository][0],
            "page": reference.page,
            "owners": list(reference.owners),
            "source": key.source,
            "path": reference.path,
            "fragment": reference.fragment,
            "tip": tip,
            "commits": commits if tip == "behind" else None,
        }
        for (key, reference, tip), commits in zip(found, counts, strict=True)
    ]
    for hook in hooks:
        rows = connection.execute(
            "select named(name) from unnest(%s::text[]) as name", [list(hook.repositories)]
        )
        repositories = {repository for (repository,) in rows}
        chosen = [item for item in items if _is_wanted(hook, repositories, item)]
        for start in range(0, len(chosen), MAX_ITEMS):
            connection.execute(
                "insert into delivery (hook, items) values (%s, %s)",
                [hook.url, Jsonb(chosen[start : start + MAX_ITEMS])],
            )


def _is_wanted(hook: Hook, repositories: Collection[int], item: Mapping[str, Any]) -> bool:
    is_owned = not hook.owners or not set(hook.owners).isdisjoint(item["owners"])
    return is_owned and (not hook.repositories or item["repository"] in repositories)


def _numbers(
    connection: Connection, references: Sequence[StoredReference]
) -> dict[str, tuple[int, int]]:
    """Return the row and the tip of each repository of references; those without a tip lack."""
    names = {name for each in references for name in (each.repository, each.source)}
    rows = connection.execute(
        "select name, id, tip from repository where name = any(%s) and removed_at is null"
        " and tip is not null",
        [list(names)],
    )
    return {name: (key, tip) for name, key, tip in rows}
