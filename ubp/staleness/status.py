"""Use case: what there is, how much of it is verified, and where the index lies."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.model import FilePath, Page, Problem, Snapshot
from ubp.core.running import RunningServer
from ubp.index.store.store import Pruned, Statistics
from ubp.staleness.model import StaleReport, Summary

# The buckets of `ubp.markdown.resolve`, which `ubp stale` must not load, in the order in which they
# are shown.
BUCKETS = ("resolved", "ambiguous", "missing", "within_page", "not_a_page", "out_of_scope")


class Unparsed(NamedTuple):
    """A page whose front matter has problems."""

    filepath: FilePath
    problems: tuple[Problem, ...]


class LinkCounts(NamedTuple):
    """How many links are in each bucket, and how many of them the rule broken-link finds.

    `broken` is None where nobody looked for them.
    """

    buckets: Mapping[str, int]
    broken: int | None


class ModelStatus(NamedTuple):
    """The model in use, and of how many sections it has no vectors yet.

    Where there is none all but `sections` is None, and `why_none` tells why.
    """

    name: str | None
    directory: str | None
    dimensions: int | None
    fingerprint: str | None
    sections: int
    pending: int | None
    why_none: str = ""


class Status(NamedTuple):
    """The answer of `ubp status`. `root` is None in a bare repository."""

    root: str | None
    snapshot: Snapshot
    summary: Summary
    unparsed: tuple[Unparsed, ...]
    statistics: Statistics
    keys: tuple[str, ...]
    threshold_days: float
    links: LinkCounts
    servers: tuple[RunningServer, ...]
    model: ModelStatus


def build_status(  # noqa: PLR0913  # a part from each room
    report: StaleReport,
    pages: list[Page],
    *,
    statistics: Statistics,
    root: str | None,
    keys: tuple[str, ...],
    links: LinkCounts,
    servers: tuple[RunningServer, ...],
    model: ModelStatus,
) -> Status:
    """Put together what the rooms said."""
    unparsed = (Unparsed(p.filepath, p.facts.problems) for p in pages if p.facts.problems)
    return Status(
        root=root,
        snapshot=report.snapshot,
        summary=report.summary,
        unparsed=tuple(unparsed),
        statistics=statistics,
        keys=keys,
        threshold_days=report.threshold_days,
        links=links,
        servers=servers,
        model=model,
    )


class IndexRun(NamedTuple):
    """What `ubp reindex` did: so many documents stand in the index, so many were parsed for it.

    `pruned` is None where nothing was asked to be forgotten, `embedded` (sections) where nothing
    was to be embedded, or there is no model.
    """

    documents: int
    parsed: int
    pruned: Pruned | None
    embedded: int | None
    statistics: Statistics
