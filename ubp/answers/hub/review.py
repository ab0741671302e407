"""`ubp hub review`: the pages of other repositories that describe what a change changes."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

from ubp.answers.hub.impact import DescribingPageRecord, RepositoryName, reference_text
from ubp.answers.hub.push import find_name
from ubp.core.model import FilePath
from ubp.core.paths import PAGE_SUFFIXES
from ubp.core.source import Part
from ubp.frame.answer import Request
from ubp.frame.arguments import between
from ubp.frame.encoding import from_object
from ubp.frame.fields import Count, Keyword
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.parts import find_all_parts, parser_label
from ubp.index.session import Session, Target
from ubp.review.changed_files import ChangedFiles
from ubp.staleness.state import open_change
from ubp.sync.hub_client import HubClient, find_token

MAX_LIMIT = 1_000
MAX_CHANGES = 2_000
MAX_NAMES = 50  # of changed definitions of a file; with more of them all of it counts as changed


@dataclass(frozen=True, slots=True, kw_only=True)
class HubReviewRecord:
    """Pages of other readable repositories that describe what a change changes."""

    repository: RepositoryName
    changes: Annotated[Count, "number of changed sources that were asked about"]
    pages: Annotated[tuple[DescribingPageRecord, ...], "by repository, page and place in the page"]
    total: Annotated[Count, "number of references"]
    truncated_count: Annotated[Count, "number of references omitted from the end"]


@dataclass(frozen=True, slots=True)
class HubReviewRequest(Request[HubReviewRecord]):
    """A change of a repository."""

    repository: Annotated[str, "the one that is changed: github.com/acme/api"]
    changes: Annotated[
        tuple[str, ...],
        "changed files, also the old names of moved ones; src/pay.py#charge where only that"
        " definition changed",
        Keyword("maxItems", MAX_CHANGES),
    ]
    limit: Annotated[int, *between(1, MAX_LIMIT)] = 100


def ask_review(  # noqa: PLR0913, PLR0917  # what the command is given
    session: Session,
    to: str,
    token_file: str | None,
    repository: str | None,
    target: Target,
    limit: int,
) -> HubReviewRecord:
    """Ask a hub about a change of this clone.

    Raises:
        UsageError: the address, the token, the repository or the change cannot be used.
        HubError: the hub refuses, or cannot be reached.
    """
    client = HubClient(to, find_token(to, token_file, session.environment, session.directory))
    name = find_name(session.repository, repository, session.environment)
    question = {"repository": name, "changes": find_changes(session, target), "limit": limit}
    return from_object(HubReviewRecord, client.post("/v1/ask/review", question))


def find_changes(session: Session, target: Target) -> list[str]:
    """Return the sources that a change changes: files, and definitions where these are known.

    Of a file in a programming language with both versions at hand, the definitions that differ are
    named, the innermost ones; `src/pay.py#` is what is outside of all of them. Excluded files are
    left out.
    """
    change = open_change(session, target)
    files = ChangedFiles(change, session.is_hidden)
    found: list[str] = []
    for path in files.paths:
        names = _changed_names(files, path)
        if names is None or len(names) > MAX_NAMES:
            found.append(path)
        else:
            found += [f"{path}#{name}" for name in names or ("",)]
    return found if len(found) <= MAX_CHANGES else list(map(str, files.paths[:MAX_CHANGES]))


def _changed_names(files: ChangedFiles, path: FilePath) -> tuple[str, ...] | None:
    """Return the names of the definitions of a file that differ; None: they are not known."""
    if path.lower().endswith(PAGE_SUFFIXES) or parser_label(path) is None:
        return None
    before, after = files.versions(path)
    if before is None or after is None:
        return None
    old, new = find_all_parts([(path, before), (path, after)])
    return None if old is None or new is None else tuple(_innermost(_differing(old, new)))


def _differing(old: Sequence[Part], new: Sequence[Part]) -> set[str]:
    digests: list[dict[str, list[str]]] = []
    for parts in (old, new):
        by_name: dict[str, list[str]] = defaultdict(list)
        for part in parts:
            by_name[part.names[0]].append(part.digest)
        digests.append(by_name)
    before, after = digests
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _innermost(names: Collection[str]) -> Iterator[str]:
    """Yield the names without those that contain another one."""
    outer = {name.rpartition(".")[0] for name in names}
    while added := {name.rpartition(".")[0] for name in outer} - outer:
        outer |= added
    yield from sorted(name for name in names if name not in outer)


def text(record: HubReviewRecord, write: Writer) -> Iterator[str]:
    """Yield the pages by repository, each with what it describes and who owns it."""
    if write.is_quiet:
        yield from dict.fromkeys(
            write.name(f"{page.repository}:{page.filepath}") for page in record.pages
        )
        return
    for repository, references in groupby(record.pages, lambda page: page.repository):
        yield f"{write.name(repository)}:"
        for page in references:
            yield f"  {write.path(page.filepath)}  {reference_text(page, write)}"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'reference')} omitted: use a larger limit]"
    notice = f" {write.notice()}" if write.is_agent else ""
    yield f"{headline(record)}{notice}"


def headline(record: HubReviewRecord) -> str:
    """Return in a sentence how many pages describe what changed."""
    pages = {(page.repository, page.filepath) for page in record.pages}
    if not record.total:
        return "No page of another repository that you may read describes what this change changes."
    repositories = count(len({repository for repository, _ in pages}), "other repository")
    verb = "describes" if len(pages) == 1 else "describe"
    return f"{count(len(pages), 'page')} of {repositories} {verb} what this change changes."
