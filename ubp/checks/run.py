"""Runs of rules over a state, or over a change: then only new findings are reported."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ubp.checks.context import RuleContext
from ubp.checks.debt import Debts, find_obsolete, split_accepted
from ubp.checks.evidence import Evidence
from ubp.checks.finding import (
    CheckReport,
    Finding,
    NotChecked,
    Setting,
    Severity,
    UnconfirmedLinks,
    number,
)
from ubp.checks.forms import (
    LINK_RULES,
    FormCount,
    count_forms,
    count_unconfirmed,
    was_resolved,
)
from ubp.checks.outdated import OutdatedMention
from ubp.checks.registry import COMPARING, RULES, VERIFYING, Rule, find_rules
from ubp.checks.relaxed import (
    NewComments,
    Relaxation,
    count_comments,
    find_relaxation,
    relaxed_findings,
)
from ubp.checks.renames import Renames
from ubp.checks.rules import broken_link, missing_anchor, obsolete_debt, relaxed_check
from ubp.checks.rules.stale_doc import unknown_finding
from ubp.checks.suppress import split_ignored
from ubp.checks.unbinding import Unbinding
from ubp.core.config import Config, is_document
from ubp.core.model import Assessment, Debt, FilePath
from ubp.index.select import select_pages
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.markdown.sites.site import Sites
from ubp.staleness.assess import assess
from ubp.staleness.change import assess_alarms, touched_pages
from ubp.staleness.compare import hide
from ubp.staleness.evidence import add_evidence
from ubp.staleness.model import Change, Judge, StalenessContext
from ubp.staleness.state import assess_translations, open_change, open_context

if TYPE_CHECKING:
    from ubp.bindings.review import ReviewedBinding

# Suffixes of pages in formats that are not read.
UNREAD_FORMATS = frozenset({".adoc", ".asciidoc", ".qmd", ".rmd", ".rst"})
# Fewer of them, also compared with the pages, are in any repository.
MIN_UNREAD, MIN_UNREAD_SHARE = 5, 1 / 10


class CheckOptions(NamedTuple):
    """The configuration, the names of the rules to run (none: the enabled ones), and the pages.

    Findings are reported in the pages `paths`, None: all of them. `has_evidence`: evidence for
    drift is found in a state, too. `judge` is asked about a change with the alarms `judged`.
    `relaxation` are the settings with which a change is checked
    again. In that check `debts` replaces the debt file, and `comments` have no effect. `is_quick`:
    a rule for which many files would have to be read first is not checked. `skips_ignored`: links
    to files that Git ignores are not broken. `own` is the state after the change with the change's
    own configuration, where `config` is that of its base. `lists_unconfirmed`: links that lead
    nowhere are warnings, too, where nothing shows that they are broken.
    """

    config: Config
    rules: tuple[str, ...]
    paths: frozenset[FilePath] | None
    is_hidden: Callable[[FilePath], bool]
    has_evidence: bool = False
    judge: Judge | None = None
    relaxation: Relaxation | None = None
    debts: Debts | None = None
    comments: NewComments = frozenset()
    is_quick: bool = False
    skips_ignored: bool = True
    own: StalenessContext | None = None
    lists_unconfirmed: bool = False


def check_options(
    session: Session, view: View, paths: Sequence[str] = (), rules: Sequence[str] = ()
) -> CheckOptions:
    """Return the options for checking the pages that PATHs match (none: all) with these rules.

    Raises:
        UsageError: a PATH matches no page.
    """
    selected = select_pages(paths, view, session.repository) if paths else None
    return CheckOptions(session.config, tuple(rules), selected, session.is_hidden)


def check_target(  # noqa: PLR0913  # what is asked, and who judges
    session: Session,
    target: Target,
    paths: Sequence[str] = (),
    rules: Sequence[str] = (),
    *,
    has_evidence: bool = False,
    judge: Judge | None = None,
    lists_unconfirmed: bool = False,
) -> CheckReport:
    """Return what is wrong in the pages, or what a change makes wrong (see `Target`).

    `rules` are names of rules, none: those that the configuration has not switched off. Of a state
    `has_evidence`: with evidence for drift, as of a change. `judge` is asked about a change with
    the alarms `judged`. `lists_unconfirmed`: with the links without evidence that they are broken.

    Raises:
        UsageError: there is no such rule, or a path matches no page.
    """
    if target.is_change:
        change = open_change(session, target)
        options = check_options(session, change.after.view, paths, rules)
        options = options._replace(judge=judge, lists_unconfirmed=lists_unconfirmed)
        if target.base is not None:
            relaxation = find_relaxation(session, target, change)
            options = options._replace(relaxation=relaxation)
        return check_change(change, options)
    context = open_context(session, session.view(target))
    options = check_options(session, context.view, paths, rules)
    options = options._replace(has_evidence=has_evidence, lists_unconfirmed=lists_unconfirmed)
    report = check_state(context, options)
    if options.paths is not None:
        return report
    return report._replace(unread=_count_unread(context.view, report.documents, options.config))


def _count_unread(view: View, documents: int, config: Config) -> dict[str, int]:
    """Return the number of files by suffix that are pages in other formats, if they are many."""
    paths = ((*os.path.splitext(path), entry) for path, entry in view.files())
    found = Counter(
        suffix.lower()
        for name, suffix, entry in paths
        if suffix.lower() in UNREAD_FORMATS
        and entry.is_file
        and is_document(config, FilePath(f"{name}.md"))
    )
    is_many = not documents or found.total() >= max(MIN_UNREAD, documents * MIN_UNREAD_SHARE)
    return dict(found.most_common()) if is_many else {}


def find_removed_mentions(
    session: Session, paths: Sequence[str] = (), target: Target | None = None
) -> tuple[Finding, ...]:
    """Return the mentions of names that no longer exist, as far as the index knows them.

    None where many files would have to be read first.

    Raises:
        UsageError: a path matches no page.
    """
    context = open_context(session, session.view(target or Target()))
    options = check_options(session, context.view, paths, ("removed-name",))
    return check_state(context, options._replace(is_quick=True)).findings


def check_links(session: Session, context: StalenessContext) -> CheckReport:
    """Return the links that lead nowhere in a state, to a page, a file or a heading."""
    return check_state(context, check_options(session, context.view, rules=tuple(LINK_RULES)))


def count_lost_links(session: Session, context: StalenessContext) -> tuple[int, int]:
    """Return how many errors broken-link finds in a state, and how many findings missing-anchor."""
    options = check_options(session, context.view)
    rules = tuple(rule.name for rule in choose_rules(options) if rule.name in LINK_RULES)
    found = check_state(context, options._replace(rules=rules)).findings if rules else ()
    number_of = Counter((finding.rule, finding.severity) for finding in found)
    anchors = number_of[missing_anchor.NAME, "error"] + number_of[missing_anchor.NAME, "warning"]
    return number_of[broken_link.NAME, "error"], anchors


def survey_links(session: Session, target: Target) -> tuple[Sites, list[FormCount]]:
    """Return the sites of a state, and how its links are written (see `count_forms`)."""
    context = open_context(session, session.view(target))
    state = _state_context(context, check_options(session, context.view))
    return state.graph.sites, count_forms(state)


def check_state(staleness: StalenessContext, options: CheckOptions) -> CheckReport:
    """Return the findings of a state.

    Raises:
        UsageError: a rule does not exist.
    """
    rules = choose_rules(options)
    context = _state_context(staleness, options)
    everything = number(_find(context, rules))
    # what is accepted as debt is not obsolete where evidence is out of reach (a shallow clone)
    context.find_current = lambda: everything
    findings, unconfirmed = _confirmed(everything, context, options)
    report = _report(context, rules, findings, options)
    return _with_unconfirmed(report, unconfirmed, context)


def find_current(
    staleness: StalenessContext, options: CheckOptions
) -> tuple[tuple[str, ...], list[Finding]]:
    """Return the names of the rules that could be checked, and their findings in a state.

    Accepted findings and notes are included, ignored findings are not.
    """
    rules = choose_rules(options)
    context = _state_context(staleness, options)
    findings = number(_find(context, rules))
    counted, _ = split_ignored(findings, options.config.ignored, context.view)
    names = (rule.name for rule in rules if rule.name not in context.not_checked)
    return tuple(names), counted


def check_change(change: Change, options: CheckOptions) -> CheckReport:
    """Return the findings that a change introduces.

    A finding that existed before it (in one of the states that a merge joins) is not new, whatever
    its line and even if its page moved: it is recognized by its rule, page and subject.

    Raises:
        UsageError: a rule does not exist.
    """
    rules = choose_rules(options)
    context = _change_context(change, options)
    # An empty change introduces nothing. Occurrences are numbered in the state after the change.
    findings = number(_find(context, rules)) if change.changes else []

    # The others compare with the state before by themselves.
    if any(finding.rule not in COMPARING for finding in findings):
        compared = [rule for rule in rules if rule.name not in COMPARING]
        old_paths = {
            context.renames.origin(finding.filepath) or finding.filepath for finding in findings
        }
        old_options = options._replace(paths=frozenset(old_paths))
        for staleness in change.before:
            before = _find(_state_context(staleness, old_options), compared)
            findings = _subtract(findings, before, context.renames)
    base = _state_context(change.before[0], options._replace(paths=None)) if change.before else None
    findings, unconfirmed = _confirmed(findings, context, options, base)
    report = _report(context, rules, findings, options)
    report = _with_unconfirmed(report, unconfirmed, context)
    if any(rule.name in VERIFYING for rule in rules):
        failing = {finding.filepath for finding in report.findings if finding.drift}
        denied = {page.filepath: page for page in context.denied}
        noted = tuple(sorted(context.noted - failing - denied.keys()))
        report = report._replace(
            behind=tuple(sorted(context.behind)),
            noted=noted,
            denied=tuple(denied[path] for path in sorted(denied.keys() - failing)),
        )
    report = report._replace(obsolete_debts=_find_obsolete(change, context, rules, options))
    is_chosen = not options.rules or relaxed_check.NAME in options.rules
    if options.relaxation is None or not is_chosen:
        return report
    context.relaxed = _check_again(report, options, options.relaxation, change.after)
    return report._replace(findings=(*report.findings, *relaxed_check.find(context)))


def _confirmed(
    findings: list[Finding],
    context: RuleContext,
    options: CheckOptions,
    base: RuleContext | None = None,
) -> tuple[list[Finding], tuple[UnconfirmedLinks, ...]]:
    """Return the findings with evidence, and the forms of links that lead nowhere without any.

    In a change, what led somewhere in its `base` is broken by the change itself.
    """
    evidence = Evidence(context)
    kept: list[Finding] = []
    unconfirmed: list[Finding] = []
    for finding in map(evidence.with_likely_fix, findings):
        is_sure = finding.rule not in LINK_RULES or finding.is_certain
        if is_sure or (
            base is not None
            and was_resolved(base, finding, context)
            and not evidence.is_in_named_file(finding)
        ):
            kept.append(finding)
        elif (sentence := evidence.of(finding)) is not None:
            kept.append(finding._replace(hint=" ".join(filter(None, (sentence, finding.hint)))))
        elif options.lists_unconfirmed:
            kept.append(finding._replace(severity="warning", fix=None))
        else:
            unconfirmed.append(finding)
    return kept, count_unconfirmed(unconfirmed, context)


def _with_unconfirmed(
    report: CheckReport, unconfirmed: tuple[UnconfirmedLinks, ...], context: RuleContext
) -> CheckReport:
    repository = context.view.context.repository
    is_shallow = bool(unconfirmed and repository.shallow_commits())
    return report._replace(unconfirmed=unconfirmed, lacks_history=is_shallow)


def _check_again(
    report: CheckReport, options: CheckOptions, relaxation: Relaxation, own: StalenessContext
) -> tuple[Finding, ...]:
    """Return what the base's settings report of a change, and its own `report` does not."""
    strict_options = CheckOptions(
        relaxation.session.config,
        options.rules,
        options.paths,
        relaxation.session.is_hidden,
        debts=relaxation.debts,
        comments=relaxation.comments,
        skips_ignored=not relaxation.edits_gitignore,
        own=own,
        judge=options.judge,
    )
    strict = check_change(relaxation.change, strict_options)
    return relaxed_findings(strict, report, relaxation)


