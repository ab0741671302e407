"""A link fits several pages, and only the alphabet decided which of them it leads to.

A wikilink's page is looked for by path, then by file name: in the page's own folder, else the
shallowest. Where two are left that are equally near, the link leads to the first by the alphabet;
another page of that name, and it silently leads elsewhere.

What to do: write as much of the path as makes it unique: `[[guides/Setup]]`.

To ignore one link, write on its line or on the line above: `<!-- ubp: ignore[ambiguous-link] -->`
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
                message=f"{link.target} may be {names}{more}.",
                subject=f"{link.kind} {link.target}",
                column=link.column,
                hint=f"The alphabet decided for {resolution.target}; write more of the path.",
                related=resolution.target,
                about=link,
            )
