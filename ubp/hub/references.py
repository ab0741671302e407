"""References of pages, and what became of their sources at the tip of each repository.

A reference to a source of another repository has two verdicts. The page's own repository says
whether it is fresh at its pin; the hub compares the pin with the tip of the source's repository.
Who may not read that one is told nothing about it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from ubp.answers.hub.impact import OUTDATED, Tip
from ubp.core.model import Level, Verdict
from ubp.hub.database import Connection
from ubp.hub.parts import is_same_part

# What the verdict of a page's own repository says about its tip, which the board describes.
OWN_TIPS: Mapping[Verdict, Tip] = {
    "fresh": "current",
    "modified": "behind",
    "created": "behind",
    "moved": "gone",
    "deleted": "gone",
    "not_found": "gone",
    "unknown": "unknown",
}
MIN_PIN = 7  # digits
MAX_MOVES = 20  # that are followed


@dataclass(frozen=True, slots=True)
class StoredReference:
    """A reference of a page at the tip of its repository; `source` is that of its source."""

    repository: str
    page: str
    level: Level
    owners: tuple[str, ...]
    source: str
    path: str
    fragment: str
    pin: str | None
    verdict: Verdict

    @property
    def name(self) -> str:
        """The source as the page names it: `src/pay.py#charge`, after another repository's name."""
        path = self.path if self.is_own else f"{self.source}:{self.path}"
        return f"{path}#{self.fragment}" if self.fragment else path

    @property
    def is_own(self) -> bool:
        """Whether the source is in the page's own repository."""
        return self.source == self.repository


@dataclass(frozen=True, slots=True)
class TipState:
    """A source at the tip of its repository; `changed_at` is None where that is unknown.

    `blob` is that of its file, of a readable repository other than the page's.
    """

    tip: Tip
    changed_at: datetime | None = None
    moved_to: str | None = None
    blob: str | None = None

    @property
    def is_outdated(self) -> bool:
        """Whether what the page describes has changed at the tip, or is gone."""
        return self.tip in OUTDATED


class _File(NamedTuple):
    repository: int
    blob: str
    changed_at: datetime | None


_REFERENCES = """
select r.name, x.page, p.level, p.owners,
       case x.repository when '' then r.name else coalesce(renamed.name, x.repository) end,
       x.path, x.fragment, x.pin, x.verdict
from readable(%(reader)s) v
join repository r on r.id = v.repository
join ref on ref.id = r.tip and ref.commit is not null
join reference x on x.ref = ref.id
join page p on p.ref = x.ref and p.path = x.page
left join (select o.name as former, n.name
           from former_name o join repository n on n.id = o.repository
           join readable(%(reader)s) w on w.repository = n.id) renamed
       on renamed.former = x.repository
where {condition}
order by r.name collate "C", x.page collate "C", x.number
"""


def find_references(
    connection: Connection, reader: str, condition: str, values: Mapping[str, Any]
) -> list[StoredReference]:
    """Return the references of readable pages that meet a condition in SQL, by page."""
    rows = connection.execute(
        _REFERENCES.format(condition=condition),
        {"reader": reader, **values},
    )
    return [
        StoredReference(name, page, level, tuple(owners), *rest)
        for name, page, level, owners, *rest in rows
    ]


def tip_states(
    connection: Connection, reader: str, references: Sequence[StoredReference]
) -> list[TipState]:
    """Return what the source of each of these references is at its tip."""
    wanted = {(ref.source, ref.path) for ref in references}
    files = find_files(connection, reader, wanted)
    readable = find_tips(connection, reader, {source for source, _ in wanted})
    folders = _folders(
        connection, [(readable[s], p) for s, p in wanted - files.keys() if s in readable]
    )
    states = []
    for ref in references:
        file = files.get((ref.source, ref.path))
        if ref.is_own:
            states.append(TipState(OWN_TIPS[ref.verdict], file.changed_at if file else None))
        elif ref.source not in readable:
            states.append(TipState("unknown"))
        elif file is not None:
            tip = _compare(connection, ref, file)
            states.append(TipState(tip, file.changed_at, blob=file.blob))
        elif (readable[ref.source], ref.path) in folders or _is_pattern(ref.path):
            states.append(TipState("unknown"))
        else:
            moved_to = later_path(connection, readable[ref.source], ref.path)
            states.append(TipState("gone", moved_to=moved_to))
    return states


