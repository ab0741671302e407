"""A search of all readable repositories, and a page of one: what the hub answers, and its text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.answers.hub.impact import RepositoryName
from ubp.answers.hub.pages import RepositoryFilter
from ubp.core.model import QUIET_LEVELS
from ubp.core.text import estimate_tokens
from ubp.frame.answer import Request
from ubp.frame.arguments import DocTypes, MaxTokens, between
from ubp.frame.arguments import Query as QueryText
from ubp.frame.fields import Count, Fraction, Line, Moment, PageLevel, PagePath, Title
from ubp.frame.wording import count
from ubp.frame.writer import Writer

MAX_LIMIT = 50
INDENT = "   "
DEFAULT_TOKENS = 6_000

Link = Annotated[str, "address of the page at the commit, where its forge shows it"]
SearchMode = Literal["hybrid", "fulltext", "semantic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFoundRecord:
    """A page that was found, with the section that matches best."""

    repository: RepositoryName
    filepath: PagePath
    title: Title
    score: Annotated[Fraction, "1 is the maximum; comparable only within one result"]
    reason: Annotated[str, "why it was found: words, closeness, the linking page"]
    staleness: PageLevel
    owners: Annotated[tuple[str, ...], "owners by CODEOWNERS"]
    changed_at: Annotated[Moment | None, "when the page last changed; null if unknown"]
    link: Link
    heading_path: Annotated[tuple[str, ...], "headings above the section, and its own"] = ()
    line: Annotated[Line, "line of the first match, else first line of the section"]
    passage: Annotated[str, "matching passage on one line"] = ""
    text: Annotated[str, "Markdown of the section, or of a long one the part that matches"] = ""
    copies: Annotated[
        tuple[str, ...], "other versions, translations and copies that count as one with it"
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSearchRecord:
    """Pages of all readable repositories, best first."""

    results: Annotated[tuple[HubFoundRecord, ...], "pages, best first"]
    total: Annotated[Count, "number of pages found"]
    is_total_exact: Annotated[bool, "whether the total is exact; else it is a lower bound"]
    search_type: Annotated[
        Literal["hybrid", "fulltext", "semantic", "fulltext_fallback"],
        "the mode; fulltext_fallback: the hub has no embedding model",
    ]
    is_weak: Annotated[bool, "whether probably no page answers the question"]
    repositories: Annotated[Count, "number of repositories that were searched"]


@dataclass(frozen=True, slots=True)
class HubSearchRequest(Request[HubSearchRecord]):
    """What to find, in which repositories and pages."""

    query: QueryText
    repository: RepositoryFilter | None = None
    mode: Annotated[SearchMode, "hybrid: words, meaning and links together"] = "hybrid"
    doc_type: DocTypes = ()
    tags: Annotated[tuple[str, ...], "only pages with all of these tags"] = ()
    limit: Annotated[int, *between(1, MAX_LIMIT)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSectionRecord:
    """A section that contains words of the query."""

    repository: RepositoryName
    filepath: PagePath
    title: Title
    heading: Annotated[str | None, "its heading; null before the first one"]
    line: Annotated[Line, "line of the first match"]
    snippet: Annotated[str, "matching passage on one line"]
    staleness: PageLevel
    owners: Annotated[tuple[str, ...], "owners by CODEOWNERS"]
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSectionsRecord:
    """Sections that match a query's words, best first."""

    results: Annotated[tuple[HubSectionRecord, ...], "sections, best first"]
    total: Annotated[Count, "number of matching places"]
    is_total_exact: Annotated[bool, "whether the total is exact; else it is a lower bound"]


