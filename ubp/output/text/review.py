"""`ubp bind --review` for people: a table, worst first, and what to do about it.

`ubp coverage` for people.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.bindings.coverage import Coverage, Gap
from ubp.bindings.review import (
    HUB_PAGES,
    JUDGEMENTS,
    MIN_CHANGES,
    BindingReview,
    Judgement,
    ReviewedBinding,
    estimate_effect,
)
from ubp.core.model import FilePath
from ubp.core.shell import path_argument, ubp_command
from ubp.output.wording import Style, count, day, joined, printable
from ubp.staleness.wording import describe_verdict

GOOD: frozenset[Judgement] = frozenset({"unproven", "sound"})
HEADER = ("", "changed", "with page", "in 30 days", "pages", "where and what")
MEANINGS: dict[Judgement, str] = {
    "dead": "nothing stands there",
    "wide": "a few files of it carry the page: name these",
    "hub": f"hardly ever answered, and {HUB_PAGES} or more pages name the source",
    "noise": "hardly ever answered by a change of the page",
    "unproven": f"changed less than {MIN_CHANGES} times",
    "sound": "answered often enough",
}


class ReviewTextOptions(NamedTuple):
    """How a review is told, and where it is read.

    `limit` lines of it; with `is_whole` of the bindings too that are good. `prefix` is the folder,
    from the root, where commands are typed, `keys` the front matter keys that they repeat.
    """

    style: Style
    limit: int
    is_whole: bool = False
    is_quiet: bool = False
    prefix: FilePath = FilePath("")
    keys: tuple[str, ...] = ()


def review_text(review: BindingReview, telling: ReviewTextOptions) -> str:
    """The whole answer."""
    told = [one for one in review.bindings if telling.is_whole or one.judgement not in GOOD]
    if telling.is_quiet:
        lines: Iterator[str] = (_name(one) for one in told)
    else:
        lines = _lines(review, told, telling)
    return joined(lines)


def review_sentence(review: BindingReview) -> str:
    """What was held against what."""
    pages = len({one.binding.filepath for one in review.bindings})
    since = "" if review.since is None else f" since {day(review.since)}"
    ends = ", where this clone's history ends" if review.is_shallow else ""
    bindings = f"{count(len(review.bindings), 'binding')} of {count(pages, 'page')}"
    return f"{bindings}, held against {count(review.commits, 'commit')}{since}{ends}"


def _lines(
    review: BindingReview, told: Sequence[ReviewedBinding], telling: ReviewTextOptions
) -> Iterator[str]:
    if not review.bindings:
        yield "No page names a source: nothing to review."
        yield f"Next: {telling.style.cyan('ubp bind')}  proposes what each page describes"
        return
    shown = told[: telling.limit]
    if shown:
        yield from _table(shown, telling.style)
        if len(told) > len(shown):
            yield telling.style.dim(f"and {len(told) - len(shown)} more (--limit {len(told)})")
        yield ""
    yield f"{review_sentence(review)}:"
    yield from _counts(review, telling.style)
    yield from _effect(review)
    yield from _advice(told, telling)


def _table(shown: Sequence[ReviewedBinding], style: Style) -> Iterator[str]:
    rows = [HEADER, *(_row(one) for one in shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER) - 1)]
    for number, (first, *numbers, last) in enumerate(rows):
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        line = "  ".join([first.ljust(widths[0]), *cells, last])
        yield style.dim(line) if number == 0 else line
        proposal = shown[number - 1].proposal if number else ()
        if proposal:
            lead = " " * (sum(widths) + 2 * len(widths))
            yield f"{lead}name {style.green(', '.join(map(printable, proposal)))} instead"


def _row(one: ReviewedBinding) -> tuple[str, ...]:
    later = f"{one.followed}" + (f" + {one.pending}?" if one.pending else "")
    return (
        one.judgement,
        str(one.changed),
        str(one.together),
        later,
        str(one.binding.pages),
        _name(one)
        + (f" ({describe_verdict(one.binding.verdict)})" if one.judgement == "dead" else ""),
    )


def _name(one: ReviewedBinding) -> str:
    binding = one.binding
    place = f"{printable(binding.filepath)}:{binding.line}"
    return f"{place}  {printable(binding.source_path or '.')}"


def _counts(review: BindingReview, style: Style) -> Iterator[str]:
    width = len(str(len(review.bindings)))
    longest = max(len(name) for name in JUDGEMENTS)
    for judgement in JUDGEMENTS:
        number = review.count(judgement)
        if number:
            paint = style.green if judgement in GOOD else style.yellow
            name = paint(judgement) + " " * (longest - len(judgement))
            yield f"  {number:{width}}  {name}  {style.dim(MEANINGS[judgement])}"


def _effect(review: BindingReview) -> Iterator[str]:
    if not review.count("hub", "noise"):
        return
    effect = estimate_effect(review)
    left = f"Without hubs and noise {effect.fired_left} of {count(effect.fired, 'firing')} are left"
    followed = (
        f", {effect.followed_left} of the {effect.followed} that a change of the page followed"
        " within 30 days"
    )
    yield f"{left}{followed if effect.followed else ''}."


def _advice(told: Sequence[ReviewedBinding], telling: ReviewTextOptions) -> Iterator[str]:
    bad = [one for one in told if one.judgement not in GOOD]
    if not bad:
        return
    path = path_argument(bad[0].binding.filepath, telling.prefix)
    explain = ubp_command("bind", "--explain", path, keys=telling.keys)
    steps = [(explain, "proposes what the page describes")]
    if any(one.judgement == "dead" for one in bad):
        has_moved = any(one.judgement == "dead" and one.proposal for one in bad)
        options = (*(("--fix",) if has_moved else ()), "--rule", "missing-source")
        command = ubp_command("check", *options, keys=telling.keys)
        purpose = "names sources where they are now" if has_moved else "tells what is gone"
        steps.append((command, purpose))
    yield "Next: take the lines out, or name what the pages really describe."
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        yield f"  {telling.style.cyan(command)}{' ' * (width - len(command))}  {purpose}"


def coverage_text(found: Coverage, style: Style, *, limit: int, is_quiet: bool) -> str:
    """A line for each gap, and the share that is described; quietly the paths alone."""
    shown = found.gaps[:limit]
    if is_quiet:
        return joined([printable(gap.path) for gap in shown])
    lines = [*_coverage_table(shown, style)]
    if (more := len(found.gaps) - len(shown)) > 0:
        lines.append(style.dim(f"and {count(more, 'more line')}: --limit {len(found.gaps)}"))
    if lines:
        lines.append("")
    lines.append(coverage_sentence(found))
    if found.is_shallow:
        lines.append(style.yellow("This clone is shallow: older changes are not counted."))
    if found.total.files and not found.bound:
        lines += ["Next:", f"  {style.cyan('ubp bind')}  proposes what each page describes"]
    return joined(lines)


def coverage_sentence(found: Coverage) -> str:
    """The share that pages describe."""
    total = found.total
    if not total.files:
        return "There are no source files that a page could describe."
    if not found.bound:
        return f"No page names a source; {count(total.files, 'source file')} could be described."
    verb = "describe" if found.bound > 1 else "describes"
    files = f"{total.described_files} of {count(total.files, 'source file')}"
    told = f"{count(found.bound, 'page')} {verb} {files} ({total.files_percent} %)"
    if total.changes_percent is None:
        return f"{told}; none of them changed in {_span(found.days)}."
    return f"{told}, with {total.changes_percent} % of the changes of {_span(found.days)}."


def _span(days: float) -> str:
    return "the last day" if days == 1 else f"the last {days:g} days"


def _coverage_table(gaps: Sequence[Gap], style: Style) -> Iterator[str]:
    rows = [(f"{gap.changes}", f"{gap.files}", printable(gap.path)) for gap in gaps]
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(("changes", "files", ""), *rows, strict=True)]
    yield style.dim(f"{'changes':>{widths[0]}}  {'files':>{widths[1]}}  no page describes")
    for changes, files, path in rows:
        yield f"{changes:>{widths[0]}}  {files:>{widths[1]}}  {style.bold(path)}"
