"""The debt file: old findings that a repository accepted, so that only new ones count.

A line is a finding: its name, rule, page and subject, separated by tabs, and for a source its
baseline. The name and the baseline are compared, the rest is for people: a page that was edited has
another baseline, and what drifts from that is new.

A name is a hash of the page followed by the finding's fingerprint (`ubp.checks.finding`), and lines
are sorted by name: those of one page are together, and lines that two branches remove are rarely
adjacent, so that their changes merge. Of 400 simulated merges of
branches that each fix one page (40 pages of 5 findings), 6 % conflicted for any two pages, 1 % for
neighbours in the alphabet; sorted by path 5 % and 100 %, sorted by fingerprint 21 % and 18 %.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.checks.finding import Finding, Suppression, fingerprint
from ubp.core.model import DEBT_FILE, Debt, FilePath
from ubp.git.snapshot import read_document
from ubp.index.view import View

PAGE_DIGITS = 8
BASELINE_DIGITS = 12
ACCEPTED = Suppression("debt", f"Existing finding, accepted in {DEBT_FILE}.")

_HEADER = (
    "# Findings accepted by `ubp debt`: `ubp check` and `ubp stale` fail only on new ones.\n"
    "# To remove fixed findings: ubp debt --prune\n"
)
_LINE = re.compile(r"([0-9a-f]{32})\t([a-z-]+)\t([^\t]+)\t([^\t]*)(?:\t([0-9a-f]{7,40}))?")
_CONTROL_CHARACTERS = map(chr, (*range(32), 127, 133, 0x2028, 0x2029))
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in _CONTROL_CHARACTERS}


class UnreadableLine(NamedTuple):
    """A line of the debt file that is not a finding, such as a conflict marker."""

    line: int


class Debts(NamedTuple):
    """The contents of a debt file: findings by name."""

    accepted: Mapping[str, Debt] = {}
    unreadable: tuple[UnreadableLine, ...] = ()

    def accepts(self, finding: Finding) -> bool:
        """Whether the file has a line for this finding, and not for an earlier one like it."""
        debt = self.accepted.get(debt_name(finding))
        if debt is None:
            return False
        baseline = _baseline(finding)
        return not debt.baseline or not baseline or baseline.startswith(debt.baseline)


def accepted_debts(view: View) -> Debts:
    """Read the debt file of a snapshot; without one nothing is accepted."""
    entry = view.entry(DEBT_FILE)
    if entry is None or not entry.is_file:
        return Debts()
    context = view.context
    data = read_document(context.repository, context.snapshot, DEBT_FILE, entry)
    return read_debts(data) if data else Debts()


def read_debts(data: bytes) -> Debts:
    """Parse a debt file; never raises."""
    accepted = {}
    unreadable = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match:
            name, rule, path, subject, baseline = match.groups("")
            accepted[name] = Debt(
                name, rule, FilePath(_unescape(path)), _unescape(subject), number, baseline
            )
        elif line.strip() and not line.startswith("#"):
            unreadable.append(UnreadableLine(number))
    return Debts(accepted, tuple(unreadable))


def write_debts(debts: Iterable[Debt]) -> str:
    """Return the text of a debt file with these lines."""
    lines = sorted(
        "\t".join(
            [
                *(debt.name, debt.rule, _escape(debt.filepath), _escape(debt.subject)),
                *([debt.baseline] if debt.baseline else []),
            ]
        )
        + "\n"
        for debt in debts
    )
    return _HEADER + "".join(lines)


def debt_name(finding: Finding) -> str:
    """Return a finding's name in the debt file: 32 hexadecimal digits."""
    from hashlib import sha256

    page = sha256(finding.filepath.encode("utf-8", "surrogatepass")).hexdigest()
    return page[:PAGE_DIGITS] + fingerprint(finding)[PAGE_DIGITS:]


def to_debt(finding: Finding) -> Debt:
    """Return the line that accepts a finding, without its number in the file."""
    return Debt(
        debt_name(finding), finding.rule, finding.filepath, finding.subject, 0, _baseline(finding)
    )


def _baseline(finding: Finding) -> str:
    """Return the baseline from which a source drifted; empty where there is none."""
    return ((finding.drift and finding.drift.baseline_blob) or "")[:BASELINE_DIGITS]


def split_accepted(
    findings: Sequence[Finding], is_accepted: Callable[[Finding], bool]
) -> tuple[list[Finding], list[Finding]]:
    """Separate findings into new ones and accepted ones, which get a `suppression`."""
    new = [finding for finding in findings if not is_accepted(finding)]
    accepted = [
        finding._replace(suppression=ACCEPTED) for finding in findings if is_accepted(finding)
    ]
    return new, accepted


def find_obsolete(debts: Debts, current: Iterable[Finding], rules: Iterable[str]) -> list[Debt]:
    """Return the debts of these rules that have no current finding, in the order of the file.

    `current` are all findings of these rules. Notes, for sources that cannot be verified, are among
    them: the debts of such a source are kept.
    """
    findings = list(current)
    names = {debt_name(finding) for finding in findings if debts.accepts(finding)}
    unverified = {
        (finding.filepath, finding.subject) for finding in findings if finding.severity == "note"
    }
    compared_rules = frozenset(rules)
    return [
        debt
        for debt in debts.accepted.values()
        if debt.rule in compared_rules
        and debt.name not in names
        and (debt.filepath, debt.subject) not in unverified
    ]


def _escape(text: str) -> str:
    """Escape what would end a field or line; bytes that are not UTF-8 as Python escapes them."""
    escaped = text.replace("\\", "\\\\").translate(_ESCAPES)
    return escaped.encode("utf-8", "backslashreplace").decode()


def _unescape(text: str) -> str:
    return re.sub(
        r"\\(\\|u[0-9a-f]{4})",
        lambda match: "\\" if match[1] == "\\" else chr(int(match[1][1:], 16)),
        text,
    )
