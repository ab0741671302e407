"""The lists of a report: bindings, sources without a page, findings, orphans, other pages."""

from collections.abc import Iterator, Mapping, Sequence

from ubp.bindings.coverage import Coverage, Gap
from ubp.bindings.review import BROAD, JUDGEMENTS, BindingReview, ReviewedBinding
from ubp.checks.finding import Finding
from ubp.core.model import FilePath
from ubp.output.ci.outcome import commit_lines
from ubp.output.html.markup import Html, join, path_text, remainder, scrollable, tag
from ubp.output.html.treemap import treemap
from ubp.output.text.common import COUNTED_LEVEL_WORDS
from ubp.output.text.review import GOOD, MEANINGS, coverage_sentence, review_sentence
from ubp.output.wording import count, file_stem
from ubp.report.values import ChangedSource, OtherPage, Report, StalePage
from ubp.staleness.wording import LEVEL_WORDS

# More rows make a browser slow, and nobody reads them: the rest is counted.
MAX_BINDINGS = 50
MAX_GAPS = 30
MAX_FINDINGS = 1_500
MAX_ORPHANS = 1_000
MAX_OTHERS = 2_000

_SEVERITIES = ("error", "warning", "note")

BINDINGS_HEADER = (
    ("Page and source", None),
    ("Judgment", None),
    ("Changes", "number"),
    ("With page", "number"),
    ("Within 30 days", "number"),
    ("Pages", "number"),
)

Reviewed = Mapping[tuple[FilePath, FilePath], ReviewedBinding]


def bindings(report: Report) -> Html | None:
    """Return the bindings that fire without being answered; None where no page is bound."""
    review = report.review
    if review is None or not review.bindings:
        return None
    # Dead bindings are among the pages to look at.
    broad = [reviewed for reviewed in review.bindings if reviewed.judgement in BROAD]
    return tag(
        "section",
        tag("h2", "Bindings"),
        tag("p", review_sentence(review), class_="quiet"),
        tag("ul", *_legend(review), class_="legend"),
        _table(broad, report) if broad else None,
        class_="card",
        id="bindings",
    )


def by_source(report: Report) -> Reviewed:
    """Return the reviewed bindings by page and source."""
    reviewed = report.review.bindings if report.review else ()
    return {
        (binding.binding.filepath, binding.binding.source_path): binding for binding in reviewed
    }


def describe_answers(source: ChangedSource, page: StalePage, reviewed: Reviewed) -> str:
    """Return how often the page was updated after the source changed, in a few words."""
    binding = reviewed.get((page.path, source.reference.source_path))
    if binding is None or not binding.changed - binding.pending:
        return ""
    answerable = binding.changed - binding.pending
    judgement = "" if binding.judgement in GOOD else f" ({binding.judgement})"
    return (
        f", page updated after {binding.together + binding.followed}"
        f" of {count(answerable, 'change')}{judgement}"
    )


def _legend(review: BindingReview) -> Iterator[Html]:
    for name in JUDGEMENTS:
        if review.count(name):
            yield tag("li", tag("b", f"{review.count(name)} {name}"), f": {MEANINGS[name]}")


def _table(reviewed: list[ReviewedBinding], report: Report) -> Html:
    header = tag(
        "tr", *(tag("th", name, scope="col", class_=kind) for name, kind in BINDINGS_HEADER)
    )
    rows = (_row(binding) for binding in reviewed[:MAX_BINDINGS])
    table = tag("table", tag("thead", header), tag("tbody", *rows), class_="bindings")
    return tag(
        "details",
        tag("summary", "Bindings to review"),
        join(
            [
                scrollable(table, "Bindings to review"),
                remainder(len(reviewed) - MAX_BINDINGS, report, "bind", "--review"),
            ]
        ),
        class_="figures",
    )


def _row(reviewed: ReviewedBinding) -> Html:
    binding = reviewed.binding
    numbers = (reviewed.changed, reviewed.together, reviewed.followed, binding.pages)
    place = tag("span", path_text(f"{binding.filepath}:{binding.line}"), class_="path")
    source = tag("span", path_text(binding.source_path or "."), class_="path quiet")
    proposal = f" list instead: {', '.join(reviewed.proposal)}" if reviewed.proposal else None
    return tag(
        "tr",
        tag("th", place, tag("br"), source, proposal, scope="row"),
        tag("td", reviewed.judgement),
        *(tag("td", str(number), class_="number") for number in numbers),
    )


def coverage(report: Report) -> Html | None:
    """Return the map of the sources and those that no page describes; None without sources."""
    measured = report.coverage
    if measured is None or not measured.sources:
        return None
    sentence = coverage_sentence(measured)
    return tag(
        "section",
        tag("h2", "Sources"),
        tag("p", sentence, class_="quiet"),
        treemap(
            measured.sources, f"Map of the sources. {sentence} The table below lists the gaps."
        ),
        _coverage_legend(),
        _coverage_table(measured, report),
        class_="card",
        id="coverage",
    )


def _coverage_legend() -> Html:
    entries = (
        tag("li", tag("span", class_=f"dot {kind}", aria_hidden="true"), " ", words)
        for kind, words in (("described", "described by a page"), ("gap", "not described"))
    )
    size = "The size of a box is its number of files plus their changes."
    return tag("ul", *entries, tag("li", size, class_="quiet"), class_="legend")


