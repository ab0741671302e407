"""A made-up organisation in the hub's tables: repositories, pages, references, grants, events."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LEVELS = ("fresh", "fresh", "fresh", "stale", "possibly_stale", "unknown", "untracked")
VERDICTS = {"fresh": "fresh", "stale": "modified", "possibly_stale": "modified"}
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Size:
    """How large an organisation is."""

    repositories: int = 12
    pages: int = 12
    sources: int = 12
    references: int = 2


def fill(connection, size: Size = Size(), seed: int = 34) -> list[str]:
    """Fill the tables, and return the names of the repositories."""
    chance = random.Random(seed)
    names = [f"github.com/acme/r{number:04}" for number in range(size.repositories)]
    copy = _copier(connection)
    # Checking half a million foreign keys takes minutes, and they are right.
    connection.execute("set local session_replication_role = replica")
    connection.execute("set local statement_timeout = 0")
    ids = range(1, size.repositories + 1)
    visibilities = chance.choices(["public", "private", "private", "internal"], k=len(names))
    copy("repository (name, visibility)", zip(names, visibilities, strict=True))
    copy(
        "ref (repository, name, commit, pushed_at)",
        ((number, "refs/heads/main", oid(chance), NOW) for number in ids),
    )
    connection.execute(
        "update repository set tip = ref.id from ref where repository = repository.id"
    )
    sources = {number: [f"src/m{n % 5}/f{n:02}.py" for n in range(size.sources)] for number in ids}
    blobs = {(number, path): oid(chance) for number in ids for path in sources[number]}
    pages = {number: [f"docs/d{n % 7}/p{n:03}.md" for n in range(size.pages)] for number in ids}
    copy(
        "file (ref, path, piece, digest, oid, changed_at)",
        (
            (number, path, 0, b"", blobs.get((number, path)) or oid(chance), past(chance))
            for number in ids
            for path in [*sources[number], *pages[number]]
        ),
    )
    teams = [f"@acme/team-{number}" for number in range(max(3, size.repositories // 8))]
    levels = {(n, path): chance.choice(LEVELS) for n in ids for path in pages[n]}
    copy(
        "page (ref, path, level, is_record, owners)",
        (
            (number, path, level, False, chance.sample(teams, chance.choice([0, 1, 1, 2])))
            for (number, path), level in levels.items()
        ),
    )
    copy(
        "reference (ref, page, number, repository, path, fragment, pin, verdict, level,"
        " baseline_kind, since, commits)",
        _references(chance, size, sources, blobs, levels, names),
    )
    _add_events(connection, copy, chance, levels)
    for reader in range(6):
        for number in ids:
            if chance.random() < 0.3:
                connection.execute(
                    "insert into grants (repository, reader) values (%s, %s)",
                    [number, f"github.com/user-{reader}"],
                )
    connection.execute("analyze")
    return names


def _references(  # noqa: PLR0917  # it knows all of the organisation
    chance, size, sources, blobs, levels, names
) -> Iterator[tuple]:
    for (number, page), level in levels.items():
        if level == "untracked":
            continue
        for place in range(size.references):
            is_other = chance.random() < 0.2
            other = chance.choice(range(1, len(names) + 1)) if is_other else number
            path = chance.choice(sources[other])
            kind = chance.random()
            if kind < 0.1:
                path = path.rpartition("/")[0]
            fragment = chance.choice(["", "", "charge", "Session.login", "Session"])
            fragment = fragment if path.endswith(".py") else ""
            blob = blobs.get((other, path), oid(chance)).hex()
            pin = chance.choice([blob, blob[:12], oid(chance).hex(), None])
            repository = names[other - 1] if is_other else ""
            verdict = VERDICTS.get(level, "unknown") if not is_other else "fresh"
            since = past(chance) if verdict == "modified" else None
            yield (
                *(number, page, place, repository, path, fragment, pin, verdict),
                *("fresh" if is_other else level, "pin", since, 1),
            )


def _add_events(connection, copy, chance, levels) -> None:
    """Add how each page came to its level, in up to three steps within 14 months."""
    rows = []
    for (number, page), level in levels.items():
        steps = [chance.choice(LEVELS) for _ in range(chance.randrange(3))]
        days = sorted((chance.uniform(0, 420) for _ in range(len(steps) + 1)), reverse=True)
        before = None
        for after, ago in zip([*steps, level], days, strict=True):
            if after != before:
                rows.append((NOW - timedelta(days=ago), number, "page", page, before, after, b"c"))
            before = after
    for month in sorted({row[0].replace(day=1) for row in rows}):
        connection.execute("select make_partition('event', %s)", [month])
    copy("event (at, ref, kind, path, before, after, commit)", rows)


def _copier(connection):
    def copy(table, rows):
        with connection.cursor() as cursor, cursor.copy(f"copy {table} from stdin") as writer:
            for row in rows:
                writer.write_row(row)

    return copy


def oid(chance) -> bytes:
    return chance.randbytes(20)


def past(chance) -> datetime:
    return NOW - timedelta(days=chance.uniform(0, 500))
