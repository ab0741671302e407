"""`ubp ack`: reviewed pages, whose sources are pinned."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.answers.staleness.reviewed import is_handed_over, remember, trailer
from ubp.answers.staleness.stale import diff_lines
from ubp.answers.staleness.stale_record import DiffRecord
from ubp.core.errors import UsageError
from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import doc_id
from ubp.core.shell import git_add, path_argument, ubp_command
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, DocId, Option, PagePath, Pin
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.select import path_from_root
from ubp.index.session import Session, Target
from ubp.staleness.assess import assess
from ubp.staleness.change import assess_change, touched_pages
from ubp.staleness.diff import diff_pages
from ubp.staleness.model import Acknowledgement, Change, Pinned
from ubp.staleness.pins import AckOptions, acknowledge
from ubp.staleness.repeated import find_repeated
from ubp.staleness.state import (
    assess_translations,
    join_translations,
    open_change,
    open_context,
    pages_to_assess,
    select,
)

Scope = Literal["state", "base", "staged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedRecord:
    """A reference that was pinned."""

    source_path: Annotated[str, "the source"]
    before: Annotated[str | None, "previous pin"]
    pin: Annotated[Pin, "the new pin"]
    diff: Annotated[DiffRecord | None, "with --diff: the changes that were acknowledged"]
    is_older: Annotated[
        bool, "whether the pin is the old baseline, because the change did not make it stale"
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedReferenceRecord:
    """A reference that could not be pinned."""

    source_path: Annotated[str, "the source"]
    reason: Annotated[str, "why not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgedPageRecord:
    """A page that was acknowledged."""

    doc_id: DocId
    filepath: PagePath
    pinned: Annotated[tuple[PinnedRecord, ...], "references that were pinned"]
    left: Annotated[tuple[SkippedReferenceRecord, ...], "references that could not be pinned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgeSummaryRecord:
    """Counts."""

    documents: Annotated[Count, "pages that were changed"]
    pinned: Annotated[Count, "references pinned"]
    left: Annotated[Count, "references skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgeRecord:
    """What was pinned."""

    documents: Annotated[tuple[AcknowledgedPageRecord, ...], "pages that were checked"]
    summary: AcknowledgeSummaryRecord
    scope: Annotated[
        Scope,
        "state: whatever drifted; staged: what the staged changes make stale (the pins are staged,"
        " too); base: what the commits since --base make stale",
    ]
    trailers: Annotated[
        tuple[str, ...], "with --reason: the lines that keep it in the message of the next commit"
    ]
    is_handed_over: Annotated[bool, "whether a hook adds these lines to the message"]
    repeated: Annotated[
        tuple[str, ...], "pages that were acknowledged three times in a row without an edit"
    ]


@dataclass(frozen=True, slots=True)
class AcknowledgeRequest(Request[AcknowledgeRecord]):
    """Which references to pin: of `paths` or of `every` page, those not at their baseline.

    With `staged` or `base` only those that the change takes from their baseline: `staged` pins what
    the index contains, in the index and in the work tree, `base` what HEAD contains. `history` pins
    unpinned references to what their sources were when the page's text last changed, `at` (a
    revision) all references to what their sources were then. The reference of a translation to its
    original is pinned where `paths` name the page itself; with `translations` in folders and globs,
    too, which also contain what nobody has read.
    """

    paths: Annotated[
        tuple[str, ...],
        "pages, folders or globs",
        Option("Pages, directories or globs.", is_argument=True),
    ] = ()
    every: Annotated[
        bool,
        "every page that is not fresh",
        Option("Acknowledge every page that is not fresh.", name="--all"),
    ] = False
    staged: Annotated[
        bool,
        "what the staged changes make stale",
        Option(
            "Pin what the staged changes make stale, and stage the pins (nothing else is staged)."
        ),
    ] = False
    amend: Annotated[
        bool,
        "with staged: what the commit that replaces HEAD makes stale",
        Option("With --staged, pin what the commit that replaces HEAD makes stale."),
    ] = False
    base: Annotated[
        str | None,
        "what the commits since the merge base with this revision make stale",
        Option(
            "Pin only what the commits since the merge base with this revision make stale.",
            metavar="REV",
        ),
    ] = None
    history: Annotated[
        bool,
        "pin what the page described",
        Option(
            "Pin the sources as of the last change of each page's text (not of its front matter), "
            "so that existing drift is kept."
        ),
    ] = False
    at: Annotated[
        str | None,
        "revision to pin",
        Option("Pin the sources as of this revision.", metavar="REV"),
    ] = None
    reason: Annotated[
        str | None,
        "why the page is still accurate",
        Option(
            "Why the page is still accurate; stored with the pin until the next one.",
            metavar="TEXT",
        ),
    ] = None
    diff: Annotated[
        bool,
        "include what changed",
        Option("Show what is acknowledged: how each source changed since its baseline."),
    ] = False
    translations: Annotated[
        bool,
        "translations in folders, too",
        Option(
            "Also acknowledge the translations in directories and globs, or with --all everywhere, "
            "as up to date with their originals; a page that is named always is."
        ),
    ] = False


def run(session: Session, request: AcknowledgeRequest) -> AcknowledgeRecord:
    """Pin the references that are not at their baseline; of a change those for which it fails.

    So no older staleness is erased.

    Raises:
        UsageError: neither pages nor `every` are given, options contradict each other, a path
            matches no page, or nothing is staged.
    """
    target = Target(staged=request.staged, base=request.base, amend=request.amend)
    _check(request, target)
    change = open_change(session, target) if target.is_change else None
    if target.staged and change and not change.changes:
        raise UsageError(
            "Nothing is staged.",
            cause="`git commit -a` and `git commit PATH` stage files for that commit only.",
            hint="Stage the changes first: git add -u",
        )
    results = _acknowledge(session, request, target, change)
    changed = [result.filepath for result in results if result.pinned] if request.reason else []
    if changed:
        remember(session.repository, changed, str(request.reason))
    return AcknowledgeRecord(
        documents=tuple(
            AcknowledgedPageRecord(
                doc_id=doc_id(result.filepath),
                filepath=result.filepath,
                pinned=tuple(map(_pinned_record, result.pinned)),
                left=tuple(SkippedReferenceRecord(**left._asdict()) for left in result.skipped),
            )
            for result in results
        ),
        summary=AcknowledgeSummaryRecord(
            documents=sum(1 for result in results if result.pinned),
            pinned=sum(len(result.pinned) for result in results),
            left=sum(len(result.skipped) for result in results),
        ),
        scope="staged" if request.staged else "state" if request.base is None else "base",
        trailers=tuple(trailer(page, str(request.reason)) for page in changed),
        is_handed_over=bool(changed) and is_handed_over(session.repository),
        repeated=find_repeated(
            [result.filepath for result in results if result.pinned],
            change.after if change else open_context(session, session.view(target)),
            session.config.keys,
        ),
    )


def _check(request: AcknowledgeRequest, target: Target) -> None:
    if not request.paths and not request.every:
        raise UsageError(
            "No pages given.",
            cause="`ubp ack` needs the pages to acknowledge.",
            hint="Run `ubp ack docs/page.md`, or `ubp ack --all` for all stale pages.",
        )
    if request.at and (request.history or target.is_change):
        raise UsageError(
            "--at cannot be combined with --history, --staged or --base.",
            cause="It pins every reference of the pages to one revision.",
            hint="Run `ubp ack --at REV PAGE`.",
        )
    if request.diff and (request.at or request.history):
        raise UsageError(
            "--diff cannot be combined with --history or --at.",
            cause="These options pin earlier versions of the sources.",
            hint="To compare with the present ones: ubp stale --diff PAGE",
        )


def _acknowledge(
    session: Session, request: AcknowledgeRequest, target: Target, change: Change | None
) -> tuple[Acknowledgement, ...]:
    context = change.after if change else open_context(session, session.view(target))
    selected = select(session, context.view, request.paths)
    pages = pages_to_assess(context.view, selected, every=False)
    if change and not (request.paths and request.history):
        touched = {page.filepath for page in touched_pages(change)}
        pages = [page for page in pages if page.filepath in touched]
    assessed = assess_change(pages, change) if change else assess(pages, context)
    if context.rules.translations:
        if not request.translations:
            named = (path_from_root(path, session.repository) for path in request.paths)
            selected = frozenset(named)
        assessed = join_translations(assessed, assess_translations(context, selected, change))
    options = AckOptions(
        session.config.keys,
        target.staged,
        request.history,
        request.reason,
        session.is_hidden,
        session.repository.resolve(request.at) if request.at else None,
    )
    diffs = {}
    if request.diff:  # before the pins are written
        compared = diff_pages(assessed, context)
        diffs = {(page.page.filepath, verdict): diff for page, verdict, diff in compared}
    return acknowledge(assessed, context, options, diffs)


def _pinned_record(pinned: Pinned) -> PinnedRecord:
    return PinnedRecord(
        source_path=pinned.source_path,
        before=pinned.before,
        pin=pinned.pin,
        diff=None if pinned.diff is None else DiffRecord(pinned.diff.text, pinned.diff.missing),
        is_older=pinned.is_older,
    )


def text(record: AcknowledgeRecord, write: Writer) -> Iterator[str]:
    """Yield what was pinned, page by page, then a summary and the next command."""
    if write.is_quiet and not record.summary.left:
        return
    for page in record.documents:
        if page.pinned or page.left:
            yield from _page(page, write)
    pinned, pages = record.summary.pinned, record.summary.documents
    if pinned:
        yield f"{count(pinned, 'reference')} pinned in {count(pages, 'page')}."
        if record.scope != "staged":
            changed = (FilePath(page.filepath) for page in record.documents if page.pinned)
            yield f"Next: {write.style.cyan(git_add(changed, write.prefix))}"
        yield from _trailers(record)
        for path in record.repeated:
            command = ubp_command("bind", "--review", path_argument(path, write.prefix))
            yield f"{write.path(FilePath(path))} was acknowledged three times without an edit."
            yield f"To find a narrower reference: {write.style.cyan(command)}"
    elif record.summary.left:
        yield "Nothing was pinned."
    elif record.scope == "state" and not record.documents:
        yield "Nothing to pin: no page that was asked for lists sources."
        yield f"Next: {write.style.cyan(ubp_command('bind'))} proposes sources for each page"
    elif record.scope == "state":
        yield "Nothing to pin: no reference has drifted."
    else:
        yield "Nothing to pin: this change makes no page stale."


def _trailers(record: AcknowledgeRecord) -> Iterator[str]:
    if record.trailers:
        verb = "The next commit's message will have" if record.is_handed_over else "To keep"
        what = "" if record.is_handed_over else " the reason, add to the commit message"
        yield f"{verb}{what}:"
        yield from (f"  {line}" for line in record.trailers)


def _page(page: AcknowledgedPageRecord, write: Writer) -> Iterator[str]:
    style = write.style
    yield write.path(page.filepath)
    for pinned in page.pinned:
        before = f" (was {pinned.before})" if pinned.before else ""
        if pinned.is_older:
            before = ", its old baseline: it was stale before this change"
        name = write.name(pinned.source_path)
        yield f"  {name}  {style.green(f'pinned to {pinned.pin}')}{write.name(before)}"
        if pinned.diff is not None:
            missing = [ObjectId(blob) for blob in pinned.diff.missing_blobs]
            yield from diff_lines(pinned.diff.text, missing, style)
    for left in page.left:
        skipped = style.yellow("skipped")
        yield f"  {write.name(left.source_path)}  {skipped}: {write.name(left.reason)}"


def _status(record: AcknowledgeRecord) -> int:
    return int(record.summary.left > 0)


ACK = Answer(
    request=AcknowledgeRequest,
    record=AcknowledgeRecord,
    run=run,
    text=text,
    reads_keys=True,
    has_facts=False,
    status=_status,
)
