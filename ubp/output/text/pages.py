"""Texts about documents for people: one page, lists, context, impact, and the link graph.

The graph is written for terminals, Graphviz and Mermaid; titles can contain anything.
"""

from collections.abc import Iterator
from unicodedata import east_asian_width

from ubp.core.model import QUIET_LEVELS, Assessment, FilePath, Level
from ubp.core.text import summarize
from ubp.frame.wording import ARROWS, Style, count, joined, printable
from ubp.index.facts import why_unreadable
from ubp.search.context import Center, Context, PageContext, Related
from ubp.search.traverse import Edge, Neighborhood, PageGraph
from ubp.staleness.wording import LEVEL_WORDS, describe_reference

# The width of a summary on a terminal.
SUMMARY_COLUMNS = 100
MAX_HEADINGS = 12
MAX_RELATED = 15

# Mermaid reads HTML, entities of its own and Markdown in labels; a quotation mark ends them.
_MERMAID = {ord(character): f"#{ord(character)};" for character in "#&\"'`<>\\[](){}|"}
_COLORS: dict[Level, str] = {"stale": "red", "possibly_stale": "orange"}


def graph_text(graph: PageGraph, style: Style, *, is_quiet: bool) -> str:
    """Return each page with the pages that it links to; quietly a line for each link."""
    neighborhood = graph.near
    if is_quiet:
        return "".join(
            f"{printable(edge.source)} -> {printable(edge.target)} ({edge.link_type})\n"
            for edge in neighborhood.edges
        )
    outlinks: dict[FilePath, list[Edge]] = {
        document.path: [] for document in neighborhood.documents
    }
    for edge in neighborhood.edges:
        outlinks[edge.source].append(edge)
    lines: list[str] = []
    for document in neighborhood.documents:
        level = graph.assessments[document.path].level
        stale = f", {style.yellow(LEVEL_WORDS[level])}" if level in _COLORS else ""
        mark = "  (center)" if document.path == neighborhood.center else ""
        title = printable(document.title)
        lines.append(f"{style.bold(printable(document.path))}  {title}{stale}{mark}")
        lines += [
            f"  -> {printable(edge.target)} ({edge.link_type})" for edge in outlinks[document.path]
        ]
    links = count(len(neighborhood.edges), "link")
    return "".join(
        f"{line}\n"
        for line in [*lines, *([""] if lines else []), f"{_size(neighborhood)}, {links}."]
    )


