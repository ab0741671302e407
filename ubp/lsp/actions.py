"""Code actions and the commands behind them: fix links, create pages, acknowledge, bind, search."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from ubp.answers.bindings.bind import BindRequest
from ubp.bindings.sources import is_binary
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE
from ubp.bindings.write import form_of
from ubp.checks.finding import WIKILINKS, Finding, LinkFix, SourceFix
from ubp.checks.rewrite import rewrite_link
from ubp.checks.run import CheckOptions, choose_rules
from ubp.core.config import is_document
from ubp.core.errors import PageError
from ubp.core.model import FilePath, Link
from ubp.core.paths import is_windows_path, normalize_path
from ubp.core.text import closest_names
from ubp.lsp.context import EditorContext
from ubp.lsp.diagnostics import find_in_pages
from ubp.lsp.navigation import head_lines
from ubp.lsp.rename import byte_edits
from ubp.markdown.document import parse_page
from ubp.markdown.edit_sources import add_sources, rename_sources
from ubp.markdown.link_parts import part_bounds
from ubp.markdown.resolve import path_of, stem, without_suffix
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages
from ubp.staleness.model import GONE, Summary, count_levels
from ubp.staleness.pins import AckOptions, pin_page

ACKNOWLEDGE = "ubp.acknowledge"
BIND = "ubp.bind"
PROPOSE_SOURCES = "ubp.proposeSources"
SEARCH = "ubp.search"
STATUS = "ubp.status"

# Rules whose findings an edit may fix.
_FIXABLE = (
    "broken-link",
    "ambiguous-link",
    "missing-anchor",
    "unknown-link-type",
    "missing-source",
)
MAX_TARGETS = 3
MIN_SIMILARITY = 0.8  # of a page's name and that of a wikilink: below, hardly any was meant
MAX_PROPOSED = 3
MAX_FOUND = 50


@dataclass(frozen=True, slots=True)
class ProposedSource:
    """A source that a page seems to describe, with a confidence from 0 to 1 and the reasons."""

    path: str
    confidence: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that a search found; `line` counts from 1."""

    uri: str
    path: str
    title: str
    heading: str
    line: int
    text: str
    score: float


def find_actions(
    context: EditorContext, path: FilePath, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """Return what can be done about the findings in a range, and about the page's sources."""
    page = context.page(path)
    if page is None:
        return []
    found: list[types.CodeAction] = []
    for finding in _fixable_findings(context, path):
        region = finding.region
        span = context.range(path, region) if region else context.line_range(path, finding.line)
        if _overlaps(span, params.range):
            known = [d for d in params.context.diagnostics if d.range == span or not region]
            found += _fixes(context, finding, [d for d in known if d.code == finding.rule])
    found += _acknowledgement(context, path, params)
    is_asked = params.context.trigger_kind != types.CodeActionTriggerKind.Automatic
    if is_asked and params.range.start.line < max(1, head_lines(context, path)):
        found += _bindings(context, path)
    return found


def _fixable_findings(context: EditorContext, path: FilePath) -> tuple[Finding, ...]:
    session = context.session
    enabled = choose_rules(CheckOptions(session.config, (), None, session.is_hidden))
    rules = tuple(rule.name for rule in enabled if rule.name in _FIXABLE)
    return find_in_pages(context, {path}, rules) if rules else ()


def _overlaps(first: types.Range, second: types.Range) -> bool:
    return first.start <= second.end and second.start <= first.end


def _fixes(
    context: EditorContext, finding: Finding, known: Sequence[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    path, fix = finding.filepath, finding.fix
    if isinstance(fix, SourceFix):
        keys, data = context.session.config.keys, context.data(path)
        try:
            after = rename_sources(data, keys, {fix.literal: fix.path})
        except PageError:
            return
        yield _fix(f"Change the source to {fix.path}", _edit(context, path, after), known)
    if not isinstance(finding.about, Link):
        return
    link = finding.about
    if isinstance(fix, LinkFix):
        bounds = part_bounds(context.data(path), link, fix.part)
        if bounds:
            edit = byte_edits(context, path, [(*bounds, fix.text)])
            mark = {"target": "", "anchor": "#", "label": "|"}[fix.part]
            yield _fix(f"Change the link to {mark}{fix.text}", edit, known, is_preferred=True)
    else:
        for text in _other_targets(context, path, link):
            edit = byte_edits(context, path, [(link.byte_start, link.byte_end, text)])
            yield _fix(f"Change the link to {text}", edit, known)
    if finding.rule == "broken-link" and (missing := _missing_page(context, path, link)):
        yield _fix(f"Create {missing}", _creation(context, missing), known)


def _other_targets(context: EditorContext, path: FilePath, link: Link) -> list[str]:
    """Return how a link to nothing, or to several pages, may be written."""
    edge = next((edge for edge in context.graph.outlinks(path) if edge.link == link), None)
    if edge is None:
        return []
    documents = context.view.document_paths()
    candidates: Sequence[FilePath] = edge.resolution.candidates
    if link.kind in WIKILINKS and edge.resolution.bucket == "missing":
        candidates = candidates or _similar_pages(link, documents)
    texts = []
    for target in candidates[:MAX_TARGETS]:
        namesakes = [other for other in documents if stem(other) == stem(target)]
        texts.append(rewrite_link(link, path, target, namesakes))
    return [text for text in texts if text]


def _similar_pages(link: Link, documents: Iterable[FilePath]) -> list[FilePath]:
    """Return the pages whose names are nearly that of a wikilink, the most similar first."""
    paths = {stem(path): path for path in documents}
    return [
        paths[name] for name in closest_names(stem(link.target), paths, MAX_TARGETS, MIN_SIMILARITY)
    ]


def _missing_page(context: EditorContext, path: FilePath, link: Link) -> FilePath | None:
    """Return the page that a broken link asks for, if it may be created: not for `plan.pdf`."""
    if is_binary(link.target):
        return None
    if link.kind in WIKILINKS:
        folder = path.rpartition("/")[0]
        suffix = path[len(without_suffix(path)) :]
        new = normalize_path(f"{folder}/{without_suffix(link.target)}{suffix}".lstrip("/"))
    else:
        new = path_of(link, path, context.graph.sites.of(path))
    if new is None or context.view.entry(new) or not is_document(context.session.config, new):
        return None
    return new if is_windows_path(new) else None


def _creation(context: EditorContext, path: FilePath) -> types.WorkspaceEdit:
    uri = context.addresses.uri(path)
    title = without_suffix(path).rpartition("/")[2].replace("-", " ").replace("_", " ")
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    text = types.TextEdit(start, f"# {title[:1].upper()}{title[1:]}\n")
    document = types.OptionalVersionedTextDocumentIdentifier(uri)
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)),
            types.TextDocumentEdit(document, [text]),
        ]
    )