@dataclass(frozen=True, slots=True)
class HubFulltextRequest(Request[HubSectionsRecord]):
    """Which words to find; operators apply to a section."""

    query: QueryText
    repository: RepositoryFilter | None = None
    limit: Annotated[int, *between(1, MAX_LIMIT)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HubTextRecord:
    """A page at the tip of its repository, or a section of it."""

    repository: RepositoryName
    filepath: PagePath
    title: Title
    commit: Annotated[str, "commit that was pushed last"]
    staleness: PageLevel
    owners: Annotated[tuple[str, ...], "owners by CODEOWNERS"]
    changed_at: Annotated[Moment | None, "when the page last changed; null if unknown"]
    link: Link
    line_start: Annotated[Line, "first line of `content`"]
    content: Annotated[str, "Markdown of the page, or of the section"]
    is_cut: Annotated[bool, "whether the rest is left out because of max_tokens"]
    sections: Annotated[tuple[str, ...], "its headings, in order"]


@dataclass(frozen=True, slots=True)
class HubTextRequest(Request[HubTextRecord]):
    """Which page; after a # the id or text of a heading narrows it to the section."""

    repository: Annotated[str, "its repository: github.com/acme/api"]
    filepath: Annotated[str, "its path, or the unique ending of it, perhaps with #section"]
    max_tokens: MaxTokens | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubContextRecord:
    """The sections that a task needs, each once, in the order of their pages' scores."""

    sections: Annotated[tuple[HubFoundRecord, ...], "sections with their texts"]
    tokens: Annotated[Count, "estimated tokens of the texts"]
    is_weak: Annotated[bool, "whether probably no page answers"]
    omitted: Annotated[Count, "number of sections left out because of max_tokens"]


@dataclass(frozen=True, slots=True)
class HubContextRequest(Request[HubContextRecord]):
    """What the task is about, and how much may be returned."""

    query: QueryText
    repository: RepositoryFilter | None = None
    max_tokens: MaxTokens = DEFAULT_TOKENS


def search_text(record: HubSearchRecord, write: Writer) -> Iterator[str]:
    """Yield the pages, best first."""
    if write.is_quiet:
        yield from (
            f"{write.name(hit.repository)}:{write.name(hit.filepath)}" for hit in record.results
        )
        return
    if not record.results:
        yield f"No page of {count(record.repositories, 'repository')} was found."
        return
    marker = write.marker(*(found.text for found in record.results))
    exact = "" if record.is_total_exact else "at least "
    notice = f" {write.notice(marker)}" if write.is_agent else ""
    yield f"{len(record.results)} of {exact}{count(record.total, 'page')}.{notice}"
    if record.is_weak:
        yield "Probably none of them answers the question."
    for number, found in enumerate(record.results, 1):
        yield ""
        yield f"{number}. {_place(found, write)}"
        yield from _found_lines(found, write, marker)


def context_text(record: HubContextRecord, write: Writer) -> Iterator[str]:
    """Yield the sections with their texts."""
    if not record.sections:
        yield "No page was found."
        return
    marker = write.marker(*(found.text for found in record.sections))
    notice = f" {write.notice(marker)}" if write.is_agent else ""
    yield f"{count(len(record.sections), 'section')}, about {record.tokens} tokens.{notice}"
    if record.is_weak:
        yield "Probably none of them answers."
    for found in record.sections:
        yield ""
        yield _place(found, write)
        yield from _found_lines(found, write, marker)
    if record.omitted:
        yield f"[{count(record.omitted, 'section')} omitted: use a larger max_tokens]"


def sections_text(record: HubSectionsRecord, write: Writer) -> Iterator[str]:
    """Yield the sections, best first."""
    exact = "" if record.is_total_exact else "at least "
    notice = f" {write.notice()}" if write.is_agent else ""
    yield f"{len(record.results)} of {exact}{count(record.total, 'place')}.{notice}"
    for found in record.results:
        heading = found.heading or found.title
        place = f"{write.name(found.repository)}:{write.path(found.filepath)}:{found.line}"
        yield f"{place}  {write.title(heading)}{_level(found.staleness, write)}"
        yield f"{INDENT}{write.quote(found.snippet)}"


def page_text(record: HubTextRecord, write: Writer) -> Iterator[str]:
    """Yield what is known of a page, and its text."""
    marker = write.marker(record.content)
    notice = f" {write.notice(marker)}" if write.is_agent else ""
    name = f"{write.name(record.repository)}:{write.path(record.filepath)}"
    yield f"{name}  {write.title(record.title)}{_level(record.staleness, write)}{notice}"
    yield f"{write.name(record.link)}{_owners(record.owners, write)}"
    yield from write.enclose(record.content, marker)
    if record.is_cut:
        yield "[The rest is left out: use a larger max_tokens, or filepath#section]"


def _place(found: HubFoundRecord, write: Writer) -> str:
    place = f"{write.name(found.repository)}:{write.path(found.filepath)}:{found.line}"
    headings = dict.fromkeys((found.title, *found.heading_path))
    return f"{place}  {write.title(' > '.join(headings))}{_level(found.staleness, write)}"


def _found_lines(found: HubFoundRecord, write: Writer, marker: str) -> Iterator[str]:
    yield f"{INDENT}{write.quote(found.reason)}{_owners(found.owners, write)}"
    if write.is_agent and found.text:
        yield from write.enclose(found.text, marker)
    elif found.passage:
        yield f"{INDENT}{write.quote(found.passage)}"
    if not write.is_agent:
        yield f"{INDENT}{write.style.dim(write.name(found.link))}"
    if found.copies:
        yield f"{INDENT}also: {', '.join(map(write.name, found.copies))}"


def _level(level: str, write: Writer) -> str:
    return "" if level in QUIET_LEVELS else f"  [{write.level(level)}]"


def _owners(owners: tuple[str, ...], write: Writer) -> str:
    return f"  {' '.join(map(write.name, owners))}" if owners else ""


def fit_sections(
    found: tuple[HubFoundRecord, ...], max_tokens: int
) -> tuple[tuple[HubFoundRecord, ...], int]:
    """Return the first sections whose texts fit, and the number of their tokens."""
    kept: list[HubFoundRecord] = []
    tokens = 0
    for section in found:
        size = estimate_tokens(section.text)
        if tokens + size > max_tokens:
            continue
        kept.append(section)
        tokens += size
    return tuple(kept), tokens
