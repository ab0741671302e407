"""Findings: what a rule has found, and how it can be put right.

What names a finding in every run: its rule, page and subject, and which of the equal ones it is.

No line, no column, no id of a source and no text beside it: the name survives edits that move the
finding, merges, and further drift of the same source. It changes with the page's path, with the
path, target or anchor that the page writes, and for the later ones of several equal findings in one
page when an earlier one is put right. Unique in a run.

What a check answers.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, Link, ReferenceVerdict, Snapshot

Severity = Literal["error", "warning", "note"]
Setting = Literal["error", "warning", "off"]


class Region(NamedTuple):
    """A piece of a page's text: lines and columns count from 1, the end is exclusive.

    Columns are told in characters, and in the bytes of UTF-8.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    byte_column: int
    end_byte_column: int


class SourcePlace(NamedTuple):
    """Where the other file of a finding changed first; without `line` the file is meant."""

    path: FilePath
    line: int | None = None


class LinkFix(NamedTuple):
    """A link's target gives way to `text`, which leads to `target`; it stands at `region`."""

    link: Link
    text: str
    target: FilePath
    region: Region | None = None


class SourceFix(NamedTuple):
    """The source that a page names by its path `literal` (see SourceReference) stands at `path`."""

    literal: FilePath
    path: FilePath


class Suppression(NamedTuple):
    """Who said to ignore a finding, and where that stands; `debt` is an old one."""

    kind: Literal["comment", "configuration", "debt"]
    justification: str


class Finding(NamedTuple):
    """Something wrong in a page.

    `line` and `column` (in characters) count from 1. `subject` says what it is about in the page's
    own words, without a place: a finding of the same rule, page and subject is the same one, though
    its line moved; of several that are the same this is number `occurrence` in the page's order
    (see `ubp.checks.finding`). `about` is the link, or what became of the source. `related` is
    the other file: a source, a page. `is_minor` findings are warnings at most; `severity` is set by
    whoever runs the rules, `note` where nobody can tell, or where the finding is an old one.
    `region` and `source_places` are there once somebody asked for them (`ubp.checks.locations`).
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
    severity: Severity = "error"
    occurrence: int = 1
    suppression: Suppression | None = None
    region: Region | None = None
    source_places: tuple[SourcePlace, ...] = ()

    @property
    def context(self) -> str:
        """The text around a link; it tells apart several findings that are the same."""
        return self.about.context if isinstance(self.about, Link) else ""

    @property
    def is_accepted(self) -> bool:
        """Whether it is an old finding that the debt file accepts."""
        return self.suppression is not None and self.suppression.kind == "debt"

    @property
    def drift(self) -> ReferenceVerdict | None:
        """What became of the source that the finding is about: its level, age and commits."""
        return self.about if isinstance(self.about, ReferenceVerdict) else None


# Half of SHA-256: nobody forges these, and 128 bits never meet by chance.
LENGTH = 32


def fingerprint(one: Finding) -> str:
    """The finding's name: 32 hexadecimal digits."""
    from hashlib import sha256

    key = "\0".join([one.rule, one.filepath, one.subject, str(one.occurrence)])
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


def number(findings: Iterable[Finding]) -> list[Finding]:
    """Put findings in the order of pages and places, and number those that are equal."""
    seen: Counter[tuple[str, str, str]] = Counter()
    numbered = []
    for one in sorted(findings, key=lambda f: (f.filepath, f.line, f.column or 0, f.rule)):
        key = one.rule, one.filepath, one.subject
        seen[key] += 1
        numbered.append(one._replace(occurrence=seen[key]))
    return numbered


class CheckReport(NamedTuple):
    """Findings by path and place; those that do not count stand apart.

    `ignored` are those that were told to be, each with its `suppression`; `debts` old ones that are
    told of though nobody has to answer for them now; `unknown` the references of which a shallow
    clone could not tell. `documents` counts the pages that were looked at; `rules` are the names of
    those that were run. For a change, the findings are those that it brings.
    """

    snapshot: Snapshot
    findings: tuple[Finding, ...]
    ignored: tuple[Finding, ...]
    documents: int
    unknown: tuple[Finding, ...]
    rules: tuple[str, ...]
    is_change: bool = False
    debts: tuple[Finding, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(1 for one in self.findings if one.severity == severity)

    @property
    def accepted(self) -> int:
        """How many of the ignored findings are old ones that the debt file accepts."""
        return sum(one.is_accepted for one in self.ignored)

    @property
    def unverified(self) -> int:
        """Of how many references a shallow clone could not tell."""
        return len(self.unknown)

    @property
    def fixable(self) -> int:
        """How many findings `--fix` can put right."""
        return sum(1 for one in self.findings if one.fix)


class Fixed(NamedTuple):
    """A finding that was put right, and what was written in place of what."""

    finding: Finding
    before: str
    after: str


class Unfixed(NamedTuple):
    """A page that was not edited though it could have been, and why."""

    filepath: FilePath
    reason: str


class FixReport(NamedTuple):
    """What `--fix` wrote, or in a dry run would write (`diff`); `check` is what is left to do."""

    check: CheckReport
    fixed: tuple[Fixed, ...]
    left: tuple[Unfixed, ...]
    diff: str
    is_dry: bool
