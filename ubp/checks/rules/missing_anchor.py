"""A link points to a heading that its page does not have (`page.md#anchor`, `[[Page#Heading]]`).

The page exists, but the link opens it at the top. Valid anchors are those that the page's site
generator makes of headings, HTML anchors (`id`, `name`), the author's own (`## Title {#id}`, MyST's
`(name)=`), and Obsidian block ids. For a page of no site, the anchors of every known generator are
valid, also those of GitHub and DocFX. The anchors of a page that another one includes are the
other's, too (`--8<--`, `{{#include}}`, `@include`, an imported page). Anchors are not checked in
pages that are made of other sources (`::: package.module`, a component, an included page that is
not in the repository), and where a link matches several pages; see ambiguous-link.

What to do: link to an existing heading.

To ignore a link, add a comment on its line or the line above:
`<!-- ubp: ignore[missing-anchor] -->`
"""

import re
from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import WIKILINKS, Finding
from ubp.core.model import FilePath, Link
from ubp.core.text import closest_name, fold, slug
from ubp.search.graph import Graph

NAME = "missing-anchor"
MIN_SIMILARITY = 0.7
# Comparing takes 20 µs a heading: after a second in total, findings come without a hint.
MAX_COMPARED = 50_000
DOCFX_ANCHOR = re.compile(r"section(-\d+)?")


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the links to anchors that do not exist."""
    anchors = _Anchors(context.graph)
    for edge in context.suspect_links:
        link, resolution = edge.link, edge.resolution
        target, anchor = resolution.target, link.anchor
        if resolution.has_anchor is not False or resolution.bucket == "ambiguous":
            continue
        if target and anchor and not anchors.exists(link, target):
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=link.line,
                message=f"{target} has no heading #{anchor}.",
                subject=f"{link.kind} {link.target}#{anchor}",
                column=link.column,
                hint=anchors.suggest(anchor, target),
                related=target,
                about=link,
            )


class _Anchors:
    """The anchors of pages, each page read once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._anchors: dict[FilePath, dict[str, str]] = {}
        self._compared = 0

    def exists(self, link: Link, target: FilePath) -> bool:
        """Whether Obsidian or DocFX would find a heading that GitHub would not.

        Obsidian writes spaces for what a link cannot hold ("D&D" is `[[Page#D D]]`); Markdig, which
        DocFX uses, gives "section" to headings such as "$?".
        """
        anchor = link.anchor or ""
        if link.kind in WIKILINKS:
            return _letters(anchor.rpartition("#")[2]) in self._of_page(target)
        return bool(DOCFX_ANCHOR.fullmatch(anchor)) and any(
            section.heading and not section.anchor for section in self._graph.sections(target)
        )

    def suggest(self, anchor: str, target: FilePath) -> str:
        """Return a hint with the most similar anchor of the page, or an empty one."""
        self._compared += len(self._of_page(target))
        if self._compared > MAX_COMPARED:
            return ""
        anchors = sorted(self._of_page(target).values())
        closest = closest_name(slug(fold(anchor.rpartition("#")[2])), anchors, MIN_SIMILARITY)
        return f"Did you mean #{closest}?" if closest else ""

    def _of_page(self, target: FilePath) -> dict[str, str]:
        if target not in self._anchors:
            anchors = self._graph.anchors(target)
            self._anchors[target] = {_letters(name): name for name in anchors}
        return self._anchors[target]


def _letters(anchor: str) -> str:
    return slug(fold(anchor)).replace("-", "")
