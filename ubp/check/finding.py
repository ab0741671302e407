"""Findings: what a rule has found, and how it can be put right."""

from typing import Literal, NamedTuple

from ubp.model import FilePath, Link, ReferenceVerdict

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
    (see `ubp.check.fingerprint`). `about` is the link, or what became of the source. `related` is
    the other file: a source, a page. `is_minor` findings are warnings at most; `severity` is set by
    whoever runs the rules, `note` where nobody can tell, or where the finding is an old one.
    `region` and `source_places` are there once somebody asked for them (`ubp.check.places`).
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
