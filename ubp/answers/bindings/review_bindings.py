"""`ubp bind --review`: the bindings that exist, compared with history."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from ubp.bindings.narrow import MIN_CHANGES, Narrowed
from ubp.bindings.review import (
    HUB_PAGES,
    JUDGEMENTS,
    MAX_COMMITS,
    BindingReview,
    Judgement,
    ReviewedBinding,
    estimate_effect,
    review,
)
from ubp.core.model import FilePath, Verdict
from ubp.core.paths import doc_id
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, DocId, Fraction, Keyword, Line, Moment, Option, PagePath
from ubp.frame.records import DAY, moment_or_none
from ubp.frame.wording import Style, count
from ubp.frame.writer import Writer
from ubp.index.select import select_pages
from ubp.index.session import Session
from ubp.staleness.assess import assess
from ubp.staleness.state import open_context
from ubp.staleness.wording import describe_verdict

MAX_SHOWN = 20  # lines, a screen
GOOD: frozenset[Judgement] = frozenset({"unproven", "sound"})
HEADER = ("", "changed", "with page", "in 30 days", "pages", "location and source")
MEANINGS: dict[Judgement, str] = {
    "dead": "does not exist",
    "wide": "only a part of it matters to the page: list that instead",
    "hub": f"rarely followed by a change of the page, and listed by {HUB_PAGES} or more pages",
    "noise": "rarely followed by a change of the page",
    "unproven": f"changed fewer than {MIN_CHANGES} times",
    "sound": "followed by changes of the page often enough",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedRecord:
    """Effect of a narrower source in the commits compared; of a file at most 100 changes count."""

    fired: Annotated[Count, "firings of the source"]
    fired_left: Annotated[Count, "firings of the proposal"]
    edits: Annotated[
        Count, "edits of the page with a change of the source or within 30 days after one"
    ]
    edits_left: Annotated[Count, "of these, those that the proposal would have announced, too"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingRecord:
    """A binding, and how often changes of its source concerned its page."""

    doc_id: DocId
    filepath: PagePath
    line: Annotated[Line, "line of the reference in the page"]
    source_path: Annotated[str, "the source: a file, directory or glob, or a part: path#symbol"]
    judgement: Annotated[
        Judgement,
        "worst first: noise: firings are rarely followed by a change of the page; hub: noise, and"
        " many pages list the source; wide: only some of its files or symbols matter to the page;"
        " dead: the source does not exist; unproven: too few changes to judge; sound: all others",
    ]
    verdict: Annotated[Verdict, "verdict on the source"]
    commits: Annotated[Count, "recent commits during the page's lifetime"]
    changed: Annotated[Count, "of these, those that changed the source"]
    together: Annotated[Count, "of these, those that also changed the page"]
    fired: Annotated[
        Count, "those that did not change the page: `ubp stale --base` would have reported it"
    ]
    followed: Annotated[Count, "firings followed by a change of the page within 30 days"]
    pending: Annotated[Count, "firings too recent to judge"]
    useful_share: Annotated[
        Fraction | None,
        "share of the source's changes that came with or were followed by a change of the page,"
        " without undecided ones; null if there are none",
    ]
    pages: Annotated[Count, "number of pages that list this source"]
    proposal: Annotated[
        tuple[str, ...],
        "sources to list instead; empty if the binding should be removed or is good",
    ]
    narrowed: Annotated[
        NarrowedRecord | None, "effect of the proposal, if it is a part of the source"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementsRecord:
    """Number of bindings per judgment."""

    hub: Annotated[Count, "rarely followed by a change of the page, and listed by many pages"]
    noise: Annotated[Count, "rarely followed by a change of the page"]
    wide: Annotated[Count, "only some of its files or symbols matter to the page"]
    dead: Annotated[Count, "the source does not exist"]
    unproven: Annotated[Count, "too few changes to judge"]
    sound: Annotated[Count, "followed by changes of the page often enough"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """Effect of removing hubs and noise, for bindings whose source exists."""

    fired: Annotated[Count, "all firings"]
    fired_left: Annotated[Count, "firings that would remain"]
    followed: Annotated[Count, "firings followed by a change of the page within 30 days"]
    followed_left: Annotated[Count, "of these, those that would remain"]
    narrowed: Annotated[Count, "firings saved by the proposals for wide bindings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """Existing bindings, compared with history."""

    bindings: Annotated[
        tuple[BindingRecord, ...],
        "worst judgment first, then most firings, then path and line; at most --limit",
    ]
    total: Annotated[Count, "number of bindings"]
    commits: Annotated[Count, "number of commits compared, without merges"]
    since: Annotated[Moment | None, "date of the oldest of these commits; null if there are none"]
    is_shallow: Annotated[bool, "whether this clone's history is incomplete"]
    summary: JudgementsRecord
    effect: EffectRecord


@dataclass(frozen=True, slots=True)
class ReviewBindingsRequest(Request[ReviewRecord]):
    """Whose bindings to review, and by how many commits.

    The text leaves out the good bindings, unless `pages` are given or `every` is set.
    """

    pages: Annotated[
        tuple[str, ...],
        "pages, directories or globs; none: all",
        Option("Pages, directories or globs; by default all.", is_argument=True),
    ] = ()
    commits: Annotated[
        int,
        Keyword("minimum", 1),
        "number of commits to compare with",
        Option("With --review: number of commits to compare with (500).", metavar="N"),
    ] = MAX_COMMITS
    limit: (
        Annotated[
            int,
            Keyword("minimum", 1),
            "maximum number of bindings; default: all, of the text 20",
            Option("Maximum number of bindings.", metavar="N"),
        ]
        | None
    ) = None
    every: Annotated[
        bool, "the text lists the good ones, too", Option("List all bindings.", name="--all")
    ] = False


DEFAULT = ReviewBindingsRequest()


def run(session: Session, request: ReviewBindingsRequest) -> ReviewRecord:
    """Return what history says of the sources that pages name; hidden sources are left out.

    At how many of the last commits each would have fired, and what came of it.

    Raises:
        UsageError: a path matches no page.
        RepositoryError: history cannot be read.
    """
    view = session.view()
    pages = view.bound_pages()
    if request.pages:
        selected = select_pages(request.pages, view, session.repository)
        pages = [page for page in pages if page.filepath in selected]
    context = open_context(session, view)
    return review_record(review(assess(pages, context), context, request.commits), request.limit)


def _run_for_text(session: Session, request: ReviewBindingsRequest) -> ReviewRecord:
    """Return all bindings: the text counts those that it does not show."""
    return run(session, replace(request, limit=None))


def review_record(review: BindingReview, limit: int | None = None) -> ReviewRecord:
    """Return the record of `ubp bind --review` with at most `limit` bindings."""
    return ReviewRecord(
        bindings=tuple(map(_binding, review.bindings[:limit])),
        total=len(review.bindings),
        commits=review.commits,
        since=moment_or_none(review.since),
        is_shallow=review.is_shallow,
        summary=JudgementsRecord(**{name: review.count(name) for name in JUDGEMENTS}),
        effect=EffectRecord(**estimate_effect(review)._asdict()),
    )


def _binding(reviewed: ReviewedBinding) -> BindingRecord:
    binding, useful_share = reviewed.binding, reviewed.useful_share
    return BindingRecord(
        doc_id=doc_id(binding.filepath),
        filepath=binding.filepath,
        line=binding.line,
        source_path=binding.source,
        judgement=reviewed.judgement,
        verdict=binding.verdict,
        commits=reviewed.commits,
        changed=reviewed.changed,
        together=reviewed.together,
        fired=reviewed.fired,
        followed=reviewed.followed,
        pending=reviewed.pending,
        useful_share=None if useful_share is None else round(useful_share, 3),
        pages=binding.pages,
        proposal=tuple(reviewed.proposal),
        narrowed=None
        if reviewed.narrowed is None
        else NarrowedRecord(**reviewed.narrowed._asdict()),
    )


def text(
    record: ReviewRecord, write: Writer, request: ReviewBindingsRequest = DEFAULT
) -> Iterator[str]:
    """Yield the bindings, worst first, what they cost, and the next step; quietly all bindings.

    The record has all bindings, also where the request has a `limit`, which the text respects.
    """
    is_whole = request.every or bool(request.pages)
    listed = [binding for binding in record.bindings if is_whole or binding.judgement not in GOOD]
    if write.is_quiet:
        yield from (_binding_name(binding, write) for binding in listed)
        return
    if not record.bindings:
        yield "No page lists sources; nothing to review."
        yield f"Next: {write.style.cyan('ubp bind')}  proposes sources for each page"
        return
    shown = listed[: request.limit or MAX_SHOWN]
    if shown:
        yield from _table(shown, write)
        if len(listed) > len(shown):
            more = f"and {len(listed) - len(shown)} more (--limit {len(listed)})"
            yield write.style.dim(more)
        yield ""
    paths = [binding.filepath for binding in record.bindings]
    sentence = review_sentence(paths, record.commits, record.since, is_shallow=record.is_shallow)
    yield f"{sentence}:"
    yield from _counts(record, write.style)
    yield from _effect(record)
    yield from _advice([binding for binding in listed if binding.judgement not in GOOD], write)


def review_sentence(
    pages: Sequence[str], commits: int, since: str | None, *, is_shallow: bool
) -> str:
    """Return what was compared with what; `pages` are those of all bindings, `since` a time."""
    start = "" if since is None else f" since {since[:DAY]}"
    limit = " (where this clone's history ends)" if is_shallow else ""
    subject = f"{count(len(pages), 'binding')} in {count(len({*pages}), 'page')}"
    return f"{subject}, compared with {count(commits, 'commit')}{start}{limit}"


def _table(shown: Sequence[BindingRecord], write: Writer) -> Iterator[str]:
    style = write.style
    rows = [HEADER, *(_row(binding, write) for binding in shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER) - 1)]
    for number, (first, *numbers, place) in enumerate(rows):
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        line = "  ".join([first.ljust(widths[0]), *cells, place])
        yield style.dim(line) if number == 0 else line
        proposal = shown[number - 1].proposal if number else ()
        if proposal:
            lead = " " * (sum(widths) + 2 * len(widths))
            yield f"{lead}list {style.green(', '.join(map(write.name, proposal)))} instead"
            if narrowed := shown[number - 1].narrowed:
                yield style.dim(f"{lead}{_narrowed(narrowed)}")


def _narrowed(effect: NarrowedRecord) -> str:
    return str(Narrowed(effect.fired, effect.fired_left, effect.edits, effect.edits_left))


def _row(binding: BindingRecord, write: Writer) -> tuple[str, ...]:
    pending = f" + {binding.pending}?" if binding.pending else ""
    verdict = f" ({describe_verdict(binding.verdict)})" if binding.judgement == "dead" else ""
    return (
        binding.judgement,
        str(binding.changed),
        str(binding.together),
        f"{binding.followed}{pending}",
        str(binding.pages),
        f"{_binding_name(binding, write)}{verdict}",
    )


def _binding_name(binding: BindingRecord, write: Writer) -> str:
    place = write.name(f"{binding.filepath}:{binding.line}")
    return f"{place}  {write.name(binding.source_path or '.')}"


def _counts(record: ReviewRecord, style: Style) -> Iterator[str]:
    width = len(str(record.total))
    longest = max(map(len, JUDGEMENTS))
    for judgement in JUDGEMENTS:
        number = getattr(record.summary, judgement)
        if not number:
            continue
        paint = style.green if judgement in GOOD else style.yellow
        name = paint(judgement) + " " * (longest - len(judgement))
        yield f"  {number:{width}}  {name}  {style.dim(MEANINGS[judgement])}"


def _effect(record: ReviewRecord) -> Iterator[str]:
    effect = record.effect
    firings = count(effect.fired, "firing")
    if effect.narrowed:
        fewer = f"{effect.narrowed} of {firings}" if effect.fired > effect.narrowed else firings
        yield f"The narrower sources would have saved {fewer}."
    if not (record.summary.hub or record.summary.noise):
        return
    remaining = f"Without hubs and noise, {effect.fired_left} of {firings} would remain"
    followed = (
        f", including {effect.followed_left} of the {effect.followed} that were followed"
        " by a change of the page within 30 days"
    )
    yield f"{remaining}{followed if effect.followed else ''}."


def _advice(bad: Sequence[BindingRecord], write: Writer) -> Iterator[str]:
    if not bad:
        return
    path = path_argument(FilePath(bad[0].filepath), write.prefix)
    explain = ubp_command("bind", "--explain", path, keys=write.keys)
    steps = [(explain, "proposes sources for the page")]
    dead = [binding for binding in bad if binding.judgement == "dead"]
    if dead:
        has_moved = any(binding.proposal for binding in dead)
        flags = (*(("--fix",) if has_moved else ()), "--rule", "missing-source")
        command = ubp_command("check", *flags, keys=write.keys)
        purpose = "updates moved sources" if has_moved else "lists missing sources"
        steps.append((command, purpose))
    yield "Next: remove these lines, or list the files that the pages really describe."
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        yield f"  {write.style.cyan(command)}{' ' * (width - len(command))}  {purpose}"


REVIEW_BINDINGS = Answer(
    request=ReviewBindingsRequest,
    record=ReviewRecord,
    run=run,
    text=text,
    run_for_text=_run_for_text,
    reads_keys=True,
    has_facts=False,
)
