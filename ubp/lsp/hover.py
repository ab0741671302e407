"""What an editor shows beside the text: hovers, and the counts above it."""

import re
from collections.abc import Collection, Iterator, Sequence

from lsprotocol import types

from ubp.core.model import FilePath, ReferenceVerdict
from ubp.frame.wording import MAX_COMMITS, SHORT_ID, count, day, printable
from ubp.git.diff import split_hunks
from ubp.lsp.context import EditorContext
from ubp.lsp.diagnostics import pages_about
from ubp.lsp.navigation import (
    count_links,
    find_references,
    heading_at,
    link_at,
    link_line,
    link_target,
    reference_at,
)
from ubp.search.excerpt import cut_passage
from ubp.staleness.diff import diff_pages
from ubp.staleness.evidence import add_evidence, defined_names, names_in_code
from ubp.staleness.model import SourceDiff
from ubp.staleness.state import open_context
from ubp.staleness.wording import (
    LEVEL_WORDS,
    describe_drift_time,
    evidence_sentence,
    verdict_sentence,
)

SHOW_REFERENCES = "ubp.showReferences"
SHOW_SOURCES = "ubp.showSources"

MAX_NAMES = 5
MAX_DIFF_LINES = 3
MAX_DIFF_CHARACTERS = 160

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!])")


def hover(context: EditorContext, path: FilePath, params: types.HoverParams) -> types.Hover | None:
    """Return what a link leads to, or what changed in a source since the page described it."""
    if link := link_at(context, path, params.position):
        target = link_target(context, link.edge)
        if target is None:
            return None
        line = link_line(context, link.edge, target[0])
        lines = list(_target_lines(context, target[0], line))
        return _hover(lines, link.range)
    if reference := reference_at(context, path, params.position):
        assessment = context.assess([path])[path]
        found = [v for v in assessment.references if v.reference == reference]
        session = context.workspace.session
        evident = add_evidence(
            [assessment._replace(references=tuple(found))],
            open_context(session, session.view()),
        )
        diffs = {verdict: diff for _, verdict, diff in diff_pages(evident, context.staleness)}
        lines = [
            line
            for verdict in evident[0].references
            for line in verdict_lines(verdict, diffs.get(verdict))
        ]
        span = context.line_range(path, reference.line, reference.written)
        return _hover(lines, span) if lines else None
    return None


def _hover(lines: Sequence[str], span: types.Range) -> types.Hover:
    content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(lines))
    return types.Hover(content, span)


def _target_lines(context: EditorContext, path: FilePath, line: int | None) -> Iterator[str]:
    page = context.page(path)
    if page is None:
        yield f"`{path}`"
        return
    level = context.assess([path])[path].level
    title = page.facts.title or path.rpartition("/")[2]
    state = "" if level == "untracked" else f", {LEVEL_WORDS[level]}"
    yield f"**{escaped(title)}** ({escaped(path)}{state})"
    text = context.text(path)
    lines = [text.line(number) for number in range(len(text.starts))]
    section = heading_at(context, path, line) if line else None
    if section:
        yield f"**{escaped(' > '.join(section.path[1:] or section.path))}**"
        lines = lines[section.line_start : section.line_end]
    else:
        first = context.graph.sections(path)
        lines = lines[first[0].line_start - 1 :] if first else []
    if passage := cut_passage("\n".join(lines), ()).content:
        yield escaped(passage)


def verdict_lines(verdict: ReferenceVerdict, diff: SourceDiff | None) -> Iterator[str]:
    """Yield the state of a source, its evidence, what changed in it, and the commits."""
    yield escaped(verdict_sentence(verdict, describe_drift_time(verdict)))
    if evidence := evidence_sentence(verdict):
        yield evidence
    if diff is not None:
        yield from _change_lines(diff, [found.name for found in verdict.evidence])
    for commit in verdict.commits[:MAX_COMMITS]:
        author = f"{day(commit.date)} {printable(commit.author)}"
        yield f"`{commit.id[:SHORT_ID]}` {escaped(f'{author}: {printable(commit.subject)}')}"
    if len(verdict.commits) > MAX_COMMITS:
        yield f"and {count(len(verdict.commits) - MAX_COMMITS, 'older commit')}"


