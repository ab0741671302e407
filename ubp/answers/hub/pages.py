"""The pages of all readable repositories: a list of them, and those that need a review."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

from ubp.answers.hub.impact import DescribingPageRecord, RepositoryName, reference_text
from ubp.core.model import QUIET_LEVELS, Level
from ubp.frame.answer import Request
from ubp.frame.arguments import between
from ubp.frame.fields import Count, PageLevel, PagePath
from ubp.frame.wording import count
from ubp.frame.writer import Writer

MAX_LIMIT = 1_000

RepositoryFilter = Annotated[str, "only this one: github.com/acme/api"]
OwnerFilter = Annotated[str, "only pages with this owner by CODEOWNERS: @acme/docs; none: without"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPageRecord:
    """A page at the tip of its repository."""

    repository: RepositoryName
    filepath: PagePath
    owners: Annotated[tuple[str, ...], "owners by CODEOWNERS"]
    staleness: PageLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPagesRecord:
    """Pages at the tips of repositories."""

    pages: Annotated[tuple[HubPageRecord, ...], "by repository and path"]
    total: Annotated[Count, "number of pages"]
    next_after: Annotated[str | None, "where a longer list goes on; null at the end"] = None


@dataclass(frozen=True, slots=True)
class HubPagesRequest(Request[HubPagesRecord]):
    """Which pages to list."""

    repository: RepositoryFilter | None = None
    owner: OwnerFilter | None = None
    staleness: Annotated[Level, "only pages of this level"] | None = None
    limit: Annotated[int, *between(1, MAX_LIMIT)] = 100
    after: Annotated[str, "next_after of the answer before"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubStalenessRecord:
    """References of pages to sources that have changed."""

    references: Annotated[
        tuple[DescribingPageRecord, ...],
        "those that are not fresh in their repository, or behind the tip of another one",
    ]
    pages: Annotated[Count, "number of pages with such references"]
    total: Annotated[Count, "number of such references"]
    truncated_count: Annotated[Count, "number of references omitted from the end"]


@dataclass(frozen=True, slots=True)
class HubStalenessRequest(Request[HubStalenessRecord]):
    """Which pages to check."""

    repository: RepositoryFilter | None = None
    filepath: Annotated[str, "only this page of the repository"] | None = None
    owner: OwnerFilter | None = None
    limit: Annotated[int, *between(1, MAX_LIMIT)] = 50


def pages_text(record: HubPagesRecord, write: Writer) -> Iterator[str]:
    """Yield the pages by repository."""
    for repository, pages in groupby(record.pages, lambda page: page.repository):
        yield f"{write.name(repository)}:"
        for page in pages:
            level = "" if page.staleness in QUIET_LEVELS else f"  {write.level(page.staleness)}"
            owners = f"  {' '.join(map(write.name, page.owners))}" if page.owners else ""
            yield f"  {write.path(page.filepath)}{level}{owners}"
    notice = f" {write.notice()}" if write.is_agent else ""
    yield f"{len(record.pages)} of {count(record.total, 'page')}.{notice}"
    if record.next_after is not None:
        yield f"More: pass after={write.name(record.next_after)}"


def staleness_text(record: HubStalenessRecord, write: Writer) -> Iterator[str]:
    """Yield the references by repository and page."""
    for repository, references in groupby(record.references, lambda found: found.repository):
        yield f"{write.name(repository)}:"
        for found in references:
            yield f"  {write.path(found.filepath)}  {reference_text(found, write)}"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'reference')} omitted: use a larger limit]"
    notice = f" {write.notice()}" if write.is_agent else ""
    verb = "needs" if record.pages == 1 else "need"
    yield f"{count(record.pages, 'page')} {verb} a review.{notice}"
