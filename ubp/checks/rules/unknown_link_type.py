"""The label after `|` in a wikilink looks like a misspelled link type.

`[[Page|depends_on]]` is a link of type `depends_on`. The link types are `references`, `depends_on`,
`implements`, `extends` and `conflicts_with`. Any other text is a label shown to readers, so
`[[Page|depend_on]]` is a plain reference displayed as "depend_on". The rule reports labels that are
a single word or identifier and nearly match a link type.

What to do: correct the link type; `ubp check --fix` writes the one that is meant. If the text is a
label, rephrase it or ignore the line.

To ignore a link, add a comment on its line or the line above:
`<!-- ubp: ignore[unknown-link-type] -->`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding, LinkFix

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
                message=f'Unknown link type "{link.label}".',
                subject=f"{link.target} {link.label}",
                column=link.column,
                hint=f"Did you mean {link.meant_type}?",
                about=link,
                fix=LinkFix(
                    link, link.meant_type, f"{link.target} as {link.meant_type}", part="label"
                ),
            )
