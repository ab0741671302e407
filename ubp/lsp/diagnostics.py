"""Diagnostics: findings of `ubp check` in documents, stale pages in open source files."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping

from lsprotocol import types

from ubp.checks.finding import Finding, fingerprint
from ubp.checks.locations import locate_findings
from ubp.checks.run import CheckOptions, check_state
from ubp.core.model import FilePath, ReferenceVerdict, SourceReference
from ubp.core.paths import ancestors, compile_glob, is_glob
from ubp.core.source import PartSource
from ubp.index.parts import find_parts
from ubp.lsp.context import EditorContext
from ubp.staleness.references import candidates
from ubp.staleness.wording import describe_drift_time, describe_reference

SOURCE = "ubp"

_SEVERITIES: Mapping[str, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


def diagnose(
    context: EditorContext, paths: Collection[FilePath], *, has_sources: bool
) -> dict[FilePath, list[types.Diagnostic]]:
    """Return the diagnostics of these open files; `has_sources`: those of source files, too."""
    documents = context.view.pages_at(paths)
    found: dict[FilePath, list[types.Diagnostic]] = {path: [] for path in paths}
    found |= diagnostics_of(context, documents)
    for path in paths if has_sources else ():
        if path not in documents:
            found[path] = list(_source_diagnostics(context, path))
    return found


def diagnose_closed(
    context: EditorContext, opened: Collection[FilePath]
) -> dict[FilePath, list[types.Diagnostic]]:
    """Return the diagnostics of the documents that are not open, if there are any."""
    closed = [path for path in context.view.document_paths() if path not in opened]
    return {path: found for path, found in diagnostics_of(context, closed).items() if found}


def result_id(diagnostics: Collection[types.Diagnostic]) -> str:
    """Return an id that is the same for the same diagnostics."""
    return hashlib.sha256(repr(diagnostics).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def diagnostics_of(
    context: EditorContext,
    documents: Collection[FilePath],
    rules: tuple[str, ...] = (),
    is_shown: Callable[[Finding], bool] = lambda _: True,
) -> dict[FilePath, list[types.Diagnostic]]:
    """Return the findings of these rules (none: the enabled ones) in documents."""
    found: dict[FilePath, list[types.Diagnostic]] = {path: [] for path in documents}
    for finding in find_in_pages(context, documents, rules):
        if finding.filepath in found and is_shown(finding):  # the debt file has findings of its own
            found[finding.filepath].append(_diagnostic(context, finding))
    return found


def find_in_pages(
    context: EditorContext, paths: Collection[FilePath], rules: tuple[str, ...] = ()
) -> tuple[Finding, ...]:
    """Return the located findings of these rules (none: the enabled ones) in documents."""
    if not paths:
        return ()
    session = context.session
    options = CheckOptions(
        session.config, rules, frozenset(paths), session.is_hidden, has_evidence=not rules
    )
    report = check_state(context.staleness, options)
    located = locate_findings(report, context.staleness)
    return (*located.findings, *located.unknown)


def _diagnostic(context: EditorContext, finding: Finding) -> types.Diagnostic:
    path, drift = finding.filepath, finding.drift
    if finding.region:
        span = context.range(path, finding.region)
    else:
        span = context.line_range(path, finding.line, drift.reference.written if drift else "")
    severity = _SEVERITIES[finding.severity]
    if drift and drift.level == "possibly_stale" and finding.severity == "warning":
        severity = types.DiagnosticSeverity.Information
    related = [
        types.DiagnosticRelatedInformation(
            context.location(place.path, place.line or 1), "This has changed."
        )
        for place in finding.source_places
    ]
    return types.Diagnostic(
        range=span,
        message=" ".join(filter(None, [finding.message, finding.hint])),
        severity=severity,
        code=finding.rule,
        source=SOURCE,
        related_information=related or None,
        data=fingerprint(finding),
    )


def _source_diagnostics(context: EditorContext, path: FilePath) -> Iterator[types.Diagnostic]:
    for page, verdict in pages_about(context, path):
        if verdict.verdict in {"fresh", "unknown"}:
            continue
        yield types.Diagnostic(
            range=context.line_range(path, _first_line(context, path, verdict)),
            message=f"Described by {page}: {_since(context, path, verdict)}.",
            severity=types.DiagnosticSeverity.Information,
            code="described-by",
            source=SOURCE,
            related_information=[
                types.DiagnosticRelatedInformation(
                    context.location(page, verdict.reference.line), "This page lists the source."
                )
            ],
        )


def pages_about(context: EditorContext, path: FilePath) -> list[tuple[FilePath, ReferenceVerdict]]:
    """Return the pages that list a file as a source, or its part, with the verdicts on it."""
    names = {path, *ancestors(path)}

    def is_about(reference: SourceReference) -> bool:
        if reference.source_path in names or reference.literal in names:
            return True
        pattern = reference.source_path
        return is_glob(pattern) and compile_glob(pattern).matches(path)

    naming = [page.filepath for page in context.pages.listing(path)]
    return [
        (page, verdict)
        for page, assessment in context.assess(naming).items()
        for verdict in assessment.references
        if is_about(verdict.reference)
    ]


def _since(context: EditorContext, path: FilePath, verdict: ReferenceVerdict) -> str:
    if verdict.since is None and path in context.view.snapshot.buffers:
        return "stale since this edit"
    return describe_reference(verdict, describe_drift_time(verdict))


def _first_line(context: EditorContext, path: FilePath, verdict: ReferenceVerdict) -> int:
    """Return the line of the part that a reference names, else the first."""
    for source in candidates(verdict.reference):
        if isinstance(source, PartSource):
            for part in find_parts(source, context.data(path)):
                return part.line_start
    return 1
