"""Assess the pages of a session: contexts, assessments, reports.

Imported by `ubp stale` and the hook: what only changes need is imported there.
"""

from collections.abc import Sequence
from functools import partial

from ubp.core.config import is_record
from ubp.core.model import CONFIG_FILE, QUIET_LEVELS, Assessment, FilePath, Page
from ubp.git.snapshot import read_commit
from ubp.git.trees import diff_trees
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.staleness.assess import assess
from ubp.staleness.compare import assessment, hide
from ubp.staleness.model import (
    Change,
    Judge,
    StalenessContext,
    StalenessRules,
    StaleReport,
    count_levels,
    worst_first,
)
from ubp.staleness.references import SourceIndex, build_source_index

# The rule of `ubp check` about translations, whose severity `ubp stale` obeys too.
TRANSLATION_RULE = "stale-translation"


def open_context(session: Session, view: View) -> StalenessContext:
    """Return what the verdicts on a view depend on, as of now."""
    config = session.config
    rules = StalenessRules(
        session.clock(),
        config.threshold_days,
        session.is_hidden,
        lambda page: is_record(config, page.filepath, page.facts.doc_type),
        config.ignored_commits,
        config.quiet_after,
        {setting.name: setting for setting in config.collections},
        config.translations,
        config.alarms,
    )
    return StalenessContext(
        view, session.repository, session.history, rules, session.open_collection
    )


def open_change(session: Session, target: Target) -> Change:
    """Return the change that a target means: the commit in the making, or a branch."""
    after = open_context(session, session.view(target))
    head = after.view.snapshot.commit
    repository = session.repository
    if target.base is None:
        if target.amend:
            replaced = repository.head()
            parents = list(repository.parents(replaced)) if replaced else []
        else:
            parents = [head, *repository.merge_heads()] if head else []
        changes = after.view.snapshot.changes
    else:
        base = repository.resolve(target.base)
        start = repository.merge_base(base, head) if head else base
        parents = [start]
        changes = diff_trees(repository, start, head) if head else {}
    before = tuple(
        open_context(session, session.view_of(read_commit(repository, parent)))
        for parent in parents
    )
    return Change(before, after, changes)


def assess_paths(
    session: Session, view: View, paths: Sequence[FilePath]
) -> dict[FilePath, Assessment]:
    """Return the assessments of these pages; fresh and untracked ones are remembered."""
    known: dict[FilePath, Assessment] = view.derived("assessments", dict)
    new = [path for path in paths if path not in known]
    assessed: dict[FilePath, Assessment] = {}
    if new:
        pages = list(view.pages_at(new).values())
        assessments = hide(assess(pages, open_context(session, view)), session.is_hidden)
        assessed = {assessment.page.filepath: assessment for assessment in assessments}
        # The level of the others depends on the time.
        known |= {
            path: assessment
            for path, assessment in assessed.items()
            if assessment.level in QUIET_LEVELS
        }
    return {
        path: assessment for path in paths if (assessment := known.get(path) or assessed.get(path))
    }


def open_source_index(session: Session, view: View) -> SourceIndex:
    """Return which pages name which sources; a view makes it once."""
    assess_pages = partial(assess_paths, session, view)
    return view.derived(
        "source index", lambda: build_source_index(view, session.is_hidden, assess_pages)
    )


def find_stale(  # noqa: PLR0913  # what is asked, and who judges
    session: Session,
    target: Target,
    paths: Sequence[str],
    *,
    every: bool,
    has_evidence: bool = False,
    judge: Judge | None = None,
) -> tuple[StaleReport, StalenessContext]:
    """Return the pages that no longer describe their sources, and the context of that verdict.

    `paths` narrow it; `every` includes pages without sources, and of a change the old debts. The
    worst pages come first, with ties as they were. Evidence is found for a change, for a state
    only with `has_evidence`: it takes longer than all the rest. `judge` is asked about a change
    with the alarms `judged`.

    Raises:
        UsageError: the target contradicts itself, or a path matches no page.
    """
    if not target.is_change:
        context = open_context(session, session.view(target))
        selected = select(session, context.view, paths)
        pages = pages_to_assess(context.view, selected, every=every)
        assessments = assess(pages, context)
        if has_evidence:
            from ubp.staleness.evidence import add_evidence
            from ubp.staleness.stored_evidence import EvidenceTable

            assessments = add_evidence(assessments, context, stored=EvidenceTable(context.view))
        report = build_stale_report(context, pages, assessments, selected)
        return _with_translations(report, session, context, selected), context
    from ubp.staleness.change import assess_alarms, touched_pages

    change = open_change(session, target)
    context = change.after
    selected = select(session, context.view, paths)
    pages = pages_to_assess(context.view, selected, every=every)
    assessed = pages
    if not every:
        touched = {page.filepath for page in touched_pages(change)}
        assessed = [page for page in pages if page.filepath in touched]
    assessments = assess_alarms(assessed, change, judge)
    report = build_stale_report(context, pages, assessments, selected)
    is_reconfigured = CONFIG_FILE in change.changes
    report = report._replace(is_change=True, is_reconfigured=is_reconfigured)
    return _with_translations(report, session, context, selected, change), context


