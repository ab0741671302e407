"""Findings: what a rule has found, and how it can be put right."""

from typing import Literal, NamedTuple

from ubp.model import FilePath, Link

Severity = Literal["error", "warning"]
Setting = Literal["error", "warning", "off"]


class LinkFix(NamedTuple):
    """A link's target gives way to `text`, which leads to `target`."""

    link: Link
    text: str
    target: FilePath


class SourceFix(NamedTuple):
    """The source that a page names by its path `literal` (see SourceReference) stands at `path`."""

    literal: FilePath
    path: FilePath


class Finding(NamedTuple):
    """Something wrong in a page.

    `line` and `column` (in characters) count from 1. `subject` says what it is about in the page's
    own words, without a place: a finding of the same rule, page and subject is the same one, though
    its line moved; `context` tells several of those apart. `related` is the other file that it is
    about: a source, a page. `is_minor` findings are warnings at most; `severity` is set by whoever
    runs the rules.
    """

    rule: str
    filepath: FilePath
    line: int
    message: str
    subject: str
    column: int | None = None
    hint: str = ""
    related: FilePath | None = None
    context: str = ""
    fix: LinkFix | SourceFix | None = None
    is_minor: bool = False
    severity: Severity = "error"