def _find_obsolete(
    change: Change, context: RuleContext, rules: Sequence[Rule], options: CheckOptions
) -> tuple[Debt, ...]:
    """Return the accepted findings that are gone from the pages that a change edits."""
    debts = context.debts
    paths = frozenset(debt.filepath for debt in debts.accepted.values()) & change.changes.keys()
    if not paths:
        return ()
    is_hook = change.after.view.snapshot.kind == "staged"
    state = _state_context(change.after, options._replace(paths=paths, is_quick=is_hook))
    edited = Debts({n: debt for n, debt in debts.accepted.items() if debt.filepath in paths})
    accepted_rules = {debt.rule for debt in edited.accepted.values()}
    current = number(_find(state, [rule for rule in rules if rule.name in accepted_rules]))
    return tuple(find_obsolete(edited, current, accepted_rules - state.not_checked.keys()))


def choose_rules(options: CheckOptions) -> tuple[Rule, ...]:
    """Return the rules to run, with the severities that the configuration gives them.

    A rule that is off but asked for by name is run as a warning.
    """
    settings = dict(options.config.severities)
    chosen = find_rules(options.rules) if options.rules else RULES
    rules = [Rule(rule.module, _setting(settings, rule)) for rule in chosen]
    if options.rules:
        return tuple(
            rule._replace(severity="warning") if rule.severity == "off" else rule for rule in rules
        )
    return tuple(rule for rule in rules if rule.severity != "off")