def _with_translations(
    report: StaleReport,
    session: Session,
    context: StalenessContext,
    selected: frozenset[FilePath] | None,
    change: Change | None = None,
) -> StaleReport:
    """Return a report with the translations; of a change with those that it concerns."""
    if not context.rules.translations:
        return report
    assessed = assess_translations(context, selected, change)
    report = report._replace(translations=worst_first(hide(assessed, context.rules.is_hidden)))
    match dict(session.config.severities).get(TRANSLATION_RULE):
        case "error" | "off" as severity:
            return report._replace(translation_severity=severity)
        case _:
            return report


def assess_translations(
    context: StalenessContext,
    selected: frozenset[FilePath] | None = None,
    change: Change | None = None,
) -> tuple[Assessment, ...]:
    """Assess the `selected` translations, None: all; of a change those that it concerns.

    A page that never had an original is none, unless its pin says that it had.
    """
    from ubp.staleness.translations import find_translations

    view, rules = context.view, context.rules
    paths = None if change is None else frozenset(change.changes)
    translations = find_translations(view, rules.translations, paths)
    if change is not None and rules.collections and CONFIG_FILE in change.changes:
        from ubp.staleness.collections import find_repinned
        from ubp.staleness.references import collection_of

        repinned = find_repinned(change)
        translations += [
            page
            for page in find_translations(view, rules.translations)
            if page not in translations
            and collection_of(page.facts.references[0].source_path, repinned)
        ]
    pages = [page for page in translations if selected is None or page.filepath in selected]
    if change is None:
        assessed = assess(pages, context)
    else:
        from ubp.staleness.change import assess_change

        assessed = assess_change(pages, change)
    return tuple(
        assessment
        for assessment in assessed
        for verdict in assessment.references
        if verdict.verdict != "not_found" or verdict.reference.pin
    )


def build_stale_report(
    context: StalenessContext,
    pages: Sequence[Page],
    assessed: Sequence[Assessment],
    selected: frozenset[FilePath] | None = None,
) -> StaleReport:
    """Return a report on these assessments: of the `selected` pages, None: of all documents.

    `pages` are those that were looked at, assessed or not.
    """
    view, rules = context.view, context.rules
    documents = view.count_documents() if selected is None else len(selected)
    shown = worst_first(hide(assessed, rules.is_hidden))
    bound = sum(1 for page in pages if page.facts.references and not rules.is_record(page))
    return StaleReport(
        snapshot=view.snapshot,
        pages=shown,
        summary=count_levels(shown, documents, bound),
        threshold_days=rules.threshold_days,
        is_shallow=context.repository.is_shallow,
        alarms=rules.alarms,
    )


def join_translations(
    assessments: Sequence[Assessment], translations: Sequence[Assessment]
) -> tuple[Assessment, ...]:
    """Return each page once, with the verdicts on its sources and on its original."""
    by_path = {assessed.page.filepath: assessed for assessed in assessments}
    for translation in translations:
        path = translation.page.filepath
        own = by_path[path].references if path in by_path else ()
        by_path[path] = assessment(translation.page, [*own, *translation.references])
    return tuple(by_path.values())


def select(session: Session, view: View, paths: Sequence[str]) -> frozenset[FilePath] | None:
    """Return the pages that match paths of the command line; None: they narrow nothing.

    Raises:
        UsageError: a path matches no page.
    """
    if not paths:
        return None
    from ubp.index.select import select_pages

    return select_pages(paths, view, session.repository)


def pages_to_assess(view: View, selected: frozenset[FilePath] | None, *, every: bool) -> list[Page]:
    """Return the pages with references or problems; with `every` those without, too."""
    if every:
        paths = view.document_paths() if selected is None else selected
        return [page for path in sorted(paths) if (page := view.page(path))]
    return [page for page in view.bound_pages() if selected is None or page.filepath in selected]
