"""The part of a report about bindings: which sources fire without an answer, as a table."""

from collections.abc import Iterator, Mapping

from ubp.binding.review import BROAD, JUDGEMENTS, BindingReview, ReviewedBinding
from ubp.model import FilePath
from ubp.render.html.markup import Html, join, path_text, scrollable, tag
from ubp.render.html.words import rest_of
from ubp.render.text.binding_review import GOOD, MEANINGS, review_sentence
from ubp.report.values import ChangedSource, Report, StalePage

MOST_BINDINGS = 50
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


def answers(source: ChangedSource, page: StalePage, reviewed: Reviewed) -> str:
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
    rows = (_row(one) for one in broad[:MOST_BINDINGS])
    table = tag("table", tag("thead", header), tag("tbody", *rows), class_="bindings")
    return tag(
        "details",
        tag("summary", "Bindings to look at"),
        join(
            [
                scrollable(table, "Bindings to look at"),
                rest_of(len(broad) - MOST_BINDINGS, "ubp bind --review", report),
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
