"""What a change relaxes: findings that its base would have reported, and it does not itself.

A change brings its own configuration, debt file and ignore comments, and so could turn off the
check that judges it. Its new state is checked again with those of its base.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.checks.debt import Debts, accepted_debts
from ubp.checks.finding import CheckReport, Finding, Severity, Suppression
from ubp.checks.rules import broken_link, obsolete_debt, relaxed_check
from ubp.checks.suppress import read_comments
from ubp.core.config import Config
from ubp.core.errors import ConfigError
from ubp.core.model import CONFIG_FILE, DEBT_FILE, FilePath
from ubp.git.files import IGNORE_FILE
from ubp.git.snapshot import read_document
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.staleness.model import Change
from ubp.staleness.state import open_change

# A comment that is new to a page ignores these rules in it.
NewComments = frozenset[tuple[FilePath, str]]
_Key = tuple[str, FilePath, str]


class Relaxation(NamedTuple):
    """The base's settings, where they could report more than the change's own.

    `session` has the base's configuration, `change` is the same change seen with it, `debts` are
    those of its debt file, and `comments` the ignore comments that the change adds. A change
    that `edits_gitignore` may hide broken links: Git then ignores their targets.
    """

    session: Session
    change: Change
    debts: Debts
    comments: NewComments
    severity: Severity
    edits_gitignore: bool


def find_relaxation(session: Session, target: Target, change: Change) -> Relaxation | None:
    """Return the settings to check a change with again; None: it relaxes nothing."""
    if not change.before:
        return None
    before, after = change.before[0].view, change.after.view
    has_changed = CONFIG_FILE in change.changes
    config = _config_of(before, session.config) if has_changed else session.config
    severity = _severity(config, session.config)
    comments = _new_comments(before, after, change)
    edits_gitignore = any(path.rpartition("/")[2] == IGNORE_FILE for path in change.changes)
    is_same = not session.config.ignored_commits and not has_changed and not edits_gitignore
    if severity is None or (is_same and DEBT_FILE not in change.changes and not comments):
        return None
    strict = session.with_config(config._replace(ignored_commits=()))
    strict_change = open_change(strict, target)
    debts = accepted_debts(before)
    return Relaxation(strict, strict_change, debts, comments, severity, edits_gitignore)


def relaxed_findings(
    strict: CheckReport, own: CheckReport, relaxation: Relaxation
) -> tuple[Finding, ...]:
    """Return a finding for each of the strict findings that is not in the change's own report."""
    counts = Counter(_key(finding) for finding in own.findings)
    errors = Counter(_key(finding) for finding in own.findings if finding.severity == "error")
    suppressions = {_key(finding): finding.suppression for finding in own.ignored}
    relaxed = []
    for finding in strict.findings:
        key = _key(finding)
        reported = errors if finding.severity == "error" else counts
        if finding.rule == obsolete_debt.NAME:
            continue
        if reported[key]:
            reported[key] -= 1
            continue
        is_weaker = finding.severity == "error" and counts[key] > 0
        relaxed.append(
            Finding(
                rule=relaxed_check.NAME,
                filepath=finding.filepath,
                line=finding.line,
                message=f"{'Only a warning' if is_weaker else 'Not reported'} because of this "
                f"change: {finding.rule}: {finding.message}",
                subject=f"{finding.rule} {finding.subject}".strip(),
                hint=_hint(finding, suppressions.get(key), relaxation),
                related=finding.related,
                severity=relaxation.severity,
            )
        )
    return tuple(relaxed)


def _key(finding: Finding) -> _Key:
    return finding.rule, finding.filepath, finding.subject


def _hint(finding: Finding, suppression: Suppression | None, relaxation: Relaxation) -> str:
    kind = suppression.kind if suppression else "configuration"
    if relaxation.edits_gitignore and finding.rule == broken_link.NAME and not suppression:
        return f"It edits a {IGNORE_FILE}, and Git ignores the file."
    if kind == "comment":
        return "A comment that it adds to the page ignores the rule."
    if kind == "debt":
        return f"It adds the finding to {DEBT_FILE}."
    return f"{CONFIG_FILE} ignores it; the configuration of the base does not."


def _config_of(view: View, own: Config) -> Config:
    """Return the configuration of a state, the defaults where it has none that can be used.

    A change that adopts UBP keeps its own keys, sites and link root; any change its collections.
    """
    from ubp.core.config_file import parse_config

    entry = view.entry(CONFIG_FILE)
    context = view.context
    adopted = Config(keys=own.keys, sites=own.sites, link_roots=own.link_roots)
    data = None
    if entry and entry.is_file:
        data = read_document(context.repository, context.snapshot, CONFIG_FILE, entry)
    try:
        config = parse_config(data, CONFIG_FILE) if data else adopted
    except ConfigError:
        config = adopted
    return config._replace(collections=own.collections)


def _severity(base: Config, own: Config) -> Severity | None:
    """Return the stricter severity of the rule, None where both turn it off."""
    settings = {
        dict(config.severities).get(relaxed_check.NAME, "warning") for config in (base, own)
    }
    if "error" in settings:
        return "error"
    return "warning" if "warning" in settings else None


def _new_comments(before: View, after: View, change: Change) -> NewComments:
    """Return the pages, with the rule, to which a change adds ignore comments."""
    pages = [path for path, entry in change.changes.items() if entry and after.page(path)]
    texts = after.read(pages) if pages else {}
    commented = {path: data for path, data in texts.items() if data and b"ubp:" in data}
    old_texts = before.read([path for path in commented if before.page(path)])
    return frozenset(
        (path, rule)
        for path, data in commented.items()
        for rule in _more(_count_rules(data), _count_rules(old_texts.get(path) or b""))
    )


def _count_rules(data: bytes) -> Mapping[str, int]:
    return Counter(rule for rules in read_comments(data).values() for rule in rules)


def _more(now: Mapping[str, int], before: Mapping[str, int]) -> Collection[str]:
    return [rule for rule, number in now.items() if number > before.get(rule, 0)]


def count_comments(findings: Sequence[Finding], comments: NewComments) -> list[Finding]:
    """Return the findings that only new comments ignore, as findings that count."""
    return [
        finding._replace(suppression=None)
        for finding in findings
        if finding.suppression
        and finding.suppression.kind == "comment"
        and (finding.filepath, finding.rule) in comments
    ]
