"""List the pages of all readable repositories, and find those whose sources have changed."""

from collections.abc import Sequence
from typing import Any

from ubp.answers.hub.impact import DescribingPageRecord
from ubp.answers.hub.pages import (
    HubPageRecord,
    HubPagesRecord,
    HubPagesRequest,
    HubStalenessRecord,
    HubStalenessRequest,
)
from ubp.core.errors import BadArgumentError
from ubp.frame.records import moment_or_none
from ubp.hub.database import Connection
from ubp.hub.references import (
    StoredReference,
    TipState,
    count_commits,
    find_references,
    tip_states,
)
from ubp.hub.repositories import pushed_name

MAX_DIGITS = 9  # of a place in a list
MAX_SHOWN_CHARACTERS = 100

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
    """Return the pages that a reader may see.

    Raises:
        BadArgumentError: of the repository that is asked for, the reader may see nothing; or no
            list goes on at `after`.
    """
    repository = request.repository
    if repository is not None:
        repository = pushed_name(connection, reader, repository)
    offset = 0 if request.after is None else _read_offset(request.after)
    rows = connection.execute(
        _PAGES,
        {
            "reader": reader,
            "repository": repository,
            "owner": request.owner,
            "level": request.staleness,
            "limit": request.limit,
            "offset": offset,
        },
    ).fetchall()
    if offset and not rows:
        raise _bad_after(str(offset), "No list is as long, with these arguments.")
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


def _read_offset(after: str) -> int:
    if not (after.isdecimal() and len(after) <= MAX_DIGITS):
        raise _bad_after(after, "It was not returned with a list of pages, or was altered.")
    return int(after)


def _bad_after(after: str, cause: str) -> BadArgumentError:
    return BadArgumentError(
        "after",
        f"Invalid `after`: {after[:MAX_SHOWN_CHARACTERS]}.",
        cause=cause,
        hint="Repeat the arguments of the call that returned it, or omit it to start again.",
    )


def check_staleness(
    connection: Connection, reader: str, request: HubStalenessRequest
) -> HubStalenessRecord:
    """Return the references that are not fresh in their repository, or behind another one's tip.

    Raises:
        BadArgumentError: of the repository that is asked for, the reader may see nothing.
    """
    repository = request.repository
    if repository is not None:
        repository = pushed_name(connection, reader, repository)
    values: dict[str, Any] = {
        "repository": repository,
        "page": request.filepath,
        "owner": request.owner,
    }
    found = find_references(connection, reader, _CONDITION, values)
    states = tip_states(connection, reader, found)
    outdated = [
        (reference, state)
        for reference, state in zip(found, states, strict=True)
        if reference.verdict != "fresh" or state.is_outdated
    ]
    shown = outdated[: request.limit]
    return HubStalenessRecord(
        references=describing_records(
            connection, reader, [found for found, _ in shown], [state for _, state in shown]
        ),
        pages=len({(reference.repository, reference.page) for reference, _ in outdated}),
        total=len(outdated),
        truncated_count=len(outdated) - len(shown),
    )


def describing_records(
    connection: Connection,
    reader: str,
    references: Sequence[StoredReference],
    states: Sequence[TipState],
) -> tuple[DescribingPageRecord, ...]:
    """Return references as answers have them."""
    behind = [
        number
        for number, (reference, state) in enumerate(zip(references, states, strict=True))
        if state.tip == "behind" and not reference.is_own
    ]
    counts = count_commits(connection, reader, [references[number] for number in behind])
    commits = dict(zip(behind, counts, strict=True))
    return tuple(
        _record(reference, state, commits.get(number))
        for number, (reference, state) in enumerate(zip(references, states, strict=True))
    )


def _record(
    reference: StoredReference, state: TipState, commits: int | None
) -> DescribingPageRecord:
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
        commits=commits,
        pin=reference.pin,
        tip_blob=state.blob,
    )