def _setting(settings: dict[str, str], rule: Rule) -> Setting:
    match settings.get(rule.name):
        case "error" | "warning" | "off" as setting:
            return setting
        case _:
            return rule.severity


def _state_context(staleness: StalenessContext, options: CheckOptions) -> RuleContext:
    view = staleness.view

    def assess_bound_pages() -> tuple[Assessment, ...]:
        assessments = assess(context.bound_pages, staleness)
        if options.has_evidence:
            assessments = add_evidence(assessments, staleness)
        return hide(assessments, options.is_hidden)

    renames = Renames(staleness.repository, view, view.base_entries, view.snapshot.changes)
    context = RuleContext(
        view,
        renames,
        assess_bound_pages,
        lambda: hide(assess_translations(staleness, options.paths), options.is_hidden),
        partial(_review, staleness),
        options.paths,
    )
    context.skips_ignored = options.skips_ignored

    def find_outdated_mentions() -> Iterable[OutdatedMention]:
        from ubp.checks.snapshot_names import find_outdated_in_state  # `ubp stale` needs none

        return find_outdated_in_state(
            staleness, options.paths, options.is_hidden, is_quick=options.is_quick
        )

    context.find_outdated_mentions = find_outdated_mentions
    return context


def _change_context(change: Change, options: CheckOptions) -> RuleContext:
    staleness = change.after
    view = staleness.view

    def assess_touched_pages() -> tuple[Assessment, ...]:
        touched = {page.filepath for page in touched_pages(change)}
        pages = [page for page in context.bound_pages if page.filepath in touched]
        assessments = assess_alarms(pages, change, options.judge)
        return hide(assessments, options.is_hidden)

    before = change.before[0].view.entries if change.before else view.base_entries
    renames = Renames(staleness.repository, view, before, change.changes)
    context = RuleContext(
        view,
        renames,
        assess_touched_pages,
        lambda: hide(assess_translations(staleness, options.paths, change), options.is_hidden),
        partial(_review, staleness),
        options.paths,
        changes=change.changes.keys(),
    )
    context.skips_ignored = options.skips_ignored

    def find_outdated_mentions() -> Iterable[OutdatedMention]:
        from ubp.checks.snapshot_names import find_outdated_by_change  # `ubp stale` needs none

        return find_outdated_by_change(change, options.is_hidden)

    def find_unbound() -> Iterable[Unbinding]:
        from ubp.checks.unbound import find_unbound  # nor this

        return find_unbound(change, options.own or staleness, renames)

    context.find_outdated_mentions = find_outdated_mentions
    context.find_unbound = find_unbound
    return context


