"""`ubp get-page` and `ubp_get_page`: a page with its text, links and staleness, or a part of it."""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from ubp.core.errors import BadArgumentError
from ubp.core.model import Assessment, LinkType, ReferenceVerdict, Verdict
from ubp.edits.proposals import find_own
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import (
    MAX_SHOWN_CHARACTERS,
    Caller,
    IdArgument,
    MaxTokens,
    PageArgument,
    Ref,
)
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import (
    REVISION,
    Count,
    DocId,
    DocType,
    GitId,
    Line,
    Moment,
    Option,
    PageLevel,
    PagePath,
    Title,
)
from ubp.frame.records import (
    DAY,
    CommitRecord,
    LinkContext,
    ProblemRecord,
    UpdatedAt,
    commit_record,
    dates,
    moment_or_none,
    problem_record,
)
from ubp.frame.wording import SHORT_ID, count, day, printable
from ubp.frame.writer import Writer
from ubp.index.select import select_section, select_title
from ubp.index.session import Session, Target
from ubp.search.dates import created_at, updated_at
from ubp.search.graph import open_graph
from ubp.search.list_pages import (
    PageLink,
    ReadPage,
    cut_page,
    narrow_lines,
    narrow_page,
    read_page,
)
from ubp.staleness.state import assess_paths
from ubp.staleness.wording import describe_reference

