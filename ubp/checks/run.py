"""Runs rules over a state, or over a change: then only what the change brings is found."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ubp.bindings.review import ReviewedBinding, review
from ubp.checks.context import RuleContext
from ubp.checks.debt import split_accepted
from ubp.checks.finding import CheckReport, Finding, Setting, Severity, number
from ubp.checks.registry import RULES, VERIFYING, Rule, find_rules
from ubp.checks.renames import Renames
from ubp.checks.rules import obsolete_debt
from ubp.checks.rules.stale_doc import unknown_finding
from ubp.checks.suppress import split_ignored
from ubp.core.config import Config
from ubp.core.model import Assessment, FilePath
from ubp.staleness.assess import assess, hide
from ubp.staleness.change import assess_change, touched_pages
from ubp.staleness.model import Change, StalenessContext


class CheckOptions(NamedTuple):
    """How to check: the configuration, the rules that were asked for (none: all), and where.

    `wanted` are the pages to find things in, None: all of them.
    """

    config: Config
    names: tuple[str, ...]
    wanted: frozenset[FilePath] | None
    is_hidden: Callable[[FilePath], bool]


def check_state(court: StalenessContext, terms: CheckOptions) -> CheckReport:
    """Find what is wrong in a state.

    Raises:
        UsageError: there is no such rule.
    """
    rules = choose_rules(terms)
    evidence = state_context(court, terms)
    found = number(_find(evidence, rules))
    evidence.standing = lambda: found
    return _report(evidence, rules, found, terms)


def find_current(
    court: StalenessContext, terms: CheckOptions
) -> tuple[tuple[str, ...], list[Finding]]:
    """The rules that were run, and all that they find in a state but for what is ignored.

    Accepted old findings are among them, and notes of what nobody can tell.
    """
    rules = choose_rules(terms)
    evidence = state_context(court, terms)
    found = number(_find(evidence, rules))
    counted, _ = split_ignored(found, terms.config.ignored, evidence.view)
    return tuple(rule.name for rule in rules), counted


def check_change(change: Change, terms: CheckOptions) -> CheckReport:
    """Find what a change brings.

    A finding that stood before it (in one of the states that a merge joins) is not the change's: it
    is known by its rule, page and subject, wherever its line and its page went.

    Raises:
        UsageError: there is no such rule.
    """
    rules = choose_rules(terms)
    evidence = _change_evidence(change, terms)
    # A change of nothing brings nothing. Numbers are those of the state that the change leaves.
    found = number(_find(evidence, rules)) if change.changes else []
    compared = [rule for rule in rules if rule.name not in VERIFYING]
    evidence.standing = lambda: _standing(evidence, rules, change.after, terms)
    pages = {evidence.renames.origin(one.filepath) or one.filepath for one in found}
    old_terms = terms._replace(wanted=frozenset(pages))
    if any(one.rule not in VERIFYING for one in found):
        for court in change.before:
            before = _find(state_context(court, old_terms), compared)
            found = _subtract(found, before, evidence.renames)
    return _report(evidence, rules, found, terms)


def _standing(
    evidence: RuleContext, rules: Sequence[Rule], court: StalenessContext, terms: CheckOptions
) -> list[Finding]:
    """All that the rules find in the pages of the debt file, whoever brought it."""
    pages = frozenset(debt.filepath for debt in evidence.debts.accepted.values())
    return number(_find(state_context(court, terms._replace(wanted=pages)), rules))


def state_context(court: StalenessContext, terms: CheckOptions) -> RuleContext:
    """What rules look at in a state."""
    view = court.view

    def judge() -> tuple[Assessment, ...]:
        return hide(assess(evidence.bound_pages, court), terms.is_hidden)

    renames = Renames(court.repository, view, view.base_entries, view.snapshot.changes)
    evidence = RuleContext(view, renames, judge, partial(_review, court), terms.wanted)
    return evidence


def _review(court: StalenessContext, assessed: Sequence[Assessment]) -> tuple[ReviewedBinding, ...]:
    return review(assessed, court).bindings


def choose_rules(terms: CheckOptions) -> tuple[Rule, ...]:
    """The rules to run, with the severity that the configuration gives them.

    A rule that is off is run where it is asked for by name, as a warning.
    """
    settings = dict(terms.config.severities)
    chosen = find_rules(terms.names) if terms.names else RULES
    rules = [Rule(rule.module, _setting(settings, rule)) for rule in chosen]
    if terms.names:
        return tuple(r._replace(severity="warning") if r.severity == "off" else r for r in rules)
    return tuple(rule for rule in rules if rule.severity != "off")


def _setting(settings: dict[str, str], rule: Rule) -> Setting:
    match settings.get(rule.name):
        case "error" | "warning" | "off" as setting:
            return setting
        case _:
            return rule.severity


def _change_evidence(change: Change, terms: CheckOptions) -> RuleContext:
    court = change.after
    view = court.view

    def judge() -> tuple[Assessment, ...]:
        touched = {page.filepath for page in touched_pages(change)}
        pages = [page for page in evidence.bound_pages if page.filepath in touched]
        return hide(assess_change(pages, change), terms.is_hidden)

    before = change.before[0].view.entries if change.before else view.base_entries
    renames = Renames(court.repository, view, before, change.changes)
    reviewed = partial(_review, court)
    evidence = RuleContext(view, renames, judge, reviewed, terms.wanted, is_change=True)
    return evidence


def _find(evidence: RuleContext, rules: Sequence[Rule]) -> list[Finding]:
    found: list[Finding] = []
    for rule in rules:
        if rule.name != obsolete_debt.NAME:  # which looks at what the others find
            found += _told(evidence, rule)
    return found + _doubts(evidence, rules)


def _told(evidence: RuleContext, rule: Rule) -> list[Finding]:
    severity: Severity = "error" if rule.severity == "error" else "warning"
    return [
        one._replace(severity="warning" if one.is_minor else severity)
        for one in rule.find(evidence)
        if evidence.is_wanted(one.filepath)
    ]


def _doubts(evidence: RuleContext, rules: Sequence[Rule]) -> list[Finding]:
    """A note for each source of which nobody can tell, where a rule asks for them."""
    if not any(rule.name in VERIFYING for rule in rules):
        return []
    return [
        unknown_finding(one.page.filepath, one.answer)
        for one in evidence.judged
        if one.answer.verdict == "unknown"
    ]


def _subtract(
    found: Sequence[Finding], before: Sequence[Finding], renames: Renames
) -> list[Finding]:
    """Take away as many findings of each kind as there were; the likest first."""
    exact = Counter((*_key(one, one.filepath), one.context) for one in before)
    left = []
    matched: Counter[tuple[str, str, str]] = Counter()
    for one in found:
        key = _key(one, renames.origin(one.filepath) or one.filepath)
        if exact[*key, one.context] > 0:
            exact[*key, one.context] -= 1
            matched[key] += 1
        else:
            left.append((one, key))
    rest = Counter(_key(one, one.filepath) for one in before)
    rest.subtract(matched)
    brought = []
    for one, key in left:
        if rest[key] > 0:
            rest[key] -= 1
        else:
            brought.append(one)
    return brought


def _key(one: Finding, path: FilePath) -> tuple[str, str, str]:
    return one.rule, path, one.subject


def _report(
    evidence: RuleContext, rules: Sequence[Rule], found: Sequence[Finding], terms: CheckOptions
) -> CheckReport:
    told = [one for one in found if one.severity != "note"]
    view = evidence.view
    counted, ignored = split_ignored(told, terms.config.ignored, view)
    counted, accepted = split_accepted(counted, evidence.debts)
    evidence.rules = tuple(rule.name for rule in rules)
    last = (rule for rule in rules if rule.name == obsolete_debt.NAME)
    settled = [one for rule in last for one in _told(evidence, rule)]
    return CheckReport(
        snapshot=view.snapshot,
        findings=(*settled, *counted),
        ignored=(*ignored, *accepted),
        documents=view.count_documents() if terms.wanted is None else len(terms.wanted),
        unknown=tuple(one for one in found if one.severity == "note"),
        rules=tuple(rule.name for rule in rules),
        is_change=evidence.is_change,
    )
