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
from difflib import get_close_matches

from ubp.check.evidence import Evidence
from ubp.check.finding import Finding
from ubp.check.rewriting import WIKILINKS
from ubp.model import FilePath, Link
from ubp.slugs import fold, slug

NAME = "missing-anchor"
# Pages of thousands of headings are lists; comparing with them all takes seconds.
MOST_COMPARED = 500
LIKENESS = 0.7
DOCFX_ANCHOR = re.compile(r"section(-\d+)?")


def find(evidence: Evidence) -> Iterator[Finding]:
    """Find the anchors that are not there."""
    for edge in evidence.suspects:
        link, found = edge.link, edge.resolution
        target, anchor = found.target, link.anchor
        if found.has_anchor is not False or found.bucket == "ambiguous":
            continue
        if target and anchor and not _is_other_style(edge.link, target, evidence):
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=link.line,
                message=f"{target} has no heading #{anchor}.",
                subject=f"{link.kind} {link.target}#{anchor}",
                column=link.column,
                hint=_hint(anchor, sorted(evidence.graph.anchors(target))),
                related=target,
                context=link.context,
            )


def _is_other_style(link: Link, target: FilePath, evidence: Evidence) -> bool:
    """Whether Obsidian or DocFX would find the heading.

    Obsidian writes spaces for what a link cannot hold ("D&D" is `[[Page#D D]]`); Markdig, which
    DocFX uses, gives "section" to headings such as "$?".
    """
    anchor = link.anchor or ""
    if link.kind in WIKILINKS:
        wanted = _letters(anchor.rpartition("#")[2])
        return any(_letters(one) == wanted for one in evidence.graph.anchors(target))
    return bool(DOCFX_ANCHOR.fullmatch(anchor)) and any(
        section.heading and not section.anchor for section in evidence.graph.sections(target)
    )


def _letters(anchor: str) -> str:
    return slug(fold(anchor)).replace("-", "")


def _hint(anchor: str, anchors: list[str]) -> str:
    if len(anchors) > MOST_COMPARED:
        return ""
    near = get_close_matches(slug(fold(anchor.rpartition("#")[2])), anchors, 1, LIKENESS)
    return f"Did you mean #{near[0]}?" if near else ""
