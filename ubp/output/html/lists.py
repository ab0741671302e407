"""The lists of a report: bindings, sources without a page, findings, orphans, other pages."""

from collections.abc import Mapping

from markupsafe import Markup

from ubp.answers.bindings.coverage import coverage_record, coverage_sentence
from ubp.answers.bindings.review_bindings import (
    GOOD,
    MEANINGS,
    review_sentence,
)
from ubp.bindings.review import BROAD, JUDGEMENTS, ReviewedBinding
from ubp.core.model import FilePath
from ubp.frame.records import moment_or_none
from ubp.frame.wording import count
from ubp.output.ci.outcome import commit_lines
from ubp.output.forge import Places
from ubp.output.html.markup import listing_command, render
from ubp.output.html.treemap import treemaps
from ubp.report.values import ChangedSource, Report, StalePage
from ubp.staleness.wording import COUNTED_LEVEL_WORDS

# More rows make a browser slow, and nobody reads them: the rest is counted.
MAX_BINDINGS = 50
MAX_GAPS = 30
MAX_FINDINGS = 1_500
MAX_ORPHANS = 1_000
MAX_OTHERS = 2_000

_SEVERITIES = ("error", "warning", "note")

Reviewed = Mapping[tuple[FilePath, FilePath], ReviewedBinding]


def bindings(report: Report) -> Markup | None:
    """Return the bindings that fire without being answered; None where no page is bound."""
    review = report.review
    if review is None or not review.bindings:
        return None
    # Dead bindings are among the pages to look at.
    broad = [reviewed for reviewed in review.bindings if reviewed.judgement in BROAD]
    return render(
        "bindings.html",
        sentence=review_sentence(
            [reviewed.binding.filepath for reviewed in review.bindings],
            review.commits,
            moment_or_none(review.since),
            is_shallow=review.is_shallow,
        ),
        legend=[
            (name, review.count(name), MEANINGS[name]) for name in JUDGEMENTS if review.count(name)
        ],
        rows=broad[:MAX_BINDINGS],
        hidden=len(broad) - MAX_BINDINGS,
        command=listing_command(report, "bind", "--review"),
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


def coverage(report: Report) -> Markup | None:
    """Return the map of the sources and those that no page describes; None without sources."""
    measured = report.coverage
    if measured is None or not measured.sources:
        return None
    sentence = coverage_sentence(coverage_record(measured, 0))
    label = f"Map of the sources. {sentence} The table below lists the gaps."
    return render(
        "coverage.html",
        sentence=sentence,
        maps=treemaps(measured.sources, report.source_levels, label),
        rows=measured.gaps[:MAX_GAPS],
        hidden=len(measured.gaps) - MAX_GAPS,
        command=listing_command(report, "coverage", "--limit", str(len(measured.gaps))),
    )


def findings(
    report: Report, folder_numbers: Mapping[FilePath, int], places: Places
) -> Markup | None:
    """Return the findings of `ubp check`, the most severe first."""
    if report.findings is None:
        return None
    ordered = sorted(report.findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    rows = [
        {
            "finding": finding,
            "folder": folder_numbers[finding.filepath],
            "place": f"{finding.filepath}:{finding.line}"
            + (f":{finding.column}" if finding.column else ""),
            "url": places.file_url(finding.filepath, finding.line),
            "commits": commit_lines(finding.drift),
        }
        for finding in ordered[:MAX_FINDINGS]
    ]
    return render(
        "findings.html",
        rows=rows,
        hidden=len(ordered) - MAX_FINDINGS,
        command=listing_command(report, "check"),
        has_pages=report.pages is not None,
        ignored=report.ignored,
    )


def orphans(
    report: Report, folder_numbers: Mapping[FilePath, int], places: Places
) -> Markup | None:
    """Return the pages that no other page links to."""
    if not report.orphans:
        return None
    return render(
        "orphans.html",
        places=places,
        number=len(report.orphans),
        rows=[
            (finding, folder_numbers[finding.filepath]) for finding in report.orphans[:MAX_ORPHANS]
        ],
        command=listing_command(report, "check", "--rule", "orphan-doc"),
    )


def others(report: Report, folder_numbers: Mapping[FilePath, int], places: Places) -> Markup | None:
    """Return the pages that are fresh or name no sources, the most linked first."""
    if not report.others:
        return None
    return render(
        "others.html",
        places=places,
        summary=_count_others(report),
        rows=[(other, folder_numbers[other.page.filepath]) for other in report.others[:MAX_OTHERS]],
        hidden=len(report.others) - MAX_OTHERS,
        command=listing_command(report, "stale", "--all"),
    )


def _count_others(report: Report) -> str:
    fresh = sum(1 for page in report.others if page.level == "fresh")
    parts = [(fresh, "fresh"), (len(report.others) - fresh, COUNTED_LEVEL_WORDS["untracked"])]
    counts = ", ".join(f"{number} {words}" for number, words in parts if number)
    return f"{counts}; most linked first"
