"""The fragment of a source has no effect: the whole source is compared.

A source may name a symbol (`src/auth.py#login`), a section of a page (`docs/spec.md#Token life`) or
lines (`src/auth.py#L3-L9`). UBP finds symbols in the languages that `docs/reference/staleness.md`
lists. In other files it compares the whole file, and a directory or a glob has no symbols.

What to do: remove the fragment, or name lines.

To ignore a source, add a comment on its line or the line above: `# ubp: ignore[ignored-fragment]`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.staleness.wording import describe_ignored_fragment

NAME = "ignored-fragment"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the sources that name a part which is not compared."""
    for page, verdict in context.assessed:
        if context.is_change and page.filepath not in context.changes:
            continue
        if reason := describe_ignored_fragment(verdict):
            yield Finding(
                rule=NAME,
                filepath=page.filepath,
                line=verdict.reference.line,
                message=f"{verdict.name} is compared as a whole: {reason}.",
                subject=verdict.reference.literal,
                hint="Remove the fragment, or name lines (#L3-L9).",
                related=verdict.source_path,
            )