def count_commits(
    connection: Connection, reader: str, references: Sequence[StoredReference]
) -> list[int | None]:
    """Return by how many commits the file of each source has changed since its pin.

    None: the source is not readable, or the pushes since do not know.
    """
    rows = connection.execute(
        "select wanted.number, sum(e.commits), bool_or(e.commits is null)"
        " from unnest(%s::int[], %s::text[], %s::text[], %s::text[])"
        "  as wanted (number, name, path, pin)"
        " join repository r on r.name = wanted.name join readable(%s) v on v.repository = r.id"
        " join event e on e.ref = r.tip and e.kind = 'file' and e.path = wanted.path"
        " where e.at >= (select max(pinned.at) from event pinned where pinned.ref = r.tip"
        "  and pinned.kind = 'file' and pinned.path = wanted.path"
        "  and starts_with(pinned.before, wanted.pin))"
        " group by 1",
        [
            list(range(len(references))),
            [reference.source for reference in references],
            [reference.path for reference in references],
            [reference.pin for reference in references],
            reader,
        ],
    )
    found = {number: commits for number, commits, is_unknown in rows if not is_unknown}
    return [found.get(number) for number in range(len(references))]


def find_files(
    connection: Connection, reader: str, wanted: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], _File]:
    """Return those of these files, by repository and path, that a reader may see at a tip."""
    pairs = sorted(wanted)
    rows = connection.execute(
        "select r.name, f.path, r.id, encode(f.oid, 'hex'), f.changed_at"
        " from unnest(%s::text[], %s::text[]) as wanted (name, path)"
        " join repository r on r.name = wanted.name"
        " join readable(%s) v on v.repository = r.id"
        " join file f on f.ref = r.tip and f.path = wanted.path",
        [[name for name, _ in pairs], [path for _, path in pairs], reader],
    )
    return {(name, path): _File(*rest) for name, path, *rest in rows}


def find_tips(connection: Connection, reader: str, names: Collection[str]) -> dict[str, int]:
    """Return the refs at the tips of those of these repositories that a reader may see."""
    rows = connection.execute(
        "select r.name, ref.id from repository r join readable(%s) v on v.repository = r.id"
        " join ref on ref.id = r.tip and ref.commit is not null where r.name = any(%s)",
        [reader, list(names)],
    )
    return dict(rows.fetchall())


def is_folder(connection: Connection, ref: int, path: str) -> bool:
    """Return whether a ref has files below a path."""
    return bool(_folders(connection, [(ref, path)]))


def former_paths(connection: Connection, ref: int, path: str) -> tuple[str, ...]:
    """Return the paths that a file of a ref had before it was moved, the last one first."""
    return _follow(connection, _FORMER, ref, path)


def later_path(connection: Connection, ref: int, path: str) -> str | None:
    """Return where a file that is gone was moved to, if it is there."""
    return next(reversed(_follow(connection, _LATER, ref, path)), None)


# A file that is gone, and one with the same bytes that came by the same push.
_MOVED = (
    " from event gone join event came on came.ref = gone.ref and came.at = gone.at"
    " and came.kind = 'file' and came.before is null and came.after = gone.before"
    " where gone.ref = %s and gone.kind = 'file' and gone.after is null and {} = %s"
    " order by gone.at desc, came.path limit 1"
)
_FORMER = "select gone.path" + _MOVED.format("came.path")
_LATER = "select came.path" + _MOVED.format("gone.path")


def _follow(connection: Connection, query: str, ref: int, path: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for _ in range(MAX_MOVES):
        row = connection.execute(query, [ref, path]).fetchone()
        if row is None or row[0] in found:
            break
        path = row[0]
        found[path] = None
    return tuple(found)


def _folders(connection: Connection, places: Sequence[tuple[int, str]]) -> set[tuple[int, str]]:
    rows = connection.execute(
        "select ref, path from unnest(%s::int[], %s::text[]) as wanted (ref, path)"
        " where exists (select from file f where f.ref = wanted.ref"
        " and (wanted.path = '' or starts_with(f.path, wanted.path || '/')))",
        [[ref for ref, _ in places], [path for _, path in places]],
    )
    return {(ref, path) for ref, path in rows}


def _is_pattern(path: str) -> bool:
    return any(character in path for character in "*?[")


def _compare(connection: Connection, ref: StoredReference, file: _File) -> Tip:
    """Compare a pin with the file at the tip, and of a part by what both blobs have of it."""
    if ref.pin is None or len(ref.pin) < MIN_PIN:
        return "unknown"
    if file.blob.startswith(ref.pin):
        return "current"
    if ref.fragment:
        is_same = is_same_part(
            connection, file.repository, (ref.pin, file.blob), ref.path, ref.fragment
        )
        if is_same is not None:
            return "current" if is_same else "behind"
    return "behind"
