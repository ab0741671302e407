"""No other page links to this one.

Off unless the configuration gives it a severity (`check.severity`), or it is asked for with
`--rule orphan-doc`: many repositories list their pages elsewhere, such as in a site's navigation.
Pages named README or index are where readers enter a folder, so they are never found.

What to do: link to the page from where readers would look for it, or remove it.

To ignore one page, write on its first line, or above its first heading:
`<!-- ubp: ignore[orphan-doc] -->`; for many, use `check.ignore` in the configuration.
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.markdown.resolve import stem

NAME = "orphan-doc"
ENTRY_PAGES = frozenset({"readme", "index"})


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the pages without incoming links."""
    for path, (_, incoming) in context.graph.link_counts().items():
        if not incoming and stem(path) not in ENTRY_PAGES:
            sections = context.graph.sections(path) if context.includes(path) else ()
            yield Finding(
                rule=NAME,
                filepath=path,
                line=sections[0].line_start if sections else 1,
                message="No other page links to this one.",
                subject="",
            )
