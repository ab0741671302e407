"""`ubp get-context` and `ubp impact` for people."""

from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

from ubp.cutting import summarise
from ubp.graph.context import Center, Context, Related
from ubp.graph.impact import FIRM, Impacted, Subject
from ubp.model import Assessment, Level
from ubp.relating import PageContext, PageImpact
from ubp.render.ansi import Style
from ubp.render.text.levels import WORDS
from ubp.render.wording import count, printable

# What a page says of itself, in a line of a terminal.
SUMMARY_COLUMNS = 100
HEADINGS = 12
MOST_SHOWN = 15
AT_REST = ("fresh", "untracked")


def context_text(found: PageContext, style: Style, *, is_quiet: bool) -> str:
    """The page in short, then those around it, two lines each; quietly their paths alone."""
    context = found.context
    if is_quiet:
        return _lines([printable(one.document.path) for one in context.related])
    lines = list(_center(context.center, found.assessments[context.center.document.path], style))
    lines += _around(context)
    for one in context.related[:MOST_SHOWN]:
        lines += _related(one, found.assessments[one.document.path].level, style)
    if (more := len(context.related) - MOST_SHOWN) > 0:
        lines += ["", f"{count(more, 'more page')}: --quiet lists the paths, --json tells all."]
    return _lines(lines)


def impact_text(found: PageImpact, style: Style, *, is_quiet: bool) -> str:
    """A line for each page and what it depends on; quietly their paths alone."""
    impact = found.impact
    if is_quiet:
        return _lines([printable(one.document.path) for one in impact.impacted])
    if not impact.total:
        return _lines(_nothing(impact.subject, style))
    firm = [one for one in impact.impacted if _is_firm(one)]
    loose = [one for one in impact.impacted if not _is_firm(one)]
    lines: list[str] = []
    for title, several in (("Built on it:", firm), ("Through a mention:", loose)):
        if several:
            lines += [title, *(_impacted(one, found, style) for one in several), ""]
    shown, total = len(impact.impacted), count(impact.total, "page")
    verb = "depends" if impact.total == 1 else "depend"
    of = f"{shown} of {total}" if shown < impact.total else total
    return _lines([*lines, f"{of} {verb} on {printable(impact.subject.path) or 'all of it'}."])


def _center(center: Center, assessment: Assessment, style: Style) -> Iterator[str]:
    document, level = center.document, assessment.level
    facts = [printable(document.title), printable(document.doc_type), WORDS[level]]
    yield f"{style.bold(printable(document.path))}  {', '.join(facts)}"
    if summary := summarise(center.content):
        yield f"  {printable(summary)}"
    headings = [one.heading for one in center.sections if one.heading]
    if headings:
        more = ["\u2026"] if len(headings) > HEADINGS else []
        shown = [printable(heading) for heading in headings[:HEADINGS]]
        yield f"  {count(len(headings), 'section')}: {', '.join([*shown, *more])}"
    for one in assessment.references:
        if one.verdict not in {"fresh", "unknown"}:
            yield f"  {style.yellow(f'{printable(one.source_path)} {one.verdict}')}"
    if center.is_cut:
        yield style.yellow(
            f"  Only {len(center.content)} of its {center.full_size} characters fit."
        )


def _around(context: Context) -> Iterator[str]:
    total = len(context.related) + context.left_out
    yield ""
    if not total:
        yield "No page is linked with it."
    elif not context.related:
        yield f"There is no room for the {count(total, 'page')} around it."
    elif context.left_out:
        shown = len(context.related)
        yield f"Around it, {shown} of {count(total, 'page')} (the others do not fit):"
    else:
        yield f"Around it, {count(total, 'page')}:"


def _related(one: Related, level: Level, style: Style) -> Iterator[str]:
    way = one.way
    arrow = "->" if way.direction == "outlink" else "<-"
    via = f" {printable(way.via)}" if way.depth > 1 else ""
    how = f"{arrow}{via} ({way.link.link_type})"
    stale = "" if level in AT_REST else f", {style.yellow(WORDS[level])}"
    place = style.bold(printable(one.document.path))
    yield f"  {place}  {printable(one.document.title)}{stale}  {style.dim(how)}"
    if summary := _in_a_line(one.summary):
        yield f"    {printable(summary)}"


def _in_a_line(text: str) -> str:
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return summarise(text, SUMMARY_COLUMNS * len(text) // (len(text) + wide or 1))


def _impacted(one: Impacted, found: PageImpact, style: Style) -> str:
    step = one.chain[-1]
    level = found.assessments[one.document.path].level
    stale = "" if level in AT_REST else f"  {style.yellow(WORDS[level])}"
    if step.reason == "source_reference":
        why = f"describes {printable(step.source_path or step.target)}"
        why += f", which moved to {printable(step.moved_to)}" if step.moved_to else ""
    elif len(one.chain) == 1 and step.target == found.impact.subject.path:
        why = f"{step.reason} it"
    else:
        why = f"{step.reason} {printable(step.target)}"
    place = style.bold(f"{printable(one.document.path)}:{step.line}")
    return f"  {place}  {why}{stale}"


def _is_firm(one: Impacted) -> bool:
    return all(step.reason in FIRM for step in one.chain)


def _nothing(subject: Subject, style: Style) -> Sequence[str]:
    path = printable(subject.path)
    if subject.exists:
        return [style.yellow(f"No page depends on {path}.")]
    return [style.yellow(f"Nothing stands at {path}, and no page names it.")]


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