def _review(
    staleness: StalenessContext, assessments: Sequence[Assessment]
) -> "tuple[ReviewedBinding, ...]":
    from ubp.bindings.review import review  # it loads much that hooks do not need

    return review(assessments, staleness).bindings


def _find(context: RuleContext, rules: Sequence[Rule]) -> list[Finding]:
    """Return the findings of all rules but that on the debt file, which compares them with it.

    Where a rule verifies sources, there is a note for each source that cannot be verified.
    """
    findings: list[Finding] = []
    for rule in rules:
        if rule.name != obsolete_debt.NAME:
            findings += _find_by_rule(context, rule)
    if any(rule.name in VERIFYING for rule in rules):
        findings += (
            unknown_finding(page.filepath, verdict)
            for page, verdict in context.drifted
            if verdict.verdict == "unknown"
        )
    return findings


def _find_by_rule(context: RuleContext, rule: Rule) -> list[Finding]:
    severity: Severity = "error" if rule.severity == "error" else "warning"
    return [
        finding._replace(severity="warning" if finding.is_minor else severity)
        for finding in rule.find(context)
        if context.includes(finding.filepath)
    ]


def _subtract(
    findings: Sequence[Finding], before: Sequence[Finding], renames: Renames
) -> list[Finding]:
    """Remove as many findings of each kind as there were before, those in equal text first."""

    def key(finding: Finding, path: FilePath) -> tuple[str, str, str]:
        return finding.rule, path, finding.subject

    same_text = Counter((*key(finding, finding.filepath), finding.context) for finding in before)
    unmatched = []
    matched: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        old_key = key(finding, renames.origin(finding.filepath) or finding.filepath)
        if same_text[*old_key, finding.context] > 0:
            same_text[*old_key, finding.context] -= 1
            matched[old_key] += 1
        else:
            unmatched.append((finding, old_key))
    remaining = Counter(key(finding, finding.filepath) for finding in before)
    remaining.subtract(matched)
    new = []
    for finding, old_key in unmatched:
        if remaining[old_key] > 0:
            remaining[old_key] -= 1
        else:
            new.append(finding)
    return new


