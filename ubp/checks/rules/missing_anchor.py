"""A link names a heading (`page.md#anchor`, `[[Page#Heading]]`) that its page does not have.

The page is there; a reader lands at its top. Anchors are GitHub's: those of headings, those that
HTML gives (`id`, `name`), a site generator's own (`## Title {#id}`; DocFX's `section` for headings
without a letter), and Obsidian's block ids.
Where it is not sure which page is meant, the anchor is not looked for: see ambiguous-link.

What to do: name a heading that the page has.

To ignore one link, write on its line or on the line above: `<!-- ubp: ignore[missing-anchor] -->`
"""

import re
from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.checks.fix import WIKILINKS
from ubp.core.model import FilePath, Link
from ubp.core.text import closest_name, fold, slug
from ubp.search.graph import Graph

NAME = "missing-anchor"
MIN_SIMILARITY = 0.7
# Comparing takes 20 µs a heading: a second for all findings together, then they come without hint.
MAX_COMPARED = 50_000
DOCFX_ANCHOR = re.compile(r"section(-\d+)?")


def find(evidence: RuleContext) -> Iterator[Finding]:
    """Find the anchors that are not there."""
    pages = _Pages(evidence.graph)
    for edge in evidence.suspects:
        link, found = edge.link, edge.resolution
        target, anchor = found.target, link.anchor
        if found.has_anchor is not False or found.bucket == "ambiguous":
            continue
        if target and anchor and not pages.has(link, target):
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=link.line,
                message=f"{target} has no heading #{anchor}.",
                subject=f"{link.kind} {link.target}#{anchor}",
                column=link.column,
                hint=pages.hint(anchor, target),
                related=target,
                about=link,
            )


class _Pages:
    """The anchors of pages, each page asked for once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._anchors: dict[FilePath, dict[str, str]] = {}
        self._compared = 0

    def has(self, link: Link, target: FilePath) -> bool:
        """Whether Obsidian or DocFX would find the heading.

        Obsidian writes spaces for what a link cannot hold ("D&D" is `[[Page#D D]]`); Markdig, which
        DocFX uses, gives "section" to headings such as "$?".
        """
        anchor = link.anchor or ""
        if link.kind in WIKILINKS:
            return _letters(anchor.rpartition("#")[2]) in self._of(target)
        return bool(DOCFX_ANCHOR.fullmatch(anchor)) and any(
            section.heading and not section.anchor for section in self._graph.sections(target)
        )

    def hint(self, anchor: str, target: FilePath) -> str:
        """Which anchor was probably meant."""
        self._compared += len(self._of(target))
        if self._compared > MAX_COMPARED:
            return ""
        anchors = sorted(self._of(target).values())
        closest = closest_name(slug(fold(anchor.rpartition("#")[2])), anchors, MIN_SIMILARITY)
        return f"Did you mean #{closest}?" if closest else ""

    def _of(self, target: FilePath) -> dict[str, str]:
        if target not in self._anchors:
            anchors = self._graph.anchors(target)
            self._anchors[target] = {_letters(one): one for one in anchors}
        return self._anchors[target]


def _letters(anchor: str) -> str:
    return slug(fold(anchor)).replace("-", "")
