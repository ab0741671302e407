"""The graph for people, for Graphviz and for Mermaid; a title can be anything.

`ubp get-page` and `ubp list-pages` for people.

`ubp get-context` and `ubp impact` for people.
"""

from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

from ubp.core.model import QUIET_LEVELS, Assessment, FilePath, Level
from ubp.core.text import summarize
from ubp.output.wording import ARROWS, Style, count, day, joined, printable, printable_line
from ubp.search.context import Center, Context, PageContext, Related
from ubp.search.impact import FIRM, Impacted, ImpactTarget, PageImpact
from ubp.search.list_pages import PageLink, PageList, ReadPage
from ubp.search.traverse import Edge, Neighborhood, PageGraph
from ubp.staleness.wording import LEVEL_WORDS

# Mermaid reads HTML, entities of its own and Markdown in labels; a quotation mark ends them.
_MERMAID = {ord(character): f"#{ord(character)};" for character in "#&\"'`<>\\[](){}|"}
_COLOURS: dict[Level, str] = {"stale": "red", "possibly_stale": "orange"}


def graph_text(found: PageGraph, style: Style, *, is_quiet: bool) -> str:
    """Each page with the pages that it leads to; quietly the edges alone, a line each."""
    near = found.near
    if is_quiet:
        return "".join(
            f"{_path(edge.source)} -> {_path(edge.target)} ({edge.link_type})\n"
            for edge in near.edges
        )
    out: dict[FilePath, list[Edge]] = {document.path: [] for document in near.documents}
    for edge in near.edges:
        out[edge.source].append(edge)
    lines: list[str] = []
    for document in near.documents:
        level = found.assessments[document.path].level
        stale = f", {style.yellow(LEVEL_WORDS[level])}" if level in _COLOURS else ""
        mark = "  (center)" if document.path == near.center else ""
        title = printable(document.title)
        lines.append(f"{style.bold(_path(document.path))}  {title}{stale}{mark}")
        lines += [f"  -> {_path(edge.target)} ({edge.link_type})" for edge in out[document.path]]
    links = count(len(near.edges), "link")
    return "".join(f"{x}\n" for x in [*lines, *([""] if lines else []), f"{_size(near)}, {links}."])


