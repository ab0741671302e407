"""Findings of rules, their fixes, and the reports that hold them.

A finding is named by its rule, page and subject, and its number among equal ones: not by a line,
column, source id or surrounding text. So the name survives edits that move the finding, merges, and
further drift of the same source. It changes with the page's path, with the path, target or anchor
that the page writes, and for the later ones of several equal findings in a page when an earlier one
is fixed. Names are unique in a run.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from ubp.core.config import DEFAULT_ALARMS
from ubp.core.model import Alarms, Debt, FilePath, Link, ReferenceVerdict, Snapshot
from ubp.markdown.link_parts import LinkPart
from ubp.staleness.model import Denied
from ubp.staleness.wording import unknown_cause

Severity = Literal["error", "warning", "note"]
Setting = Literal["error", "warning", "off"]

WIKILINKS = frozenset({"wikilink", "embed"})

# Half of SHA-256: 128 bits never collide by chance, and nobody gains from a forged name.
FINGERPRINT_DIGITS = 32


class Region(NamedTuple):
    """A part of a page's text; lines and columns count from 1, and the end is exclusive.

    Columns are given in characters and in bytes of UTF-8.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    byte_column: int
    end_byte_column: int


class SourcePlace(NamedTuple):
    """The first change of a finding's other file; without `line` the whole file."""

    path: FilePath
    line: int | None = None


class LinkFix(NamedTuple):
    """A new `text` for a part of `link`, which leads to `target`; it is written at `region`."""

    link: Link
    text: str
    target: str
    region: Region | None = None
    part: LinkPart = "target"


class SourceFix(NamedTuple):
    """A new reference for the source that a page names by `literal` (SourceReference)."""

    literal: FilePath
    path: str


class Suppression(NamedTuple):
    """Why a finding does not count; `debt` is an old one that the debt file accepts."""

    kind: Literal["comment", "configuration", "debt"]
    justification: str


class Finding(NamedTuple):
    """A defect in a page.

    `line` and `column` (in characters) count from 1. `subject` says what it is about in the page's
    own words and without a position: findings of the same rule, page and subject are equal even if
    the line moved, and `occurrence` numbers equal ones in the page's order. `about` is the link or
    the verdict of the reference, `related` the other file: a source or page. `is_minor` findings
    are warnings at most; the link of one that `is_certain` led somewhere before. `severity` is set
    by the caller of the rule; it is `note` where a source cannot be verified or the finding is
    accepted. `region` and `source_places` are filled in by `ubp.checks.locations`.
    """

    rule: str
    filepath: FilePath
    line: int
    message: str
    subject: str
    column: int | None = None
    hint: str = ""
    related: FilePath | None = None
    fix: LinkFix | SourceFix | None = None
    about: Link | ReferenceVerdict | None = None
    is_minor: bool = False
    is_certain: bool = False
    severity: Severity = "error"
    occurrence: int = 1
    suppression: Suppression | None = None
    region: Region | None = None
    source_places: tuple[SourcePlace, ...] = ()

    @property
    def context(self) -> str:
        """The text around a link, which distinguishes equal findings."""
        return self.about.context if isinstance(self.about, Link) else ""

    @property
    def is_accepted(self) -> bool:
        """Whether it is an old finding that the debt file accepts."""
        return self.suppression is not None and self.suppression.kind == "debt"

    @property
    def drift(self) -> ReferenceVerdict | None:
        """The verdict of the reference that the finding is about: its level, age and commits."""
        return self.about if isinstance(self.about, ReferenceVerdict) else None


class NotChecked(NamedTuple):
    """A rule that could not be checked, or not in full, and why: a sentence."""

    rule: str
    reason: str


class Form(NamedTuple):
    """How links of a site are written; `site` is the folder of its content, or "".

    `rule` is the rule that judges them: anchors are a form of their own. `config` is the file that
    describes the site, of which a folder may have several.
    """

    rule: str
    generator: str
    site: FilePath
    written: str
    config: str = ""


