"""The part of a report about sources: which of them no page describes, as a map and as a table."""

from collections.abc import Sequence

from ubp.binding.coverage import Coverage, Gap
from ubp.render.html.markup import Html, join, path_text, scrollable, tag
from ubp.render.html.treemap import treemap
from ubp.render.html.words import rest_of
from ubp.render.text.coverage import coverage_sentence
from ubp.report.values import Report

MOST_GAPS = 30


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
        _legend(),
        _table(found, report),
        class_="card",
        id="coverage",
    )


def _legend() -> Html:
    entries = (
        tag("li", tag("span", class_=f"dot {kind}", aria_hidden="true"), " ", words)
        for kind, words in (("described", "a page describes it"), ("gap", "no page does"))
    )
    size = "The larger a box, the more its files change; each file counts once besides."
    return tag("ul", *entries, tag("li", size, class_="quiet"), class_="legend")


def _table(found: Coverage, report: Report) -> Html | None:
    if not found.gaps:
        return None
    more = len(found.gaps) - MOST_GAPS
    names = [("No page describes", None), ("Files", "number"), ("Changes", "number")]
    header = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in names))
    table = tag("table", tag("thead", header), tag("tbody", *_rows(found.gaps[:MOST_GAPS])))
    return tag(
        "details",
        tag("summary", "What no page describes"),
        join(
            [
                scrollable(table, "What no page describes"),
                rest_of(more, f"ubp coverage --limit {len(found.gaps)}", report),
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
