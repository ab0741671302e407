"""A link points to a heading that its page does not have (`page.md#anchor`, `[[Page#Heading]]`).

The page exists, but the link opens it at the top. Valid anchors are those that the page's site
generator makes of headings, HTML anchors (`id`, `name`), the author's own (`## Title {#id}`, MyST's
`(name)=`), and Obsidian block ids. For a page of no site, the anchors of every known generator are
valid, also those of GitHub and DocFX. The anchors of a page that another one includes are the
other's, too (`--8<--`, `{{#include}}`, `@include`, an imported page). Anchors are not checked in
pages that are made of other sources (`::: package.module`, a component, an included page that is
not in the repository, a heading with a value in `{{ }}`), in pieces in a folder `_includes`, where
a comment names them and the site's own programs read it, and where a link matches several pages;
see ambiguous-link.

In a site, an anchor is reported only where something shows that it is broken, such as an earlier
version that had it; `ubp check --unconfirmed` reports the others, too.

What to do: link to an existing heading. `ubp check --fix` does where only one heading of the page
can be meant: its anchor differs in capital letters, which browsers distinguish, in signs (`-`,
`_`), by a slip of the fingers, or by a few words.

To ignore a link, add a comment on its line or the line above:
`<!-- ubp: ignore[missing-anchor] -->`
"""

import re
from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import WIKILINKS, Finding, LinkFix
from ubp.checks.rewrite import percent_encode, wikilink_heading
from ubp.core.model import FilePath, Link
from ubp.core.paths import nfc
from ubp.core.text import closest_name, fold, slug
from ubp.core.typos import has_other_numbers, meant_heading
from ubp.search.graph import Graph

NAME = "missing-anchor"
MIN_SIMILARITY = 0.7
# Comparing takes 20 µs a heading: after a second in total, findings come without a hint.
MAX_COMPARED = 50_000
# Jekyll and Eleventy put what is in this folder into pages, of which the headings may be.
PIECES = "_includes"
# pymdownx.tabbed numbers the sets of tabs of a page, and the tabs of each.
TAB_ANCHOR = re.compile(r"__tabbed_(\d{1,4})_(\d{1,4})")
TAB = re.compile(rb"^[ \t]*===[!+]*[ \t]+[\"']", re.MULTILINE)
DECOMPOSED = (
    "The site's generator decomposes its characters (Unicode NFKD):"
    " give the heading an id of its own, as in {#id}."
)
DOCFX_ANCHOR = re.compile(r"section(-\d+)?")


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the links to anchors that do not exist."""
    anchors = _Anchors(context.graph)
    for edge in context.suspect_links:
        link, resolution = edge.link, edge.resolution
        target, anchor = resolution.target, link.anchor
        if resolution.has_anchor is not False or resolution.bucket == "ambiguous":
            continue
        if target and context.is_made_by_hook(target, anchor or ""):
            continue
        if target == edge.source and PIECES in target.split("/"):
            continue
        if target and anchor and not anchors.exists(link, target):
            hint, fix = anchors.suggest(link, target, edge.source)
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=link.line,
                message=f"{target} has no heading #{anchor}.",
                subject=f"{link.kind} {link.target}#{anchor}",
                column=link.column,
                hint=hint,
                fix=fix,
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
        """Whether Obsidian, DocFX or a plug-in for tabs would find what GitHub would not.

        Obsidian writes spaces for what a link cannot hold ("D&D" is `[[Page#D D]]`); Markdig, which
        DocFX uses, gives "section" to headings such as "$?".
        """
        anchor = link.anchor or ""
        if link.kind in WIKILINKS:
            return _letters(anchor.rpartition("#")[2]) in self._of_page(target)
        if tab := TAB_ANCHOR.fullmatch(anchor):
            tabs = len(TAB.findall(self._graph.text(target) or b""))
            return int(tab[1]) + int(tab[2]) - 1 <= tabs
        return bool(DOCFX_ANCHOR.fullmatch(anchor)) and any(
            section.heading and not section.anchor for section in self._graph.sections(target)
        )

    def suggest(self, link: Link, target: FilePath, source: FilePath) -> tuple[str, LinkFix | None]:
        """Return a hint with the anchor of the page that was meant, or is similar, and the fix.

        The hint is empty where none is similar. The section with the link is not meant.
        """
        self._compared += len(self._of_page(target))
        if self._compared > MAX_COMPARED:
            return "", None
        above, mark, written = (link.anchor or "").rpartition("#")
        own = self._own_anchor(link, target) if target == source else None
        anchors = sorted(self._graph.anchors(target) - {own})
        meant = meant_heading(written, anchors)
        if meant and nfc(meant) == nfc(written):
            return DECOMPOSED, None
        if mark and written in anchors:  # `page##heading`
            meant = written
        if meant:
            text = percent_encode(meant)
            if link.kind in WIKILINKS:
                text = above + mark + self._wikilink_anchor(meant, target)
            return f"Did you mean #{meant}?", LinkFix(
                link, text, f"{target}#{meant}", part="anchor"
            )
        similar = (name for name in anchors if not has_other_numbers(written, name))
        closest = closest_name(slug(fold(written)), similar, MIN_SIMILARITY)
        return f"The most similar heading is #{closest}." if closest else "", None

    def _own_anchor(self, link: Link, page: FilePath) -> str | None:
        """Return the anchor of the section with a link, unless the link spells it, too."""
        for section in self._graph.sections(page):
            if section.line_start <= link.line <= section.line_end:
                anchor = section.anchor
                return anchor if _letters(anchor or "") != _letters(link.anchor or "") else None
        return None

    def _wikilink_anchor(self, anchor: str, target: FilePath) -> str:
        """Return how a wikilink names a heading: by its text."""
        headings = (section.heading for section in self._graph.sections(target) if section.heading)
        return next(
            (wikilink_heading(text) for text in headings if slug(fold(text)) == anchor), anchor
        )

    def _of_page(self, target: FilePath) -> dict[str, str]:
        if target not in self._anchors:
            anchors = sorted(self._graph.anchors(target))
            self._anchors[target] = {_letters(name): name for name in anchors}
        return self._anchors[target]


def _letters(anchor: str) -> str:
    return slug(fold(anchor)).replace("-", "")
