"""Looking after the hub's database: what is wrong, garbage, and how long logs are kept."""

from collections.abc import Iterator
from dataclasses import dataclass

from ubp.hub.audit import drop_partitions
from ubp.hub.config import HubConfig
from ubp.hub.database import Connection

HOURS_OF_UPLOADS = 24.0  # a push that was interrupted is continued within a day
# A forge may forget a repository by mistake, or be asked with a token that lost a right.
DAYS_OF_REMOVED = 7.0
DAYS_OF_PARTS = 400  # a pin may be older; its page is then compared by its file

SECONDS_TO_DELETE = 600  # all that there is of a large repository


@dataclass(frozen=True, slots=True)
class Garbage:
    """The numbers of rows that were deleted, and the names of dropped partitions."""

    repositories: int
    uploads: int
    refs: int
    parsed: int
    partitions: tuple[str, ...]


def collect_garbage(
    connection: Connection,
    config: HubConfig,
    *,
    upload_hours: float = HOURS_OF_UPLOADS,
    removed_days: float = DAYS_OF_REMOVED,
) -> Garbage:
    """Delete what no board needs: pieces of pushes that never ended, parts of old blobs, old logs.

    Repositories removed `removed_days` ago are deleted with their boards, texts and events. Parts
    are kept while a file has their blob, or a page of any repository is pinned to it.
    """
    connection.execute(f"set local statement_timeout = '{SECONDS_TO_DELETE}s'")
    repositories = connection.execute(
        "delete from repository where removed_at <= now() - make_interval(secs => %s)",
        [removed_days * 86_400],
    ).rowcount
    uploads = connection.execute(
        "delete from upload where at <= now() - make_interval(secs => %s)", [upload_hours * 3600]
    ).rowcount
    connection.execute(
        "delete from staged_text where at <= now() - make_interval(secs => %s)",
        [upload_hours * 3600],
    )
    refs = connection.execute(
        "delete from ref where commit is null and not exists"
        " (select from upload u where u.repository = ref.repository)"
    ).rowcount
    parsed = connection.execute(
        "delete from parsed p where p.at < now() - make_interval(days => %s)"
        " and not exists (select from file f join ref on ref.id = f.ref"
        "  where ref.repository = p.repository and f.oid = p.blob)"
        " and not exists (select from reference x"
        "  where left(x.pin, 7) = left(encode(p.blob, 'hex'), 7)"
        "  and starts_with(encode(p.blob, 'hex'), x.pin))",
        [DAYS_OF_PARTS],
    ).rowcount
    partitions = [
        *drop_partitions(connection, "audit", config.audit_months),
        *drop_partitions(connection, "event", config.event_months),
    ]
    return Garbage(repositories, uploads, refs, parsed, tuple(partitions))


def find_faults(connection: Connection) -> Iterator[str]:
    """Yield a sentence for each way in which the tables contradict themselves."""
    for sentence, query in _CHECKS:
        row = connection.execute(query).fetchone()
        if row and row[0]:
            yield f"{row[0]} {sentence}"


_CHECKS = (
    (
        "refs have another number of pieces than their last push",
        (
            "select count(*) from ref where commit is not null and pieces <>"
            " (select count(*) from piece where piece.ref = ref.id)"
        ),
    ),
    (
        "files are in a piece that their ref does not have",
        (
            "select count(*) from file left join piece on piece.ref = file.ref"
            " and piece.number = file.piece where piece.ref is null"
        ),
    ),
    (
        "repositories have a tip of another repository",
        "select count(*) from repository r join ref on ref.id = r.tip where ref.repository <> r.id",
    ),
)
