"""The top of a report: how fresh the pages are, the trend, and the directories."""

from collections.abc import Sequence

from markupsafe import Markup

from ubp.frame.wording import count, day
from ubp.output.html import charts
from ubp.output.html.markup import format_number, render
from ubp.report.values import Folder, Levels, MonthOfAlarms, Report
from ubp.staleness.wording import BOUND_LEVELS, COUNTED_LEVEL_WORDS, LEVEL_WORDS, time_span

MAX_MONTHS = 60  # columns; the table lists all
MIN_MONTHS = 6  # a single column would be as wide as the page
MAX_REPEATED = 100

AGE_WORDS = {
    0: "under a week",
    7: "1 to 4 weeks",
    30: "1 to 3 months",
    90: "3 to 6 months",
    180: "6 to 12 months",
    365: "over a year",
    None: "unknown",
}


def hero(report: Report) -> Markup:
    """Return the share of fresh pages, as a figure, a sentence and a ring."""
    levels = report.levels
    return render(
        "overview.html",
        levels=levels,
        headline=report.headline or (_sentence(levels) if levels else ""),
        ring=None if levels is None else charts.ring(levels),
        counts=[(level, getattr(levels, level, 0)) for level in charts.ALL_LEVELS],
        stats=_stats(report),
        is_shallow=report.is_shallow,
    )


def pictures(report: Report) -> Markup | None:
    """Return the trend and the ages of drift, beside each other if there are both."""
    parts = [part for part in (_trend(report), _ages(report)) if part is not None]
    joined = Markup().join(parts)
    return Markup('<div class="pair">{}</div>').format(joined) if len(parts) > 1 else joined


def folders(report: Report) -> Markup | None:
    """Return the levels by directory."""
    if not report.folders or report.levels is None:
        return None
    levels = [level for level in charts.ALL_LEVELS if getattr(report.levels, level)]
    names = [("Directory", ""), ("Levels", ""), ("% fresh", "number")]
    names += [(COUNTED_LEVEL_WORDS[level], "number optional") for level in levels]
    rows = [
        {
            "name": folder_name(folder),
            "bar": charts.levels_bar(folder.levels),
            "levels": folder.levels,
        }
        for folder in report.folders
    ]
    return render("directories.html", names=names, rows=rows, levels=levels)


def topics(report: Report) -> Markup | None:
    """Return what the notes are about, each topic with a line of the last months."""
    found = report.topics
    if found is None or not found.topics:
        return None
    return render(
        "topics.html",
        words=found.words,
        names=[
            ("Topic", ""),
            ("Months", ""),
            ("Notes", "number"),
            ("Before", "number"),
            ("Trend", ""),
        ],
        rows=[
            (topic, charts.line(topic.line, f"{topic.name}: {', '.join(map(str, topic.line))}"))
            for topic in found.topics
        ],
        tools=", ".join(found.new_names),
    )


def _every_month(months: Sequence[MonthOfAlarms]) -> list[MonthOfAlarms]:
    """Return the months from the first to the last, those without alarms too, at least six."""
    known = {month.month: month for month in months}
    first, last = (_month_number(month.month) for month in (months[0], months[-1]))
    numbers = range(min(first, last - MIN_MONTHS + 1), last + 1)
    names = (f"{number // 12:04}-{number % 12 + 1:02}" for number in numbers)
    return [known.get(name, MonthOfAlarms(name, 0, 0, 0)) for name in names]


def _month_number(name: str) -> int:
    """Return the number of months from the year 0 to `2023-11`."""
    year, month = map(int, name.split("-"))
    return year * 12 + month - 1


