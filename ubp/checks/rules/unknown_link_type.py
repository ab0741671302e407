"""What stands behind a wikilink's bar looks like a mistyped link type.

`[[Page|depends_on]]` is a link of the type `depends_on`; the types are `references`, `depends_on`,
`implements`, `extends` and `conflicts_with`. Any other text is the label that readers see, so
`[[Page|depend_on]]` is a plain reference that is shown as "depend_on". Found are single words, or
words joined as in an identifier, that are nearly a type.

What to do: write the type. If it is a label, use other words, or ignore the line.

To ignore one link, write on its line or on the line above:
`<!-- ubp: ignore[unknown-link-type] -->`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding

NAME = "unknown-link-type"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the labels that look like link types."""
    for edge in context.suspect_links:
        link = edge.link
        if link.meant_type is not None:
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=link.line,
                message=f"{link.label} is no link type.",
                subject=f"{link.target} {link.label}",
                column=link.column,
                hint=f"Did you mean {link.meant_type}?",
                about=link,
            )