def dot_text(graph: PageGraph) -> str:
    """Return the graph in Graphviz's language; stale pages are colored."""
    neighborhood = graph.near
    lines = ["digraph ubp {", *_note("  // ", neighborhood), "  rankdir=LR;", "  node [shape=box];"]
    for document in neighborhood.documents:
        color = _COLORS.get(graph.assessments[document.path].level)
        attributes = f", color={color}" if color else ""
        lines.append(f"  {_dot(document.path)} [label={_dot(document.title)}{attributes}];")
    lines += [
        f"  {_dot(edge.source)} -> {_dot(edge.target)} [label={_dot(edge.link_type)}];"
        for edge in neighborhood.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid_text(graph: PageGraph) -> str:
    """Return the graph in Mermaid's language, which GitHub draws (up to 500 links)."""
    neighborhood = graph.near
    names = {document.path: f"n{index}" for index, document in enumerate(neighborhood.documents)}
    lines = ["graph LR", *_note("  %% ", neighborhood)]
    lines += [
        f'  {names[document.path]}["{_mermaid(document.title)}"]'
        for document in neighborhood.documents
    ]
    lines += [
        f"  {names[edge.source]} -->|{edge.link_type}| {names[edge.target]}"
        for edge in neighborhood.edges
    ]
    lines += _color_classes(graph, names)
    return "\n".join(lines) + "\n"


def _color_classes(graph: PageGraph, names: dict[FilePath, str]) -> Iterator[str]:
    for level, color in _COLORS.items():
        stale = [name for path, name in names.items() if graph.assessments[path].level == level]
        if stale:
            yield f"  classDef {level} stroke:{color}"
            yield f"  class {','.join(stale)} {level}"


def _note(prefix: str, neighborhood: Neighborhood) -> list[str]:
    return [f"{prefix}{_size(neighborhood)}"] if neighborhood.left_out else []


def _size(neighborhood: Neighborhood) -> str:
    shown, total = len(neighborhood.documents), count(neighborhood.total, "page")
    if not neighborhood.left_out:
        return total
    selection = "the nearest" if neighborhood.center else "the most linked"
    return f"{shown} of {total} ({selection})"


def _dot(text: str) -> str:
    # A backslash begins an escape in labels (\N is the node's name): two stand for one.
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mermaid(text: str) -> str:
    return printable(text).translate(_MERMAID)


def unreadable_line(indent: str, assessment: Assessment, style: Style) -> Iterator[str]:
    """Yield why a page could not be read, if so."""
    if reason := why_unreadable(assessment.page):
        yield f"{indent}{style.yellow(reason)}"


def context_text(result: PageContext, style: Style, *, is_quiet: bool) -> str:
    """Return the page in short, then two lines for each related page; quietly only paths."""
    context = result.context
    if is_quiet:
        return joined([printable(related.document.path) for related in context.related])
    lines = list(_center(context.center, result.assessments[context.center.document.path], style))
    lines += _related_count(context)
    for related in context.related[:MAX_RELATED]:
        lines += _related(related, result.assessments[related.document.path], style)
    if (more := len(context.related) - MAX_RELATED) > 0:
        lines += ["", f"{count(more, 'more page')}: --quiet lists the paths, --json everything."]
    return joined(lines)


def _center(center: Center, assessment: Assessment, style: Style) -> Iterator[str]:
    document, level = center.document, assessment.level
    facts = [printable(document.title), printable(document.doc_type), LEVEL_WORDS[level]]
    yield f"{style.bold(printable(document.path))}  {', '.join(facts)}"
    yield from unreadable_line("  ", assessment, style)
    if summary := summarize(center.content):
        yield f"  {printable(summary)}"
    headings = [section.heading for section in center.sections if section.heading]
    if headings:
        number = len(headings) + center.hidden_sections
        more = ["\u2026"] if number > MAX_HEADINGS else []
        shown = [printable(heading) for heading in headings[:MAX_HEADINGS]]
        yield f"  {count(number, 'section')}: {', '.join([*shown, *more])}"
    for reference in assessment.references:
        if reference.verdict not in {"fresh", "unknown"}:
            verdict = describe_reference(reference)
            yield f"  {style.yellow(printable(f'{reference.name} {verdict}'))}"
    if center.is_cut:
        yield style.yellow(f"  Only {len(center.content)} of {center.full_size} characters fit.")


def _related_count(context: Context) -> Iterator[str]:
    total = len(context.related) + context.left_out
    yield ""
    if not total:
        yield "No linked pages."
    elif not context.related:
        yield f"{count(total, 'linked page')} left out, because there is no room."
    elif context.left_out:
        shown = len(context.related)
        yield f"{shown} of {count(total, 'linked page')} (the others do not fit):"
    else:
        yield f"{count(total, 'linked page')}:"


def _related(related: Related, assessment: Assessment, style: Style) -> Iterator[str]:
    path, level = related.link_path, assessment.level
    via = f" {printable(path.via)}" if path.depth > 1 else ""
    connection = f"{ARROWS[path.direction]}{via} ({path.link.link_type})"
    stale = "" if level in QUIET_LEVELS else f", {style.yellow(LEVEL_WORDS[level])}"
    place = style.bold(printable(related.document.path))
    yield f"  {place}  {printable(related.document.title)}{stale}  {style.dim(connection)}"
    yield from unreadable_line("    ", assessment, style)
    if summary := _one_line_summary(related.summary):
        yield f"    {printable(summary)}"


def _one_line_summary(text: str) -> str:
    wide_characters = sum(east_asian_width(character) in "WF" for character in text)
    return summarize(text, SUMMARY_COLUMNS * len(text) // (len(text) + wide_characters or 1))
