"""`ubp impact` and `ubp_get_impact`: the pages to review when something changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.answers.bindings.suggestion import SuggestionRecord, suggestion_record
from ubp.bindings.describing import (
    Describing,
    DescribingPages,
    find_describing,
    find_naming,
)
from ubp.core.model import QUIET_LEVELS, Assessment, FilePath, LinkType
from ubp.core.paths import doc_id
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, Ref, between
from ubp.frame.fields import (
    REVISION,
    Count,
    DocId,
    DocType,
    Line,
    Option,
    PageLevel,
    PagePath,
    Title,
)
from ubp.frame.records import title_of
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.names import read_page_mentions
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.search.graph import open_graph
from ubp.search.impact import (
    FIRM,
    Impacted,
    ImpactStep,
    ImpactTarget,
    Reason,
    find_impact,
    resolve_target,
)
from ubp.search.traverse import MAX_USEFUL_DEPTH
from ubp.staleness.references import SourceUse, overlaps_with
from ubp.staleness.state import assess_paths, open_source_index

MAX_DEPTH, MAX_LIMIT = 5, 1_000
MAX_PROBABLE = 5
MAX_EVIDENCE = 3  # of a probable page, in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """A step of a chain of dependencies."""

    filepath: Annotated[
        str, "page that depends on the previous step, or on the path in the first step"
    ]
    link_type: Annotated[LinkType | None, "type of its link; null for a source reference"] = None
    source_path: Annotated[str | None, "its source reference, path or glob; null for a link"] = None
    moved_to: Annotated[str | None, "current path of the source, if it moved"] = None
    target: Annotated[str | None, "target page of its link, if a directory was requested"] = None
    line: Annotated[Line, "line of the dependency in the page, from 1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactedRecord:
    """A page that depends on the requested path."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    depth: Annotated[Line, "number of steps"]
    reason: Annotated[Reason, "how the page states the dependency: the last step of the chain"]
    chain: Annotated[tuple[StepRecord, ...], "steps from the requested path to this page"]
    staleness: PageLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbablePageRecord:
    """A page that does not list the requested path, and seems to describe it."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    suggestion: Annotated[
        SuggestionRecord, "the file that it seems to describe, with the confidence and the evidence"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactRecord:
    """Pages that depend on a page or a source."""

    path: Annotated[str, "requested path, from the root"]
    kind: Annotated[
        Literal["page", "source"],
        "page: a document, even a removed one; source: any other file or directory",
    ]
    exists: Annotated[bool, "whether the path exists"]
    impacted: Annotated[
        tuple[ImpactedRecord, ...],
        "pages that depend on it: first those reached by dependencies only (source_reference,"
        " depends_on, implements, extends), then by distance; of a part of a file, those that list"
        " it before those that name it, and these before others",
    ]
    total: Annotated[Count, "number of dependent pages"]
    truncated_count: Annotated[Count, "number of entries omitted from the end"]
    probable: Annotated[
        tuple[ProbablePageRecord, ...],
        "where no page lists the file or folder as a source: pages that seem to describe it,"
        " likeliest first",
    ]
    less_probable: Annotated[
        tuple[PagePath, ...], "further such pages, which are less likely to"
    ] = ()
    compared: Annotated[Count, "number of pages that were compared with it for that"]


@dataclass(frozen=True, slots=True)
class ImpactRequest(Request[ImpactRecord]):
    """What changes, and how far to follow what depends on it.

    The path is that of a file or folder, which need not exist any more, or the unique end of one,
    or a page's `doc_id`; a hidden file is treated as missing. After a `#` a symbol, a heading or
    lines narrow it to that part of the file.
    """

    path: Annotated[
        str,
        "page, file, folder or src/a.py#login; may be deleted",
        Option(
            "A page, file or directory; it need not exist.",
            is_argument=True,
            missing="a page, file or directory",
            cause="`ubp impact` lists the pages that depend on it.",
        ),
    ]
    depth: Annotated[
        int,
        *between(1, MAX_DEPTH),
        "maximum chain length",
        Option(
            "Include pages up to this many steps away, 1 to 5 (3).",
            metavar="N",
            why=MAX_USEFUL_DEPTH,
        ),
    ] = 3
    limit: Annotated[
        int, *between(1, MAX_LIMIT), Option("Maximum number of pages (100).", metavar="N")
    ] = 100
    max_tokens: MaxTokens | None = None
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: ImpactRequest) -> ImpactRecord:
    """Return the pages that depend on a page or a source, at most `depth` steps away.

    Raises:
        PageNotFoundError: several files match.
    """
    view = session.view(Target(request.ref))
    graph, sources = open_graph(view), open_source_index(session, view)

    def referencing(path: FilePath) -> list[ImpactStep]:
        return _source_steps(sources.matching(overlaps_with(view, path)), path)

    def depending(path: FilePath) -> list[ImpactStep]:
        return _source_steps(sources.covering(path), path)

    subject = resolve_target(request.path, session, view, graph, referencing)
    subject = _with_naming(view, subject)
    impact = find_impact(graph, subject, depending, request.depth, request.limit)
    levels = assess_paths(session, view, [page.document.path for page in impact.impacted])
    describing = _find_describing(session, view, subject, request.limit)
    probable = describing.found[:MAX_PROBABLE]
    return ImpactRecord(
        path=subject.path,
        kind=subject.kind,
        exists=subject.exists,
        impacted=tuple(
            _impacted_record(page, subject.path, levels[page.document.path])
            for page in impact.impacted
        ),
        total=impact.total,
        truncated_count=impact.total - len(impact.impacted),
        probable=_probable_records(view, probable),
        less_probable=tuple(found.page for found in describing.found[MAX_PROBABLE:]),
        compared=describing.compared,
    )


def _find_describing(
    session: Session, view: View, subject: ImpactTarget, limit: int
) -> DescribingPages:
    """Return the pages that seem to describe a source which no page lists, and of how many."""
    is_listed = any(step.reason == "source_reference" for step in subject.first)
    if is_listed or subject.kind == "page" or not subject.exists:
        return DescribingPages((), 0)
    path, _, part = subject.path.partition("#")
    return find_describing(session, view, FilePath(path), limit, part)


def _with_naming(view: View, subject: ImpactTarget) -> ImpactTarget:
    """Add the pages that list a part of a file, and those that list the file and name the part."""
    part = subject.path.partition("#")[2]
    if not part:
        return subject
    listing = frozenset(step.path for step in subject.first if "#" in (step.source_path or ""))
    others = {step.path for step in subject.first} - listing
    naming = find_naming(view, read_page_mentions(view, others), part)
    return subject._replace(listing=listing, naming=frozenset(naming))


def _probable_records(view: View, found: Sequence[Describing]) -> tuple[ProbablePageRecord, ...]:
    pages = view.pages_at([describing.page for describing in found])
    return tuple(
        ProbablePageRecord(
            doc_id=doc_id(describing.page),
            filepath=describing.page,
            title=title_of(pages[describing.page]),
            suggestion=suggestion_record(describing.suggestion),
        )
        for describing in found
    )


def _source_steps(uses: Iterable[SourceUse], target: FilePath) -> list[ImpactStep]:
    """Return the steps from a source to the pages that name it."""
    return [
        ImpactStep(
            use.page, target, "source_reference", use.reference.line, use.source.name, use.moved_to
        )
        for use in uses
    ]


def _impacted_record(page: Impacted, path: FilePath, assessment: Assessment) -> ImpactedRecord:
    document = page.document
    previous = [path, *(step.path for step in page.chain)]
    return ImpactedRecord(
        doc_id=document.doc_id,
        filepath=document.path,
        title=document.title,
        doc_type=document.doc_type,
        depth=page.depth,
        reason=page.reason,
        chain=tuple(
            StepRecord(
                filepath=step.path,
                link_type=None if step.reason == "source_reference" else step.reason,
                source_path=step.source_path,
                moved_to=step.moved_to,
                # Named only where it is not the page before, as in a directory.
                target=step.target
                if step.reason != "source_reference" and step.target != at
                else None,
                line=step.line,
            )
            for step, at in zip(page.chain, previous, strict=False)
        ),
        staleness=assessment.level,
    )


def text(record: ImpactRecord, write: Writer) -> Iterator[str]:
    """Yield the pages: for agents each with its whole chain, for people with its last step."""
    if write.is_quiet:
        yield from (write.name(page.filepath) for page in record.impacted)
    elif write.is_agent:
        yield from _agents_text(record, write)
    elif not record.total:
        subject = write.name(record.path)
        why = f"No page depends on {subject}."
        missing = f"{subject} is not in the repository, and no page refers to it."
        yield write.style.yellow(why if record.exists else missing)
        yield from _probable_text(record, write)
    else:
        yield from _peoples_text(record, write)
        yield from _probable_text(record, write)


def _agents_text(record: ImpactRecord, write: Writer) -> Iterator[str]:
    path = write.name(record.path) if record.path else "the repository"
    probable = len(record.probable) + len(record.less_probable)
    pages = count(record.total or probable, "page")
    yield f"{pages} to review for {path}. {write.notice()}"
    if not record.exists:
        yield f"{path} is not in the repository now."
    for page in record.impacted:
        stale = "" if page.staleness in QUIET_LEVELS else f" ({page.staleness})"
        yield f"{write.path(page.filepath)}: {write.title(page.title)}{stale}"
        yield f"  {'; '.join(_step_text(step, write) for step in page.chain)}"
    if record.truncated_count:
        omitted = count(record.truncated_count, "page")
        yield f"[{omitted} omitted: use a larger limit or a smaller depth]"
    yield from _probable_text(record, write)


def _probable_text(record: ImpactRecord, write: Writer) -> Iterator[str]:
    """Yield the pages that seem to describe what no page lists; or that there is none."""
    if record.probable:
        yield "No page lists it as a source. These seem to describe it, with a confidence:"
    elif record.compared:
        pages = count(record.compared, "page")
        yield f"No page lists it as a source, and none of {pages} seems to describe it."
    for page in record.probable:
        suggestion = page.suggestion
        line = next((item.line for item in suggestion.evidence if item.line), None)
        place = write.path(f"{page.filepath}:{line}" if line else page.filepath)
        is_inside = suggestion.source_path != record.path
        source = f"  {write.name(suggestion.source_path)}" if is_inside else ""
        details = "; ".join(write.quote(item.detail) for item in suggestion.evidence[:MAX_EVIDENCE])
        yield f"  {place}  {suggestion.confidence:.2f}{source}  {details}"
    if record.less_probable:
        yield f"Less likely: {', '.join(map(write.path, record.less_probable))}"


def _step_text(step: StepRecord, write: Writer) -> str:
    place = f"{write.name(step.filepath)}:{step.line}"
    if step.source_path is not None:
        moved = f", now {write.name(step.moved_to)}" if step.moved_to else ""
        return f"{place} describes {write.name(step.source_path)}{moved}"
    return f"{place} {step.link_type}{f' {write.name(step.target)}' if step.target else ''}"


def _peoples_text(record: ImpactRecord, write: Writer) -> Iterator[str]:
    dependents = [page for page in record.impacted if _is_firm(page.chain)]
    mentions = [page for page in record.impacted if not _is_firm(page.chain)]
    for title, group in (("Depends on it:", dependents), ("Mentions it:", mentions)):
        if group:
            yield title
            yield from (_page_line(page, record.path, write) for page in group)
            yield ""
    shown, total = len(record.impacted), count(record.total, "page")
    verb = "depends" if record.total == 1 else "depend"
    counted = f"{shown} of {total}" if shown < record.total else total
    yield f"{counted} {verb} on {write.name(record.path) or 'the whole repository'}."


def _is_firm(chain: Sequence[StepRecord]) -> bool:
    return all((step.link_type or "source_reference") in FIRM for step in chain)


def _page_line(page: ImpactedRecord, path: str, write: Writer) -> str:
    *before, step = page.chain
    stale = "" if page.staleness in QUIET_LEVELS else f"  {write.level(page.staleness)}"
    if step.source_path is not None:
        why = f"describes {write.name(step.source_path)}"
        why += f", which moved to {write.name(step.moved_to)}" if step.moved_to else ""
    else:
        target = step.target or (before[-1].filepath if before else path)
        why = f"{step.link_type} {'it' if target == path and not before else write.name(target)}"
    return f"  {write.path(f'{page.filepath}:{step.line}')}  {why}{stale}"


IMPACT = Answer(
    request=ImpactRequest,
    record=ImpactRecord,
    run=run,
    text=text,
    items="impacted",
    tool=ToolTraits(
        title="Find dependent pages",
        description=(
            "Find documentation pages that depend on a page, source file or folder: those that "
            "list it as a source, then those that link to them; where none lists it, those that "
            "seem to describe it. Use it before changing, moving or deleting a file."
        ),
    ),
)
