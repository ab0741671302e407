"""The top of a report: how fresh the pages are, the trend, and the directories."""

from collections.abc import Iterator, Sequence

from ubp.core.model import Level
from ubp.output.html import charts
from ubp.output.html.markup import Html, join, path_text, scrollable, tag
from ubp.output.text.common import BOUND_LEVELS, COUNTED_LEVEL_WORDS
from ubp.output.wording import SHORT_ID, count, day
from ubp.report.values import AgeGroup, Folder, Levels, Point, Report
from ubp.staleness.wording import LEVEL_WORDS

AGE_WORDS = {
    0: "under a week",
    7: "1 to 4 weeks",
    30: "1 to 3 months",
    90: "3 to 6 months",
    180: "6 to 12 months",
    365: "over a year",
    None: "unknown",
}


def hero(report: Report) -> Html:
    """Return the share of fresh pages, as a figure, a sentence and a ring."""
    levels = report.levels
    if levels is None:
        return _overview(tag("p", report.headline, class_="verdict"), _stats(report))
    percent = levels.fresh_percent
    gauge = tag(
        "div",
        charts.ring(levels),
        tag("p", tag("strong", "?" if percent is None else f"{percent}%"), "fresh"),
        class_="gauge",
    )
    words = tag(
        "div",
        tag("p", report.headline or _sentence(levels), class_="verdict"),
        _legend(levels),
        _stats(report),
        _advice(report, levels),
    )
    return _overview(tag("div", gauge, words, class_="hero"))


def _overview(*children: Html) -> Html:
    heading = tag("h2", "Overview", class_="visually-hidden")
    return tag("section", heading, *children, class_="card", id="overview")


def pictures(report: Report) -> Html | None:
    """Return the trend and the ages of drift."""
    parts = [part for part in (_trend(report), _ages(report)) if part is not None]
    return tag("div", *parts, class_="pair") if len(parts) > 1 else join(parts)


