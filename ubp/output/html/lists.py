"""The part of a report about bindings: which sources fire without an answer, as a table.

The part of a report about sources: which of them no page describes, as a map and as a table.

What else a report lists: findings, orphans, the pages that need no look.
"""

from collections.abc import Iterator, Mapping, Sequence

from ubp.bindings.coverage import Coverage, Gap
from ubp.bindings.review import BROAD, JUDGEMENTS, BindingReview, ReviewedBinding
from ubp.checks.finding import Finding
from ubp.core.model import FilePath
from ubp.output.ci.outcome import commit_lines
from ubp.output.html.markup import Html, join, path_text, remainder, scrollable, tag
from ubp.output.html.treemap import treemap
from ubp.output.text.review import GOOD, MEANINGS, coverage_sentence, review_sentence
from ubp.output.wording import count, stem
from ubp.report.values import ChangedSource, OtherPage, Report, StalePage
from ubp.staleness.wording import LEVEL_WORDS

MAX_BINDINGS = 50
HEADER = (
    ("Page, and what it names", None),
    ("Judgement", None),
    ("Changes", "number"),
    ("with page", "number"),
    ("in 30 days", "number"),
    ("Pages", "number"),
)

Reviewed = Mapping[tuple[FilePath, FilePath], ReviewedBinding]


def bindings(report: Report) -> Html | None:
    """The whole part; nothing where no page names a source."""
    review = report.review
    if review is None or not review.bindings:
        return None
    # What is dead stands among the pages to look at.
    broad = [one for one in review.bindings if one.judgement in BROAD]
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
    """The reviewed bindings by page and source."""
    found = report.review.bindings if report.review else ()
    return {(one.binding.filepath, one.binding.source_path): one for one in found}


def bound_pages(source: ChangedSource, page: StalePage, reviewed: Reviewed) -> str:
    """How often a changed source was answered by its page, in a few words."""
    one = reviewed.get((page.path, source.answer.source_path))
    if one is None or not one.changed - one.pending:
        return ""
    judged = one.changed - one.pending
    bad = "" if one.judgement in GOOD else f" ({one.judgement})"
    return f", {one.together + one.followed} of {judged} changes answered{bad}"


def _legend(review: BindingReview) -> Iterator[Html]:
    for name in JUDGEMENTS:
        if review.count(name):
            yield tag("li", tag("b", f"{review.count(name)} {name}"), f": {MEANINGS[name]}")


def _table(broad: list[ReviewedBinding], report: Report) -> Html:
    header = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in HEADER))
    rows = (_row(one) for one in broad[:MAX_BINDINGS])
    table = tag("table", tag("thead", header), tag("tbody", *rows), class_="bindings")
    return tag(
        "details",
        tag("summary", "Bindings to look at"),
        join(
            [
                scrollable(table, "Bindings to look at"),
                remainder(len(broad) - MAX_BINDINGS, report, "bind", "--review"),
            ]
        ),
        class_="figures",
    )


def _row(one: ReviewedBinding) -> Html:
    binding = one.binding
    numbers = (one.changed, one.together, one.followed, binding.pages)
    place = tag("span", path_text(f"{binding.filepath}:{binding.line}"), class_="path")
    source = tag("span", path_text(binding.source_path or "."), class_="path quiet")
    instead = f" better: {', '.join(one.proposal)}" if one.proposal else None
    return tag(
        "tr",
        tag("th", place, tag("br"), source, instead, scope="row"),
        tag("td", one.judgement),
        *(tag("td", str(number), class_="number") for number in numbers),
    )


MAX_GAPS = 30


def coverage(report: Report) -> Html | None:
    """The whole part; nothing where there are no sources."""
    found = report.coverage
    if found is None or not found.sources:
        return None
    sentence = coverage_sentence(found)
    return tag(
        "section",
        tag("h2", "Sources"),
        tag("p", sentence, class_="quiet"),
        treemap(found.sources, f"Map of the sources. {sentence} The table below tells where."),
        _coverage_legend(),
        _coverage_table(found, report),
        class_="card",
        id="coverage",
    )


def _coverage_legend() -> Html:
    entries = (
        tag("li", tag("span", class_=f"dot {kind}", aria_hidden="true"), " ", words)
        for kind, words in (("described", "a page describes it"), ("gap", "no page does"))
    )
    size = "The larger a box, the more its files change; each file counts once besides."
    return tag("ul", *entries, tag("li", size, class_="quiet"), class_="legend")


def _coverage_table(found: Coverage, report: Report) -> Html | None:
    if not found.gaps:
        return None
    more = len(found.gaps) - MAX_GAPS
    names = [("No page describes", None), ("Files", "number"), ("Changes", "number")]
    header = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in names))
    table = tag("table", tag("thead", header), tag("tbody", *_rows(found.gaps[:MAX_GAPS])))
    return tag(
        "details",
        tag("summary", "What no page describes"),
        join(
            [
                scrollable(table, "What no page describes"),
                remainder(more, report, "coverage", "--limit", str(len(found.gaps))),
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


# More rows make a browser slow, and nobody reads them: the rest is counted.
MAX_FINDINGS = 1_500
MAX_ORPHANS = 1_000
MAX_OTHERS = 2_000

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
        rows = (_finding(one, folder_numbers[one.filepath]) for one in ordered[:MAX_FINDINGS])
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
                remainder(len(ordered) - MAX_FINDINGS, report, "check"),
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
        for one in report.orphans[:MAX_ORPHANS]
    )
    return _fold(
        "orphans",
        "Orphans",
        f"{count(len(report.orphans), 'page')} that no other page links to",
        tag("ul", *entries, class_="plain", data_list="no-orphans"),
        remainder(len(report.orphans) - MAX_ORPHANS, report, "check", "--rule", "orphan-doc"),
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
    rows = (_other(one, folder_numbers) for one in report.others[:MAX_OTHERS])
    table = tag("table", tag("thead", header), tag("tbody", *rows, data_list="no-others"))
    return _fold(
        "others",
        "All other pages",
        _others_words(report),
        scrollable(table, "All other pages"),
        remainder(len(report.others) - MAX_OTHERS, report, "stale", "--all"),
    )


def _others_words(report: Report) -> str:
    fresh = sum(1 for one in report.others if one.level == "fresh")
    parts = [(fresh, "fresh"), (len(report.others) - fresh, LEVEL_WORDS["untracked"])]
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
        tag("td", tag("span", LEVEL_WORDS[one.level], class_=f"badge {one.level}")),
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