# The newest commits explain most; `ubp_check_staleness` lists all.
MAX_COMMITS = 5
# A page with more links is a list of links, which its text contains.
MAX_LINKS = 12
# Claude Code refuses answers of more than 25,000 tokens.
PAGE_TOKENS = 20_000
MAX_LINES = 1 << 31
MAX_DIGITS = 12
_LINES = re.compile(r"([0-9]{1,9})\s*(-\s*([0-9]{1,9})?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedRefRecord:
    """A reference that is not fresh, and why."""

    source_path: Annotated[str, "path or glob from the root, as it was assessed"]
    verdict: Annotated[Verdict, "verdict on the reference; never fresh"]
    since: Annotated[
        Moment | None,
        "committer date of the first commit that drifted; null if not committed yet or unknown",
    ] = None
    reason: Annotated[str, "the verdict as a sentence"]
    commits: Annotated[
        tuple[CommitRecord, ...],
        "most recent commits since the baseline that changed the source, newest first",
    ] = ()
    commit_count: Annotated[Count, "number of commits that drifted"] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRecord:
    """A section of a page."""

    heading: Annotated[
        str | None, "heading (H2 or H3); null for the text before the first heading"
    ] = None
    section_order: Annotated[Count, "its number, from 0"]
    heading_path: Annotated[
        tuple[str, ...], "headings above it, starting with the page's H1, and its own"
    ] = ()
    anchor: Annotated[str | None, "anchor of the heading, as used after # in links"] = None
    line_start: Annotated[Line, "its first line in the file, from 1"]
    line_end: Annotated[Line, "its last line in the file, from 1"]
    content: Annotated[
        str,
        "text including the heading line; empty if max_tokens leaves room only for the page's"
        " content",
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinkRecord:
    """A link of a page."""

    doc_id: DocId | None = None
    filepath: Annotated[str | None, "path of the page; null if there is none"] = None
    title: Annotated[str | None, "title of that page"] = None
    link_type: Annotated[LinkType, "type of the link"]
    link_context: LinkContext = ""
    line: Annotated[Line, "line of the link in its page, from 1"]
    target: Annotated[
        str | None, "if there is no such page: the link's target as written, decoded"
    ] = None
    anchor: Annotated[str | None, "anchor of the heading in the link to a page"] = None
    is_ambiguous: Annotated[
        bool, "whether several pages match; the first one alphabetically is used"
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklinkRecord:
    """A link of another page to a page."""

    doc_id: DocId | None
    filepath: Annotated[str | None, "path of the linking page"]
    title: Annotated[str | None, "title of that page"]
    link_type: Annotated[LinkType, "type of the link"]
    link_context: LinkContext = ""
    line: Annotated[Line, "line of the link in its page, from 1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """A page, its links, and whether it still describes its sources."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    tags: Annotated[tuple[str, ...], "tags from the front matter"] = ()
    staleness: PageLevel
    stale_refs: Annotated[tuple[ExplainedRefRecord, ...], "the references that are not fresh"] = ()
    problems: Annotated[
        tuple[ProblemRecord, ...],
        "problems in its front matter, or why it cannot be read: its content is empty then",
    ] = ()
    created_at: Annotated[
        Moment | None,
        "committer date of the commit that added the page; null if never committed or before the"
        " start of a shallow clone",
    ]
    updated_at: UpdatedAt
    uncommitted: Annotated[bool, "whether the file differs from the last commit"] = False
    blob: Annotated[GitId, "id that Git gives the file"]
    content: Annotated[str, "its text without the front matter"]
    line_start: Annotated[Line, "first line of `content` in the file"]
    continuation: Annotated[
        str | None, "if the text is cut: the argument `continue` that returns the rest"
    ] = None
    sections: Annotated[tuple[SectionRecord, ...], "its sections in order"]
    outlinks: Annotated[tuple[OutlinkRecord, ...], "its links to pages, in order"] = ()
    backlinks: Annotated[tuple[BacklinkRecord, ...], "the links of other pages to it"] = ()
    truncated_count: Annotated[Count, "sections that are cut because of max_tokens"] = 0
    proposal: Annotated[
        Count | None, "number of the reader's own proposal whose text it is; null: of none"
    ] = None


@dataclass(frozen=True, slots=True)
class PageRequest(Request[PageRecord]):
    """A page, named by path, unique end of a path, `doc_id` or title, and which part of it.

    A part of the title will do, if no other page has it. After a `#`, the id, slug or text of a
    heading narrows the page to its section, as `lines` (from 1, inclusive) do.
    """

    filepath: (
        Annotated[
            PageArgument,
            Option(
                "Path, unique path suffix, or `doc_id`; with #SECTION only that section.",
                name="page",
                is_argument=True,
                missing="a page, either by path or by --title",
                hint="Specify one: ubp get-page docs/auth.md; `ubp list-pages` lists all pages.",
                alternatives=("title",),
            ),
        ]
        | None
    ) = None
    id: IdArgument | None = None
    title: (
        Annotated[
            str,
            "unique part of the title",
            Option("Find the page by its title, or a unique part of it, instead.", metavar="TEXT"),
        ]
        | None
    ) = None
    section: Annotated[str, "heading, its anchor, or a section_id"] | None = None
    lines: Annotated[str, "e.g. 40-80"] | None = None
    continue_: Annotated[str, "as the previous response says"] | None = None
    ref: Annotated[Ref, REVISION] | None = None
    agent: Caller = None
    max_tokens: (
        Annotated[
            MaxTokens,
            Option(
                "With --json: maximum number of tokens; the least relevant parts are dropped.",
                metavar="N",
                default=None,
            ),
        ]
        | None
    ) = PAGE_TOKENS


def run(session: Session, request: PageRequest, *, has_created: bool = True) -> PageRecord:
    """Return the page, or the part of it; without `has_created` not when it was created.

    Raises:
        BadArgumentError: the arguments name none or several pages, or no such part.
        PageNotFoundError: there is no such page or section, or more than one page.
    """
    names = {"filepath": request.filepath, "id": request.id, "title": request.title}
    given_names = [name for name, value in names.items() if value is not None]
    path, section = request.filepath or request.id, request.section or ""
    if not given_names and section:  # a section_id contains the page's id
        path, section = section, ""
    elif len(given_names) != 1:
        raise BadArgumentError(
            "filepath",
            "Pass exactly one of `filepath`, `id` and `title`.",
            cause=f"Received {' and '.join(given_names)}."
            if given_names
            else "Received none of them.",
        )
    if section and request.title is not None:
        raise BadArgumentError("section", "`section` requires `filepath` or `id`.")
    name = section.rpartition("#")[2]
    lines = _read_lines(request.lines) if request.lines else None
    place = f"{path}#{name}" if name else path or ""
    own = None
    if request.ref is None and request.title is None and session.collection is None:
        own = find_own(session.repository, request.agent, place)
        request = replace(request, ref=own.tip) if own else request
    page = _read(session, request, place, lines, has_created=has_created)
    rest = request.continue_
    record = _record(page, _read_continuation(rest, page.page.content) if rest else 0)
    return replace(record, proposal=own.id) if own else record


def _read(
    session: Session,
    request: PageRequest,
    path: str,
    lines: tuple[int, int] | None,
    *,
    has_created: bool,
) -> ReadPage:
    view = session.view(Target(request.ref))
    fragment = ""
    if request.title is not None:
        name = select_title(request.title, view)
    else:
        name, fragment = select_section(path, view, session.repository)
    graph = open_graph(view)
    page = read_page(graph, name)
    if fragment:
        page = narrow_page(page, graph.text(name) or b"", fragment)
    if lines:
        page = narrow_lines(page, graph.text(name) or b"", *lines)
    if session.collection is not None:
        page = cut_page(page, session.collection.policy)
    return ReadPage(
        page,
        assess_paths(session, view, [name])[name],
        updated_at(session, view, [name])[name],
        created_at(session, view, [name])[name] if has_created else None,
        view.is_changed(name),
    )


def _read_lines(lines: str) -> tuple[int, int]:
    match = _LINES.fullmatch(lines.strip())
    first = int(match[1]) if match else 0
    last = int(match[3] or (MAX_LINES if match[2] else first)) if match else 0
    if not 1 <= first <= last:
        raise BadArgumentError(
            "lines",
            f"Invalid `lines`: {lines[:MAX_SHOWN_CHARACTERS]}.",
            hint="Write 40, 40-80 or 40- (from line 1).",
        )
    return first, last


def _read_continuation(continuation: str, content: str) -> int:
    """Return where the text continues: a continuation has the size and checksum of the rest."""
    size = continuation.partition("@")[0]
    start = len(content) - int(size) if size.isdecimal() and len(size) < MAX_DIGITS else -1
    if start < 0 or _continuation(content[start:]) != continuation:
        raise BadArgumentError(
            "continue",
            f"Invalid `continue`: {continuation[:MAX_SHOWN_CHARACTERS]}.",
            cause="The page has changed since, or the other arguments are different.",
            hint="Repeat the arguments of the call that returned it, or omit it to start again.",
        )
    return start


def _continuation(rest: str) -> str:
    return f"{len(rest)}@{zlib.crc32(rest.encode('utf-8', 'surrogatepass')):08x}"


def _record(read: ReadPage, start: int) -> PageRecord:
    """Return the record with the text from this character on."""
    page = read.page
    first = page.parts[0].section.line_start if page.parts else 1
    line_start = first + page.content.count("\n", 0, start)
    document = page.document
    return PageRecord(
        doc_id=document.doc_id,
        filepath=document.path,
        title=document.title,
        doc_type=document.doc_type,
        tags=tuple(document.tags),
        staleness=read.assessment.level,
        stale_refs=tuple(_explained_refs(read.assessment)),
        problems=tuple(map(problem_record, read.assessment.page.facts.problems)),
        created_at=moment_or_none(read.created_at),
        updated_at=moment_or_none(read.updated_at),
        uncommitted=read.is_uncommitted,
        blob=document.blob,
        content=page.content[start:],
        line_start=line_start,
        sections=tuple(
            SectionRecord(
                heading=part.section.heading,
                section_order=order,
                heading_path=tuple(part.section.heading_path),
                anchor=part.section.anchor,
                line_start=part.section.line_start,
                line_end=part.section.line_end,
                content=part.content,
            )
            for order, part in enumerate(page.parts)
            if part.section.line_end >= line_start
        ),
        outlinks=tuple(map(_outlink, page.outlinks)),
        backlinks=tuple(map(_backlink, page.backlinks)),
    )


def _explained_refs(assessment: Assessment) -> Iterator[ExplainedRefRecord]:
    for reference in assessment.references:
        if reference.verdict != "fresh":
            yield ExplainedRefRecord(
                source_path=reference.name,
                verdict=reference.verdict,
                since=moment_or_none(reference.since),
                reason=_reason(reference),
                commits=tuple(map(commit_record, reference.commits[:MAX_COMMITS])),
                commit_count=len(reference.commits),
            )


def _reason(reference: ReferenceVerdict) -> str:
    when = "" if reference.since is None else f" since {day(reference.since)}"
    words = describe_reference(reference, when)
    return f"{words[0].upper()}{words[1:]}."


def _outlink(link: PageLink) -> OutlinkRecord:
    page = link.other
    anchor = link.link.anchor
    target = link.link.target if anchor is None else f"{link.link.target}#{anchor}"
    return OutlinkRecord(
        doc_id=page and page.doc_id,
        filepath=page and page.path,
        title=page and page.title,
        link_type=link.link.link_type,
        link_context=link.link.context,
        line=link.link.line,
        target=None if page else target,
        anchor=anchor if page else None,
        is_ambiguous=link.bucket == "ambiguous",
    )


def _backlink(link: PageLink) -> BacklinkRecord:
    page = link.other
    return BacklinkRecord(
        doc_id=page and page.doc_id,
        filepath=page and page.path,
        title=page and page.title,
        link_type=link.link.link_type,
        link_context=link.link.context,
        line=link.link.line,
    )


def fit_page(record: Json, limit: TokenLimit) -> None:
    """Drop repeated texts, then what surrounds the text, then the end of the text."""
    if limit.drop(record, _drop_section_texts(record, limit)):
        return
    content = record["content"]
    ends = [section["line_end"] for section in record["sections"]]
    frame = {**record, "content": "", "continuation": _continuation(content)}
    limit._replace(most=limit.most // 2).drop(frame, _drop_surroundings(record, limit))
    record |= {"continuation": _continuation(content), "truncated_count": len(ends)}
    limit.truncate(record, record, "content")
    rest = content[len(record["content"]) :].lstrip("\n")
    record["continuation"] = _continuation(rest)
    line_end = record["line_start"] + record["content"].rstrip("\n").count("\n")
    record["truncated_count"] = sum(end > line_end for end in ends)


def _drop_section_texts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    """Drop the texts of the sections: the page's content has them, too."""
    for section in reversed(record["sections"]):
        yield limit.clear(section, "content")


def _drop_surroundings(record: Json, limit: TokenLimit) -> Iterator[Any]:
    """Drop what surrounds the text, the least important parts first."""
    link_lists = [record.get("backlinks", []), record.get("outlinks", [])]
    for link in reversed([link for links in link_lists for link in links]):
        yield limit.clear(link, "link_context")
    for items in (*link_lists, record["sections"]):
        while items:
            yield items.pop()
    for reference in record.get("stale_refs", []):
        yield limit.clear(reference, "commits")


def text(record: PageRecord, write: Writer) -> Iterator[str]:
    """Yield the page's facts and its text: for people its links below, quietly the text alone."""
    if write.is_quiet:
        yield from write.enclose(record.content, "")
    elif write.is_agent:
        yield from _agents_text(record, write)
    else:
        yield from _peoples_text(record, write)


def _agents_text(record: PageRecord, write: Writer) -> Iterator[str]:
    marker = write.marker(record.content)
    yield write.notice(marker)
    yield f"{write.path(record.filepath)}: {write.title(record.title)}"
    facts = [write.label(record.doc_type)]
    if record.tags:
        facts.append("tags " + " ".join(map(write.name, record.tags)))
    facts += [write.level(record.staleness), *dates(record.created_at, record.updated_at)]
    facts += ["uncommitted changes"] if record.uncommitted else []
    facts += [f"as your proposal {record.proposal} has it"] if record.proposal else []
    facts += [f"blob {record.blob[:SHORT_ID]}"]
    if record.content:
        line_end = record.line_start + record.content.rstrip("\n").count("\n")
        facts += [f"lines {record.line_start}-{line_end}"]
    yield ", ".join(facts)
    for reference in record.stale_refs:
        yield f"Source {write.name(reference.source_path)}: {printable(reference.reason)}"
        for commit in reference.commits:
            yield f"  {commit.id[:SHORT_ID]} {commit.date[:DAY]} {write.title(commit.subject)}"
    for problem in record.problems:
        yield f"Line {problem.line}: {printable(problem.message)}"
    yield from _links_line("Links", record.outlinks, write)
    yield from _links_line("Linked from", record.backlinks, write)
    if record.content:
        yield from write.enclose(record.content, marker)
    if rest := record.continuation:
        sections = count(record.truncated_count, "section")
        advice = f'repeat the call with continue="{rest}"{write.arguments()}'
        yield f"[{sections} omitted: {advice if record.content else 'use a larger max_tokens'}]"


def _links_line(
    title: str, links: Sequence[OutlinkRecord | BacklinkRecord], write: Writer
) -> Iterator[str]:
    if links:
        shown = dict.fromkeys(_link_name(link, write) for link in links[:MAX_LINKS])
        more = f", and {len(links) - MAX_LINKS} more" if links[MAX_LINKS:] else ""
        yield f"{title}: {', '.join(shown)}{more}"


def _link_name(link: OutlinkRecord | BacklinkRecord, write: Writer) -> str:
    link_type = "" if link.link_type == "references" else f" ({link.link_type})"
    if link.filepath is not None:
        return f"{write.name(link.filepath)}{link_type}"
    target = link.target if isinstance(link, OutlinkRecord) else None
    return f"{write.name(target or '')}{link_type} (no such page)"


def _peoples_text(record: PageRecord, write: Writer) -> Iterator[str]:
    facts = [write.title(record.title), write.name(record.doc_type), write.level(record.staleness)]
    facts += dates(None, record.updated_at)
    yield f"{write.path(record.filepath)}  {', '.join(facts)}"
    for problem in record.problems:
        yield f"  {write.style.yellow(f'line {problem.line}:')} {printable(problem.message)}"
    yield ""
    yield from write.enclose(record.content, "")
    if record.outlinks:
        yield from ("", "Links:")
        yield from (_outlink_line(link, write) for link in record.outlinks)
    if record.backlinks:
        yield from ("", "Linked from:")
        for link in record.backlinks:
            yield f"  {write.name(link.filepath or '')}:{link.line}  {link.link_type}"


def _outlink_line(link: OutlinkRecord, write: Writer) -> str:
    if link.filepath is None:
        missing = write.style.yellow(f"{write.name(link.target or '')}: no such page")
        return f"  line {link.line}  {missing}"
    note = ", several pages match" if link.is_ambiguous else ""
    return f"  line {link.line}  {write.name(link.filepath)}  {link.link_type}{note}"


GET_PAGE = Answer(
    request=PageRequest,
    record=PageRecord,
    run=run,
    run_for_people=partial(run, has_created=False),
    text=text,
    fit=fit_page,
    reads_collections=True,
    tool=ToolTraits(
        title="Read a page",
        description=(
            "Read a documentation page, or a section or lines of it: Markdown, links, and "
            "whether its sources changed since it was written (then trust the code). Use it "
            "instead of opening the file."
        ),
    ),
)
