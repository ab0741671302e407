"""A link matches several pages; UBP picked the first alphabetically.

The page of a wikilink is looked up by path, then by file name: in the directory of the linking
page, then in the shallowest directory. If several pages are equally near, the link resolves to the
first one alphabetically, and a new page of that name can silently change its target.

What to do: write enough of the path to make it unique, e.g. `[[guides/Setup]]`.

To ignore a link, add a comment on its line or the line above:
`<!-- ubp: ignore[ambiguous-link] -->`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding

NAME = "ambiguous-link"
MAX_NAMES = 3


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the links that match several pages."""
    for edge in context.suspect_links:
        link, resolution = edge.link, edge.resolution
        if resolution.bucket == "ambiguous":
            more = ", …" if len(resolution.candidates) > MAX_NAMES else ""
            names = ", ".join(resolution.candidates[:MAX_NAMES])
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=link.line,
                message=f"{link.target} matches several pages: {names}{more}.",
                subject=f"{link.kind} {link.target}",
                column=link.column,
                hint=f"UBP picked {resolution.target}, the first of them; use a longer path.",
                related=resolution.target,
                about=link,
            )
