"""A report, or the outcome of `ubp check` or `ubp stale`, as one HTML file.

It needs no network and no other file. The policy in the page forbids everything but its own style
and script, which are named by their hashes: markup that got in (see `markup`) could do nothing.
"""

from ubp import __version__
from ubp.core.model import FilePath, Level
from ubp.core.shell import ubp_command
from ubp.output.ci.outcome import Outcome, headline
from ubp.output.html import lists, overview
from ubp.output.html.lists import bindings, coverage
from ubp.output.html.markup import Html, content_policy, fill, join, read_asset, rule_name, tag
from ubp.output.html.pages import page_cards
from ubp.output.wording import PAGE_ORDER, SHORT_ID, clock, day
from ubp.report.values import Folder, Levels, Report
from ubp.staleness.wording import LEVEL_WORDS

SORTS = {
    "order": "importance",
    "changed": "lines changed",
    "links": "links to it",
    "age": "age of drift",
    "path": "path",
}


def report_html(report: Report) -> str:
    """Return the whole file for a report."""
    style, script = read_asset("report.css"), read_asset("report.js")
    name = f"{report.name}: documentation report"
    return fill(
        read_asset("report.html"),
        policy=content_policy([style], [script]),
        generator=f"UBP {__version__}",
        title=name,
        style=style,
        header=_header(report),
        body=_body(report),
        footer=_footer(report),
        script=script,
    )


def outcome_html(outcome: Outcome) -> str:
    """Return the whole file for an outcome."""
    report, summary = outcome.report, outcome.summary
    levels = None
    if summary is not None and not report.is_change:
        levels = Levels(*(getattr(summary, name) for name in Levels._fields))
    html_report = Report(
        name=ubp_command(outcome.command),
        headline=headline(outcome, str),
        snapshot=report.snapshot,
        documents=report.documents,
        levels=levels,
        findings=(*report.findings, *report.debts, *report.unknown),
        ignored=len(report.ignored),
        keys=outcome.keys,
        base=outcome.change.base,
    )
    return report_html(html_report)


def _body(report: Report) -> Html:
    numbers = _folder_numbers(report)
    parts = [
        overview.hero(report),
        overview.pictures(report),
        overview.folders(report),
        coverage(report),
        bindings(report),
        _toolbar(report),
        _pages(report, numbers),
        lists.findings(report, numbers),
        lists.orphans(report, numbers),
        lists.others(report, numbers),
    ]
    return join([part for part in parts if part], "\n")


def _folder_numbers(report: Report) -> dict[FilePath, int]:
    """Return for each page the row of the table of directories that counts it."""
    paths = {page.path for page in report.pages or ()}
    paths |= {other.page.filepath for other in report.others}
    paths |= {finding.filepath for finding in (*(report.findings or ()), *report.orphans)}
    places = sorted(
        enumerate(report.folders), key=lambda place: (-len(place[1].path), place[1].is_rest)
    )
    return {path: _folder_number(path, places) for path in paths}


def _folder_number(path: FilePath, places: list[tuple[int, Folder]]) -> int:
    return next((number for number, folder in places if folder.holds(path)), 0)


def _header(report: Report) -> Html:
    counts: dict[str, tuple[str, int | None]] = {
        "overview": ("Overview", None),
        "directories": ("Directories", None if report.folders else 0),
        "coverage": ("Sources", None if report.coverage and report.coverage.sources else 0),
        "bindings": ("Bindings", None if report.review and report.review.bindings else 0),
        "pages": ("Pages to review", len(report.pages or ())),
        "findings": ("Findings", len(report.findings or ())),
        "orphans": ("Orphans", len(report.orphans)),
        "others": ("All other pages", len(report.others)),
    }
    entries = (
        tag("li", tag("a", words, tag("b", f" {number}") if number else None, href=f"#{anchor}"))
        for anchor, (words, number) in counts.items()
        if number != 0
    )
    when = None if report.now is None else day(report.now)
    return tag(
        "header",
        tag("h1", report.name),
        tag(
            "p",
            " · ".join(filter(None, ["Documentation report", _describe_snapshot(report), when])),
        ),
        tag("nav", tag("ul", *entries), aria_label="Sections"),
    )


