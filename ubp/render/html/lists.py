"""What else a report lists: findings, orphans, the pages that need no look."""

from collections.abc import Iterator

from ubp.check.finding import Finding
from ubp.model import FilePath
from ubp.render.commits import commit_lines
from ubp.render.html.markup import Html, join, path_text, scrollable, tag
from ubp.render.html.words import rest_of
from ubp.render.text.levels import WORDS
from ubp.render.wording import count, stem
from ubp.report.values import OtherPage, Report

# More rows make a browser slow, and nobody reads them: the rest is counted.
MOST_FINDINGS = 1_500
MOST_ORPHANS = 1_000
MOST_OTHERS = 2_000

_SEVERITIES = ("error", "warning", "note")


def findings(report: Report, folder_numbers: dict[FilePath, int]) -> Html | None:
    """The findings of `ubp check`, the most severe first."""
    if report.findings is None:
        return None
    scope = tuple(_scope(report))
    ordered = sorted(report.findings, key=lambda one: _SEVERITIES.index(one.severity))
    if ordered:
        names = ("Severity", "Rule", "Where", "What")
        header = tag("tr", *(tag("th", name, scope="col") for name in names))
        rows = (_finding(one, folder_numbers[one.filepath]) for one in ordered[:MOST_FINDINGS])
        table = tag("table", tag("thead", header), tag("tbody", *rows), class_="findings")
        listed = join(
            [
                tag("div", table, data_list="no-findings"),
                tag(
                    "p",
                    "Nothing here fits the filter.",
                    id="no-findings",
                    class_="none",
                    hidden=True,
                ),
                rest_of(len(ordered) - MOST_FINDINGS, "ubp check", report),
            ]
        )
    else:
        listed = tag("p", "Nothing found.", class_="good")
    return tag(
        "section",
        tag("h2", "Findings"),
        tag("p", *scope, class_="quiet") if scope else None,
        listed,
        class_="card",
        id="findings",
    )


def _scope(report: Report) -> Iterator[str]:
    if report.pages is not None:
        yield from ("What ", tag("code", "ubp check"), " finds beside stale pages. ")
    if report.ignored:
        yield f"{count(report.ignored, 'finding')} ignored."


def _finding(one: Finding, folder: int) -> Html:
    column = f":{one.column}" if one.column else ""
    commits = commit_lines(one.drift)
    return tag(
        "tr",
        tag("td", tag("span", one.severity, class_=f"badge {one.severity}")),
        tag("td", tag("code", one.rule)),
        tag("td", tag("span", path_text(f"{one.filepath}:{one.line}{column}"), class_="path")),
        tag(
            "td",
            one.message,
            tag("span", f" {one.hint}", class_="quiet") if one.hint else None,
            tag("ol", *(tag("li", line) for line in commits), class_="commits")
            if commits
            else None,
            class_="what",
        ),
        data_rules=one.rule,
        data_folder=folder,
    )


def orphans(report: Report, folder_numbers: dict[FilePath, int]) -> Html | None:
    """The pages that no other page links to."""
    if not report.orphans:
        return None
    entries = (
        tag(
            "li",
            tag("span", path_text(one.filepath), class_="path"),
            data_rules=one.rule,
            data_folder=folder_numbers[one.filepath],
        )
        for one in report.orphans[:MOST_ORPHANS]
    )
    return _fold(
        "orphans",
        "Orphans",
        f"{count(len(report.orphans), 'page')} that no other page links to",
        tag("ul", *entries, class_="plain", data_list="no-orphans"),
        rest_of(len(report.orphans) - MOST_ORPHANS, "ubp check --rule orphan-doc", report),
    )


def others(report: Report, folder_numbers: dict[FilePath, int]) -> Html | None:
    """The pages that are fresh or name no sources, the most linked first."""
    if not report.others:
        return None
    header = tag(
        "tr",
        tag("th", "Page", scope="col"),
        tag("th", "Level", scope="col"),
        tag("th", "Links to it", scope="col", class_="number"),
    )
    rows = (_other(one, folder_numbers) for one in report.others[:MOST_OTHERS])
    table = tag("table", tag("thead", header), tag("tbody", *rows, data_list="no-others"))
    return _fold(
        "others",
        "All other pages",
        _others_words(report),
        scrollable(table, "All other pages"),
        rest_of(len(report.others) - MOST_OTHERS, "ubp stale --all", report),
    )


def _others_words(report: Report) -> str:
    fresh = sum(1 for one in report.others if one.level == "fresh")
    parts = [(fresh, "fresh"), (len(report.others) - fresh, WORDS["untracked"])]
    told = ", ".join(f"{number} {words}" for number, words in parts if number)
    return f"{told}; the most linked first"


def _other(one: OtherPage, folder_numbers: dict[FilePath, int]) -> Html:
    path = one.page.filepath
    title = one.page.facts.title or stem(path)
    return tag(
        "tr",
        tag(
            "td",
            tag("span", path_text(path), class_="path"),
            tag("span", f" {title}", class_="quiet"),
        ),
        tag("td", tag("span", WORDS[one.level], class_=f"badge {one.level}")),
        tag("td", str(one.links_in), class_="number"),
        data_level=one.level,
        data_folder=folder_numbers[path],
    )


def _fold(name: str, title: str, words: str, listed: Html, rest: Html | None) -> Html:
    none = tag("p", "Nothing here fits the filter.", id=f"no-{name}", class_="none", hidden=True)
    return tag(
        "section",
        tag(
            "details",
            tag("summary", f"{title} ", tag("span", words, class_="quiet")),
            listed,
            none,
            rest,
            class_="fold card",
        ),
        id=name,
    )
