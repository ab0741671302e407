"""One report over all repositories that a reader may see: by owner, by repository, by month.

The months are computed back from today by the events of pages, so that they are the same whenever
they are computed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ubp.answers.hub.report import (
    AgeOfDriftRecord,
    HubReportRecord,
    LevelCountsRecord,
    LevelsByMonthRecord,
    OutdatedPageRecord,
    OwnerRecord,
    RepositoryRecord,
)
from ubp.frame.records import moment_or_none
from ubp.hub.database import Connection
from ubp.hub.references import StoredReference, TipState, find_references, tip_states
from ubp.report.build import AGES

MONTHS = 12
MAX_PAGES = 500
Place = tuple[str, str]  # repository and path of a page

_TIPS = """
from readable(%(reader)s) v
join repository r on r.id = v.repository
join ref on ref.id = r.tip and ref.commit is not null
"""
_REPOSITORIES = f"""
select r.name, r.archived, encode(ref.commit, 'hex'), ref.pushed_at, p.level, count(p.path)
{_TIPS} left join page p on p.ref = ref.id
group by 1, 2, 3, 4, 5
"""
_OWNERS = f"""
select coalesce(owner, ''), p.level, r.name, count(*)
{_TIPS} join page p on p.ref = ref.id left join lateral unnest(p.owners) owner on true
where not r.archived group by 1, 2, 3
"""
_OLDEST = f"""
select r.name, p.path, p.level, p.owners, min(x.since), count(*)
{_TIPS} join page p on p.ref = ref.id and p.level in ('stale', 'possibly_stale')
join reference x on x.ref = p.ref and x.page = p.path and x.verdict not in ('fresh', 'unknown')
where not r.archived group by 1, 2, 3, 4
"""
_EVENTS = f"""
select date_trunc('month', e.at at time zone 'UTC'), e.before, e.after, count(*)
{_TIPS} join event e on e.ref = ref.id and e.kind = 'page'
where not r.archived and e.at >= %(start)s group by 1, 2, 3
"""
_OTHERS = "x.repository <> '' and not p.is_record and not r.archived"


def build_report(connection: Connection, reader: str, now: datetime) -> HubReportRecord:
    """Return the report on what a reader may see."""
    repositories = _repositories(connection, reader)
    outdated = _outdated(connection, reader)
    oldest = _oldest(connection, reader)
    behind = Counter(repository for repository, _ in outdated)
    total: Counter[str] = Counter()
    for row in repositories.values():
        if not row["archived"]:
            total.update(row["levels"])
    return HubReportRecord(
        at=moment_or_none(int(now.timestamp())) or "",
        levels=_levels(total),
        behind=len(outdated),
        repositories=tuple(
            RepositoryRecord(
                repository=name,
                is_archived=row["archived"],
                commit=row["commit"],
                pushed_at=_moment(row["pushed_at"]),
                levels=_levels(row["levels"]),
                behind=behind[name],
            )
            for name, row in sorted(repositories.items())
        ),
        owners=_owners(connection, reader, outdated, oldest, now),
        ages=_ages(oldest, now),
        months=_months(connection, reader, total, now),
        pages=_pages(outdated, oldest, repositories, now),
        hidden_pages=max(0, len(outdated.keys() | oldest.keys()) - MAX_PAGES),
    )


def _repositories(connection: Connection, reader: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    rows = connection.execute(_REPOSITORIES, {"reader": reader})
    for name, archived, commit, pushed_at, level, number in rows:
        row = found.setdefault(
            name,
            {"archived": archived, "commit": commit, "pushed_at": pushed_at, "levels": Counter()},
        )
        if level is not None:
            row["levels"][level] += number
    return found


def _outdated(
    connection: Connection, reader: str
) -> dict[Place, list[tuple[StoredReference, TipState]]]:
    """Return the pages that are behind the tip of another repository, with the references."""
    references = find_references(connection, reader, _OTHERS, {})
    found: dict[Place, list[tuple[StoredReference, TipState]]] = defaultdict(list)
    for reference, state in zip(
        references, tip_states(connection, reader, references), strict=True
    ):
        if state.is_outdated:
            found[reference.repository, reference.page].append((reference, state))
    return found


def _oldest(connection: Connection, reader: str) -> dict[Place, tuple[Any, ...]]:
    """Return the pages that are not fresh: level, owners, start of the oldest drift, references."""
    rows = connection.execute(_OLDEST, {"reader": reader})
    return {(name, path): tuple(rest) for name, path, *rest in rows}


def _owners(
    connection: Connection,
    reader: str,
    outdated: Mapping[Place, list[tuple[StoredReference, TipState]]],
    oldest: Mapping[Place, tuple[Any, ...]],
    now: datetime,
) -> tuple[OwnerRecord, ...]:
    levels: dict[str, Counter[str]] = defaultdict(Counter)
    repositories: dict[str, set[str]] = defaultdict(set)
    for owner, level, name, number in connection.execute(_OWNERS, {"reader": reader}):
        levels[owner][level] += number
        repositories[owner].add(name)
    behind = Counter(owner for found in outdated.values() for owner in found[0][0].owners or ("",))
    ages: dict[str, int] = {}
    for _, owners, since, _ in oldest.values():
        days = _days(since, now)
        for owner in owners or [""]:
            if days is not None:
                ages[owner] = max(ages.get(owner, 0), days)
    return tuple(
        OwnerRecord(
            owner=owner or None,
            repositories=len(repositories[owner]),
            levels=_levels(levels[owner]),
            behind=behind[owner],
            oldest_days=ages.get(owner),
        )
        for owner in sorted(levels, key=lambda owner: (-_urgency(levels[owner]), owner))
    )


def _urgency(levels: Mapping[str, int]) -> int:
    return levels.get("stale", 0) + levels.get("possibly_stale", 0)


def _ages(oldest: Mapping[Place, tuple[Any, ...]], now: datetime) -> tuple[AgeOfDriftRecord, ...]:
    counts: dict[int | None, Counter[str]] = {days: Counter() for days in (*AGES, None)}
    for level, _, since, _ in oldest.values():
        age = _days(since, now)
        group = None if age is None else max(days for days in AGES if days <= age)
        counts[group][level] += 1
    return tuple(
        AgeOfDriftRecord(
            from_days=days, stale=counted["stale"], possibly_stale=counted["possibly_stale"]
        )
        for days, counted in counts.items()
    )


def _months(
    connection: Connection, reader: str, current: Mapping[str, int], now: datetime
) -> tuple[LevelsByMonthRecord, ...]:
    """Return the levels at the end of each of the last months, the last one until now.

    Each event after that end is undone.
    """
    starts = _starts(now)
    undone: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for month, before, after, number in connection.execute(
        _EVENTS, {"reader": reader, "start": starts[0]}
    ):
        changes = undone[month.year, month.month]
        if before is not None:
            changes[before] += number
        if after is not None:
            changes[after] -= number
    levels = Counter(current)
    found = []
    for start in reversed(starts):
        found.append(LevelsByMonthRecord(month=f"{start:%Y-%m}", levels=_levels(levels)))
        levels.update(undone[start.year, start.month])
    return tuple(reversed(found))


def _starts(now: datetime) -> list[datetime]:
    last = now.year * 12 + now.month - 1
    numbers = range(last - MONTHS + 1, last + 1)
    return [datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC) for number in numbers]


def _pages(
    outdated: Mapping[Place, list[tuple[StoredReference, TipState]]],
    oldest: Mapping[Place, tuple[Any, ...]],
    repositories: Mapping[str, Mapping[str, Any]],
    now: datetime,
) -> tuple[OutdatedPageRecord, ...]:
    """Return the pages that need a review: those longest out of date first."""
    found = []
    for repository, path in outdated.keys() | oldest.keys():
        references = outdated.get((repository, path), [])
        level, owners, since, drifted = oldest.get((repository, path), ("fresh", (), None, 0))
        if references and not drifted:
            level, owners = references[0][0].level, references[0][0].owners
        sources = sorted({reference.name for reference, _ in references})
        found.append(
            OutdatedPageRecord(
                repository=repository,
                filepath=path,
                commit=repositories[repository]["commit"],
                owners=tuple(owners),
                staleness=level,
                age_days=_days(since, now),
                drifted=drifted,
                behind=tuple(sources),
            )
        )
    found.sort(key=lambda page: (-(page.age_days or 0), page.repository, page.filepath))
    return tuple(found[:MAX_PAGES])


def _levels(counts: Mapping[str, int]) -> LevelCountsRecord:
    names: Iterable[str] = ("stale", "possibly_stale", "unknown", "fresh", "untracked")
    return LevelCountsRecord(**{name: counts.get(name, 0) for name in names})


def _days(since: datetime | None, now: datetime) -> int | None:
    return None if since is None else max(0, (now - since).days)


def _moment(at: datetime | None) -> str | None:
    return moment_or_none(None if at is None else int(at.timestamp()))