def _describe_snapshot(report: Report) -> str:
    commit = report.snapshot.commit
    at = f" at {commit[:SHORT_ID]}" if commit else ""
    if report.base is not None:
        return f"changes since {report.base}"
    match report.snapshot.kind:
        case "commit":
            return f"commit {commit[:SHORT_ID]}" if commit else "no commit"
        case "staged":
            return f"staged changes{at}"
        case "worktree":
            return f"work tree{at}"


def _toolbar(report: Report) -> Html | None:
    if not (report.pages or report.findings or report.orphans or report.others):
        return None
    search = tag("input", type="search", id="text", autocomplete="off", spellcheck="false")
    sorts = list(SORTS.items()) if report.pages else []
    folders = [(str(n), overview.folder_name(f)) for n, f in enumerate(report.folders)]
    return tag(
        "div",
        tag("label", tag("span", "Search"), search, class_="search"),
        _select("folder", "Directory", [("", "all"), *folders]) if folders else None,
        _select("rule", "Rule", [("", "all"), *((name, name) for name in _rules(report))]),
        _select("sort", "Sort pages by", sorts) if sorts else None,
        tag("button", "Reset", type="button", id="reset"),
        _levels(report),
        class_="toolbar card",
        id="filter",
        role="search",
        aria_label="Filter pages and findings",
        hidden=True,
    )


def _select(name: str, label: str, options: list[tuple[str, str]]) -> Html:
    entries = (tag("option", words, value=value) for value, words in options)
    return tag("label", tag("span", label), tag("select", *entries, id=name))


def _rules(report: Report) -> list[str]:
    rules = {rule_name(source.reference) for page in report.pages or () for source in page.sources}
    rules |= {finding.rule for finding in (*(report.findings or ()), *report.orphans)}
    return sorted(rules)


def _levels(report: Report) -> Html:
    present = {page.assessment.level for page in report.pages or ()}
    present |= {other.level for other in report.others}
    matches = tag("output", id="matches", role="status")
    if not present:
        return tag("div", matches, class_="matches")
    boxes = (_level(level) for level in LEVEL_WORDS if level in present)
    return tag("fieldset", tag("legend", "Level"), *boxes, matches)


def _level(level: Level) -> Html:
    box = tag("input", type="checkbox", value=level, checked=True)
    dot = tag("span", class_=f"dot {level}", aria_hidden="true")
    return tag("label", box, dot, LEVEL_WORDS[level], class_="level")


def _pages(report: Report, numbers: dict[FilePath, int]) -> Html | None:
    if report.pages is None:
        return None
    if not report.pages:
        is_good = report.levels is not None and report.levels.bound
        words = "No sources have drifted." if is_good else "No page lists sources."
        listed: Html = tag("p", words, class_="card good" if is_good else "card")
    else:
        no_matches = "No entries match the filter."
        listed = join(
            [
                page_cards(report, numbers),
                tag("p", no_matches, id="no-pages", class_="card none", hidden=True),
            ]
        )
    return tag(
        "section",
        tag("h2", "Pages to review"),
        _introduction(report) if report.pages else None,
        listed,
        id="pages",
    )


def _introduction(report: Report) -> Html:
    return tag(
        "p",
        f"{PAGE_ORDER} Compare a page with the changes (",
        tag("code", ubp_command("stale", "--diff", "PAGE", keys=report.keys)),
        " shows them all) and edit it. If it is still accurate, run ",
        tag("code", ubp_command("ack", "PAGE", keys=report.keys)),
        ".",
        class_="lead",
    )


def _footer(report: Report) -> Html:
    when = "" if report.now is None else f" on {clock(report.now)} UTC"
    return tag(
        "footer",
        None if report.threshold_days is None else tag("p", _definition(report.threshold_days)),
        tag("p", f"Generated by UBP {__version__}{when}."),
    )


def _definition(threshold_days: float) -> str:
    return (
        "A page is stale when a source that it lists is missing or changed at least "
        f"{threshold_days:g} days ago without an update of the page; possibly stale when all "
        "changes are more recent. Ages are counted from the committer date of the first commit "
        "that drifted. The trend applies the same rules as of each date."
    )
