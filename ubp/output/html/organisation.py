"""The report of an organisation as one HTML file, in the design of a repository's report."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from markupsafe import Markup

from ubp.answers.hub.report import HubReportRecord, LevelCountsRecord, OutdatedPageRecord
from ubp.core.model import Snapshot
from ubp.core.version import __version__
from ubp.frame.wording import clock, count, day
from ubp.output.html import charts, overview
from ubp.output.html.markup import content_policy, format_number, read_asset, render
from ubp.report.values import AgeGroup, Levels, Point, Report


def organisation_html(record: HubReportRecord, name: str) -> str:
    """Return the whole file; `name` is the heading."""
    style = read_asset("report.css")
    now = int(datetime.fromisoformat(record.at).timestamp())
    number = len(record.repositories)
    report = Report(
        name=name,
        snapshot=Snapshot("commit", None, {}),
        documents=sum(_levels(record.levels)),
        now=now,
        headline=_headline(record),
        levels=_levels(record.levels),
        ages=tuple(AgeGroup(age.from_days, age.stale, age.possibly_stale) for age in record.ages),
        trend=tuple(
            Point(None, _start(month.month), _levels(month.levels)) for month in record.months
        ),
    )
    page = render(
        "report.html",
        report=report,
        policy=content_policy([style], []),
        version=__version__,
        title=f"{name}: documentation report",
        style=style,
        subtitle=f"{format_number(number)} {'repository' if number == 1 else 'repositories'} ·"
        f" {day(now)}",
        entries=[
            ("overview", "Overview", None),
            ("owners", "Owners", len(record.owners)),
            ("repositories", "Repositories", len(record.repositories)),
            ("pages", "Pages to review", len(record.pages) + record.hidden_pages),
        ],
        graph_data=None,
        sections=[section for section in _sections(record, report) if section],
        time=clock(now),
        scripts=[],
    )
    return f"{page}\n"


def page_address(page: OutdatedPageRecord) -> str:
    """Return the address of a page at its forge."""
    host = page.repository.partition("/")[0]
    folder = "/-/blob/" if "gitlab" in host else "/blob/"
    return f"https://{quote(page.repository)}{folder}{page.commit}/{quote(page.filepath)}"


def _sections(record: HubReportRecord, report: Report) -> Iterator[Markup | None]:
    yield overview.hero(report)
    yield overview.pictures(report)
    yield _table(
        "owners",
        "Owners",
        "Pages by owner, from each repository's CODEOWNERS; a page of several owners counts for"
        " each.",
        [
            (
                owner.owner or "no owner",
                "",
                owner.levels,
                [
                    owner.behind,
                    owner.repositories,
                    "" if owner.oldest_days is None else count(owner.oldest_days, "day"),
                ],
            )
            for owner in record.owners
        ],
        ("Owner", ("Behind another tip", "Repositories", "Oldest drift")),
    )
    yield _table(
        "repositories",
        "Repositories",
        "Pages by repository, at the commit that was pushed last. Archived ones count only here.",
        [
            (
                f"{each.repository} (archived)" if each.is_archived else each.repository,
                f"https://{quote(each.repository)}",
                each.levels,
                [each.behind, (each.pushed_at or "")[:10]],
            )
            for each in record.repositories
        ],
        ("Repository", ("Behind another tip", "Pushed")),
    )
    yield _pages(record)


_Row = tuple[str, str, LevelCountsRecord, Sequence[int | str]]


def _table(
    anchor: str, title: str, words: str, rows: Sequence[_Row], names: tuple[str, Sequence[str]]
) -> Markup | None:
    if not rows:
        return None
    first, others = names
    return render(
        "organisation.html",
        anchor=anchor,
        title=title,
        words=words,
        names=[
            (first, ""),
            ("Levels", ""),
            ("% fresh", "number"),
            ("Stale", "number"),
            *((name, "number optional") for name in others),
        ],
        rows=[
            (name, address, charts.levels_bar(levels), levels, values)
            for name, address, counts, values in rows
            for levels in [_levels(counts)]
        ],
    )


def _pages(record: HubReportRecord) -> Markup | None:
    if not record.pages:
        return None
    return render(
        "organisation_pages.html",
        names=[("Page", ""), ("Level", ""), ("Age", "number"), ("Owners", "")],
        pages=[(page, page_address(page)) for page in record.pages],
        hidden=record.hidden_pages,
    )


def _headline(record: HubReportRecord) -> str:
    levels = _levels(record.levels)
    behind = f"{format_number(record.behind)} {'page is' if record.behind == 1 else 'pages are'}"
    pages = f"{format_number(levels.bound)} {'page' if levels.bound == 1 else 'pages'}"
    describe = "describes" if levels.fresh == 1 else "describe"
    return (
        f"{format_number(levels.fresh)} of {pages} with sources still {describe} them; {behind}"
        " behind the tip of another repository."
    )


def _levels(counts: LevelCountsRecord) -> Levels:
    return Levels(*(getattr(counts, name) for name in Levels._fields))


def _start(month: str) -> int:
    year, number = map(int, month.split("-"))
    return int(datetime(year, number, 1, tzinfo=UTC).timestamp())