def folders(report: Report) -> Html | None:
    """Return the levels by directory."""
    if not report.folders or report.levels is None:
        return None
    levels = [level for level in charts.ALL_LEVELS if getattr(report.levels, level)]
    names = [("Directory", None), ("Levels", None), ("% fresh", "number")]
    names += [(COUNTED_LEVEL_WORDS[level], "number optional") for level in levels]
    header = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in names))
    rows = (_folder(number, folder, levels) for number, folder in enumerate(report.folders))
    table = tag("table", tag("thead", header), tag("tbody", *rows), class_="folders")
    return tag(
        "section",
        tag("h2", "Directories"),
        tag("p", "Pages by directory. Select a directory to see its pages.", class_="quiet"),
        scrollable(table, "Levels by directory"),
        class_="card",
        id="directories",
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


def format_number(number: int) -> str:
    """Return a number with its thousands apart."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _legend(levels: Levels) -> Html:
    entries = (
        tag(
            "li",
            tag("span", class_=f"dot {level}", aria_hidden="true"),
            " ",
            tag("b", format_number(getattr(levels, level))),
            f" {COUNTED_LEVEL_WORDS[level]}",
        )
        for level in charts.ALL_LEVELS
        if getattr(levels, level)
    )
    return tag("ul", *entries, class_="legend")


def _stats(report: Report) -> Html:
    stats = [("pages", format_number(report.documents))]
    ages = [page.age_days for page in report.pages or () if page.age_days is not None]
    if ages:
        stats.append(("oldest drift", count(max(ages), "day")))
    if report.findings is not None:
        other = "other errors" if report.pages is not None else "errors"
        errors = sum(1 for finding in report.findings if finding.severity == "error")
        stats.append((other, format_number(errors)))
        stats.append(("warnings", format_number(len(report.findings) - errors)))
    if report.orphans:
        stats.append(("orphans", format_number(len(report.orphans))))
    return tag(
        "dl",
        *(tag("div", tag("dt", name), tag("dd", value)) for name, value in stats),
        class_="stats",
    )


def _advice(report: Report, levels: Levels) -> Html | None:
    if not levels.bound:
        advice = "List the files that a page describes in its front matter, then run it again: "
        return tag("p", advice, tag("code", "source_refs: [src/auth.py]"), class_="advice")
    if levels.unknown and report.is_shallow:
        advice = (
            "This clone is shallow, so some pages could not be verified. Fetch the full history: "
        )
        return tag("p", advice, tag("code", "git fetch --unshallow"), class_="advice")
    return None


def _trend(report: Report) -> Html | None:
    points = report.trend
    if len(points) < 2:  # noqa: PLR2004 - a single moment is no trend
        return None
    highest = max(point.levels.bound for point in points)
    middle = points[len(points) // 2]
    dates = [points[0], *([middle] if len(points) > 4 else []), points[-1]]  # noqa: PLR2004 - room
    chart = tag(
        "div",
        tag("div", tag("span", format_number(highest)), tag("span", "0"), class_="scale"),
        charts.trend(points),
        tag("div", *(tag("span", day(point.at)) for point in dates), class_="dates"),
        class_="chart",
    )
    return tag(
        "section",
        tag("h2", "Trend"),
        tag("p", _trend_words(report), class_="quiet"),
        chart,
        _figures(points),
        class_="card",
        id="trend",
    )


def _trend_words(report: Report) -> str:
    first, last = report.trend[0].levels.fresh_percent, report.trend[-1].levels.fresh_percent
    change = "" if first is None or last is None else f", from {first}% to {last}% fresh"
    return f"Pages with sources by level since {day(report.trend[0].at)}{change}."


def _figures(points: tuple[Point, ...]) -> Html:
    names = ("Date", "Commit", *(LEVEL_WORDS[level] for level in BOUND_LEVELS))
    header = tag(
        "tr",
        *(
            tag("th", name, scope="col", class_="number" if number > 1 else None)
            for number, name in enumerate(names)
        ),
    )
    rows = (
        tag(
            "tr",
            tag("th", day(point.at), scope="row"),
            tag("td", tag("code", point.commit[:SHORT_ID]) if point.commit else "not committed"),
            *(
                tag("td", str(getattr(point.levels, level)), class_="number")
                for level in BOUND_LEVELS
            ),
        )
        for point in points
    )
    table = tag("table", tag("thead", header), tag("tbody", *rows))
    return tag(
        "details",
        tag("summary", "Data table"),
        scrollable(table, "Levels at each point in time"),
        class_="figures",
    )


def _ages(report: Report) -> Html | None:
    if not any(group.stale + group.possibly_stale for group in report.ages):
        return None
    highest = max(group.stale + group.possibly_stale for group in report.ages)
    return tag(
        "section",
        tag("h2", "Age of drift"),
        tag("p", "Pages by the time since the first change of their sources.", class_="quiet"),
        tag(
            "table",
            tag(
                "thead",
                tag("tr", *(tag("th", name, scope="col") for name in ("Age", "Pages", "Number"))),
                class_="visually-hidden",
            ),
            tag("tbody", *_age_rows(report.ages, highest)),
            class_="ages",
        ),
        class_="card",
        id="ages",
    )


def _age_rows(groups: tuple[AgeGroup, ...], highest: int) -> Iterator[Html]:
    for group in groups:
        parts = [("stale", group.stale), ("possibly_stale", group.possibly_stale)]
        yield tag(
            "tr",
            tag("th", AGE_WORDS[group.days], scope="row"),
            tag("td", charts.bar(parts, highest)),
            tag("td", format_number(group.stale + group.possibly_stale), class_="number"),
        )


def _folder(number: int, folder: Folder, levels: Sequence[Level]) -> Html:
    percent = folder.levels.fresh_percent
    name = tag("span", path_text(folder_name(folder)), class_="path")
    counts = (
        tag("td", str(value), class_="number optional" + ("" if value else " quiet"))
        for value in (getattr(folder.levels, level) for level in levels)
    )
    return tag(
        "tr",
        tag("th", tag("a", name, href="#filter", data_choose=number), scope="row"),
        tag("td", charts.levels_bar(folder.levels, sum(folder.levels))),
        tag("td", "" if percent is None else str(percent), class_="number"),
        *counts,
    )