def dot_text(found: PageGraph) -> str:
    """Graphviz's language; stale pages have a colour."""
    near = found.near
    lines = ["digraph ubp {", *_note("  // ", near), "  rankdir=LR;", "  node [shape=box];"]
    for document in near.documents:
        colour = _COLOURS.get(found.assessments[document.path].level)
        more = f", color={colour}" if colour else ""
        lines.append(f"  {_dot(document.path)} [label={_dot(document.title)}{more}];")
    lines += [
        f"  {_dot(edge.source)} -> {_dot(edge.target)} [label={_dot(edge.link_type)}];"
        for edge in near.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid_text(found: PageGraph) -> str:
    """Mermaid's language, which GitHub draws in a Markdown block (up to 500 links)."""
    near = found.near
    names = {document.path: f"n{index}" for index, document in enumerate(near.documents)}
    lines = ["graph LR", *_note("  %% ", near)]
    lines += [
        f'  {names[document.path]}["{_mermaid(document.title)}"]' for document in near.documents
    ]
    lines += [
        f"  {names[edge.source]} -->|{edge.link_type}| {names[edge.target]}" for edge in near.edges
    ]
    lines += _coloured(found, names)
    return "\n".join(lines) + "\n"


def _coloured(found: PageGraph, names: dict[FilePath, str]) -> Iterator[str]:
    for level, colour in _COLOURS.items():
        stale = [name for path, name in names.items() if found.assessments[path].level == level]
        if stale:
            yield f"  classDef {level} stroke:{colour}"
            yield f"  class {','.join(stale)} {level}"


def _note(mark: str, near: Neighborhood) -> list[str]:
    return [f"{mark}{_size(near)}"] if near.left_out else []


def _size(near: Neighborhood) -> str:
    shown, total = len(near.documents), count(near.total, "page")
    if not near.left_out:
        return total
    kept = "the nearest" if near.center else "those with the most links"
    return f"{shown} of {total} ({kept})"


def _path(path: FilePath) -> str:
    return printable(path)


def _dot(text: str) -> str:
    # A backslash begins an escape in labels (\N is the node's name): two stand for one.
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mermaid(text: str) -> str:
    return printable(text).translate(_MERMAID)


def page_text(read: ReadPage, style: Style, *, is_quiet: bool) -> str:
    """The page's text, between what it is and what it is linked with; quietly the text alone."""
    page = read.page
    body = [printable_line(line) for line in page.content.splitlines()]
    if is_quiet:
        return joined(body)
    place = style.bold(printable(page.document.path))
    facts = [printable(page.document.title), printable(page.document.doc_type)]
    facts.append(LEVEL_WORDS[read.assessment.level])
    if read.updated_at is not None:
        facts.append(f"changed {day(read.updated_at)}")
    lines = [f"{place}  {', '.join(facts)}", "", *body]
    for title, links, is_out in (
        ("Links", page.outlinks, True),
        ("Linked from", page.backlinks, False),
    ):
        if links:
            lines += ["", f"{title}:"]
            lines += [_link(one, style, is_out=is_out) for one in links]
    return joined(lines)


def list_text(listed: PageList, style: Style, *, cursor: str | None, is_quiet: bool) -> str:
    """A line a page, then how many there are and where they go on; quietly the paths alone."""
    if is_quiet:
        return joined([printable(page.document.path) for page in listed.pages])
    lines = list(_listed(listed, style))
    number = len(listed.pages)
    shown = count(number, "page")
    if number < listed.total:
        shown = f"{number} of {count(listed.total, 'page')}"
    more = f" The next ones: --cursor {cursor}" if cursor else ""
    return joined([*lines, *([""] if lines else []), f"{shown}.{more}"])


def _listed(listed: PageList, style: Style) -> Iterator[str]:
    for page in listed.pages:
        document = page.document
        facts = [
            printable(document.title),
            printable(document.doc_type),
            f"{page.outgoing} out",
            f"{page.incoming} in",
        ]
        level = listed.assessments[document.path].level
        if level != "untracked":
            facts.append(LEVEL_WORDS[level])
        if (changed := listed.updated_at[document.path]) is not None:
            facts.append(f"changed {day(changed)}")
        yield f"{style.bold(printable(document.path))}  {', '.join(facts)}"


def _link(one: PageLink, style: Style, *, is_out: bool) -> str:
    if one.other is None:
        aim = style.yellow(f"{printable(one.link.target)}: no such page")
        return f"  line {one.link.line}  {aim}"
    other = printable(one.other.path)
    note = ", several are named so" if one.bucket == "ambiguous" and is_out else ""
    if is_out:
        return f"  line {one.link.line}  {other}  {one.link.link_type}{note}"
    return f"  {other}:{one.link.line}  {one.link.link_type}"


# What a page says of itself, in a line of a terminal.
SUMMARY_COLUMNS = 100
HEADINGS = 12
MAX_SHOWN = 15


def context_text(found: PageContext, style: Style, *, is_quiet: bool) -> str:
    """The page in short, then those around it, two lines each; quietly their paths alone."""
    context = found.context
    if is_quiet:
        return joined([printable(one.document.path) for one in context.related])
    lines = list(_center(context.center, found.assessments[context.center.document.path], style))
    lines += _around(context)
    for one in context.related[:MAX_SHOWN]:
        lines += _related(one, found.assessments[one.document.path].level, style)
    if (more := len(context.related) - MAX_SHOWN) > 0:
        lines += ["", f"{count(more, 'more page')}: --quiet lists the paths, --json tells all."]
    return joined(lines)


def impact_text(found: PageImpact, style: Style, *, is_quiet: bool) -> str:
    """A line for each page and what it depends on; quietly their paths alone."""
    impact = found.impact
    if is_quiet:
        return joined([printable(one.document.path) for one in impact.impacted])
    if not impact.total:
        return joined(_nothing(impact.subject, style))
    firm = [one for one in impact.impacted if _is_firm(one)]
    loose = [one for one in impact.impacted if not _is_firm(one)]
    lines: list[str] = []
    for title, several in (("Built on it:", firm), ("Through a mention:", loose)):
        if several:
            lines += [title, *(_impacted(one, found, style) for one in several), ""]
    shown, total = len(impact.impacted), count(impact.total, "page")
    verb = "depends" if impact.total == 1 else "depend"
    of = f"{shown} of {total}" if shown < impact.total else total
    return joined([*lines, f"{of} {verb} on {printable(impact.subject.path) or 'all of it'}."])


def _center(center: Center, assessment: Assessment, style: Style) -> Iterator[str]:
    document, level = center.document, assessment.level
    facts = [printable(document.title), printable(document.doc_type), LEVEL_WORDS[level]]
    yield f"{style.bold(printable(document.path))}  {', '.join(facts)}"
    if summary := summarize(center.content):
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
    way = one.link_path
    via = f" {printable(way.via)}" if way.depth > 1 else ""
    how = f"{ARROWS[way.direction]}{via} ({way.link.link_type})"
    stale = "" if level in QUIET_LEVELS else f", {style.yellow(LEVEL_WORDS[level])}"
    place = style.bold(printable(one.document.path))
    yield f"  {place}  {printable(one.document.title)}{stale}  {style.dim(how)}"
    if summary := _in_a_line(one.summary):
        yield f"    {printable(summary)}"


def _in_a_line(text: str) -> str:
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return summarize(text, SUMMARY_COLUMNS * len(text) // (len(text) + wide or 1))


def _impacted(one: Impacted, found: PageImpact, style: Style) -> str:
    step = one.chain[-1]
    level = found.assessments[one.document.path].level
    stale = "" if level in QUIET_LEVELS else f"  {style.yellow(LEVEL_WORDS[level])}"
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


def _nothing(subject: ImpactTarget, style: Style) -> Sequence[str]:
    path = printable(subject.path)
    if subject.exists:
        return [style.yellow(f"No page depends on {path}.")]
    return [style.yellow(f"Nothing stands at {path}, and no page names it.")]
