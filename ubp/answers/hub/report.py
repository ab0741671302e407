"""`ubp hub report`: how fresh the documentation of all repositories is, by owner and by month."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.hub.impact import RepositoryName
from ubp.frame.fields import Count, GitId, Moment, PageLevel, PagePath
from ubp.frame.wording import count
from ubp.frame.writer import Writer

MAX_LISTED = 20  # owners and pages in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCountsRecord:
    """Number of pages per level."""

    stale: Annotated[Count, "pages with a missing source, or drift older than the threshold"]
    possibly_stale: Annotated[Count, "pages whose drift is more recent than the threshold"]
    unknown: Annotated[Count, "pages that the pushing clone could not verify"]
    fresh: Annotated[Count, "pages whose sources have not drifted"]
    untracked: Annotated[Count, "number of pages that list no sources"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRecord:
    """A repository at its tip."""

    repository: RepositoryName
    is_archived: Annotated[bool, "archived at the forge: it counts nowhere else in the report"]
    commit: GitId
    pushed_at: Annotated[Moment | None, "when the hub got its board"]
    levels: LevelCountsRecord
    behind: Annotated[Count, "number of pages behind the tip of another repository"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerRecord:
    """What belongs to an owner by CODEOWNERS; a page of several owners counts for each."""

    owner: Annotated[str | None, "owner as written; null: pages without one"]
    repositories: Annotated[Count, "number of repositories with pages of this owner"]
    levels: LevelCountsRecord
    behind: Annotated[Count, "number of pages behind the tip of another repository"]
    oldest_days: Annotated[Count | None, "age of the oldest drift in days; null: none, or unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeOfDriftRecord:
    """Pages by the age of their oldest drift."""

    from_days: Annotated[Count | None, "minimum age in days; null if unknown"]
    stale: Annotated[Count, "stale pages"]
    possibly_stale: Annotated[Count, "possibly stale pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsByMonthRecord:
    """The levels at the end of a month."""

    month: Annotated[str, "2026-11"]
    levels: LevelCountsRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedPageRecord:
    """A page that needs a review."""

    repository: RepositoryName
    filepath: PagePath
    commit: Annotated[GitId, "tip of the repository"]
    owners: Annotated[tuple[str, ...], "owners by CODEOWNERS"]
    staleness: PageLevel
    age_days: Annotated[Count | None, "age of its oldest drift in days; null if unknown"]
    drifted: Annotated[Count, "number of sources of its repository that drifted"]
    behind: Annotated[tuple[str, ...], "sources that changed at the tips of other repositories"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HubReportRecord:
    """The documentation of all repositories that a reader may see."""

    at: Annotated[Moment, "time of the report"]
    levels: LevelCountsRecord
    behind: Annotated[Count, "number of pages behind the tip of another repository"]
    repositories: Annotated[tuple[RepositoryRecord, ...], "by name"]
    owners: Annotated[tuple[OwnerRecord, ...], "those with the most outdated pages first"]
    ages: Annotated[tuple[AgeOfDriftRecord, ...], "youngest first"]
    months: Annotated[tuple[LevelsByMonthRecord, ...], "the last twelve, oldest first"]
    pages: Annotated[tuple[OutdatedPageRecord, ...], "pages to review, oldest drift first"]
    hidden_pages: Annotated[Count, "number of pages to review that are not listed"]


def text(record: HubReportRecord, write: Writer) -> Iterator[str]:
    """Yield the totals, the owners and the pages that are longest out of date."""
    levels = record.levels
    pages = sum((levels.stale, levels.possibly_stale, levels.unknown, levels.fresh))
    verb = "is" if levels.fresh == 1 else "are"
    yield (
        f"{levels.fresh} of {count(pages, 'page')} with sources {verb} fresh, in"
        f" {count(len(record.repositories), 'repository')}; {levels.stale} stale,"
        f" {levels.possibly_stale} possibly stale, {record.behind} behind the tip of another"
        " repository."
    )
    yield ""
    for owner in record.owners[:MAX_LISTED]:
        name = write.name(owner.owner) if owner.owner else "no owner"
        oldest = "" if owner.oldest_days is None else f", oldest {count(owner.oldest_days, 'day')}"
        yield (
            f"{name}: {owner.levels.stale} stale, {owner.levels.possibly_stale} possibly stale,"
            f" {owner.behind} behind, {owner.levels.fresh} fresh{oldest}"
        )
    if len(record.owners) > MAX_LISTED:
        yield f"and {len(record.owners) - MAX_LISTED} more owners (--json lists all)"
    yield ""
    for page in record.pages[:MAX_LISTED]:
        age = "" if page.age_days is None else f"  {count(page.age_days, 'day')}"
        behind = f"  behind {', '.join(map(write.name, page.behind))}" if page.behind else ""
        place = write.path(f"{page.repository}:{page.filepath}")
        yield f"{place}  {write.level(page.staleness)}{age}{behind}"