def _report(
    context: RuleContext, rules: Sequence[Rule], findings: Sequence[Finding], options: CheckOptions
) -> CheckReport:
    view = context.view
    context.rules = tuple(rule.name for rule in rules)
    problems = [finding for finding in findings if finding.severity != "note"]
    counted, ignored = split_ignored(problems, options.config.ignored, view)
    counted += count_comments(ignored, options.comments)
    debts = context.debts if options.debts is None else options.debts

    def is_accepted(finding: Finding) -> bool:
        # What a change makes stale is new, even where the debt file accepts an earlier drift.
        is_new_drift = context.is_change and finding.rule in VERIFYING
        return not is_new_drift and debts.accepts(finding)

    new, accepted = split_accepted(counted, is_accepted)
    obsolete = [
        finding
        for rule in rules
        if rule.name == obsolete_debt.NAME
        for finding in _find_by_rule(context, rule)
    ]
    # Pages with evidence come first.
    named = {finding.filepath for finding in new if finding.drift and finding.drift.evidence}
    new.sort(key=lambda finding: finding.filepath not in named)
    return CheckReport(
        snapshot=view.snapshot,
        findings=(*obsolete, *new),
        ignored=(*ignored, *accepted),
        documents=view.count_documents() if options.paths is None else len(options.paths),
        unknown=tuple(finding for finding in findings if finding.severity == "note"),
        rules=context.rules,
        is_change=context.is_change,
        not_checked=tuple(NotChecked(*item) for item in context.not_checked.items()),
        alarms=options.config.alarms,
    )