def _fix(
    title: str,
    edit: types.WorkspaceEdit,
    known: Sequence[types.Diagnostic],
    *,
    is_preferred: bool = False,
) -> types.CodeAction:
    return types.CodeAction(
        title,
        types.CodeActionKind.QuickFix,
        diagnostics=list(known) or None,
        is_preferred=is_preferred or None,
        edit=edit,
    )


def _edit(context: EditorContext, path: FilePath, after: bytes) -> types.WorkspaceEdit:
    return types.WorkspaceEdit({context.addresses.uri(path): context.edits(path, after)})


# Sources


def _acknowledgement(
    context: EditorContext, path: FilePath, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    lines = {
        verdict.reference.line - 1
        for verdict in context.assess([path])[path].references
        if verdict.verdict not in {"fresh", "unknown", *GONE}
    }
    if lines and lines & {*range(params.range.start.line, params.range.end.line + 1)}:
        uri = context.addresses.uri(path)
        stale = [d for d in params.context.diagnostics if d.code == "stale-doc"]
        yield types.CodeAction(
            "Acknowledge: the page is still accurate",
            types.CodeActionKind.QuickFix,
            diagnostics=stale or None,
            command=types.Command("Acknowledge", ACKNOWLEDGE, arguments=[uri]),
        )


def _bindings(context: EditorContext, path: FilePath) -> Iterator[types.CodeAction]:
    for proposed in propose_sources(context, path)[:MAX_PROPOSED]:
        if proposed.confidence < MIN_REVIEW_CONFIDENCE:
            break
        edit = bind(context, path, [proposed.path])
        if edit:
            title = f"Add the source {proposed.path} ({proposed.confidence:.2f})"
            yield types.CodeAction(title, types.CodeActionKind.RefactorRewrite, edit=edit)


def acknowledge(context: EditorContext, path: FilePath) -> types.WorkspaceEdit | None:
    """Return the pins for the sources of a page that drifted, as `ubp ack` writes them."""
    session, data = context.session, context.data(path)
    if context.page(path) is None:
        return None
    options = AckOptions(
        session.config.keys,
        is_staged=False,
        is_from_history=False,
        reason=None,
        is_hidden=session.is_hidden,
    )
    after, _ = pin_page(data, context.assess([path])[path], context.staleness, options)
    return _edit(context, path, after) if after != data else None


def propose_sources(context: EditorContext, path: FilePath) -> tuple[ProposedSource, ...]:
    """Return the sources that a page seems to describe, as `ubp bind` does."""
    if context.page(path) is None:
        return ()
    absolute = f"{context.session.repository.root}/{path}"
    record = context.workspace.ask(BindRequest((absolute,)))
    return tuple(
        ProposedSource(
            suggestion.source_path,
            round(suggestion.confidence, 2),
            tuple(evidence.detail for evidence in suggestion.evidence),
        )
        for page in record.pages
        for suggestion in page.suggestions
    )


def bind(
    context: EditorContext, path: FilePath, sources: Iterable[str]
) -> types.WorkspaceEdit | None:
    """Return the edit that writes sources into a page's front matter.

    Raises:
        PageError: the front matter cannot be edited in place.
    """
    keys, data = context.session.config.keys, context.data(path)
    present = {reference.literal for reference in parse_page(data, keys).references}
    new = [source for source in sources if normalize_path(source) not in present]
    form = form_of(context.view, path)
    after = add_sources(data, keys, new, form) if new else data
    return _edit(context, path, after) if after != data else None


# Search and status


def search(context: EditorContext, query: str, limit: int) -> tuple[FoundPage, ...]:
    """Return the pages that match a query best, by words, meaning and links."""
    found = search_pages(context.session, PageQuery(query, limit=min(limit, MAX_FOUND)))
    pages = []
    for hit in found.answer.pages:
        path = hit.page.filepath
        best = hit.sections[0] if hit.sections else None
        passage = best.passage if best else None
        pages.append(
            FoundPage(
                context.addresses.uri(path),
                path,
                hit.page.facts.title or path.rpartition("/")[2],
                (best.section.heading or "") if best and best.section else "",
                best.line if best else 1,
                passage.content if passage else "",
                round(hit.score, 3),
            )
        )
    return tuple(pages)


def count_pages(context: EditorContext) -> Summary:
    """Return how many pages are fresh, for a status bar."""
    paths = [page.filepath for page in context.view.bound_pages()]
    assessments = list(context.assess(paths).values())
    bound = sum(1 for assessment in assessments if assessment.references)
    return count_levels(assessments, context.view.count_documents(), bound)
