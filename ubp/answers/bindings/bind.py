"""`ubp bind`: the sources that pages seem to describe, proposed and written."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from ubp.answers.bindings.suggestion import EvidenceRecord, SuggestionRecord, suggestion_record
from ubp.bindings.features import MIN_CONFIDENCE, BindingSuggestions, PageSuggestions
from ubp.bindings.suggest import (
    MIN_REVIEW_CONFIDENCE,
    choose_bindings,
    count_bindings,
    suggest_bindings,
)
from ubp.bindings.write import WriteResult, bind_pages
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.core.paths import doc_id
from ubp.core.shell import git_add, path_argument, ubp_command
from ubp.core.text import shorten
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import between
from ubp.frame.fields import Count, DocId, Fraction, Keyword, Option, PagePath, Pin
from ubp.frame.records import SkippedPageRecord
from ubp.frame.wording import MAX_PAGES, count
from ubp.frame.writer import Writer
from ubp.index.session import Session

MAX_PAGES_SHOWN = 20  # a screen or two
# The reasons on a proposal's line; --explain lists all.
MAX_REASONS = 3
REASON_COLUMNS = 60
# A longer path moves only its own reasons to the right.
PATH_COLUMNS = 56
KIND_COLUMNS = len("identifier")
# With --history, for a source that did not exist yet, or in a shallow clone.
NO_PIN = ", not pinned: its version when the page last changed is unknown"

_UPWARDS = re.compile(r"^(?:\.{0,2}/)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedPageRecord:
    """A page with its proposed sources."""

    doc_id: DocId
    filepath: PagePath
    suggestions: Annotated[tuple[SuggestionRecord, ...], "sources, best first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReferenceRecord:
    """A source that a page lists now."""

    source_path: Annotated[str, "the source"]
    pin: Annotated[Pin | None, "its pin; null if there is none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPageRecord:
    """A page that was or would be changed."""

    filepath: PagePath
    sources: Annotated[tuple[WrittenReferenceRecord, ...], "sources that the page lists now"]
    diff: Annotated[str, "text that is written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindSummaryRecord:
    """Counts."""

    documents: Annotated[Count, "number of pages"]
    bound: Annotated[Count, "number of pages that listed sources before"]
    asked: Annotated[Count, "number of requested pages"]
    proposed: Annotated[Count, "of these, pages with a proposal of 0.2 or above"]
    confident: Annotated[Count, "of these, pages with a proposal of `min_confidence` or above"]
    sources: Annotated[Count, "proposals of `min_confidence` or above"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindRecord:
    """Proposed sources of pages."""

    pages: Annotated[
        tuple[SuggestedPageRecord, ...],
        "requested pages by path, including those without a proposal",
    ]
    written: Annotated[
        tuple[WrittenPageRecord, ...],
        "with --write or --dry-run: pages that were or would be changed",
    ]
    left: Annotated[tuple[SkippedPageRecord, ...], "pages that could not be written"]
    summary: BindSummaryRecord
    min_confidence: Annotated[Fraction, "minimum confidence of proposals to write"]


@dataclass(frozen=True, slots=True)
class BindRequest(Request[BindRecord]):
    """Which pages to propose sources for, and which of these to write, with which pins."""

    pages: Annotated[
        tuple[str, ...],
        "pages, directories or globs, bound or not; none: all that list no sources",
        Option(
            "Pages, directories or globs; by default all pages that list no sources.",
            is_argument=True,
        ),
    ] = ()
    write: Annotated[
        bool,
        "write the proposals with enough confidence",
        Option("Write the proposals with enough confidence to the pages' front matter."),
    ] = False
    dry_run: Annotated[
        bool,
        "return the changes, write nothing",
        Option("Show the changes that --write would make as a diff; write nothing."),
    ] = False
    min_confidence: (
        Annotated[
            float,
            *between(0, 1),
            "minimum confidence of proposals to write; default: 0.7",
            Option(
                "Minimum confidence, from 0 to 1 (0.7); at 0.75, three in four are correct.",
                metavar="N",
            ),
        ]
        | None
    ) = None
    limit: Annotated[
        int,
        Keyword("minimum", 1),
        "maximum number of sources per page",
        Option(
            "Maximum number of sources per page (10); with --review, of lines (20).", metavar="N"
        ),
    ] = 10
    pin: Annotated[
        bool,
        "pin the sources as of now",
        Option("Pin the sources as of now: the pages were reviewed and are accurate."),
    ] = False
    history: Annotated[
        bool,
        "pin the sources as of the last change of each page's text",
        Option(
            "Pin the sources as of the last change of each page's text, so that existing drift "
            "shows."
        ),
    ] = False
    explain: Annotated[
        bool, "the text lists all the evidence", Option("List all the evidence for each proposal.")
    ] = False
    every: Annotated[
        bool,
        "pages that list sources, too",
        Option(
            "Include pages that already list sources; with --review, list all bindings.",
            name="--all",
        ),
    ] = False

    @property
    def is_written(self) -> bool:
        """Whether proposals are written, or it is shown how they would be."""
        return self.write or self.dry_run

    @property
    def min_written(self) -> float:
        """The confidence from which proposals are written."""
        return MIN_CONFIDENCE if self.min_confidence is None else self.min_confidence

    @property
    def min_shown(self) -> float:
        """The confidence from which proposals are shown: of pages that were named, more."""
        is_default = self.min_confidence is None and self.pages
        return MIN_REVIEW_CONFIDENCE if is_default else self.min_written


DEFAULT = BindRequest()


def run(session: Session, request: BindRequest) -> BindRecord:
    """Propose sources and, where that is asked, write those with enough confidence.

    What a page names already is never proposed, nor what `bind.refused` has.

    Raises:
        UsageError: options contradict each other, a path matches no page, or the repository is bare
            and pages are to be written.
    """
    return write_proposals(session, request, propose(session, request))


def propose(session: Session, request: BindRequest) -> BindingSuggestions:
    """Return the proposals, with the evidence.

    Raises:
        UsageError: options contradict each other, or a path matches no page.
    """
    if (request.pin or request.history) and not request.is_written:
        option = "--pin" if request.pin else "--history"
        command = ubp_command("bind", "--write", option)
        raise UsageError(
            f"{option} requires --write, --interactive or --dry-run.",
            hint=f"Write the references: {command}; or preview them: --dry-run {option}",
        )
    if request.pin and request.history:
        raise UsageError(
            "--pin cannot be combined with --history.",
            hint="Use --pin if the pages are accurate now,"
            " --history to keep the drift since their last change.",
        )
    return suggest_bindings(
        session, session.view(), request.pages, limit=request.limit, all_pages=request.every
    )


def write_proposals(
    session: Session, request: BindRequest, suggestions: BindingSuggestions
) -> BindRecord:
    """Return the record of proposals, after writing them where that is asked.

    Raises:
        UsageError: the repository is bare.
    """
    results: Sequence[WriteResult] = ()
    if request.is_written:
        results = bind_pages(
            session,
            choose_bindings(suggestions, request.min_written),
            pin=request.pin,
            from_history=request.history,
            is_dry=request.dry_run,
        )
    counts = count_bindings(suggestions, request.min_written)
    return BindRecord(
        pages=tuple(map(suggested_page_record, suggestions.pages)),
        written=tuple(
            WrittenPageRecord(
                filepath=result.filepath,
                sources=tuple(
                    WrittenReferenceRecord(**reference._asdict()) for reference in result.written
                ),
                diff=result.diff,
            )
            for result in results
            if not result.skip_reason
        ),
        left=tuple(
            SkippedPageRecord(filepath=result.filepath, reason=result.skip_reason)
            for result in results
            if result.skip_reason
        ),
        summary=BindSummaryRecord(
            documents=suggestions.documents,
            bound=suggestions.bound,
            asked=len(suggestions.pages),
            proposed=counts.proposed,
            confident=counts.confident,
            sources=counts.sources,
        ),
        min_confidence=request.min_written,
    )


def suggested_page_record(page: PageSuggestions) -> SuggestedPageRecord:
    """Return the record of a page with its proposed sources."""
    return SuggestedPageRecord(
        doc_id=doc_id(page.filepath),
        filepath=page.filepath,
        suggestions=tuple(map(suggestion_record, page.suggestions)),
    )


def text(
    record: BindRecord, write: Writer, request: BindRequest = DEFAULT, left_out: int = 0
) -> Iterator[str]:
    """Yield the proposals, or what was written; then the next commands, which repeat options.

    `left_out` is the number of requested pages that were left out, such as records of the past.
    """
    if request.is_written:
        yield from _written(record, write, request)
    elif write.is_quiet:
        for page in record.pages:
            for suggestion in shown_suggestions(page, request.min_shown):
                yield f"{write.name(page.filepath)} {write.name(suggestion.source_path)}"
    else:
        yield from _pages(record, write, request)
        yield from _summary(record, write, request, left_out)


def shown_suggestions(
    page: SuggestedPageRecord, min_confidence: float
) -> tuple[SuggestionRecord, ...]:
    """Return the proposals for a page with at least this confidence, best first."""
    return tuple(
        suggestion for suggestion in page.suggestions if suggestion.confidence >= min_confidence
    )


def proposal_lines(
    suggestions: Sequence[SuggestionRecord], write: Writer, request: BindRequest = DEFAULT
) -> Iterator[str]:
    """Yield proposals with their evidence: on one line, the paths padded, or explained."""
    style = write.style
    widths = (len(write.name(suggestion.source_path)) for suggestion in suggestions)
    width = max((width for width in widths if width <= PATH_COLUMNS), default=0)
    for suggestion in suggestions:
        is_confident = suggestion.confidence >= request.min_written
        digits = f"{suggestion.confidence:.2f}"
        confidence = style.green(digits) if is_confident else style.dim(digits)
        path = write.name(suggestion.source_path)
        if request.explain:
            yield f"  {confidence}  {path}"
            for evidence in suggestion.evidence:
                explained = style.dim(_explained(evidence, write))
                yield f"        {round(100 * evidence.weight):3}%  {explained}"
        else:
            padding = " " * max(0, width - len(path))
            reasons = style.dim(_reasons(suggestion, write))
            yield f"  {confidence}  {path}{padding}  {reasons}".rstrip()


def next_steps(changed: Sequence[FilePath], write: Writer) -> str:
    """Return the commands to type after pages were written."""
    command = git_add(changed, write.prefix) if len(changed) <= MAX_PAGES else "git add -u"
    return f"{write.style.cyan(command)}, then {write.style.cyan(ubp_command('stale'))}"


def _command(write: Writer, request: BindRequest, *words: str) -> str:
    """Return a command to type, with the arguments of the request that it has to repeat."""
    arguments = [path_argument(page) for page in request.pages]
    if request.min_confidence is not None:
        arguments += ["--min-confidence", f"{request.min_confidence:g}"]
    if request.limit != DEFAULT.limit:
        arguments += ["--limit", str(request.limit)]
    if request.every:
        arguments.append("--all")
    return write.style.cyan(ubp_command("bind", *words, *arguments, keys=write.keys))


def _pages(record: BindRecord, write: Writer, request: BindRequest) -> Iterator[str]:
    shown = {page.filepath: shown_suggestions(page, request.min_shown) for page in record.pages}
    pages = [path for path, suggestions in shown.items() if suggestions]
    limit = len(pages) if request.pages else MAX_PAGES_SHOWN
    for path in pages[:limit]:
        yield write.path(path)
        yield from proposal_lines(shown[path], write, request)
        yield ""
    if more := pages[limit:]:
        folder = FilePath(more[0].rpartition("/")[0] or ".")
        command = write.style.cyan(ubp_command("bind", path_argument(folder, write.prefix)))
        pages_left = count(len(more), "more page")
        yield f"and {pages_left}: use {command} for one directory, or --quiet."
        yield ""


def _reasons(suggestion: SuggestionRecord, write: Writer) -> str:
    """Return the strongest reasons that fit on a line, each once."""
    reasons = dict.fromkeys(
        _reason(evidence, suggestion.source_path, write) for evidence in suggestion.evidence
    )
    first, *rest = list(filter(None, reasons)) or [""]
    shown = [shorten(first, REASON_COLUMNS)]
    for evidence in rest:
        longer = "; ".join([*shown, evidence])
        if len(shown) < MAX_REASONS and len(longer) <= REASON_COLUMNS:
            shown.append(evidence)
    return "; ".join(shown)


def _reason(evidence: EvidenceRecord, source: str, write: Writer) -> str:
    position = f" on line {evidence.line}" if evidence.line else ""
    is_mentioned = evidence.kind in {"path", "file_name"}
    path = _UPWARDS.sub("", evidence.detail, count=1).rstrip("/")
    if is_mentioned and evidence.line and f"/{source}".rstrip("/").endswith(f"/{path}"):
        return f"mentioned{position}"
    are_words = " " not in evidence.detail.replace(", ", ",")  # no sentence
    if evidence.kind == "place" and are_words:
        return f"similar name ({write.name(evidence.detail)})"
    return f"{write.name(evidence.detail)}{position}"


def _explained(evidence: EvidenceRecord, write: Writer) -> str:
    position = f" (line {evidence.line})" if evidence.line else ""
    kind = evidence.kind.replace("_", " ")
    return f"{kind:<{KIND_COLUMNS}}  {write.name(evidence.detail)}{position}"


def _summary(
    record: BindRecord, write: Writer, request: BindRequest, left_out: int
) -> Iterator[str]:
    summary = record.summary
    if not summary.documents:
        yield write.style.yellow("No pages found; nothing to bind.")
        return
    if not record.pages:
        pages = count(summary.documents, "page")
        yield write.style.green(f"Every page lists sources ({pages}).")
        return
    yield _summary_line(record, left_out)
    if not summary.proposed:
        yield "Nothing in these pages or their history points to a source."
        return
    steps: list[tuple[tuple[str, ...], BindRequest, str]] = []
    if summary.confident:
        written = f"{count(summary.sources, 'source')} to {count(summary.confident, 'page')}"
        steps.append((("--write",), request, f"adds {written}"))
        pinned = "the same, pinned to each page's last edit to reveal drift"
        steps.append((("--write", "--history"), request, pinned))
    steps.append((("--interactive",), request, "asks about each proposal"))
    is_hidden = summary.proposed > summary.confident and request.min_shown > MIN_REVIEW_CONFIDENCE
    if is_hidden:
        steps.append(((), _with_uncertain(request), "shows the uncertain proposals too"))
    if not request.explain and (summary.confident or not is_hidden):
        steps.append((("--explain",), request, "lists all the evidence"))
    yield "Next:"
    if len(request.pages) > MAX_PAGES:
        (words, asked, purpose), *rest = steps
        yield f"  {_command(write, asked, *words)}"
        yield f"      {purpose}"
        yield "For the same PAGES:"
        steps = [
            (words, replace(asked, pages=("PAGES",)), purpose) for words, asked, purpose in rest
        ]
    commands = [_command(write, asked, *words) for words, asked, _ in steps]
    width = max(map(len, commands), default=0)
    for command, (*_, purpose) in zip(commands, steps, strict=True):
        yield f"  {command}{' ' * (width - len(command))}  {purpose}"


def _with_uncertain(request: BindRequest) -> BindRequest:
    return replace(request, min_confidence=MIN_REVIEW_CONFIDENCE)


def _summary_line(record: BindRecord, left_out: int) -> str:
    """Return how many pages are bound, and for how many there are proposals."""
    summary = record.summary
    proposals = (
        f"proposals for {summary.proposed},"
        f" {summary.confident} of them at confidence {record.min_confidence:g} or above"
    )
    if left_out:
        kinds = "such as records of the past, .github and fixtures"
        proposals = f"{left_out} left out ({kinds}); {proposals}"
    if summary.asked + left_out + summary.bound < summary.documents:
        return f"{count(summary.asked, 'page')} selected; {proposals}."
    bound = f"{summary.bound} bound" if summary.bound else "none bound"
    return f"{count(summary.documents, 'page')}, {bound}; {proposals}."


def _written(record: BindRecord, write: Writer, request: BindRequest) -> Iterator[str]:
    style = write.style
    written = [page for page in record.written if page.sources]
    if not write.is_quiet:
        for page in written:
            yield from (
                write.diff(page.diff, "") if request.dry_run else _named(page, write, request)
            )
    for left in record.left:
        yield write.path(left.filepath)
        yield f"  {style.yellow('skipped')}: {write.name(left.reason)}"
    if write.is_quiet:
        return
    if not written and record.left:
        return
    if not written:
        minimum = f"{record.min_confidence:g} or above"
        yield f"Nothing to write: no proposal has a confidence of {minimum}."
        if record.summary.proposed and request.min_written > MIN_REVIEW_CONFIDENCE:
            yield f"Next: {_command(write, _with_uncertain(request))} shows the uncertain ones"
        return
    sources = count(sum(len(page.sources) for page in written), "source")
    pages = count(len(written), "page")
    if request.dry_run:
        yield f"Would add {sources} to {pages}."
        pinned = {"--pin": request.pin, "--history": request.history}
        pins = [option for option, is_given in pinned.items() if is_given]
        yield f"Next: {_command(write, request, '--write', *pins)}"
        return
    yield style.green(f"Added {sources} to {pages}.")
    yield f"Next: {next_steps([FilePath(page.filepath) for page in written], write)}"


def _named(page: WrittenPageRecord, write: Writer, request: BindRequest) -> Iterator[str]:
    style = write.style
    yield write.path(page.filepath)
    is_pinned = request.pin or request.history
    for reference in page.sources:
        pin = f", pinned to {reference.pin}" if reference.pin else ""
        note = "" if reference.pin or not is_pinned else style.yellow(NO_PIN)
        yield f"  {write.name(reference.source_path)}  {style.green(f'added{pin}')}{note}"


def status(record: BindRecord) -> int:
    """Return 1 if a page could not be written, else 0."""
    return int(bool(record.left))


BIND = Answer(
    request=BindRequest,
    record=BindRecord,
    run=run,
    text=text,
    reads_keys=True,
    has_facts=False,
    status=status,
)