class UnconfirmedLinks(NamedTuple):
    """Links of a form that lead nowhere, though nothing shows that they are broken; an example."""

    form: Form
    lost: int
    example: str
    filepath: FilePath
    line: int


class CheckReport(NamedTuple):
    """The findings of a run by path and position; of a change, those that it introduces.

    `ignored` findings do not count, and each has a `suppression`. `debts` are older findings that
    are reported for information, `unknown` the references that could not be verified.
    `documents` counts the checked pages; `rules` are the names of the rules that were run, of
    which some were `not_checked`. Of a change, `behind` are the pages it touches with a reference
    that was stale before it, and `obsolete_debts` the lines of the debt file that it leaves without
    a finding. `unconfirmed` are links without evidence that they are broken,
    of which some may be missing because the clone `lacks_history`. `noted` are the pages
    that drift by the change without an alarm (`alarms`), apart from those that the judge `denied`.
    `unread` has the number of files by suffix that seem to be pages in formats that are not read.
    """

    snapshot: Snapshot
    findings: tuple[Finding, ...]
    ignored: tuple[Finding, ...]
    documents: int
    unknown: tuple[Finding, ...]
    rules: tuple[str, ...]
    is_change: bool = False
    not_checked: tuple[NotChecked, ...] = ()
    debts: tuple[Finding, ...] = ()
    behind: tuple[FilePath, ...] = ()
    obsolete_debts: tuple[Debt, ...] = ()
    unconfirmed: tuple[UnconfirmedLinks, ...] = ()
    lacks_history: bool = False
    noted: tuple[FilePath, ...] = ()
    denied: tuple[Denied, ...] = ()
    alarms: Alarms = DEFAULT_ALARMS
    unread: Mapping[str, int] = MappingProxyType({})

    @property
    def already_stale(self) -> tuple[FilePath, ...]:
        """The pages that were stale before the change, and that it does not make stale again."""
        mentioned = {finding.filepath for finding in self.findings if finding.drift}
        mentioned.update(page.filepath for page in self.denied)
        return tuple(path for path in self.behind if path not in mentioned.union(self.noted))

    def count(self, severity: Severity) -> int:
        """Return how many findings have this severity."""
        return sum(1 for finding in self.findings if finding.severity == severity)

    @property
    def accepted(self) -> int:
        """How many of the ignored findings the debt file accepts."""
        return sum(finding.is_accepted for finding in self.ignored)

    @property
    def unverified(self) -> int:
        """How many references could not be verified."""
        return len(self.unknown)

    @property
    def unknown_cause(self) -> str:
        """Why they could not: `this clone is shallow`."""
        return unknown_cause(finding.drift for finding in self.unknown if finding.drift)

    @property
    def fixable(self) -> int:
        """How many findings `--fix` can fix."""
        return sum(1 for finding in self.findings if finding.fix)


class Fixed(NamedTuple):
    """A fixed finding, and the text that was replaced by another."""

    finding: Finding
    before: str
    after: str


class SkippedPage(NamedTuple):
    """A page with fixable findings that was not edited, and why."""

    filepath: FilePath
    reason: str


class FixReport(NamedTuple):
    """The fixes that were written, or in a dry run the `diff`; `check` reports what remains."""

    check: CheckReport
    fixed: tuple[Fixed, ...]
    skipped: tuple[SkippedPage, ...]
    diff: str
    is_dry: bool


def fingerprint(finding: Finding) -> str:
    """Return the finding's name: 32 hexadecimal digits."""
    from hashlib import sha256

    key = "\0".join([finding.rule, finding.filepath, finding.subject, str(finding.occurrence)])
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:FINGERPRINT_DIGITS]


def number(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by page and position, and number equal ones."""
    counts: Counter[tuple[str, str, str]] = Counter()
    numbered = []
    for finding in sorted(findings, key=lambda f: (f.filepath, f.line, f.column or 0, f.rule)):
        key = finding.rule, finding.filepath, finding.subject
        counts[key] += 1
        numbered.append(finding._replace(occurrence=counts[key]))
    return numbered
