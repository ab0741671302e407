"""No other page links to this page.

Off by default, because many repositories list their pages elsewhere. Enable it with
`check.severity` in the configuration, or run it once with `--rule orphan-doc`. Pages named README
or index are the entry points of their directories and are never reported, nor are pages that the
navigation of a site lists, or that its generator lists by itself.

What to do: link to the page from where readers would look for it, or remove the page.

To ignore a page, add a comment on its first line or above its first heading:
`<!-- ubp: ignore[orphan-doc] -->`. To ignore many pages, use `check.ignore` in the configuration.
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
        if incoming or stem(path) in ENTRY_PAGES:
            continue
        if not context.graph.sites.is_in_navigation(path):
            sections = context.graph.sections(path) if context.includes(path) else ()
            yield Finding(
                rule=NAME,
                filepath=path,
                line=sections[0].line_start if sections else 1,
                message="No other page links to this page.",
                subject="",
            )