def _coverage_table(coverage: Coverage, report: Report) -> Html | None:
    if not coverage.gaps:
        return None
    more = len(coverage.gaps) - MAX_GAPS
    names = [("Not described", None), ("Files", "number"), ("Changes", "number")]
    header = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in names))
    table = tag("table", tag("thead", header), tag("tbody", *_rows(coverage.gaps[:MAX_GAPS])))
    return tag(
        "details",
        tag("summary", "Sources that no page describes"),
        join(
            [
                scrollable(table, "Sources that no page describes"),
                remainder(more, report, "coverage", "--limit", str(len(coverage.gaps))),
            ]
        ),
        class_="figures",
    )


def _rows(gaps: Sequence[Gap]) -> list[Html]:
    return [
        tag(
            "tr",
            tag("th", tag("span", path_text(gap.path), class_="path"), scope="row"),
            tag("td", str(gap.files), class_="number"),
            tag("td", str(gap.changes), class_="number"),
        )
        for gap in gaps
    ]


def findings(report: Report, folder_numbers: dict[FilePath, int]) -> Html | None:
    """Return the findings of `ubp check`, the most severe first."""
    if report.findings is None:
        return None
    scope = tuple(_scope(report))
    ordered = sorted(report.findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    if ordered:
        names = ("Severity", "Rule", "Location", "Message")
        header = tag("tr", *(tag("th", name, scope="col") for name in names))
        rows = (
            _finding(finding, folder_numbers[finding.filepath])
            for finding in ordered[:MAX_FINDINGS]
        )
        table = tag("table", tag("thead", header), tag("tbody", *rows), class_="findings")
        listed = join(
            [
                tag("div", table, data_list="no-findings"),
                tag(
                    "p",
                    "No entries match the filter.",
                    id="no-findings",
                    class_="none",
                    hidden=True,
                ),
                remainder(len(ordered) - MAX_FINDINGS, report, "check"),
            ]
        )
    else:
        listed = tag("p", "No findings.", class_="good")
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
        yield from ("Findings of ", tag("code", "ubp check"), " other than stale pages. ")
    if report.ignored:
        yield f"{count(report.ignored, 'finding')} ignored."


def _finding(finding: Finding, folder: int) -> Html:
    column = f":{finding.column}" if finding.column else ""
    commits = commit_lines(finding.drift)
    return tag(
        "tr",
        tag("td", tag("span", finding.severity, class_=f"badge {finding.severity}")),
        tag("td", tag("code", finding.rule)),
        tag(
            "td",
            tag("span", path_text(f"{finding.filepath}:{finding.line}{column}"), class_="path"),
        ),
        tag(
            "td",
            finding.message,
            tag("span", f" {finding.hint}", class_="quiet") if finding.hint else None,
            tag("ol", *(tag("li", line) for line in commits), class_="commits")
            if commits
            else None,
            class_="what",
        ),
        data_rules=finding.rule,
        data_folder=folder,
    )


def orphans(report: Report, folder_numbers: dict[FilePath, int]) -> Html | None:
    """Return the pages that no other page links to."""
    if not report.orphans:
        return None
    entries = (
        tag(
            "li",
            tag("span", path_text(finding.filepath), class_="path"),
            data_rules=finding.rule,
            data_folder=folder_numbers[finding.filepath],
        )
        for finding in report.orphans[:MAX_ORPHANS]
    )
    return _fold(
        "orphans",
        "Orphans",
        f"{count(len(report.orphans), 'page')} that no other page links to",
        tag("ul", *entries, class_="plain", data_list="no-orphans"),
        remainder(len(report.orphans) - MAX_ORPHANS, report, "check", "--rule", "orphan-doc"),
    )


def others(report: Report, folder_numbers: dict[FilePath, int]) -> Html | None:
    """Return the pages that are fresh or name no sources, the most linked first."""
    if not report.others:
        return None
    header = tag(
        "tr",
        tag("th", "Page", scope="col"),
        tag("th", "Level", scope="col"),
        tag("th", "Links to it", scope="col", class_="number"),
    )
    rows = (_other(page, folder_numbers) for page in report.others[:MAX_OTHERS])
    table = tag("table", tag("thead", header), tag("tbody", *rows, data_list="no-others"))
    return _fold(
        "others",
        "All other pages",
        _count_others(report),
        scrollable(table, "All other pages"),
        remainder(len(report.others) - MAX_OTHERS, report, "stale", "--all"),
    )


def _count_others(report: Report) -> str:
    fresh = sum(1 for page in report.others if page.level == "fresh")
    parts = [(fresh, "fresh"), (len(report.others) - fresh, COUNTED_LEVEL_WORDS["untracked"])]
    counts = ", ".join(f"{number} {words}" for number, words in parts if number)
    return f"{counts}; most linked first"


def _other(page: OtherPage, folder_numbers: dict[FilePath, int]) -> Html:
    path = page.page.filepath
    title = page.page.facts.title or file_stem(path)
    return tag(
        "tr",
        tag(
            "td",
            tag("span", path_text(path), class_="path"),
            tag("span", f" {title}", class_="quiet"),
        ),
        tag("td", tag("span", LEVEL_WORDS[page.level], class_=f"badge {page.level}")),
        tag("td", str(page.links_in), class_="number"),
        data_level=page.level,
        data_folder=folder_numbers[path],
    )


def _fold(name: str, title: str, summary: str, listed: Html, more: Html | None) -> Html:
    no_matches = tag(
        "p", "No entries match the filter.", id=f"no-{name}", class_="none", hidden=True
    )
    return tag(
        "section",
        tag(
            "details",
            tag("summary", f"{title} ", tag("span", summary, class_="quiet")),
            listed,
            no_matches,
            more,
            class_="fold card",
        ),
        id=name,
    )
