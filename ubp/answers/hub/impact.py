"""`ubp impact --hub`: the pages of all readable repositories that describe a source."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Literal

from ubp.core.errors import BadArgumentError
from ubp.core.model import QUIET_LEVELS, Verdict
from ubp.core.repository_names import checked_name, split_reference
from ubp.frame.answer import Request
from ubp.frame.arguments import between
from ubp.frame.fields import Count, Moment, Option, PageLevel, PagePath
from ubp.frame.wording import count
from ubp.frame.writer import Writer

MAX_LIMIT = 1_000

Tip = Literal["current", "behind", "gone", "unknown"]
OUTDATED: frozenset[Tip] = frozenset({"behind", "gone"})
"""What a source is at the tip of its repository, compared with what a page describes."""
OWN_WORDS = {"behind": "changed", "gone": "gone"}
TIP_WORDS = {"behind": "behind the tip", "gone": "gone at the tip"}

RepositoryName = Annotated[str, "name for all of the organisation: github.com/acme/api"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribingPageRecord:
    """A reference of a page to the requested source, or to a part of it."""

    repository: RepositoryName
    filepath: PagePath
    owners: Annotated[tuple[str, ...], "owners of the page by CODEOWNERS"]
    source: Annotated[str, "the source as the page names it: path or glob, perhaps with #symbol"]
    verdict: Annotated[Verdict, "verdict in the page's own repository: at its pin, if it has one"]
    staleness: PageLevel
    tip: Annotated[
        Tip,
        "the source at the tip of its repository: current: as described; behind: changed since;"
        " gone: removed or moved; unknown: it cannot be compared",
    ]
    changed_at: Annotated[Moment | None, "when the source last changed there; null if unknown"]
    moved_to: Annotated[str | None, "its path there, if it moved"] = None
    commits: Annotated[
        Count | None, "number of commits there that changed its file since; null if unknown"
    ] = None
    pin: Annotated[str | None, "blob id that the page pins; null: none"] = None
    tip_blob: Annotated[str | None, "blob id of its file at the tip; null: none, or unknown"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubImpactRecord:
    """Pages of all readable repositories that describe a source."""

    repository: RepositoryName
    path: Annotated[str, "requested path in it, perhaps with #symbol; empty: all of it"]
    exists: Annotated[
        bool | None, "whether its file or folder is at the tip; null: the hub cannot tell you"
    ]
    former_paths: Annotated[tuple[str, ...], "paths that it had before; pages may still name them"]
    pages: Annotated[tuple[DescribingPageRecord, ...], "by repository, page and place in the page"]
    total: Annotated[Count, "number of references"]
    truncated_count: Annotated[Count, "number of references omitted from the end"]


@dataclass(frozen=True, slots=True)
class HubImpactRequest(Request[HubImpactRecord]):
    """A source in any repository of the organisation."""

    source: Annotated[
        str,
        "github.com/acme/api:src/pay.py#charge: a file, folder, symbol or heading; may be deleted",
    ]
    limit: Annotated[
        int, *between(1, MAX_LIMIT), Option("Maximum number of references (100).", metavar="N")
    ] = 100


def read_source(source: str) -> tuple[str, str, str]:
    """Return the repository, the path and the fragment that a source names.

    Raises:
        BadArgumentError: it names no repository.
    """
    repository, path = split_reference(source)
    if not repository and (name := checked_name(source.rstrip("/:"))):
        return name, "", ""
    if not repository:
        raise BadArgumentError(
            "source",
            f"{source[:200]} names no repository.",
            cause="The hub knows several, and each has files of its own.",
            hint="Write it as HOST/OWNER/NAME:PATH, for example github.com/acme/api:src/pay.py",
        )
    path, _, fragment = path.partition("#")
    return repository, path.strip("/").removeprefix("./"), fragment


def text(record: HubImpactRecord, write: Writer) -> Iterator[str]:
    """Yield the pages by repository, each with what became of its source."""
    if write.is_quiet:
        yield from dict.fromkeys(
            write.name(f"{page.repository}:{page.filepath}") for page in record.pages
        )
        return
    subject = write.name(f"{record.repository}:{record.path}".rstrip(":"))
    if record.exists is False:
        yield f"{subject} does not exist now."
    if record.former_paths:
        yield f"It was {', '.join(map(write.name, record.former_paths))}."
    for repository, references in groupby(record.pages, lambda page: page.repository):
        yield f"{write.name(repository)}:"
        for page in references:
            yield f"  {write.path(page.filepath)}  {reference_text(page, write)}"
    pages = {(page.repository, page.filepath) for page in record.pages}
    repositories = count(len({repository for repository, _ in pages}), "repository")
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'reference')} omitted: use a larger limit]"
    notice = f" {write.notice()}" if write.is_agent else ""
    if not record.total:
        yield f"No page that you may read describes {subject}.{notice}"
        return
    verb = "describes" if len(pages) == 1 else "describe"
    yield f"{count(len(pages), 'page')} of {repositories} {verb} {subject}.{notice}"


def reference_text(page: DescribingPageRecord, write: Writer) -> str:
    """Return what a page describes, whether that is out of date, and who owns the page."""
    words = [f"describes {write.name(page.source)}"]
    if page.moved_to:
        words.append(f"which is now {write.name(page.moved_to)}")
    tip = (TIP_WORDS if split_reference(page.source)[0] else OWN_WORDS).get(page.tip)
    if tip:
        commits = f" by {count(page.commits, 'commit')}" if page.commits else ""
        day = f" ({page.changed_at[:10]})" if page.changed_at else ""
        words.append(f"{tip}{commits}{day}")
    if page.staleness not in QUIET_LEVELS:
        words.append(write.level(page.staleness))
    if page.owners:
        words.append(f"owned by {' '.join(map(write.name, page.owners))}")
    return ", ".join(words)
