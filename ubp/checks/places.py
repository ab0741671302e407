"""Findings that people read once: a broken link that many pages have, one in all translations."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from ubp.core.languages import language_of, without_language
from ubp.core.model import FilePath
from ubp.search.copies import family_of

# The languages in which documentation is written first, by preference.
ORIGINALS = {"": 0, "en": 1}

_BROKEN_LINK, _MISSING_ANCHOR = "broken-link", "missing-anchor"
_LINK_RULES = frozenset({_BROKEN_LINK, _MISSING_ANCHOR, "ambiguous-link"})


class Placed(Protocol):
    """A finding, or its record."""

    @property
    def rule(self) -> str:
        """The name of the rule."""

    @property
    def severity(self) -> str:
        """Error or warning."""

    @property
    def filepath(self) -> str:
        """The page."""

    @property
    def message(self) -> str:
        """What is wrong."""

    @property
    def related(self) -> str | None:
        """The other file."""


P = TypeVar("P", bound=Placed)


def by_place(findings: Iterable[P]) -> Iterator[tuple[P, list[P]]]:
    """Yield the findings, each with the others that are about the same.

    These are links to the same page or heading, wherever they are and in any version of it, links
    of the pages of a folder to the same heading of their own, and any finding in the translations
    of its page. The page whose path names no language, or English, represents its translations.
    """
    families: dict[tuple[object, ...], list[P]] = {}
    occurrences: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        occurrence = finding.filepath, finding.rule, finding.message
        occurrences[occurrence] += 1
        families.setdefault(_key(finding, occurrences[occurrence]), []).append(finding)
    for family in families.values():
        first = min(
            family, key=lambda f: ORIGINALS.get(language_of(FilePath(f.filepath)), len(ORIGINALS))
        )
        yield first, [finding for finding in family if finding is not first]


def _key(finding: Placed, number: int) -> tuple[object, ...]:
    page = without_language(FilePath(finding.filepath))
    kind = finding.rule, finding.severity
    if finding.rule not in _LINK_RULES:
        return *kind, page, finding.message, number
    if finding.rule == _BROKEN_LINK and finding.related:
        return *kind, family_of(FilePath(finding.related))
    if finding.rule == _MISSING_ANCHOR and finding.related:
        target, anchor = family_of(FilePath(finding.related)), finding.message.rpartition("#")[2]
        is_own = finding.related == finding.filepath  # pages of one template
        return *kind, is_own, target.rpartition("/")[0] if is_own else target, anchor
    is_relative = finding.rule == _BROKEN_LINK and not finding.message.startswith(("/", "No page"))
    return *kind, page.rpartition("/")[0] if is_relative else "", finding.message