def _change_lines(diff: SourceDiff, evident: Sequence[str]) -> Iterator[str]:
    """Yield the other names that changed, and a few changed lines, those with evidence first."""
    changed = [
        line
        for part in split_hunks(diff.text)
        for line in part.text.split("\n")[1:]
        if line[:1] in {"+", "-"} and line[1:].strip()
    ]
    code = [line[1:] for line in changed]
    names = sorted((names_in_code(code) | defined_names(code)) - {*evident})
    if names:
        shown = ", ".join(f"`{printable(name)}`" for name in names[:MAX_NAMES])
        others = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        yield f"{'Also changed' if evident else 'Changed names'}: {shown}{others}."
    changed.sort(key=lambda line: not any(name in line for name in evident))
    if shown_lines := changed[:MAX_DIFF_LINES]:
        text = "\n".join(printable(line)[:MAX_DIFF_CHARACTERS] for line in shown_lines)
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
        yield f"{fence}diff\n{text}\n{fence}"


def escaped(text: str) -> str:
    """Return a text of the repository so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\1", printable(text))


def find_lenses(
    context: EditorContext, path: FilePath, _: types.CodeLensParams
) -> list[types.CodeLens]:
    """Return how many sources a document has and how many drifted, and the links to its headings.

    Above a source: how many pages describe it.
    """
    page = context.page(path)
    if page is None:
        described = pages_about(context, path)
        pages = {str(name) for name, _ in described}
        stale = {str(name) for name, verdict in described if verdict.verdict != "fresh"}
        title = f"Described by {count(len(pages), 'page')}"
        return [_source_lens(context, path, 1, title, stale)] if pages else []
    lenses = []
    if verdicts := context.assess([path])[path].references:
        stale = {v.name for v in verdicts if v.verdict != "fresh"}
        title, line = count(len(verdicts), "source"), verdicts[0].reference.line
        lenses.append(_source_lens(context, path, line, title, stale))
    uri = context.addresses.uri(path)
    for line, number in count_links(context, path).items():
        command = types.Command(count(number, "link"), SHOW_REFERENCES, arguments=[uri, line - 1])
        lenses.append(types.CodeLens(context.line_range(path, line), command))
    return lenses


def _source_lens(
    context: EditorContext, path: FilePath, line: int, title: str, stale: Collection[str]
) -> types.CodeLens:
    title += f", {len(stale)} stale" if stale else ""
    command = types.Command(title, SHOW_SOURCES, arguments=[context.addresses.uri(path)])
    return types.CodeLens(context.line_range(path, line), command)


def describe_references(context: EditorContext, path: FilePath, line: int) -> str:
    """Return the places that link to a heading in a line (from 0), a place a line."""
    params = types.ReferenceParams(
        types.ReferenceContext(include_declaration=False),
        types.TextDocumentIdentifier(context.addresses.uri(path)),
        types.Position(line, 0),
    )
    paths = {context.addresses.uri(page): page for page in context.pages.all}
    places = (
        f"{paths.get(found.uri, found.uri)}:{found.range.start.line + 1}"
        for found in find_references(context, path, params)
    )
    return "\n".join(dict.fromkeys(places))


def describe_sources(context: EditorContext, path: FilePath) -> str:
    """Return the state of each source of a document, or of each page about a source: lines."""
    page = context.page(path)
    if page is None:
        return "\n".join(
            f"{name}: {verdict_sentence(verdict, describe_drift_time(verdict))}"
            for name, verdict in pages_about(context, path)
        )
    return "\n".join(
        verdict_sentence(verdict, describe_drift_time(verdict))
        for verdict in context.assess([path])[path].references
    )