def alarms(report: Report) -> Markup | None:
    """Return what became of alarms, by month, and the pages with too wide references."""
    settled = report.alarms
    if settled is None or not settled.months:
        return None
    shown = _every_month(settled.months)[-MAX_MONTHS:]
    total = settled.total
    words = (
        f"{total.edited} of {count(total.alarms, 'alarm')} that commits settled led to an edit of "
        f"the page ({total.precision}%); the others were acknowledged without one."
    )
    if settled.is_cut:
        words += f" The newest {format_number(settled.versions)} changes of pages were compared."
    if settled.unread:
        words += f" {count(settled.unread, 'page version')} missing from this clone not counted."
    return render(
        "alarms.html",
        words=words,
        highest=max(month.alarms for month in shown),
        chart=charts.months(shown),
        dates=[month.month for month in dict.fromkeys((shown[0], shown[-1]))],
        names=[
            ("Month", ""),
            *((name, "number") for name in ("Alarms", "Led to an edit", "Wrong")),
            *((name, "number") for name in ("With a reason", "% right")),
        ],
        months=settled.months,
        repeated=[
            (page, report.narrower(page), report.review_command(page))
            for page in settled.repeated[:MAX_REPEATED]
        ],
        hidden=len(settled.repeated) - MAX_REPEATED,
    )


def folder_name(folder: Folder) -> str:
    """Return the name under which a directory is listed."""
    if not folder.path:
        return "top-level files" if folder.is_rest else "all directories"
    return f"{folder.path}/" + (" (direct files)" if folder.is_rest else "")


def _sentence(levels: Levels) -> str:
    if not levels.bound:
        return "No page lists sources; nothing to verify."
    if levels.fresh_percent is None:
        return f"{levels.unknown} of {levels.bound} pages could not be verified in this clone."
    pages = "page" if levels.bound == 1 else "pages"
    describe = "describes" if levels.fresh == 1 else "describe"
    fresh = "All" if levels.fresh == levels.bound > 1 else f"{levels.fresh} of"
    return f"{fresh} {format_number(levels.bound)} {pages} with sources still {describe} them."


def _stats(report: Report) -> list[tuple[str, str]]:
    stats = [("pages", format_number(report.documents))]
    ages = [page.age_days for page in report.pages or () if page.age_days is not None]
    if ages:
        stats.append(("oldest drift", time_span(max(ages))))
    if report.findings is not None:
        other = "other errors" if report.pages is not None else "errors"
        errors = sum(1 for finding in report.findings if finding.severity == "error")
        stats.append((other, format_number(errors)))
        stats.append(("warnings", format_number(len(report.findings) - errors)))
    if report.orphans:
        stats.append(("orphans", format_number(len(report.orphans))))
    return stats


def _trend(report: Report) -> Markup | None:
    points = report.trend
    if len(points) < 2:  # noqa: PLR2004 - a single moment is not a trend
        return None
    middle = points[len(points) // 2]
    has_commits = any(point.commit for point in points)
    return render(
        "trend.html",
        words=_trend_words(report),
        highest=max(point.levels.bound for point in points),
        chart=charts.trend(points),
        dates=[points[0], *([middle] if len(points) > 4 else []), points[-1]],  # noqa: PLR2004 - room
        names=[
            ("Date", ""),
            *([("Commit", "")] if has_commits else []),
            *((LEVEL_WORDS[level], "number") for level in BOUND_LEVELS),
        ],
        points=points,
        has_commits=has_commits,
        levels=BOUND_LEVELS,
    )


def _trend_words(report: Report) -> str:
    first, last = report.trend[0].levels.fresh_percent, report.trend[-1].levels.fresh_percent
    change = "" if first is None or last is None else f", from {first}% to {last}% fresh"
    words = f"Pages with sources by level since {day(report.trend[0].at)}{change}."
    if any(point.from_pins for point in report.trend):
        words += " Before a page listed sources, its level follows from the drift of today's pins."
    return words


def _ages(report: Report) -> Markup | None:
    if not any(group.stale + group.possibly_stale for group in report.ages):
        return None
    highest = max(group.stale + group.possibly_stale for group in report.ages)
    rows = [
        (
            AGE_WORDS[group.days],
            charts.bar([("stale", group.stale), ("possibly_stale", group.possibly_stale)], highest),
            group.stale + group.possibly_stale,
        )
        for group in report.ages
    ]
    return render("ages.html", rows=rows)
