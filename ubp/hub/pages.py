"""List the pages of all readable repositories, and find those whose sources have changed."""

from typing import Any

from ubp.answers.hub.impact import DescribingPageRecord
from ubp.answers.hub.pages import (
    HubPageRecord,
    HubPagesRecord,
    HubPagesRequest,
    HubStalenessRecord,
    HubStalenessRequest,
)
from ubp.frame.records import moment_or_none
from ubp.hub.database import Connection
from ubp.hub.references import StoredReference, TipState, find_references, tip_states

NO_OWNER = "none"
_OUTDATED = frozenset({"behind", "gone"})

_PAGES = """
select r.name, p.path, p.owners, p.level, count(*) over ()
from readable(%(reader)s) v
join repository r on r.id = v.repository
join ref on ref.id = r.tip and ref.commit is not null
join page p on p.ref = ref.id
where (%(repository)s::text is null or r.name = %(repository)s)
  and (%(owner)s::text is null or %(owner)s = any(p.owners)
       or %(owner)s = 'none' and p.owners = '{}')
  and (%(level)s::text is null or p.level = %(level)s)
order by r.name collate "C", p.path collate "C"
limit %(limit)s offset %(offset)s
"""

# A reference within a repository is compared in it; only those of others may be behind without
# being stale.
_CONDITION = """
(x.level not in ('fresh', 'untracked') or x.repository <> '')
and not p.is_record
and (%(repository)s::text is null or r.name = %(repository)s)
and (%(page)s::text is null or x.page = %(page)s)
and (%(owner)s::text is null or %(owner)s = any(p.owners)
     or %(owner)s = 'none' and p.owners = '{}')
"""


def list_pages(connection: Connection, reader: str, request: HubPagesRequest) -> HubPagesRecord:
    """Return the pages that a reader may see."""
    offset = int(request.after) if request.after and request.after.isdecimal() else 0
    rows = connection.execute(
        _PAGES,
        {
            "reader": reader,
            "repository": request.repository,
            "owner": request.owner,
            "level": request.staleness,
            "limit": request.limit,
            "offset": min(offset, 1 << 31),
        },
    ).fetchall()
    total = rows[0][-1] if rows else 0
    end = offset + len(rows)
    return HubPagesRecord(
        pages=tuple(
            HubPageRecord(repository=name, filepath=path, owners=tuple(owners), staleness=level)
            for name, path, owners, level, _ in rows
        ),
        total=total,
        next_after=str(end) if end < total else None,
    )


def check_staleness(
    connection: Connection, reader: str, request: HubStalenessRequest
) -> HubStalenessRecord:
    """Return the references that are not fresh in their repository, or behind another one's tip."""
    values: dict[str, Any] = {
        "repository": request.repository,
        "page": request.filepath,
        "owner": request.owner,
    }
    found = find_references(connection, reader, _CONDITION, values)
    states = tip_states(connection, reader, found)
    outdated = [
        (reference, state)
        for reference, state in zip(found, states, strict=True)
        if reference.verdict != "fresh" or state.tip in _OUTDATED
    ]
    shown = outdated[: request.limit]
    return HubStalenessRecord(
        references=tuple(describing_record(*each) for each in shown),
        pages=len({(reference.repository, reference.page) for reference, _ in outdated}),
        total=len(outdated),
        truncated_count=len(outdated) - len(shown),
    )


def describing_record(reference: StoredReference, state: TipState) -> DescribingPageRecord:
    """Return a reference as answers have it."""
    changed_at = int(state.changed_at.timestamp()) if state.changed_at else None
    return DescribingPageRecord(
        repository=reference.repository,
        filepath=reference.page,
        owners=reference.owners,
        source=reference.name,
        verdict=reference.verdict,
        staleness=reference.level,
        tip=state.tip,
        changed_at=moment_or_none(changed_at),
        moved_to=state.moved_to,
    )
