"""The text of `ubp bind --review` for people."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.bindings.narrow import MIN_CHANGES
from ubp.bindings.review import (
    HUB_PAGES,
    JUDGEMENTS,
    BindingReview,
    Judgement,
    ReviewedBinding,
    estimate_effect,
)
from ubp.core.model import FilePath
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.wording import Style, count, day, joined, printable
from ubp.staleness.wording import describe_verdict

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


class ReviewTextOptions(NamedTuple):
    """How a review is shown, and where it is read.

    At most `limit` lines; with `is_whole` also the good bindings. `prefix` is the directory, from
    the root, where commands are typed, `keys` the front matter keys that they repeat.
    """

    style: Style
    limit: int
    is_whole: bool = False
    is_quiet: bool = False
    prefix: FilePath = FilePath("")
    keys: tuple[str, ...] = ()


def review_text(review: BindingReview, options: ReviewTextOptions) -> str:
    """Return the whole text; with `is_quiet` only the bindings."""
    listed = [
        binding for binding in review.bindings if options.is_whole or binding.judgement not in GOOD
    ]
    if options.is_quiet:
        lines: Iterator[str] = (_binding_name(binding) for binding in listed)
    else:
        lines = _review_lines(review, listed, options)
    return joined(lines)


def review_sentence(review: BindingReview) -> str:
    """Return what was compared with what."""
    pages = len({reviewed.binding.filepath for reviewed in review.bindings})
    since = "" if review.since is None else f" since {day(review.since)}"
    limit = " (where this clone's history ends)" if review.is_shallow else ""
    subject = f"{count(len(review.bindings), 'binding')} in {count(pages, 'page')}"
    return f"{subject}, compared with {count(review.commits, 'commit')}{since}{limit}"


def _review_lines(
    review: BindingReview, listed: Sequence[ReviewedBinding], options: ReviewTextOptions
) -> Iterator[str]:
    if not review.bindings:
        yield "No page lists sources; nothing to review."
        yield f"Next: {options.style.cyan('ubp bind')}  proposes sources for each page"
        return
    shown = listed[: options.limit]
    if shown:
        yield from _table(shown, options.style)
        if len(listed) > len(shown):
            yield options.style.dim(f"and {len(listed) - len(shown)} more (--limit {len(listed)})")
        yield ""
    yield f"{review_sentence(review)}:"
    yield from _counts(review, options.style)
    yield from _effect(review)
    yield from _advice(listed, options)


def _table(shown: Sequence[ReviewedBinding], style: Style) -> Iterator[str]:
    rows = [HEADER, *(_row(binding) for binding in shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER) - 1)]
    for number, (first, *numbers, place) in enumerate(rows):
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        line = "  ".join([first.ljust(widths[0]), *cells, place])
        yield style.dim(line) if number == 0 else line
        proposal = shown[number - 1].proposal if number else ()
        if proposal:
            lead = " " * (sum(widths) + 2 * len(widths))
            yield f"{lead}list {style.green(', '.join(map(printable, proposal)))} instead"
            if effect := shown[number - 1].narrowed:
                yield style.dim(f"{lead}{effect}")


def _row(reviewed: ReviewedBinding) -> tuple[str, ...]:
    followed = f"{reviewed.followed}" + (f" + {reviewed.pending}?" if reviewed.pending else "")
    return (
        reviewed.judgement,
        str(reviewed.changed),
        str(reviewed.together),
        followed,
        str(reviewed.binding.pages),
        _binding_name(reviewed)
        + (
            f" ({describe_verdict(reviewed.binding.verdict)})"
            if reviewed.judgement == "dead"
            else ""
        ),
    )


def _binding_name(reviewed: ReviewedBinding) -> str:
    binding = reviewed.binding
    place = f"{printable(binding.filepath)}:{binding.line}"
    return f"{place}  {printable(binding.source or '.')}"


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
    effect = estimate_effect(review)
    firings = count(effect.fired, "firing")
    if effect.narrowed:
        fewer = f"{effect.narrowed} of {firings}" if effect.fired > effect.narrowed else firings
        yield f"The narrower sources would have saved {fewer}."
    if not review.count("hub", "noise"):
        return
    remaining = f"Without hubs and noise, {effect.fired_left} of {firings} would remain"
    followed = (
        f", including {effect.followed_left} of the {effect.followed} that were followed"
        " by a change of the page within 30 days"
    )
    yield f"{remaining}{followed if effect.followed else ''}."


def _advice(listed: Sequence[ReviewedBinding], options: ReviewTextOptions) -> Iterator[str]:
    bad = [reviewed for reviewed in listed if reviewed.judgement not in GOOD]
    if not bad:
        return
    path = path_argument(bad[0].binding.filepath, options.prefix)
    explain = ubp_command("bind", "--explain", path, keys=options.keys)
    steps = [(explain, "proposes sources for the page")]
    if any(reviewed.judgement == "dead" for reviewed in bad):
        has_moved = any(reviewed.judgement == "dead" and reviewed.proposal for reviewed in bad)
        flags = (*(("--fix",) if has_moved else ()), "--rule", "missing-source")
        command = ubp_command("check", *flags, keys=options.keys)
        purpose = "updates moved sources" if has_moved else "lists missing sources"
        steps.append((command, purpose))
    yield "Next: remove these lines, or list the files that the pages really describe."
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        yield f"  {options.style.cyan(command)}{' ' * (width - len(command))}  {purpose}"
