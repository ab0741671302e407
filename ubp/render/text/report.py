"""`ubp report` for people at a terminal: the levels, the trend in a line, what matters most."""

from collections.abc import Iterator

from ubp.model import Level
from ubp.render.ansi import Style
from ubp.render.text.coverage import coverage_sentence
from ubp.render.text.levels import COUNTED, WORDS
from ubp.render.wording import count, day, printable, shell_word
from ubp.report.values import Levels, Report, StalePage

BAR_WIDTH = 40
MOST_PAGES = 10
SPARKS = "▁▂▃▄▅▆▇█"


def report_text(report: Report, style: Style, *, is_quiet: bool) -> str:
    """One screen; quietly a line for each page that is not fresh."""
    pages = report.pages or ()
    if is_quiet:
        return "".join(f"{printable(page.path)}  {_level(page, style)}\n" for page in pages)
    levels = report.levels or Levels()
    lines = [style.bold(printable(report.name)) + f": {told_levels(levels)}", ""]
    lines += list(_bars(levels, style))
    lines += _trend(report)
    if pages:
        lines += ["", "What matters most:", *_pages(pages, style)]
    lines += ["", *_findings(report), f"Next: {style.cyan(_command(report))}  shows it all"]
    return "\n".join(lines) + "\n"


def told_levels(levels: Levels) -> str:
    """How fresh it is in one clause."""
    percent = levels.fresh_percent
    if not levels.bound:
        return "no page names a source, so nothing was verified"
    if percent is None:
        return f"{levels.unknown} of {levels.bound} pages could not be verified in this clone"
    pages = "page that names" if levels.bound == 1 else "pages that name"
    return f"{percent} % fresh, {levels.fresh} of {levels.bound} {pages} sources"


def _bars(levels: Levels, style: Style) -> Iterator[str]:
    shown: tuple[Level, ...] = (*COUNTED, "untracked")
    most = max(levels)
    width = max(len(WORDS[level]) for level in shown)
    for level in shown:
        number = getattr(levels, level)
        if number:
            bar = "#" * max(1, number * BAR_WIDTH // most)
            yield f"  {WORDS[level]:<{width}}  {number:>5}  {_paint(level, bar, style)}"


def _paint(level: Level, words: str, style: Style) -> str:
    match level:
        case "stale":
            return style.red(words)
        case "possibly_stale" | "unknown":
            return style.yellow(words)
        case "fresh":
            return style.green(words)
        case "untracked":
            return style.dim(words)


def _trend(report: Report) -> list[str]:
    """The share of fresh pages at each moment at which one could be verified."""
    known = [
        (point.at, percent)
        for point in report.trend
        if (percent := point.levels.fresh_percent) is not None
    ]
    if len(known) < 2:  # noqa: PLR2004 - one moment is no trend
        return []
    line = "".join(SPARKS[percent * (len(SPARKS) - 1) // 100] for _, percent in known)
    (start, first), (_, last) = known[0], known[-1]
    return ["", f"Fresh since {day(start)}: {first} % {line} {last} %"]


def _pages(pages: tuple[StalePage, ...], style: Style) -> Iterator[str]:
    shown = pages[:MOST_PAGES]
    for page in shown:
        facts = [count(page.changed, "line") + " changed"] if page.lines else []
        facts += [count(page.links_in, "link")] if page.links_in else []
        facts += [count(page.age_days, "day")] if page.age_days is not None else []
        told = style.dim(", ".join(facts))
        yield f"  {printable(page.path)}  {_level(page, style)}  {told}".rstrip()
    if len(pages) > len(shown):
        yield style.dim(f"  and {count(len(pages) - len(shown), 'more page')}")


def _level(page: StalePage, style: Style) -> str:
    level = page.assessment.level
    return _paint(level, WORDS[level], style)


def _findings(report: Report) -> Iterator[str]:
    if report.findings:
        yield f"ubp check finds {count(len(report.findings), 'other problem')}."
    if report.orphans:
        is_one = len(report.orphans) == 1
        told = (
            "is an orphan: no other page links to it"
            if is_one
            else "are orphans: no other page links to them"
        )
        yield f"{count(len(report.orphans), 'page')} {told}."
    if report.coverage and report.coverage.sources:
        yield coverage_sentence(report.coverage)


def _command(report: Report) -> str:
    keys = [word for key in report.keys for word in ("--key", shell_word(key))]
    return " ".join(["ubp report --open", *keys])
