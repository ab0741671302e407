"""`ubp coverage` for people."""

from collections.abc import Iterator, Sequence

from ubp.binding.coverage import Coverage, Gap
from ubp.render.ansi import Style
from ubp.render.wording import count, printable


def coverage_text(found: Coverage, style: Style, *, limit: int, is_quiet: bool) -> str:
    """A line for each gap, and the share that is described; quietly the paths alone."""
    shown = found.gaps[:limit]
    if is_quiet:
        return _lines([printable(gap.path) for gap in shown])
    lines = [*_table(shown, style)]
    if (more := len(found.gaps) - len(shown)) > 0:
        lines.append(style.dim(f"and {count(more, 'more line')}: --limit {len(found.gaps)}"))
    if lines:
        lines.append("")
    lines.append(coverage_sentence(found))
    if found.is_shallow:
        lines.append(style.yellow("This clone is shallow: older changes are not counted."))
    if found.total.files and not found.bound:
        lines += ["Next:", f"  {style.cyan('ubp bind')}  proposes what each page describes"]
    return _lines(lines)


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


def _table(gaps: Sequence[Gap], style: Style) -> Iterator[str]:
    rows = [(f"{gap.changes}", f"{gap.files}", printable(gap.path)) for gap in gaps]
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(("changes", "files", ""), *rows, strict=True)]
    yield style.dim(f"{'changes':>{widths[0]}}  {'files':>{widths[1]}}  no page describes")
    for changes, files, path in rows:
        yield f"{changes:>{widths[0]}}  {files:>{widths[1]}}  {style.bold(path)}"


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
