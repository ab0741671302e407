"""`ubp stale --since` for people: page by page what became of it, then how many took which way."""

from collections.abc import Iterator

from ubp.render.ansi import Style
from ubp.render.comparison_words import (
    TITLES,
    counts_in_words,
    drift_in_words,
    groups,
    headline,
    passage_in_words,
)
from ubp.render.wording import day, printable
from ubp.report.comparing import Comparison, Passage


def comparison_text(
    comparison: Comparison, since: str, style: Style, *, is_quiet: bool = False
) -> str:
    """The whole answer, ending with a newline; `is_quiet`: a line a page, nothing else."""
    lines = []
    for _, found in groups(comparison.passages):
        for one in found:
            lines.append(_heading(one, style))
            if not is_quiet:
                lines += _sources(one)
    if is_quiet:
        return "".join(f"{line}\n" for line in lines)
    if lines:
        lines.append("")
    name = printable(since)
    lines.append(f"Since {name} ({day(comparison.date)}): {counts_in_words(comparison)}.")
    if comparison.passages:
        lines.append(headline(comparison, name))
    if comparison.counts.get("unknown"):
        fetch = style.cyan("git fetch --unshallow")
        lines.append(f"{style.cyan('Hint:')} this clone is shallow. {fetch} fetches the history.")
    return "\n".join(lines) + "\n"


def _heading(one: Passage, style: Style) -> str:
    paint = {"became_stale": style.red, "still_stale": style.yellow, "became_fresh": style.green}
    title = paint.get(one.became, style.bold)(TITLES[one.became])
    said = passage_in_words(one)
    moved = f" (was {printable(one.was_at)})" if one.was_at else ""
    return (
        f"{style.bold(printable(one.page.filepath))}  {title}{f': {said}' if said else ''}{moved}"
    )


def _sources(one: Passage) -> Iterator[str]:
    for answer in one.drifted:
        yield f"  {printable(answer.source_path or '.')}  {drift_in_words(answer)}"
