"""A report, or the outcome of `ubp check` or `ubp stale`, as one HTML file.

It needs no network and no other file. The policy in the page forbids everything but its own style
and script, which are named by their hashes: markup that got in (see `markup`) could do nothing.
"""

from collections.abc import Iterator

from markupsafe import Markup

from ubp.core.languages import main_language
from ubp.core.model import FilePath, Page
from ubp.core.shell import ubp_command
from ubp.core.version import __version__
from ubp.frame.wording import SHORT_ID, clock, day
from ubp.output.ci.outcome import Outcome, headline
from ubp.output.forge import Places
from ubp.output.html import lists, overview
from ubp.output.html.graph import graph_json, graph_script, graph_section
from ubp.output.html.markup import content_policy, read_asset, render, rule_name
from ubp.output.html.pages import pages
from ubp.report.values import Folder, Levels, Report
from ubp.search.traverse import PageGraph
from ubp.staleness.wording import LEVEL_WORDS

NO_PLACES = Places()
SORTS = {
    "order": "importance",
    "changed": "lines changed",
    "links": "links to it",
    "age": "age of drift",
    "path": "path",
}


def report_html(
    report: Report, link: str = "", graph: PageGraph | None = None, places: Places = NO_PLACES
) -> str:
    """Return the whole file for a report.

    `graph` is the graph of its pages, and `link` the address of a file with the whole graph;
    `places` has the addresses of files and commits.
    """
    styles = ["report.css", *(["graph.css"] if graph else [])]
    style = Markup("\n").join(map(read_asset, styles))
    scripts = [read_asset("report.js")]
    if graph is not None:
        scripts += [graph_script(), read_asset("graph_report.js")]
    when = None if report.now is None else day(report.now)
    subtitle = ["Documentation report", _describe_snapshot(report), when]
    page = render(
        "report.html",
        report=report,
        policy=content_policy([style], scripts),
        lang=main_language(page.facts.title for page in _documents(report) if page.facts.title),
        version=__version__,
        title=f"{report.name}: documentation report",
        style=style,
        subtitle=" · ".join(filter(None, subtitle)),
        entries=_entries(report, graph, link),
        sections=[section for section in _sections(report, graph, link, places) if section],
        graph_data=None if graph is None else graph_json(graph),
        time=None if report.now is None else clock(report.now),
        scripts=scripts,
    )
    return f"{page}\n"


def _documents(report: Report) -> Iterator[Page]:
    yield from (page.assessment.page for page in report.pages or ())
    yield from (other.page for other in report.others)


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


def _sections(
    report: Report, graph: PageGraph | None, link: str, places: Places
) -> Iterator[Markup | None]:
    numbers = _folder_numbers(report)
    yield overview.hero(report)
    yield overview.pictures(report)
    yield overview.alarms(report)
    yield overview.topics(report)
    yield overview.folders(report)
    if graph is not None:
        yield graph_section(graph, link)
    yield lists.coverage(report)
    yield lists.bindings(report)
    yield _toolbar(report)
    yield pages(report, numbers, places)
    yield lists.findings(report, numbers, places)
    yield lists.orphans(report, numbers, places)
    yield lists.others(report, numbers, places)


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


def _entries(
    report: Report, graph: PageGraph | None, link: str
) -> list[tuple[str, str, int | None]]:
    """Return what the navigation lists, by its address: words, and how many entries.

    A section with no entries is left out, one without a number is not.
    """
    has_sources = report.coverage is not None and report.coverage.sources
    has_bindings = report.review is not None and report.review.bindings
    return [
        ("#overview", "Overview", None),
        ("#alarms", "Alarms", report.alarms.total.alarms if report.alarms else 0),
        ("#topics", "Topics", len(report.topics.topics) if report.topics else 0),
        ("#directories", "Directories", None if report.folders else 0),
        ("#graph" if graph else link, "Graph", None if graph or link else 0),
        ("#coverage", "Sources", None if has_sources else 0),
        ("#bindings", "Bindings", None if has_bindings else 0),
        ("#pages", "Pages to review", len(report.pages or ())),
        ("#findings", "Findings", len(report.findings or ())),
        ("#orphans", "Orphans", len(report.orphans)),
        ("#others", "All other pages", len(report.others)),
    ]


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


def _toolbar(report: Report) -> Markup | None:
    if not (report.pages or report.findings or report.orphans or report.others):
        return None
    present = {page.assessment.level for page in report.pages or ()}
    present |= {other.level for other in report.others}
    return render(
        "toolbar.html",
        folders=[
            (number, overview.folder_name(folder)) for number, folder in enumerate(report.folders)
        ],
        rules=[(name, name) for name in _rules(report)],
        sorts=list(SORTS.items()) if report.pages else [],
        levels=[level for level in LEVEL_WORDS if level in present],
    )


def _rules(report: Report) -> list[str]:
    rules = {rule_name(source.reference) for page in report.pages or () for source in page.sources}
    rules |= {finding.rule for finding in (*(report.findings or ()), *report.orphans)}
    return sorted(rules)
